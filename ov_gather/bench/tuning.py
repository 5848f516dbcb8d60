"""Acceleration that is chosen by measuring: each kind of change is timed in the model that it is made to, on this machine.

Changes at sites of the same operation and shapes are of one kind, and are kept or left together. A model with the changes of a
kind and one without them infer the same inputs by turns; what does not gain is left, and the next kind is tried without it.
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
from ov_gather.bench.inputs import inputs_for
from ov_gather.bench.model import Place, by_turns, default_precision, prepare
from ov_gather.runtimes.devices import CPU
from ov_gather.runtimes.session import Inference

GAIN = 1.01
"""How many times faster a model must be with the changes of a kind for these to be kept: what is less is noise."""
_SECONDS = 2.0
_MUST = "wrong layout"


@dataclass(frozen=True, slots=True)
class Trial:
    """A Trial is what the changes of one kind gained.

    Attributes:
        layers: the sites.
        operation, shapes, done: what they were, and what was done to each.
        ratio: how many times faster the model is with them, the median of pairs.
    """

    layers: tuple[str, ...]
    operation: str
    shapes: str
    done: tuple[str, ...]
    ratio: float

    @property
    def is_kept(self) -> bool:
        """Whether that is a gain."""
        return self.ratio >= GAIN


@dataclass(frozen=True, slots=True)
class Tuning:
    """A Tuning is the outcome for a whole model.

    Attributes:
        trials: what each kind of change gained, in the order in which they were tried.
        ratio: how many times faster the model is with all that were kept; 1.0 where none was.
        summary: what was done to the model.
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
    """Accelerate a model in place by what gains, in the precision that OpenVINO computes in by default.

    Raises ValueError as `inputs_for` and `accelerate` do; OutOfBoundsError, RefusedError where the model does not execute.
    """
    options = {"portable": portable, "assume_in_bounds": assume_in_bounds}
    arrays, left, trials = inputs_for(model, given), set[str](), []
    precision, place = default_precision(), Place(CPU, threads)

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
    """Yield the changes of each kind; not those that only mend what OpenVINO would misread."""
    kinds: dict[tuple[str, ...], list[Change]] = {}
    for change in summary.changed:
        if not any(_MUST in what for what in change.done):
            kinds.setdefault((change.operation, change.shapes, *change.done), []).append(change)
    yield from kinds.values()
