"""Transfer functions of element-wise operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from math import ceil, floor, inf
from struct import pack, unpack

from ov_gather.ranges.algebra.intervals import ANY, TRUTH, Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.values import LARGEST_SIZE, ONE, Shape, Value, in_slices, is_counted, is_integer
from ov_gather.ranges.rules.call import Operands

ROUNDED_OFF = 1 << 22
"""Reciprocal of the relative error of a quotient computed in float32."""

Binary = Callable[[Algebra, Interval, Interval], Interval]
Limit = Callable[[Operands, Interval], Interval]
Unary = Callable[[Algebra, Interval], Interval]


def broadcast_shape(shapes: Sequence[Shape | None], declared: Shape | None) -> Shape | None:
    """Return the shapes broadcast together as in NumPy; the declared dimension where they leave it open."""
    if declared is not None:
        for shape in shapes:
            if shape not in (declared, ()):
                break
        else:
            return declared
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or not known:
        return declared
    rank = max(map(len, known))
    if declared is not None and len(declared) != rank:
        return declared
    ranked = [shape for shape in known if shape]
    if all(shape == ranked[0] for shape in ranked):
        return ranked[0] if ranked else ()
    dims = []
    for i in range(rank):
        given = {shape[i - rank + len(shape)] for shape in known if i - rank + len(shape) >= 0} - {ONE}
        numbers = [dim for dim in given if dim.value is not None]
        if numbers:
            dims.append(numbers[0])  # a dynamic dimension beside it is equal, or 1
        elif len(given) > 1:
            if declared is None:
                return None
            dims.append(declared[i])
        else:
            dims.append(given.pop() if given else ONE)
    return tuple(dims)


def together(call: Operands, values: Sequence[Value], work: Callable[..., Interval]) -> Value:
    """Apply a function of intervals to broadcast operands, slice by slice if one of them has parts."""
    declared = call.outputs[0]
    shape = broadcast_shape([value.shape for value in values], declared.shape)
    elements = work(*(value.elements for value in values))
    found = Value(declared.element_type, shape, elements, may_be_nan=_may_be_nan(declared, values))
    axes = [value.parts.axis - len(value.shape) for value in values if value.parts and value.shape is not None]
    if not axes or shape is None or any(value.rank is not None and value.rank > len(shape) for value in values):
        return found  # without parts, or the declared rank is unknown, or less than that of an operand
    axis = axes[0] + len(shape)
    rows = [_along(value, axis, shape) for value in values]
    if any(row is None for row in rows):
        return found
    return in_slices(call.algebra, found, axis, [work(*slices) for slices in zip(*(row or () for row in rows), strict=True)])


def _may_be_nan(output: Value, values: Sequence[Value]) -> bool:
    """Return True if a result may be NaN because an operand may be NaN or infinite."""
    if is_integer(output.element_type):
        return False
    return any(value.may_be_nan or inf in (-value.elements.low, value.elements.high) for value in values)


def _along(value: Value, axis: int, shape: Shape) -> tuple[Interval, ...] | None:
    """Return the interval of each slice along an axis of the shape to which the value is broadcast."""
    size = shape[axis].value
    if value.shape is None or size is None:
        return None
    own = axis - len(shape) + len(value.shape)
    if own < 0 or value.shape[own] != shape[axis]:
        return (value.elements,) * size
    return value.along(own) or (value.elements,) * size


def limited(call: Operands, found: Interval) -> Interval:
    """Round a result as the arithmetic of the runtime may: floating-point numbers and large integers.

    A bound that is a dimension or an element count stays: these are assumed to be small enough to be exact, and the nearest
    float32 of a number does not exceed an integer that float32 represents unless the number does.
    """
    if not is_integer(call.outputs[0].element_type):
        low, high = _as_float(found.low), _as_float(found.high)
        down, up = (0 if abs(bound) == inf else abs(bound) * call.semantics.float_error for bound in (low, high))
        lows, highs = (tuple(one for one in bounds if is_counted(call.algebra, one)) for bounds in (found.lows, found.highs))
        return Interval(low - down, high + up, lows, highs)
    if max(-found.low, found.high) <= call.semantics.exact_integers:
        return found
    high, highs = _limited_above(call, found.high, found.highs)
    low, lows = _limited_above(call, -found.low, tuple(-bound for bound in found.lows))
    return Interval(-low, high, tuple(-bound for bound in lows), highs)


def _limited_above(call: Operands, high: Number, highs: tuple[Polynomial, ...]) -> tuple[Number, tuple[Polynomial, ...]]:
    """Round upper bounds of integers up. Bounds that exceed 32 bits stay, because the solver treats them as overflow."""
    if abs(high) <= call.semantics.exact_integers or abs(high) == inf:
        return high, highs
    if high > LARGEST_SIZE:
        return high + rounding_of(high), highs
    exact = tuple(bound for bound in highs if is_counted(call.algebra, bound))
    return (high, exact) if exact else (high + rounding_of(high), ())


def _as_float(number: Number) -> float:
    """Return a number as a float; infinite if it is too large, as is a product of very many sizes."""
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def rounding_of(number: Number) -> int:
    """Return the greatest rounding error of a large integer, which may exceed every float."""
    return int(abs(number) // ROUNDED_OFF) + 1


def binary(work: Binary, call: Operands, limit: Limit = limited) -> Sequence[Value]:
    """Infer arithmetic on two or more operands."""
    values = [value for value in call.inputs if value is not None]

    def all_of(*intervals: Interval) -> Interval:
        return reduce(lambda one, other: limit(call, work(call.algebra, one, other)), intervals)

    return [together(call, values, all_of)]


def extreme(work: Binary, call: Operands) -> Sequence[Value]:
    """Infer Min or Max. Beside NaN the result is the other operand, whatever its value, or NaN."""
    nan = [value is not None and value.may_be_nan for value in call.inputs]

    def beside_nan(algebra: Algebra, one: Interval, other: Interval) -> Interval:
        if all(nan) or len(nan) != 2:
            return algebra.join(one, other)
        return algebra.join(work(algebra, one, other), other if nan[0] else one)

    return [replace(found, may_be_nan=any(nan)) for found in binary(beside_nan if any(nan) else work, call, chosen)]


def unary(work: Unary, call: Operands, limit: Limit = limited) -> Sequence[Value]:
    """Infer a function of one operand."""
    return [together(call, [call.operand(0)], lambda one: limit(call, work(call.algebra, one)))]


def chosen(call: Operands, found: Interval) -> Interval:
    """Round the bounds of Min, Max and Select, which may pass through float32: 2^31 - 1 becomes 2^31."""
    if not is_integer(call.outputs[0].element_type):
        return limited(call, found)
    if call.is_exact:
        return found
    exact = call.semantics.exact_integers
    low, high = (_as_float32(bound) if exact < abs(bound) < inf else bound for bound in (found.low, found.high))
    return replace(found, low=min(low, found.low), high=max(high, found.high))


def _as_float32(number: Number) -> int:
    (nearest,) = unpack("f", pack("f", number))
    return int(nearest)


def rounded(round_down: Callable[[Number], Number]) -> Unary:
    """Return a function that applies a rounding such as `floor` to both bounds."""

    def work(_: Algebra, values: Interval) -> Interval:
        low, high = (bound if bound in (inf, -inf) else round_down(bound) for bound in (values.low, values.high))
        return replace(values, low=low, high=high)

    return work


def clamp(call: Operands, low: Number, high: Number) -> Sequence[Value]:
    """Infer Clamp, which turns NaN into the lower limit. Runtimes may round fractional limits of integers up or down."""
    least, greatest, value = Interval(low, low), Interval(high, high), call.value(0)
    if is_integer(call.outputs[0].element_type):
        least, greatest = _whole(low), _whole(high)
    nan = [least] if value is not None and value.may_be_nan else []

    def clamped(algebra: Algebra, values: Interval) -> Interval:
        return algebra.join(algebra.minimum(algebra.maximum(values, least), greatest), *nan)

    return [replace(found, may_be_nan=False) for found in unary(clamped, call, chosen)]


def _whole(number: Number) -> Interval:
    """Return the integers next to a fraction."""
    return Interval(number, number) if number in (inf, -inf) else Interval(floor(number), ceil(number))


def any_value(call: Operands) -> Sequence[Value]:
    """Infer the shape of broadcast operands; the elements are unknown."""
    shapes = [value.shape for value in call.inputs if value is not None]
    return [replace(call.outputs[0], shape=broadcast_shape(shapes, call.outputs[0].shape))]


def random_uniform(call: Operands) -> Sequence[Value]:
    """Infer RandomUniform: from the second operand to the third one, which integers do not reach."""
    low, top, dims = call.operand(1), call.operand(2).elements, call.dims(0)
    shape = call.outputs[0].shape if dims is None else tuple(dims)
    if is_integer(call.outputs[0].element_type):
        top = call.algebra.subtract(top, call.algebra.exact(1))
        if not call.algebra.is_at_least(call.algebra.subtract(top, low.elements), Polynomial(())):
            return [replace(call.outputs[0], shape=shape)]
    return [replace(call.output(low, elements=call.algebra.join(low.elements, top), parts=None), shape=shape)]


def select(call: Operands) -> Sequence[Value]:
    """Infer Select: one of the last two operands, or either if the condition is unknown."""
    values = [value for value in call.inputs if value is not None]
    if len(values) != 3:
        return list(call.outputs)

    def one_of_both(condition: Interval, one: Interval, other: Interval) -> Interval:
        if condition.low > 0:
            return chosen(call, one)
        return chosen(call, other if condition.high == 0 else call.algebra.join(one, other))

    return [replace(together(call, values, one_of_both), may_be_nan=values[1].may_be_nan or values[2].may_be_nan)]


def cast(call: Operands) -> Sequence[Value]:
    """Infer a conversion. Fractions are truncated; values that the type cannot hold become arbitrary."""
    value, target = call.operand(0), call.outputs[0].element_type
    if target is None or value.element_type is None:
        return [call.output(value, elements=ANY, parts=None, may_be_nan=True)]
    is_truth = is_integer(value.element_type) and value.elements.low >= 0 and value.elements.high <= 1
    if target.name == "boolean" and not is_truth and value.element_type.name not in ("boolean", "u8"):
        return [call.output(value, elements=TRUTH, parts=None, may_be_nan=False)]
    if not is_integer(target):
        given = replace(value, elements=ANY, parts=None) if call.semantics.narrows(value) else value
        return [together(call, [given], lambda one: limited(call, one))]
    if value.may_be_nan:
        return [call.output(value, elements=ANY, parts=None, may_be_nan=False)]
    if is_integer(value.element_type):
        return [call.output(value)]  # the solver checks the range of the type
    towards_zero = rounded(lambda bound: floor(bound) if bound >= 0 else ceil(bound))
    return [replace(together(call, [value], lambda one: towards_zero(call.algebra, one)), may_be_nan=False)]
