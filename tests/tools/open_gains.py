"""Measure `accelerate` on small and open models: `python tests/tools/open_gains.py OUT_DIR/open [NAME...] --batch 1 8 64 1024`.

OUT_DIR is that of `tests/tools/real_irs.py`. Inputs are repeated to each batch size. Prints rows of a Markdown table: the speed
against stock in f32 and in OpenVINO's default precision, with quartiles, and what `accelerate` changed. With `--target
extension`, the ONNX files are converted as by `ov-gather convert --target extension` instead.

Unlike `real_gains.py`, inference is synchronous: starting a request asynchronously takes 60 us more than a small model.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray

import ov_gather
from ov_gather.acceleration.changes import Summary
from ov_gather.bench.model import default_precision
from ov_gather.converters import convert_model

Arrays = dict[str, NDArray[Any]]

BLOCK = 0.004
"""Seconds that each model runs before it is the turn of the other."""
PAUSE = 0.002
"""Seconds between blocks, in which the threads of the last one stop spinning."""
TURNS = 6
"""Turns in a round."""
ROUNDS = 4
"""Both models are compiled anew in each round: where their memory lies makes a difference of 3%."""


def main() -> None:
    """Measure the named models, or all of the directory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="IRs of static or of open shapes, with their inputs.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--batch", type=int, nargs="+", help="Sizes of open first dimensions; by default those of the inputs.")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--target", choices=["accelerate", "extension"], default="accelerate")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--leave", nargs="+", default=[], metavar="LAYER", help="Layers that `accelerate` does not change.")
    arguments = parser.parse_intermixed_args()
    paths = sorted(arguments.directory.glob("*.onnx-route.xml"))
    chosen = [path for path in paths if not arguments.names or path.name.partition(".")[0] in arguments.names]
    print("| model | batch | threads | precision | stock | speed (quartiles) | outputs | changed |\n" + "| --- " * 8 + "|")
    for path in chosen:
        for row in _rows(path, arguments):
            print(f"| {' | '.join(row)} |", flush=True)


def _rows(path: Path, arguments: argparse.Namespace) -> Iterator[list[str]]:
    name = path.name.partition(".")[0]
    core = ov_gather.register(ov.Core())
    stock, ours = core.read_model(path), core.read_model(path)
    if arguments.target == "extension":
        ours, changed = _converted(path.with_suffix(".onnx")), ""
    else:
        changed = _changes(ov_gather.accelerate(ours, leave=arguments.leave))
    examples = dict(np.load(path.parent / f"{name}.npz"))
    for batch in arguments.batch or [0]:
        given = {key: _of_batch(stock, key, array, batch) for key, array in examples.items()}
        for threads in arguments.threads:
            for precision in dict.fromkeys(("f32", default_precision())):
                options = {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": threads}
                pairs: list[tuple[float, float]] = []
                for round_ in range(arguments.rounds):
                    found = {i: request_of(core, (stock, ours)[i], options, given) for i in ((0, 1), (1, 0))[round_ % 2]}
                    requests = [found[0], found[1]]
                    pairs += by_turns([partial(request.infer, share_outputs=True) for request in requests])
                outputs = [[tensor.data.tobytes() for tensor in request.output_tensors] for request in requests]
                same = "same" if outputs[0] == outputs[1] else "differ"
                yield [name, str(batch or "-"), str(threads), precision, *_statistics(pairs), same, changed]
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


def _statistics(pairs: list[tuple[float, float]]) -> list[str]:
    """Return the time of the first model, and how many times faster the second is."""
    low, middle, high = quantiles([one / other for one, other in pairs], n=4)
    return [f"{median(one for one, _ in pairs) * 1e6:.1f} us", f"{middle:.2f} ({low:.2f}-{high:.2f})"]


def _of_batch(model: ov.Model, name: str, array: NDArray[Any], batch: int) -> NDArray[Any]:
    """Return an input of the model, repeated to the batch size if its first dimension is open."""
    is_open = model.input(name).get_partial_shape()[0].is_dynamic
    return array[np.arange(batch) % len(array)] if batch and is_open else array


def request_of(core: ov.Core, model: ov.Model, options: dict[str, Any], given: Arrays) -> ov.InferRequest:
    request = core.compile_model(model, "CPU", options).create_infer_request()
    for name, array in given.items():
        request.set_tensor(name, ov.Tensor(array))
    request.infer()
    return request


def by_turns(runs: list[Callable[[], object]]) -> list[tuple[float, float]]:
    """Return the seconds of an inference of each of two models, in blocks by turns."""
    counts = [max(1, min(2000, int(BLOCK / min(seconds(run, 1) for _ in range(5))))) for run in runs]
    found = []
    for turn in range(TURNS):
        block = [0.0, 0.0]
        for i in ((0, 1), (1, 0))[turn % 2]:
            time.sleep(PAUSE)
            runs[i]()
            block[i] = seconds(runs[i], counts[i])
        found.append((block[0], block[1]))
    return found


def seconds(run: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - start) / count


if __name__ == "__main__":
    main()
