"""Bounds of values as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.values import Value

Bound = int | float | str | None
"""A number; a text such as "dim(x, 1) - 1"; or None if unbounded."""


def range_of(interval: Interval) -> tuple[Bound, Bound]:
    """Return both ends of an interval: a symbolic bound if there is one, else the number."""
    return _end(interval.lows, interval.low), _end(interval.highs, interval.high)


def _end(bounds: Sequence[Polynomial], number: Number) -> Bound:
    if bounds:
        return str(bounds[0])
    return None if number in (inf, -inf) else number


def is_loose(value: Value) -> bool:
    """Return True if the elements may reach a limit of i32, as those of an unknown tensor do."""
    return value.elements.high >= 2**31 - 1 or value.elements.low <= -(2**31)


def known_range(value: Value) -> tuple[Bound, Bound]:
    """Return the bounds of the elements; None for a number at a limit of i32 or beyond, unless the other end has a size."""
    low, high = range_of(value.elements)
    if not is_loose(value) or isinstance(low, str) or isinstance(high, str):
        return low, high
    return (None if low is None or low <= -(2**31) else low), (None if high is None or high >= 2**31 - 1 else high)
