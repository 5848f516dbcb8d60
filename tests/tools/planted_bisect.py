"""Plant a fault into each of some models, and check that `ov-gather bisect` names its node.

    python tests/tools/planted_bisect.py FOLDER [--faults 30] [--right 30]
    python tests/tools/planted_bisect.py --bodies 10 [--faults 30] [--right 30]

FOLDER holds NAME.onnx-route.onnx, NAME.onnx-route.xml and inputs NAME.npz, as `real_irs.py` writes them. With --bodies, that
many models with nested bodies (If, Loop, Scan) are generated instead, and faults are planted into bodies. A fault in the IR
counts only if it changes an output by more than 1% of the largest number; otherwise another one is planted.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import openvino as ov

sys.path.insert(0, str(Path(__file__).parents[1]))

from helpers.bisect_pairs import make_model, outputs_of
from helpers.planting import Planted, candidates, inner_candidates, is_named, is_visible
from ov_gather.crosscheck.bisect.run import bisect
from ov_gather.ir.model import Model
from ov_gather.ir.reader import read_ir
from ov_gather.ir.writer import write_ir

KINDS = ("attribute", "constant", "operands", "axis")


def plant(model: Model, kind: str, inputs: dict[str, np.ndarray], rng: random.Random, inside: bool) -> Planted | None:
    """Plant a visible fault of this kind, in a body if `inside`; return None if none is found soon."""
    right = outputs_of(model, inputs)
    if right is None:
        return None
    ways = list((inner_candidates if inside else candidates)(model, kind))
    rng.shuffle(ways)
    for way in ways[:12]:
        planted = way(rng)
        if planted is not None and is_visible(right, outputs_of(planted.model, inputs)):
            return planted
    return None


def shown_alone(culprit: object) -> bool:
    """Return True if the reproducer shows the fault: its reference and model differ."""
    folder = Path(culprit.reproducer)
    with np.load(folder / "inputs.npz") as file:
        arrays = dict(file)
    found = bisect(folder / "reference.onnx", folder / "model.xml", arrays)
    return bool(found.culprits) and not found.not_run


def runs_at_most(model: Model) -> float:
    """Return the limit of runs for a search in a model and its largest bodies, with four more for iterations at each depth."""
    inner = [runs_at_most(body) + 4 for layer in model.layers for body in layer.bodies]
    return 2 + 2 * math.log2(max(len(model.layers), 2)) + max(inner, default=0)


def try_faults(folder: Path, names: list[str], count: int, seed: int, inside: bool) -> int:
    failed = done = 0
    rng = random.Random(seed)
    for number, name in enumerate(names * 6):
        if done == count:
            break
        kind = KINDS[number % len(KINDS)]
        with np.load(folder / f"{name}.npz") as file:
            inputs = dict(file)
        model = read_ir(folder / f"{name}.onnx-route.xml")
        planted = plant(model, kind, inputs, rng, inside)
        if planted is None:
            print(f"{name}: no {kind} to plant a fault in", flush=True)
            continue
        done += 1
        start = time.monotonic()
        with TemporaryDirectory() as directory:
            path = Path(directory) / "wrong.xml"
            write_ir(planted.model, path)
            result = bisect(folder / f"{name}.onnx-route.onnx", path, inputs, reproducers=Path(directory) / "found")
            seconds = time.monotonic() - start
            named, among = is_named(planted, result.culprits[0]) if result.culprits else (False, 0)
            alone = bool(result.reproducer) and shown_alone(result.culprits[0])
        limit = runs_at_most(model)
        right = named and result.runs <= limit and alone
        failed += not right
        print(
            f"{'ok' if right else 'NO'} {name}: {kind} {planted.what} in {planted.layer.type} '{planted.layer.name}'; "
            f"named {named} among {among}; runs {result.runs} of {limit:.1f} ({result.nodes} nodes); alone {alone}; "
            f"{seconds:.1f} s; {result.node} {result.culprits[0].kind if result.culprits else result.not_run}",
            flush=True,
        )
    print(f"faults: {done}, not found as they should be: {failed}", flush=True)
    return failed


def try_right(folder: Path, names: list[str], count: int) -> int:
    failed = 0
    for name in names[:count]:
        with np.load(folder / f"{name}.npz") as file:
            inputs = dict(file)
        start = time.monotonic()
        result = bisect(folder / f"{name}.onnx-route.onnx", folder / f"{name}.onnx-route.xml", inputs)
        failed += not result.passed
        excuses = [output.excuse for output in result.outputs if output.excuse]
        word, seconds = "ok" if result.passed else "NO", time.monotonic() - start
        print(f"{word} {name}: {seconds:.1f} s {result.node} {result.not_run} {excuses}", flush=True)
        for culprit in result.culprits:
            print(f"   {culprit.kind} {culprit.nodes} {culprit.output.outcome}", flush=True)
    print(f"without a fault: {min(count, len(names))}, but one was named, or not compared: {failed}", flush=True)
    return failed


def main() -> None:
    """Plant faults, search for them, and print a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--bodies", type=int, default=0)
    parser.add_argument("--faults", type=int, default=30)
    parser.add_argument("--right", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    if bool(arguments.folder) == bool(arguments.bodies):
        parser.error("give FOLDER or --bodies")
    with TemporaryDirectory() as directory:
        folder = arguments.folder or Path(directory)
        make_up(folder, arguments.bodies)
        files = sorted(folder.glob("*.onnx-route.onnx"), key=lambda file: file.stat().st_size)
        names = [file.name.removesuffix(".onnx-route.onnx") for file in files]
        names = [name for name in names if name in arguments.only or not arguments.only]
        faults, right = arguments.faults, arguments.right
        wrong = try_faults(folder, names, faults, arguments.seed, bool(arguments.bodies)) if faults else 0
        wrong += try_right(folder, names, right) if right else 0
    sys.exit(1 if wrong else 0)


def make_up(folder: Path, count: int) -> None:
    """Write models with bodies, their conversions and inputs."""
    for seed in range(count):
        stem = folder / f"bodies_{seed}.onnx-route"
        model, inputs = make_model(np.random.default_rng(seed), only_bodies=True)
        onnx.save(model, f"{stem}.onnx")
        ov.save_model(ov.Core().read_model(f"{stem}.onnx"), f"{stem}.xml", compress_to_fp16=False)
        np.savez(folder / f"bodies_{seed}.npz", **inputs)


if __name__ == "__main__":
    main()
