"""Arithmetic on elements, by what operations mean, whatever a format calls them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil, floor, inf, log, sqrt

from ov_gather.ranges.algebra.intervals import ANY, Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Number
from ov_gather.ranges.algebra.values import Value, are_exact, is_integer
from ov_gather.ranges.rules.call import Call, Rule
from ov_gather.ranges.rules.elementwise import Unary, binary, extreme, limited, rounded, rounding_of, unary

LOGARITHM_ERROR = 2**-16


def divide(call: Call) -> Sequence[Value]:
    """Division: of integers rounded down or towards 0, of floating-point numbers not."""
    if not is_integer(call.outputs[0].element_type):
        return _nan_by_zero(call, binary(_real_quotient, call))
    return binary(partial(_integer_quotient, call), call)


def _integer_quotient(call: Call, algebra: Algebra, one: Interval, other: Interval) -> Interval:
    """Divide integers. Large ones are divided as floating-point numbers by some runtimes, which rounds the result, and bytes.

    Bytes are rounded to the nearest integer: 255 / 2 is 128. Below 0, what is rounded down is among the results anyway.
    """
    found, exact = algebra.divide(one, _divisor(call, other)), call.semantics.exact_integers
    declared = call.outputs[0].element_type
    if call.semantics.rounds_bytes and declared is not None and declared.bits <= 8 and one.high > 0 and not found.is_any:
        return _rounded_up(algebra, one, found)
    if max(abs(one.low), abs(one.high), abs(other.low), abs(other.high)) <= exact or found.is_any:
        return found
    low, high = (0 if abs(bound) == inf else rounding_of(bound) for bound in (found.low, found.high))
    return replace(found, low=found.low - low, high=found.high + high)


def _rounded_up(algebra: Algebra, dividend: Interval, found: Interval) -> Interval:
    """Add quotients that are rounded up, none of which exceeds a dividend of 0 or more: divisors are positive."""
    above = algebra.add(found, algebra.exact(1))
    return algebra.hull(found, algebra.minimum(above, algebra.maximum(dividend, algebra.exact(0))))


def _divisor(call: Call, given: Interval) -> Interval:
    """Leave 0 out of what integers are divided by, if a run with it ends."""
    ends = given.low == 0 < given.high and not call.semantics.is_memory_read
    return call.algebra.both(given, Interval(1, inf)) if ends else given


def _nan_by_zero(call: Call, results: Sequence[Value]) -> Sequence[Value]:
    """Mark results of a division as maybe NaN where the divisor may be 0."""
    divisor = call.value(1)
    may_be_zero = divisor is None or divisor.elements.low <= 0 <= divisor.elements.high
    return [replace(found, may_be_nan=found.may_be_nan or may_be_zero) for found in results]


def _real_quotient(_: Algebra, one: Interval, other: Interval) -> Interval:
    if other.low <= 0 <= other.high or inf in (abs(one.low), abs(one.high), abs(other.low), abs(other.high)):
        return ANY
    results = [dividend / divisor for dividend in (one.low, one.high) for divisor in (other.low, other.high)]
    return Interval(min(results), max(results))


def remainder(call: Call, *, sign_of_dividend: bool) -> Sequence[Value]:
    """The remainder of a division has the sign of the dividend or of the divisor, and of integers stays below it."""
    if is_integer(call.outputs[0].element_type):
        return binary(partial(_integer_remainder, call, sign_of_dividend), call)
    return _nan_by_zero(call, binary(partial(_real_remainder, call), call))


def _integer_remainder(call: Call, sign_of_dividend: bool, algebra: Algebra, one: Interval, other: Interval) -> Interval:
    """Give the remainder of integers. Some runtimes divide large ones in float32: 2^31 - 1 by 7 then leaves up to 128.

    By a power of two they divide exactly, so that what a large dividend was rounded to leaves less than the divisor.
    """
    exact, divisor = call.semantics.exact_integers, other.exactly
    by = None if divisor is None else divisor.value
    is_power_of_two = by is not None and 0 < by <= exact and not by & (by - 1)
    if not is_power_of_two and not are_exact(algebra, one, exact):
        return ANY
    known = _positive_if_used(algebra, one, _divisor(call, other))
    return algebra.remainder(limited(call, one), known, sign_of_dividend=sign_of_dividend)


def _positive_if_used(algebra: Algebra, one: Interval, other: Interval) -> Interval:
    """Leave 0 out of a divisor that is 0 only if there is no dividend, as the size of an axis is among whose places all are.

    If there is a dividend, none of its lower bounds exceeds an upper one.
    """
    size = other.exactly
    if size is None or other.low >= 1:
        return other
    spans = (high - low for low in algebra.lows(one) for high in algebra.highs(one))
    return algebra.both(other, Interval(1, inf)) if any(algebra.sizes.is_at_most(span, size - 1) for span in spans) else other


def _real_remainder(call: Call, _: Algebra, one: Interval, other: Interval) -> Interval:
    """Give the remainder of fractions, which is off by as much as the quotient's rounding makes of a large dividend."""
    largest = max(abs(other.low), abs(other.high)) + max(abs(one.low), abs(one.high)) * call.semantics.float_error
    return Interval(-largest, largest)


def square_root(call: Call) -> Sequence[Value]:
    """The square root of a number below 0 is NaN."""
    value = call.value(0)
    may_be_negative = value is None or value.elements.low < 0
    return [replace(found, may_be_nan=found.may_be_nan or may_be_negative) for found in unary(_root, call)]


def logarithm(call: Call) -> Sequence[Value]:
    """The logarithm of a number below 0 is NaN."""
    value = call.value(0)
    may_be_negative = value is None or value.elements.low < 0
    return [replace(found, may_be_nan=found.may_be_nan or may_be_negative) for found in unary(_logarithm, call)]


def _logarithm(_: Algebra, values: Interval) -> Interval:
    """Give natural logarithms, which are computed by polynomials that are off by a little."""
    if values.high <= 0:
        return ANY
    low, high = (-inf if bound <= 0 else bound if bound == inf else log(bound) for bound in (values.low, values.high))
    return Interval(low - LOGARITHM_ERROR, high + LOGARITHM_ERROR)


def _root(_: Algebra, values: Interval) -> Interval:
    return Interval(sqrt(max(values.low, 0)), sqrt(max(values.high, 0)))


def _rectified(algebra: Algebra, values: Interval) -> Interval:
    return algebra.maximum(values, algebra.exact(0))


def _nearest(_: Algebra, values: Interval) -> Interval:
    """Round to the nearest whole number: halves up or down, as there are two ways."""
    low, high = (values.low if values.low == -inf else ceil(values.low - 0.5), values.high)
    return replace(values, low=low, high=high if high == inf else floor(high + 0.5))


def _constant_range(low: Number, high: Number) -> Unary:
    """A function with these results, whatever the operand is."""
    return lambda algebra, values: Interval(low, high)


ARITHMETIC: Mapping[str, Rule] = {
    "add": partial(binary, Algebra.add),
    "divide": divide,
    "logarithm": logarithm,
    "maximum": partial(extreme, Algebra.maximum),
    "minimum": partial(extreme, Algebra.minimum),
    "multiply": partial(binary, Algebra.multiply),
    "remainder": partial(remainder, sign_of_dividend=False),
    "remainder with the sign of the dividend": partial(remainder, sign_of_dividend=True),
    "square root": square_root,
    "subtract": partial(binary, Algebra.subtract),
    **{
        name: partial(unary, work)
        for name, work in {
            "absolute": Algebra.absolute,
            "both signs of a share": _constant_range(-1, 1),
            "ceiling": rounded(ceil),
            "floor": rounded(floor),
            "negative": lambda algebra, values: -values,
            "rectified": _rectified,
            "round": _nearest,
            "share": _constant_range(0, 1),
            "sign": _constant_range(-1, 1),
        }.items()
    },
}
