"""Plant a fault into each of some models, and count how many nodes `ov-gather bisect` names, and in how many runs.

FOLDER holds NAME.onnx-route.onnx, NAME.onnx-route.xml and inputs NAME.npz, as `real_irs.py` writes them. With `--bodies N`,
that many models with nested bodies (If, Loop, Scan) are written to FOLDER first, and faults are planted into bodies. A fault
counts only if it changes an output by more than 1% of the largest number; otherwise another one is planted. In `--right` models
without a fault, `bisect` must name nothing. Fails if one is not found as it should be.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import openvino as ov

from helpers.bisect_pairs import make_model, outputs_of
from helpers.planting import Planted, candidates, inner_candidates, is_named, is_visible
from ov_gather.crosscheck.bisect.run import bisect
from ov_gather.ir.model import Model
from ov_gather.ir.reader import read_ir
from ov_gather.ir.writer import write_ir

COLUMNS = ("", "model", "planted", "in", "named", "among", "runs", "most runs", "nodes", "shown alone", "seconds", "found")
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


def inputs_of(folder: Path, name: str) -> dict[str, np.ndarray]:
    with np.load(folder / f"{name}.npz") as file:
        return dict(file)


def with_faults(folder: Path, names: list[str], count: int, seed: int, inside: bool) -> Iterator[tuple[object, ...]]:
    """Yield a row for each fault; the first column is "ok" if it is found as it should be, "NO" if not."""
    rng = random.Random(seed)
    for number, name in enumerate(names * 6):
        if not count:
            return
        kind = KINDS[number % len(KINDS)]
        inputs, model = inputs_of(folder, name), read_ir(folder / f"{name}.onnx-route.xml")
        planted = plant(model, kind, inputs, rng, inside)
        if planted is None:
            yield "", name, f"no {kind} to plant a fault in", *[""] * 9
            continue
        count -= 1
        start = time.monotonic()
        with TemporaryDirectory() as directory:
            path = Path(directory) / "wrong.xml"
            write_ir(planted.model, path)
            result = bisect(folder / f"{name}.onnx-route.onnx", path, inputs, reproducers=Path(directory) / "found")
            seconds = f"{time.monotonic() - start:.1f}"
            named, among = is_named(planted, result.culprits[0]) if result.culprits else (False, 0)
            alone = bool(result.reproducer) and shown_alone(result.culprits[0])
        limit = runs_at_most(model)
        word = "ok" if named and result.runs <= limit and alone else "NO"
        place, found = f"{planted.layer.type} '{planted.layer.name}'", result.node or result.not_run
        runs = (result.runs, f"{limit:.1f}", result.nodes)
        yield word, name, f"{kind} {planted.what}", place, named, among, *runs, alone, seconds, found


def without_faults(folder: Path, names: list[str]) -> Iterator[tuple[object, ...]]:
    for name in names:
        start = time.monotonic()
        result = bisect(folder / f"{name}.onnx-route.onnx", folder / f"{name}.onnx-route.xml", inputs_of(folder, name))
        word, seconds = "ok" if result.passed else "NO", f"{time.monotonic() - start:.1f}"
        said = [result.node or result.not_run, *(output.excuse for output in result.outputs if output.excuse)]
        said += [f"{culprit.kind} {culprit.nodes} {culprit.output.outcome}" for culprit in result.culprits]
        yield word, name, "nothing", "", "", "", result.runs, "", result.nodes, "", seconds, "; ".join(map(str, said))


def measure(
    folder: Path, *only: str, bodies: int = 0, faults: int = 30, right: int = 30, seed: int = 0
) -> Iterator[tuple[object, ...] | str]:
    write_bodies(folder, bodies)
    files = sorted(folder.glob("*.onnx-route.onnx"), key=lambda file: file.stat().st_size)
    names = [file.name.removesuffix(".onnx-route.onnx") for file in files]
    names = [name for name in names if name in only or not only]
    words: list[object] = []
    for row in chain(with_faults(folder, names, faults, seed, bool(bodies)), without_faults(folder, names[:right])):
        yield row
        words.append(row[0])
    if "NO" in words:
        sys.exit(f"{words.count('NO')} of {len(words) - words.count('')} are not as they should be")
    yield f"all {words.count('ok')} are as they should be"


def write_bodies(folder: Path, count: int) -> None:
    """Write models with bodies, their conversions and inputs."""
    for seed in range(count):
        stem = folder / f"bodies_{seed}.onnx-route"
        model, inputs = make_model(np.random.default_rng(seed), only_bodies=True)
        onnx.save(model, f"{stem}.onnx")
        ov.save_model(ov.Core().read_model(f"{stem}.onnx"), f"{stem}.xml", compress_to_fp16=False)
        np.savez(folder / f"bodies_{seed}.npz", **inputs)
