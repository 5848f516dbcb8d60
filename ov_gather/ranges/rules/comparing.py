"""Transfer functions of comparisons and logical operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import inf

from ov_gather.ranges.algebra.intervals import TRUTH, Algebra, Interval
from ov_gather.ranges.algebra.values import Value, count
from ov_gather.ranges.rules.call import Operands
from ov_gather.ranges.rules.elementwise import broadcast_shape, limited, together

TRUE = Interval(1, 1)

Comparison = Callable[[Algebra, Interval, Interval], "bool | None"]


def truth(call: Operands) -> Sequence[Value]:
    """Infer a boolean of unknown value."""
    shapes = [value.shape for value in call.inputs if value is not None]
    return [call.bounded(TRUTH, broadcast_shape(shapes, call.outputs[0].shape))]


def negation(call: Operands) -> Sequence[Value]:
    """Infer Not: 1 - x, as booleans are 0 or 1."""
    return _of_truths(call, lambda algebra, one: algebra.subtract(TRUE, one))


def both(call: Operands) -> Sequence[Value]:
    """Infer And."""
    return _of_truths(call, Algebra.minimum)


def either(call: Operands) -> Sequence[Value]:
    """Infer Or."""
    return _of_truths(call, Algebra.maximum)


def _of_truths(call: Operands, work: Callable[..., Interval]) -> Sequence[Value]:
    values = [value for value in call.inputs if value is not None]
    if len(values) < len(call.inputs) or any(value.elements.low < 0 or value.elements.high > 1 for value in values):
        return truth(call)
    return [together(call, values, partial(work, call.algebra))]


def compare(call: Operands, work: Comparison) -> Sequence[Value]:
    """Infer a comparison: a constant if it has the same result for all values of the operands, none of them NaN."""
    values = [value for value in call.inputs if value is not None]
    if any(value.may_be_nan for value in values) or len(values) != 2:
        return truth(call)

    def told(one: Interval, other: Interval) -> Interval:
        known = work(call.algebra, limited(call, one), limited(call, other))
        return TRUTH if known is None else Interval(int(known), int(known))

    found = together(call, values, told)
    one, other = values
    at_peak = work(call.algebra, limited(call, Interval(one.peak, inf)), limited(call, other.elements))
    return [replace(found, peak=1)] if at_peak and count(call.algebra, found.shape)[0] >= 1 else [found]


def is_less(algebra: Algebra, one: Interval, other: Interval) -> bool | None:
    """Evaluate `one < other`; None if it depends on the values."""
    if one.high < other.low or any(algebra.is_at_most(one, low - 1) for low in other.lows):
        return True
    return False if is_less_or_equal(algebra, other, one) else None


def is_less_or_equal(algebra: Algebra, one: Interval, other: Interval) -> bool | None:
    """Evaluate `one <= other`; None if it depends on the values."""
    if one.high <= other.low or any(algebra.is_at_most(one, low) for low in other.lows):
        return True
    return False if other.high < one.low else None


def is_equal(algebra: Algebra, one: Interval, other: Interval) -> bool | None:
    """Evaluate `one == other`; None if it depends on the values."""
    if one.exactly is not None and one.exactly == other.exactly:
        return True
    return False if is_less(algebra, one, other) or is_less(algebra, other, one) else None


def is_unequal(algebra: Algebra, one: Interval, other: Interval) -> bool | None:
    """Evaluate `one != other`; None if it depends on the values."""
    known = is_equal(algebra, one, other)
    return None if known is None else not known


equal = partial(compare, work=is_equal)
greater = partial(compare, work=lambda algebra, one, other: is_less(algebra, other, one))
greater_or_equal = partial(compare, work=lambda algebra, one, other: is_less_or_equal(algebra, other, one))
less = partial(compare, work=is_less)
less_or_equal = partial(compare, work=is_less_or_equal)
unequal = partial(compare, work=is_unequal)
