"""What becomes of random models when they are accelerated: judged in worker processes, so that a crash is an outcome, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import openvino as ov

from helpers.accelerating import accelerated
from helpers.random_models import sample
from helpers.worker_process import DiedError, Worker
from ov_gather.acceleration import costs
from ov_gather.bench.model import TOLERANCE, default_precision, error
from ov_gather.extension import reason
from ov_gather.runtimes.session import Session

BAD = ("DIFFERS", "LESS ACCURATE", "LOST ERROR", "NEW ERROR", "CRASH")
LARGE = 24
"""The size of dimensions where precision is the subject."""
MANY = 20_000
"""Numbers of which the errors before and after are compared: of fewer, chance alone makes a difference of 5%."""
WAYS: tuple[dict[str, Any], ...] = ({}, {}, {}, {"portable": True}, {"portable": True, "assume_in_bounds": True})
"""How models are accelerated, seed after seed. The last way promises nothing for indices out of bounds."""


@dataclass(frozen=True)
class Outcome:
    """What became of one trial of one model. `changed`: the gathers to which something was done.

    `kind`: same; raises, before and after; unstable, as the model itself computes now this, now that; rounds elsewhere, where
    that was said and is no less accurate; or one of BAD.
    """

    seed: int
    trial: str
    kind: str
    detail: str = ""
    changed: int = 0

    @property
    def is_bad(self) -> bool:
        return self.kind in BAD


def outcomes(seeds: Sequence[int], *, exact: bool = True) -> Iterator[Outcome]:
    """The outcomes of model after model, from a worker process, which starts anew after a crash.

    exact: in f32, of any operations; else in the precision that OpenVINO computes in by default, of operations that make of
    small errors small errors, in bounds.
    """
    worker = Worker(partial(_judge, exact=exact))
    try:
        for seed in seeds:
            try:
                yield from worker.call(seed)
            except DiedError as death:
                yield Outcome(seed, "all", "unstable" if _dies_anyway(seed, exact) else "CRASH", str(death))
    finally:
        worker.stop()


def _dies_anyway(seed: int, exact: bool) -> bool:
    """Return True if the process also dies of the model as it was."""
    worker = Worker(partial(_run, exact=exact))
    try:
        worker.call(seed)
    except DiedError:
        return True
    worker.stop()
    return False


def _run(seed: int, exact: bool) -> None:
    model, trials, precision = _made(seed, exact)
    tried = _Tried(model, precision)
    for arrays in trials.values():
        tried(arrays)


def _made(seed: int, exact: bool) -> tuple[ov.Model, dict[str, list[np.ndarray]], str]:
    """The model of a seed, its inputs, and the precision in which it is judged."""
    return (*sample(seed), "f32") if exact else (*sample(seed, smooth=True, size=LARGE), default_precision())


def _judge(seed: int, exact: bool) -> list[Outcome]:
    """The outcomes of a seed."""
    costs.SMALL = 0
    return list(_outcomes(seed, exact))


def _outcomes(seed: int, exact: bool) -> Iterator[Outcome]:
    model, trials, precision = _made(seed, exact)
    way = WAYS[seed % len(WAYS)]
    try:
        other, summary = accelerated(model, **way)
        if seed % 7 == 0:
            other, _ = accelerated(other, **way)
    except RuntimeError as raised:
        yield Outcome(seed, "accelerating", "NEW ERROR", reason(raised))
        return
    changed = len(summary.changed)
    first = _Tried(model, precision)
    second = _Tried(other, precision)
    if not exact:
        arrays = trials["in bounds"]
        kind, detail = compare(before := first(arrays), before, second(arrays))
        if kind == "DIFFERS" and any(change.rounds_elsewhere for change in summary.changes):
            kind, detail = _compare_errors(*(_on_many(tried, arrays) for tried in (_Tried(model, "f32"), first, second)))
        yield Outcome(seed, precision, kind, detail, changed)
        return
    for trial, arrays in trials.items():
        before, again = first(arrays), first(arrays)
        if isinstance(before, str) and way.get("assume_in_bounds"):
            continue
        if not isinstance(before, str) and not _fit(model, arrays):
            yield Outcome(seed, trial, "unstable", "the model takes shapes that do not fit")
            continue
        kind, detail = compare(before, again, second(arrays))
        yield Outcome(seed, trial, kind, detail, changed)


def _fit(model: Any, arrays: Sequence[np.ndarray]) -> bool:
    """Whether shapes are those of a valid model. The plugin does not check all: some MatMuls read behind their operands."""
    try:
        model.clone().reshape({i: list(array.shape) for i, array in enumerate(arrays)})
    except RuntimeError:
        return False
    return True


class _Tried:
    """A model that is compiled; if that raises, every inference raises so."""

    def __init__(self, model: Any, precision: str) -> None:
        try:
            properties = {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": 1}
            self._session, self._error = Session(ov.Core(), model, properties=properties), ""
        except RuntimeError as raised:
            self._error = str(raised)

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray] | str:
        """The outputs of an inference, or the error."""
        if self._error:
            return self._error
        try:
            return self._session(arrays)
        except RuntimeError as raised:
            return str(raised)


def compare(before: list[np.ndarray] | str, again: list[np.ndarray] | str, after: list[np.ndarray] | str) -> tuple[str, str]:
    """The kind and the detail of an outcome."""
    if isinstance(before, str) or isinstance(again, str):
        same = isinstance(before, str) and isinstance(again, str)
        return ("unstable", "") if not same else ("raises", before) if isinstance(after, str) else ("LOST ERROR", before)
    if isinstance(after, str):
        return "NEW ERROR", after
    if any(_bits(one) != _bits(other) for one, other in zip(before, again, strict=True)):
        return "unstable", ""
    for i, (one, other) in enumerate(zip(before, after, strict=True)):
        if _bits(one) != _bits(other):
            return "DIFFERS", f"output {i}: {_difference(one, other)}"
    return "same", ""


def _on_many(tried: _Tried, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Each output for so many random inputs that its error is a mean over thousands of numbers; indices stay."""
    random, found = np.random.default_rng(0), [tried(arrays)]
    while sum(array.size for outputs in found for array in outputs) < MANY:
        found.append(
            tried([random.standard_normal(array.shape, array.dtype) if array.dtype.kind == "f" else array for array in arrays])
        )
    return [np.concatenate([array.ravel() for array in each]) for each in zip(*found, strict=True)]


def _compare_errors(exact: list[np.ndarray], before: list[np.ndarray], after: list[np.ndarray]) -> tuple[str, str]:
    """The kind and detail where outputs differ, but the summary says so."""
    was, now = error(before, exact), error(after, exact)
    return "rounds elsewhere" if now <= TOLERANCE * was else "LESS ACCURATE", f"error {was:.3g} before, {now:.3g} after"


def _bits(array: np.ndarray) -> tuple[tuple[int, ...], bytes]:
    return array.shape, array.tobytes()


def _difference(one: np.ndarray, other: np.ndarray) -> str:
    if one.shape != other.shape:
        return f"shape {one.shape}, then {other.shape}"
    places = np.argwhere(one != other)
    worst = np.nanmax(np.abs(one.astype(float) - other.astype(float)), initial=0)
    return f"{len(places)} of {one.size}, by {worst:.3g}"
