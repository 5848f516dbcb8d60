"""Transfer functions of reductions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import inf

from ov_gather.ranges.algebra.intervals import ANY, TRUTH, Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.values import ONE, Shape, Value, are_exact, counted, in_slices, is_integer, product
from ov_gather.ranges.rules.call import Operands
from ov_gather.ranges.rules.elementwise import chosen, limited


def _axes(call: Operands, axes: Sequence[int] | None) -> list[int] | None:
    """Return the reduced axes, counted from the front, all if `axes` is None; None if they are unknown or invalid."""
    data = call.value(0)
    if data is None or data.shape is None:
        return None
    rank = len(data.shape)
    if axes is None:
        return list(range(rank))
    return [axis % rank for axis in axes] if all(-rank <= axis < rank for axis in axes) else None


def _shape(data: Value, reduced: Collection[int], *, keep_dims: bool) -> Shape:
    dims = [(axis, ONE if axis in reduced else dim) for axis, dim in enumerate(data.shape or ())]
    return tuple(dim for axis, dim in dims if keep_dims or axis not in reduced)


def extreme(call: Operands, axes: Sequence[int] | None, *, keep_dims: bool) -> Sequence[Value]:
    """Infer ReduceMin or ReduceMax, which lies within the bounds of the elements unless it reduces none."""
    data, reduced = call.value(0), _axes(call, axes)
    if data is None or data.shape is None or reduced is None:
        return list(call.outputs)
    shape = _shape(data, reduced, keep_dims=keep_dims)
    if call.algebra.sizes.least(product([data.shape[axis] for axis in reduced])) < 1:
        return [replace(call.outputs[0], shape=shape)]
    found = call.output(replace(data, elements=_one_of(call, data.elements), shape=shape, parts=None))
    if data.parts is None or data.parts.axis in reduced:
        return [found]
    axis = data.parts.axis - (0 if keep_dims else sum(other < data.parts.axis for other in reduced))
    return [in_slices(call.algebra, found, axis, [_one_of(call, part) for part in data.parts.intervals])]


def _one_of(call: Operands, elements: Interval) -> Interval:
    """Bound the least or greatest of some elements, which is exact for floating-point numbers."""
    return chosen(call, elements) if is_integer(call.outputs[0].element_type) else elements


def mean(call: Operands, axes: Sequence[int] | None, *, keep_dims: bool) -> Sequence[Value]:
    """Infer ReduceMean, which lies within the bounds of the elements if their sum is exact."""
    (found,) = extreme(call, axes, keep_dims=keep_dims)
    data, reduced = call.value(0), _axes(call, axes)
    if data is None or data.shape is None or reduced is None:
        return [found]
    number = product([data.shape[axis] for axis in reduced])
    elements = mean_of(call, found.elements, number)
    if found.parts is None or elements.is_any:
        return [replace(found, elements=elements, parts=None)]
    intervals = tuple(mean_of(call, part, number) for part in found.parts.intervals)
    return [replace(found, elements=elements, parts=replace(found.parts, intervals=intervals))]


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
    data, reduced = call.value(0), _axes(call, axes)
    known = data is not None and reduced is not None
    return [call.bounded(TRUTH, _shape(data, reduced, keep_dims=keep_dims) if known and data and reduced is not None else None)]


def total(call: Operands, axes: Sequence[int] | None, *, keep_dims: bool) -> Sequence[Value]:
    """Infer ReduceSum: the sum of at most as many elements as the axes have."""
    data, reduced = call.value(0), _axes(call, axes)
    if data is None or data.shape is None or reduced is None:
        return list(call.outputs)
    dims, shape = [data.shape[axis] for axis in reduced], _shape(data, reduced, keep_dims=keep_dims)
    found = replace(_summed(call, data, dims, shape), peak=_peak_of_sum(call, data, dims))
    if data.parts is None or data.parts.axis in reduced:
        return [found]
    axis = data.parts.axis - (0 if keep_dims else sum(other < data.parts.axis for other in reduced))
    return [in_slices(call.algebra, found, axis, [_sum_of(call, part, dims) for part in data.parts.intervals])]


def _peak_of_sum(call: Operands, data: Value, dims: Sequence[Polynomial]) -> Number:
    """Return the peak of data if a sum reaches it, too: no element is negative and nothing wraps around; otherwise -inf."""
    found = _sum_of(call, data.elements, dims)
    is_exact = are_exact(call.algebra, found, call.semantics.exact_integers)
    return data.peak if is_exact and is_integer(data.element_type) and data.elements.low >= 0 else -inf


def running_total(call: Operands, axis: int | None) -> Sequence[Value]:
    """Infer CumSum: all partial sums along an axis, with or without the current element."""
    data, axes = call.value(0), None if axis is None else _axes(call, [axis])
    if data is None or data.shape is None or axes is None:
        return list(call.outputs)
    return [_summed(call, data, [data.shape[axes[0]]], data.shape)]


def _summed(call: Operands, data: Value, dims: Sequence[Polynomial], shape: Shape) -> Value:
    found = _sum_of(call, data.elements, dims)
    may_be_nan = data.may_be_nan or (not is_integer(data.element_type) and inf in (-data.elements.low, data.elements.high))
    return call.output(elements=found, shape=shape, parts=None, may_be_nan=may_be_nan)


def _sum_of(call: Operands, elements: Interval, dims: Sequence[Polynomial]) -> Interval:
    """Bound the sum of at most as many elements as the dimensions have."""
    number = counted(call.algebra, call.algebra.between(Polynomial(()), product(dims)))
    return limited(call, call.algebra.multiply(call.algebra.join(elements, Interval(0, 0)), number))


def multiplied(call: Operands, axes: Sequence[int] | None, *, keep_dims: bool) -> Sequence[Value]:
    """Infer ReduceProd: exact if each factor is known, as in the product of a shape."""
    data, reduced = call.value(0), _axes(call, axes)
    if data is None or data.shape is None or reduced is None:
        return list(call.outputs)
    shape = _shape(data, reduced, keep_dims=keep_dims)
    factors = call.dims(0)
    if factors is not None and reduced == [0]:
        return [call.bounded(limited(call, call.algebra.exact(product(factors))), shape)]
    return [replace(call.outputs[0], shape=shape)]
