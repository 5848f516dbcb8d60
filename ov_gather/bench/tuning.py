"""Acceleration by measurement: each kind of change is timed in the model on this machine, and kept if it is faster.

Changes at sites with the same operation and shapes are one kind. For each kind, the models with and without it run alternately;
a kind that is not faster is dropped before the next one is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import openvino as ov
from numpy.typing import NDArray

from ov_gather.acceleration.accelerate import accelerate
from ov_gather.acceleration.changes import Change, Summary
from ov_gather.bench.model import Target, by_turns, default_precision, inputs_for, prepare
from ov_gather.runtimes.devices import CPU
from ov_gather.runtimes.session import Inference

GAIN = 1.01
"""Minimum ratio of times, without and with a kind, to keep it; less is noise."""
_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Trial:
    """The result for one kind of change.

    Attributes:
        layers: the sites.
        operation, shapes, done: their operation and shapes before, and the changes to each.
        ratio: how many times faster the model is with the changes, the median of pairs.
    """

    layers: tuple[str, ...]
    operation: str
    shapes: str
    done: tuple[str, ...]
    ratio: float

    @property
    def is_kept(self) -> bool:
        """True if the changes are faster."""
        return self.ratio >= GAIN


@dataclass(frozen=True, slots=True)
class Tuning:
    """The result for a model.

    Attributes:
        trials: the results per kind of change, in the order tried.
        ratio: how many times faster the model is with all kept changes; 1.0 if there are none.
        summary: the changes made to the model.
    """

    trials: tuple[Trial, ...]
    ratio: float
    summary: Summary


def tune(
    model: ov.Model,
    threads: int,
    given: Mapping[str, NDArray[Any]],
    *,
    portable: bool = False,
    assume_in_bounds: bool = False,
) -> Tuning:
    """Accelerate a model in place by the changes that are faster in OpenVINO's default precision.

    Raises ValueError like `inputs_for` and `accelerate`; OutOfBoundsError, RefusedError if the model cannot be executed.
    """
    options = {"portable": portable, "assume_in_bounds": assume_in_bounds}
    arrays, left, trials = inputs_for(model, given), set[str](), []
    precision, place = default_precision(), Target(CPU, threads)

    def prepared(without: set[str]) -> tuple[Inference, Summary]:
        other = model.clone()
        summary = accelerate(other, leave=without, **options)  # type: ignore[arg-type]
        return prepare(other, arrays, precision, place), summary

    current, summary = prepared(left)
    for kind in _kinds(summary):
        layers = {change.layer for change in kind}
        without, _ = prepared(left | layers)
        pairs = by_turns(without, current, _SECONDS)
        ratio = median(one / other for one, other in pairs)
        first = kind[0]
        trials.append(Trial(tuple(sorted(layers)), first.operation, first.shapes, tuple(first.done), ratio))
        if not trials[-1].is_kept:
            left, current = left | layers, without
    ratio = 1.0
    if any(trial.is_kept for trial in trials):
        pairs = by_turns(prepare(model, arrays, precision, place), current, _SECONDS)
        ratio = median(one / other for one, other in pairs)
        if ratio < 1:
            left, ratio = {change.layer for change in summary.changes}, 1.0
    return Tuning(tuple(trials), ratio, accelerate(model, leave=left, **options))  # type: ignore[arg-type]


def _kinds(summary: Summary) -> Iterator[list[Change]]:
    """Yield the changes of each kind, except those that only correct what OpenVINO would misread."""
    kinds: dict[tuple[str, ...], list[Change]] = {}
    for change in summary.changed:
        if not change.corrects:
            kinds.setdefault((change.operation, change.shapes, *change.done), []).append(change)
    yield from kinds.values()
