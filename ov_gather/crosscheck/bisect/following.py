"""A difference of an operation with bodies is followed into the body that computes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ov_gather.crosscheck.bisect.comparer import Comparer
from ov_gather.crosscheck.bisect.composition import is_composed
from ov_gather.crosscheck.bisect.graphs import Value
from ov_gather.crosscheck.bisect.inside import Inside, iterations
from ov_gather.crosscheck.bisect.records import Parting
from ov_gather.crosscheck.bisect.rounding import Rounding
from ov_gather.runtimes.base import CrashedError, RefusedError

WITH_BODIES = ("If", "Loop", "TensorIterator")
"""The operations of IRs that have bodies."""

Partings = Callable[[Inside, Rounding], Iterator[Parting]]
"""Yields where two bodies part in one iteration."""


@dataclass(frozen=True)
class Followed:
    """What was found in a body.

    Attributes:
        parting: where the bodies part, if they do.
        excuse: why the difference outside is no fault; "" if it may be one.
        said: what was compared, in a sentence; "" if the operation has no body.
        is_whole: whether what the value is made from was compared in all iterations.
    """

    parting: Parting | None = None
    excuse: str = ""
    said: str = ""
    is_whole: bool = False


def follow(comparer: Comparer, value: Value, partings: Partings) -> Followed:
    """Follow a value that differs into the body that computes it.

    Rounding is followed first as it is told elsewhere, then, if the difference is none of the control, as finely as it can be.
    """
    node = comparer.model.graph.producers.get(value)
    if node is None or node.type not in WITH_BODIES:
        return Followed()
    usual = replace(comparer.rounding, of_outputs=0)
    try:
        found = _followed(comparer, value, partings, usual)
        if not found.is_whole or not is_composed(comparer, value):
            return found
        found = _followed(comparer, value, partings, usual.finest())
    except (RefusedError, CrashedError, IndexError) as error:
        return Followed(said=f"Its body is not executed alone: {error}")
    if found.parting is not None:
        return found
    return Followed(excuse=f"{node} repeats its body as the reference does, in which nothing is off by more than rounding")


def _followed(comparer: Comparer, value: Value, partings: Partings, rounding: Rounding) -> Followed:
    """Follow a value through the iterations up to the first one in which the bodies part."""
    node, count, inner = comparer.model.graph.producers[value], 0, None
    for inner in iterations(comparer, value):
        parting = next(partings(inner, rounding), None)
        comparer.model.runs += inner.sides.model.runs
        if parting is not None:
            when = "" if node.type == "If" else f", in iteration {count} (the first is 0)"
            return Followed(replace(parting, detail=f"It is in the body of {node}{when}. {parting.detail}"))
        count += 1
    is_whole = inner is not None and inner.is_compared and inner.is_last
    return Followed(said=_compared(inner, count, rounding.share(1)), is_whole=is_whole)


def _compared(last: Inside | None, count: int, share: float) -> str:
    """Say what was compared in a body that shows no difference, given the last of the iterations that were followed."""
    if last is None:
        return "Its body cannot be followed."
    if not last.is_compared:
        return f"What its body computes for this output has no counterpart; the rest is the same in iterations: {count}."
    rest = "" if last.is_last else "; those after them were not followed"
    return f"Its body gives the same within {share:.0e}, followed through iterations: {count}{rest}."
