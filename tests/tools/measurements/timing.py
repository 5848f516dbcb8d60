"""Times of functions that take turns: other load slows down all of them, so that ratios stay."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import quantiles
from typing import Any

import openvino as ov
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]
BLOCK = 0.004
"""Seconds that each function runs before it is the turn of the next."""
PAUSE = 0.002
"""Seconds between blocks, in which the threads of the last one stop spinning."""


def seconds(run: Callable[[], object], count: int = 1) -> float:
    """Return the time of one of several calls."""
    start = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - start) / count


def by_turns(runs: Sequence[Callable[[], object]], turns: int = 6) -> list[tuple[float, ...]]:
    """Return the seconds of a call of each function, measured in blocks of calls, for each turn."""
    counts = [max(1, min(2000, int(BLOCK / min(seconds(run) for _ in range(5))))) for run in runs]
    found = []
    for turn in range(turns):
        blocks = [0.0] * len(runs)
        for i in list(range(len(runs)))[:: (1, -1)[turn % 2]]:
            time.sleep(PAUSE)
            runs[i]()
            blocks[i] = seconds(runs[i], counts[i])
        found.append(tuple(blocks))
    return found


def request_of(core: ov.Core, model: ov.Model, options: dict[str, Any], given: Arrays) -> ov.InferRequest:
    """Return a request with its inputs, which has run once."""
    request = core.compile_model(model, "CPU", options).create_infer_request()
    for name, array in given.items():
        request.set_tensor(name, ov.Tensor(array))
    request.infer()
    return request


def compared(
    core: ov.Core, models: Sequence[ov.Model], options: dict[str, Any], given: Arrays, rounds: int
) -> tuple[list[tuple[float, ...]], str]:
    """Return the seconds of inferences of models by turns, and whether their outputs are the "same" or "differ".

    All are compiled anew in each round: where their memory lies makes a difference of 3%.
    """
    turns: list[tuple[float, ...]] = []
    places = range(len(models))
    for number in range(rounds):
        found = {i: request_of(core, models[i], options, given) for i in places[:: (1, -1)[number % 2]]}
        turns += by_turns([partial(found[i].infer, share_outputs=True) for i in places])
    first, *others = ([tensor.data.tobytes() for tensor in found[i].output_tensors] for i in places)
    return turns, "same" if all(other == first for other in others) else "differ"


def quartiles(values: Sequence[float], form: str = ".2f") -> str:
    """Return the median, and the lower and upper quartile, as text."""
    low, middle, high = quantiles(values, n=4)
    return f"{middle:{form}} ({low:{form}} to {high:{form}})"
