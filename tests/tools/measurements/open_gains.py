"""Measure `accelerate` on small and open models: NAMES or all of DIRECTORY, as `tests/tools/real_irs.py` makes it.

Inputs are repeated to each size of `--batch`, by default they are as they are. Stock and ours run by turns, in f32 and in
OpenVINO's default precision. With `--target extension`, the ONNX files are converted as by `ov-gather convert --target
extension` instead; `accelerate` does not change the layers of `--leave`.

Unlike `evidence.py gains`, inference is synchronous: starting a request asynchronously takes 60 us more than a small model.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray

import ov_gather
from ov_gather.acceleration.changes import Summary
from ov_gather.bench.model import default_precision
from ov_gather.converters import convert_model
from tools.measurements.timing import compared, quartiles

COLUMNS = ("model", "batch", "threads", "precision", "stock", "speed (quartiles)", "outputs", "changed")


def measure(
    directory: Path,
    *names: str,
    batch: Sequence[int] = (0,),
    threads: Sequence[int] = (1, 2),
    target: str = "accelerate",
    rounds: int = 4,
    leave: Sequence[str] = (),
) -> Iterator[tuple[object, ...]]:
    core, precisions = ov_gather.register(ov.Core()), dict.fromkeys(("f32", default_precision()))
    for path in sorted(directory.glob("*.onnx-route.xml")):
        name = path.name.partition(".")[0]
        if names and name not in names:
            continue
        stock, ours = core.read_model(path), core.read_model(path)
        if target == "extension":
            ours, changed = _converted(path.with_suffix(".onnx")), ""
        else:
            changed = _changes(ov_gather.accelerate(ours, leave=leave))
        examples = dict(np.load(path.parent / f"{name}.npz"))
        for size, count, precision in product(batch, threads, precisions):
            given = {key: _of_batch(stock, key, array, size) for key, array in examples.items()}
            options = {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": count}
            pairs, outputs = compared(core, (stock, ours), options, given, rounds)
            time = f"{median(before for before, _ in pairs) * 1e6:.1f} us"
            yield name, size or "-", count, precision, time, quartiles([a / b for a, b in pairs]), outputs, changed
            changed = ""  # once a model


def _converted(onnx: Path) -> ov.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of int64 in 32 bits
        return convert_model(onnx, target="extension")


def _changes(summary: Summary) -> str:
    """Return the number of changed sites, and the names of those that each step changed."""
    steps = sorted({step for change in summary.changed for step in change.done})
    names = {step: [change.layer for change in summary.changed if step in change.done] for step in steps}
    counts = f"{len(summary.changed)} of {len(summary.changes)}"
    return ". ".join([counts, *(f"{step}: {', '.join(layers)}" for step, layers in names.items())])


def _of_batch(model: ov.Model, name: str, array: NDArray[Any], batch: int) -> NDArray[Any]:
    """Return an input of the model, repeated to the batch size if its first dimension is open."""
    is_open = model.input(name).get_partial_shape()[0].is_dynamic
    return array[np.arange(batch) % len(array)] if batch and is_open else array
