"""Transfer functions of arithmetic, shared by ONNX and OpenVINO, by the names of `ov_gather.ops.table`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import ceil, floor, inf, log, sqrt

from ov_gather.ranges.algebra.intervals import ANY, Algebra, Interval
from ov_gather.ranges.algebra.values import Value, are_exact, is_integer
from ov_gather.ranges.rules.call import Operands
from ov_gather.ranges.rules.elementwise import binary, extreme, limited, rounded, rounding_of, unary

LOGARITHM_ERROR = 2**-16


def divide(call: Operands) -> Sequence[Value]:
    """Infer a quotient. Integers round down or towards 0; a floating-point quotient is NaN if the divisor may be 0."""
    if not is_integer(call.outputs[0].element_type):
        return _nan_by_zero(call, binary(_real_quotient, call))
    return binary(partial(_integer_quotient, call), call)


def _integer_quotient(call: Operands, algebra: Algebra, one: Interval, other: Interval) -> Interval:
    """Divide integers. Large ones may be divided in floating point, and bytes may be rounded to the nearest: 255 / 2 = 128.

    A negative quotient that is rounded away from 0 is included in any case.
    """
    found, exact = algebra.divide(one, _divisor(call, other)), call.semantics.exact_integers
    declared = call.outputs[0].element_type
    if call.semantics.rounds_bytes and declared is not None and declared.bits <= 8 and one.high > 0 and not found.is_any:
        return _rounded_up(algebra, one, found)
    if found.is_any or (are_exact(algebra, one, exact) and are_exact(algebra, other, exact)):
        return found
    low, high = (0 if abs(bound) == inf else rounding_of(bound) for bound in (found.low, found.high))
    return Interval(found.low - low, found.high + high, (), one.highs if one.low >= 0 else ())


def _rounded_up(algebra: Algebra, dividend: Interval, found: Interval) -> Interval:
    """Include quotients that are rounded up. They do not exceed a non-negative dividend, as divisors are positive."""
    above = algebra.add(found, algebra.exact(1))
    return algebra.join(found, algebra.minimum(above, algebra.maximum(dividend, algebra.exact(0))))


def _divisor(call: Operands, given: Interval) -> Interval:
    """Exclude 0 from a divisor if a run that divides by 0 ends with an error."""
    ends = given.low == 0 < given.high and not call.semantics.reads_out_of_bounds
    return call.algebra.meet(given, Interval(1, inf)) if ends else given


def _nan_by_zero(call: Operands, results: Sequence[Value]) -> Sequence[Value]:
    """Mark quotients as maybe NaN if the divisor may be 0."""
    divisor = call.value(1)
    may_be_zero = divisor is None or divisor.elements.low <= 0 <= divisor.elements.high
    return [replace(found, may_be_nan=found.may_be_nan or may_be_zero) for found in results]


def _real_quotient(_: Algebra, one: Interval, other: Interval) -> Interval:
    if other.low <= 0 <= other.high or inf in (abs(one.low), abs(one.high), abs(other.low), abs(other.high)):
        return ANY
    results = [dividend / divisor for dividend in (one.low, one.high) for divisor in (other.low, other.high)]
    return Interval(min(results), max(results))


def remainder(call: Operands, *, sign_of_dividend: bool) -> Sequence[Value]:
    """Infer a remainder, which has the sign of the dividend or of the divisor."""
    if is_integer(call.outputs[0].element_type):
        return binary(partial(_integer_remainder, call, sign_of_dividend), call)
    return _nan_by_zero(call, binary(partial(_real_remainder, call), call))


def _integer_remainder(call: Operands, sign_of_dividend: bool, algebra: Algebra, one: Interval, other: Interval) -> Interval:
    """Bound the remainder of integers.

    Some runtimes divide large integers in float32: 2^31 - 1 modulo 7 is then up to 128. Powers of two divide exactly, so that
    the remainder of a rounded dividend stays below the divisor.
    """
    exact, divisor = call.semantics.exact_integers, other.exactly
    by = None if divisor is None else divisor.value
    is_power_of_two = by is not None and 0 < by <= exact and not by & (by - 1)
    if not is_power_of_two and not are_exact(algebra, one, exact):
        return ANY
    known = _positive_if_used(algebra, one, _divisor(call, other))
    return algebra.remainder(limited(call, one), known, sign_of_dividend=sign_of_dividend)


def _positive_if_used(algebra: Algebra, one: Interval, other: Interval) -> Interval:
    """Exclude 0 from a divisor that exceeds the span of the dividend, as for positions modulo the size of their axis.

    A dividend that exists has a span of 0 or more, so that such a divisor is at least 1.
    """
    size = other.exactly
    if size is None or other.low >= 1:
        return other
    spans = (high - low for low in algebra.lows(one) for high in algebra.highs(one))
    return algebra.meet(other, Interval(1, inf)) if any(algebra.sizes.is_at_most(span, size - 1) for span in spans) else other


def _real_remainder(call: Operands, _: Algebra, one: Interval, other: Interval) -> Interval:
    """Bound the remainder of fractions. The rounding error of the quotient grows with the dividend."""
    largest = max(abs(other.low), abs(other.high)) + max(abs(one.low), abs(one.high)) * call.semantics.float_error
    return Interval(-largest, largest)


def square_root(call: Operands) -> Sequence[Value]:
    """Infer a square root."""
    return _nan_of_negative(call, unary(_root, call))


def logarithm(call: Operands) -> Sequence[Value]:
    """Infer a natural logarithm."""
    return _nan_of_negative(call, unary(_logarithm, call))


def _nan_of_negative(call: Operands, results: Sequence[Value]) -> Sequence[Value]:
    """Mark results as maybe NaN if the operand may be negative; integers are then any number."""
    if call.operand(0).elements.low >= 0:
        return results
    if is_integer(call.outputs[0].element_type):
        return [replace(found, elements=ANY, parts=None) for found in results]
    return [replace(found, may_be_nan=True) for found in results]


def _logarithm(_: Algebra, values: Interval) -> Interval:
    """Bound natural logarithms, which runtimes approximate by polynomials."""
    if values.high <= 0:
        return ANY
    low, high = (-inf if bound <= 0 else bound if bound == inf else log(bound) for bound in (values.low, values.high))
    return Interval(low - LOGARITHM_ERROR, high + LOGARITHM_ERROR)


def _root(_: Algebra, values: Interval) -> Interval:
    return Interval(sqrt(max(values.low, 0)), sqrt(max(values.high, 0)))


def _nearest(_: Algebra, values: Interval) -> Interval:
    """Round to the nearest integer, halves in either direction."""
    low, high = (values.low if values.low == -inf else ceil(values.low - 0.5), values.high)
    return replace(values, low=low, high=high if high == inf else floor(high + 0.5))


absolute = partial(unary, Algebra.absolute)
add = partial(binary, Algebra.add)
at_least_zero = partial(unary, lambda algebra, values: algebra.maximum(values, algebra.exact(0)))
fraction = partial(unary, lambda algebra, values: Interval(0, 1))
maximum = partial(extreme, Algebra.maximum)
minimum = partial(extreme, Algebra.minimum)
multiply = partial(binary, Algebra.multiply)
nearest = partial(unary, _nearest)
negate = partial(unary, lambda algebra, values: -values)
round_down = partial(unary, rounded(floor))
round_up = partial(unary, rounded(ceil))
subtract = partial(binary, Algebra.subtract)
unit = partial(unary, lambda algebra, values: Interval(-1, 1))
sign = unit  # of a small number it may be 0
