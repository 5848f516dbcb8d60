"""Compare real IRs with disguised copies: `python tests/tools/real_diffs.py DIRECTORY [EVERY]`.

Each IR below the directory (every EVERY-th) is compared with a copy that has other ids, names, ports and order of layers, which
must be no difference; and with copies that have one planted change each, which must be the only difference reported. Finally,
models of up to 50,000 layers are compared. Prints wrong reports, and CPU time.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/

from helpers.disguise import disguised
from helpers.planted_changes import KINDS, is_told
from ov_gather import diff, read_ir
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import PartialShape


def try_all(paths: list[Path]) -> None:
    """Compare each IR with its copies, and count correct reports."""
    right, wrong = Counter[str](), Counter[str]()
    start = time.process_time()
    for path in paths:
        model = read_ir(path)
        other = disguised(model)
        (right if diff(model, other).passed else wrong)["disguised"] += 1
        for name, plant in KINDS.items():
            planted = plant(model, random.Random(f"{path} {name}"))
            if planted is None:
                continue
            found = diff(other, planted.model)
            is_right = is_told(planted, found)
            (right if is_right else wrong)[name] += 1
            if not is_right:
                print(path, name, f"layer {planted.layer}", *found.changes, sep="\n    ")
    print(
        f"{len(paths)} IRs, {time.process_time() - start:.1f} s of processor time; right: {dict(right)}, wrong: {dict(wrong)}"
    )


def large(layers: int) -> Model:
    """Build a model of layers of four random kinds, one of them constants."""
    builder, shape, choices = ModelBuilder("large"), PartialShape.of([8]), random.Random(0)
    values = [builder.parameter("x", F32, shape)]
    for i in range(layers):
        kind = choices.choice(("ReLU", "Sigmoid", "Add", "Const"))
        if kind == "Const":
            values.append(builder.const(f"c{i}", F32, np.full(8, i, np.float32)))
        else:
            operands = [values[-1], choices.choice(values[-20:])] if kind == "Add" else [values[-1]]
            values += builder.layer(kind, f"l{i}", "opset1", {}, operands, [(F32, shape)])
    builder.result("y", values[-1])
    return builder.build()


def measure(layers: int) -> None:
    """Print the time of a comparison of two large models."""
    model = large(layers)
    other = disguised(model)
    start = time.process_time()
    found = diff(model, other)
    print(f"{layers} layers: {time.process_time() - start:.2f} s of processor time; {len(found.changes)} changes")


if __name__ == "__main__":
    try_all(sorted(Path(sys.argv[1]).rglob("*.xml"))[:: int(sys.argv[2]) if len(sys.argv) > 2 else 1])
    for size in (12_500, 25_000, 50_000):
        measure(size)
