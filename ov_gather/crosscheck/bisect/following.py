"""Tracing of a difference into the body of the operation that computes it."""

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
"""Operations of IRs that have bodies."""

Partings = Callable[[Inside, Rounding], Iterator[Parting]]
"""Yields the partings of two bodies in one iteration."""


@dataclass(frozen=True)
class Followed:
    """The result of tracing a difference into a body.

    Attributes:
        parting: the parting of the bodies, if any.
        excuse: why the difference outside is not a fault; "" if it may be one.
        said: the comparison, in a sentence; "" if the operation has no body.
        is_whole: whether the inner source of the value was compared in all iterations.
    """

    parting: Parting | None = None
    excuse: str = ""
    said: str = ""
    is_whole: bool = False


def follow(comparer: Comparer, value: Value, partings: Partings) -> Followed:
    """Trace a value that differs into the body that computes it.

    The tolerance is the usual one first and then, if the control is right, the finest.
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
    """Follow the iterations up to the first one in which the bodies part."""
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
    """Describe the comparison of bodies that do not part, given the last iteration that was followed."""
    if last is None:
        return "Its body cannot be followed."
    if not last.is_compared:
        return f"What its body computes for this output has no counterpart; the rest is the same in iterations: {count}."
    rest = "" if last.is_last else "; those after them were not followed"
    return f"Its body gives the same within {share:.0e}, followed through iterations: {count}{rest}."
