"""Transfer functions of reductions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import inf

from ov_gather.ranges.algebra.intervals import ANY, TRUTH, Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.values import ONE, Shape, Value, are_exact, counted, in_slices, is_integer, product
from ov_gather.ranges.rules.call import Operands, UndeterminedError
from ov_gather.ranges.rules.elementwise import chosen, limited


def _axes(call: Operands, axes: Sequence[int] | None) -> list[int]:
    """Return the reduced axes, counted from the front, all if `axes` is None. Raises UndeterminedError if one is invalid."""
    return [call.axis(axis) for axis in (range(len(call.shape(0))) if axes is None else axes)]


def _shape(call: Operands, reduced: Collection[int], *, keep_dims: bool) -> Shape:
    dims = [(axis, ONE if axis in reduced else dim) for axis, dim in enumerate(call.shape(0))]
    return tuple(dim for axis, dim in dims if keep_dims or axis not in reduced)


def extreme(call: Operands, axes: Sequence[int] | None, *, keep_dims: bool) -> Sequence[Value]:
    """Infer ReduceMin or ReduceMax, which lies within the bounds of the elements unless it reduces none."""
    data, reduced = call.operand(0), _axes(call, axes)
    shape = _shape(call, reduced, keep_dims=keep_dims)
    if call.algebra.sizes.least(_number(call, reduced)) < 1:
        return [replace(call.outputs[0], shape=shape)]
    found = call.output(replace(data, elements=_one_of(call, data.elements), shape=shape, parts=None))
    if data.parts is None or data.parts.axis in reduced:
        return [found]
    axis = data.parts.axis - (0 if keep_dims else sum(other < data.parts.axis for other in reduced))
    return [in_slices(call.algebra, found, axis, [_one_of(call, part) for part in data.parts.intervals])]


def _number(call: Operands, reduced: Sequence[int]) -> Polynomial:
    """Return the number of elements that are reduced to one."""
    return product([call.shape(0)[axis] for axis in reduced])


def _one_of(call: Operands, elements: Interval) -> Interval:
    """Bound the least or greatest of some elements, which is exact for floating-point numbers."""
    return chosen(call, elements) if is_integer(call.outputs[0].element_type) else elements


def mean(call: Operands, axes: Sequence[int] | None, *, keep_dims: bool) -> Sequence[Value]:
    """Infer ReduceMean, which lies within the bounds of the elements if their sum is exact."""
    (found,) = extreme(call, axes, keep_dims=keep_dims)
    number = _number(call, _axes(call, axes))
    means = found.mapped(lambda elements: mean_of(call, elements, number))
    return [replace(means, parts=None) if means.elements.is_any else means]


def mean_of(call: Operands, elements: Interval, number: Polynomial) -> Interval:
    """Bound the mean of some elements. Fractions are rounded; the sum of integers may wrap around."""
    if not is_integer(call.outputs[0].element_type):
        return limited(call, elements)
    found = call.algebra.multiply(elements, call.algebra.between(ONE, number))
    widest, exact = call.semantics.widest(call.outputs[0].element_type), call.semantics.exact_integers
    is_exact = max(widest.low, -exact) <= found.low and found.high <= min(widest.high, exact)
    return elements if is_exact else ANY


def truth(call: Operands, axes: Sequence[int] | None, *, keep_dims: bool) -> Sequence[Value]:
    """Infer ReduceLogicalAnd or ReduceLogicalOr."""
    try:
        return [call.bounded(TRUTH, _shape(call, _axes(call, axes), keep_dims=keep_dims))]
    except UndeterminedError:
        return [call.bounded(TRUTH)]


def total(call: Operands, axes: Sequence[int] | None, *, keep_dims: bool) -> Sequence[Value]:
    """Infer ReduceSum: the sum of at most as many elements as the axes have."""
    data, reduced = call.operand(0), _axes(call, axes)
    number, shape = _number(call, reduced), _shape(call, reduced, keep_dims=keep_dims)
    found = replace(_summed(call, data, number, shape), peak=_peak_of_sum(call, data, number))
    if data.parts is None or data.parts.axis in reduced:
        return [found]
    axis = data.parts.axis - (0 if keep_dims else sum(other < data.parts.axis for other in reduced))
    return [in_slices(call.algebra, found, axis, [_sum_of(call, part, number) for part in data.parts.intervals])]


def _peak_of_sum(call: Operands, data: Value, number: Polynomial) -> Number:
    """Return the peak of data if a sum reaches it, too: no element is negative and nothing wraps around; otherwise -inf."""
    if not is_integer(data.element_type) or data.elements.low < 0:
        return -inf
    return data.peak if are_exact(call.algebra, _sum_of(call, data.elements, number), call.semantics.exact_integers) else -inf


def running_total(call: Operands, axis: int | None) -> Sequence[Value]:
    """Infer CumSum: all partial sums along an axis, with or without the current element."""
    whole = call.shape(0)
    return [_summed(call, call.operand(0), whole[call.axis(axis)], whole)]


def _summed(call: Operands, data: Value, number: Polynomial, shape: Shape) -> Value:
    found = _sum_of(call, data.elements, number)
    may_be_nan = data.may_be_nan or (not is_integer(data.element_type) and inf in (-data.elements.low, data.elements.high))
    return call.output(elements=found, shape=shape, parts=None, may_be_nan=may_be_nan)


def _sum_of(call: Operands, elements: Interval, number: Polynomial) -> Interval:
    """Bound the sum of at most this number of elements."""
    times = counted(call.algebra, call.algebra.between(Polynomial(()), number))
    return limited(call, call.algebra.multiply(call.algebra.join(elements, Interval(0, 0)), times))


def multiplied(call: Operands, axes: Sequence[int] | None, *, keep_dims: bool) -> Sequence[Value]:
    """Infer ReduceProd: exact if each factor is known, as in the product of a shape."""
    reduced = _axes(call, axes)
    shape, factors = _shape(call, reduced, keep_dims=keep_dims), call.dims(0)
    if factors is not None and reduced == [0]:
        return [call.bounded(limited(call, call.algebra.exact(product(factors))), shape)]
    return [replace(call.outputs[0], shape=shape)]
