"""Transfer functions of operations that read or write by indices, or return indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor, inf

from ov_gather.ranges.algebra.intervals import ANY, Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import (
    LARGEST_SIZE,
    MAX_PARTS,
    ONE,
    Shape,
    Value,
    at_least_one,
    count,
    counted,
    in_slices,
    is_integer,
    is_of_sizes,
    product,
)
from ov_gather.ranges.rules.call import Operands
from ov_gather.ranges.rules.elementwise import limited
from ov_gather.ranges.rules.moves import take, with_dim
from ov_gather.ranges.rules.reducing import mean_of

ZERO = Polynomial(())


def positions(algebra: Algebra, dim: Polynomial) -> Interval:
    """Return the interval of the indices of an axis; 0 if it has none."""
    return counted(algebra, algebra.between(ZERO, dim - 1)) if algebra.sizes.greatest(dim) >= 1 else Interval(0, 0)


def is_within(algebra: Algebra, indices: Interval, dim: Polynomial, *, from_end: bool = True) -> bool:
    """Return True if no index is out of bounds; with `from_end` negative indices count from the end of the axis."""
    lowest = -dim if from_end else ZERO
    return algebra.is_at_least(indices, lowest) and algebra.is_at_most(indices, dim - 1)


def gather(call: Operands, axis: int | None, batch_dims: int, *, from_end: bool) -> Sequence[Value]:
    """Infer Gather: slices of data along one axis. An axis of None is unknown."""
    data, indices = call.operand(0), call.operand(1)
    if data.shape is None or axis is None or not -len(data.shape) <= axis < len(data.shape):
        return [_read(call, data, is_safe=False)]
    axis %= len(data.shape)
    is_safe = is_within(call.algebra, indices.elements, data.shape[axis], from_end=from_end)
    has_zeros = len(data.shape) > 1 and call.algebra.sizes.least(data.shape[axis]) >= 1
    found = _read(call, data, is_safe=is_safe, has_zeros=has_zeros)
    if indices.shape is None or batch_dims < 0:
        return [found]
    shape = (*data.shape[:axis], *indices.shape[batch_dims:], *data.shape[axis + 1 :])
    found = replace(found, shape=shape)
    if data.parts is None or not is_safe:
        return [found]
    if data.parts.axis != axis:
        moved = 0 if data.parts.axis < axis else len(indices.shape) - batch_dims - 1
        return [in_slices(call.algebra, found, data.parts.axis + moved, data.parts.intervals)]
    chosen = call.integers(1)
    if chosen is None or batch_dims:
        return [found]
    taken = take(call.algebra, data, axis, [index % len(data.parts.intervals) for index in chosen])
    parts = None if not indices.shape else taken.parts
    return [replace(found, elements=taken.elements, parts=parts)]


def gather_elements(call: Operands, axis: int) -> Sequence[Value]:
    """Infer GatherElements: elements of data along one axis, in the shape of indices."""
    data, indices = call.operand(0), call.operand(1)
    dim = None if data.shape is None or not -len(data.shape) <= axis < len(data.shape) else data.shape[axis]
    is_safe = dim is not None and is_within(call.algebra, indices.elements, dim)
    return [replace(_read(call, data, is_safe=is_safe), shape=indices.shape)]


def gather_nd(call: Operands, batch_dims: int, *, merges_batches: bool = False) -> Sequence[Value]:
    """Infer GatherND: elements or slices of data at coordinates. Before version 8 OpenVINO merges the batch dimensions."""
    data, indices = call.operand(0), call.operand(1)
    found = _read(call, data, is_safe=are_tuples_within(call.algebra, data, indices, batch_dims))
    length = indices.shape[-1].value if indices.shape else None
    if data.shape is None or not indices.shape or length is None or (merges_batches and batch_dims > 1):
        return [found]
    return [replace(found, shape=(*indices.shape[:-1], *data.shape[batch_dims + length :]))]


def are_tuples_within(algebra: Algebra, data: Value, indices: Value, batch_dims: int) -> bool:
    """Return True if each coordinate, along the last axis of indices, is within its dimension of data."""
    if data.shape is None or not indices.shape:
        return False
    coordinates = indices.along(len(indices.shape) - 1)
    dims = data.shape[batch_dims:]
    if coordinates is None or len(coordinates) > len(dims):
        return False
    return all(is_within(algebra, interval, dim) for interval, dim in zip(coordinates, dims, strict=False))


def _read(call: Operands, data: Value, *, is_safe: bool, has_zeros: bool = False) -> Value:
    """Return the elements that a gather reads, without parts.

    If an index may be out of bounds, some runtimes read other memory, or return zeros if `has_zeros`.
    """
    if not is_safe and call.semantics.reads_out_of_bounds:
        if has_zeros:
            elements, outside = call.algebra.join(data.elements, Interval(0, 0)), data.outside or Interval(0, 0)
            return call.output(elements=elements, may_be_nan=data.may_be_nan, outside=outside)
        return replace(call.outputs[0], elements=ANY, parts=None, outside=ANY)
    return call.output(replace(data, shape=call.outputs[0].shape, parts=None))


def scatter(call: Operands, reduction: str) -> Sequence[Value]:
    """Infer a scatter: data with some elements replaced by updates, or combined with them."""
    data, given = call.operand(0), call.operand(2)
    found = call.output(data, parts=None, may_be_nan=data.may_be_nan or given.may_be_nan)
    elements = call.algebra.join(data.elements, given.elements)
    if reduction in ("none", "min", "max"):
        return [replace(found, elements=elements)]
    if reduction == "mean" and given.shape is not None:
        return [replace(found, elements=mean_of(call, elements, product(given.shape) + 1))]
    return [replace(found, elements=ANY)]


def top_k(call: Operands, axis: int) -> Sequence[Value]:
    """Infer TopK: the greatest or least elements along an axis, and their positions."""
    data, whole, axis = call.operand(0), call.shape(0), call.axis(axis)
    number = call.dims(1)
    wanted = call.value(1)
    is_enough = wanted is not None and call.algebra.is_at_most(wanted.elements, whole[axis])
    if call.semantics.reads_out_of_bounds and not is_enough:
        # OpenVINO accepts a K that exceeds the size of the axis
        return [replace(output, shape=_with_axis_of(output.shape, whole, axis)) for output in call.outputs]
    if number is None or len(number) != 1:
        return [call.output(data, shape=call.outputs[0].shape, parts=None), _places(call, whole[axis], 1)]
    shape = with_dim(whole, axis, number[0])
    values = call.output(data, shape=shape, parts=None)
    places = [_places(call, whole[axis], position) for position in range(1, len(call.outputs))]
    return [values, *(replace(found, shape=shape) for found in places)]


def _with_axis_of(declared: Shape | None, shape: Shape, axis: int) -> Shape | None:
    """Return the shape with the declared size of one axis."""
    if declared is None or len(declared) != len(shape):
        return declared
    return with_dim(shape, axis, declared[axis])


def unique(call: Operands) -> Sequence[Value]:
    """Infer Unique: distinct elements, first positions, an inverse index for each element of data, counts.

    Of data without elements OpenVINO's CPU plugin returns the outputs of its previous inference, of any size.
    """
    data, shape = call.operand(0), call.shape(0)
    least, most = count(call.algebra, shape)
    if len(call.inputs) > 1 or (least < 1 and call.semantics.reads_out_of_bounds):
        return list(call.outputs)
    for output in call.outputs:
        for dim in output.shape or ():
            call.algebra.sizes.narrow(dim, most, min(1, int(least)))
    outputs = [replace(shaped, shape=(product(shape),)) if i == 2 else shaped for i, shaped in enumerate(call.outputs)]
    distinct = outputs[0].shape
    if data.may_be_nan or distinct is None or len(distinct) != 1:
        return outputs
    outputs[0] = call.output(outputs[0], elements=data.elements, may_be_nan=False)
    places = positions(call.algebra, product(shape)), positions(call.algebra, distinct[0])
    counts = call.algebra.add(places[0], call.algebra.exact(1))
    return [outputs[0], *(replace(one, elements=found) for one, found in zip(outputs[1:], (*places, counts), strict=False))]


def boxes_kept(call: Operands, *, is_padded: bool) -> Sequence[Value]:
    """Infer NonMaxSuppression: batch, class and box of each kept box; if it pads its outputs, -1 for the others."""
    boxes, scores, found = call.shape(0, 3), call.shape(1, 3), call.outputs[0]
    if found.shape is None or len(found.shape) != 2 or found.shape[1].value != 3:
        return list(call.outputs)
    columns = [positions(call.algebra, dim) for dim in (*scores[:2], boxes[1])]
    if is_padded:
        columns = [call.algebra.join(column, Interval(-1, -1)) for column in columns]
    return [in_slices(call.algebra, call.bounded(columns[0]), 1, columns), *call.outputs[1:]]


def arg_extreme(call: Operands, axis: int) -> Sequence[Value]:
    """Infer ArgMax or ArgMin: positions along an axis."""
    return [_places(call, call.shape(0)[call.axis(axis)], 0)]


def _places(call: Operands, dim: Polynomial, position: int) -> Value:
    """Return an output of positions along an axis."""
    return call.bounded(positions(call.algebra, dim), position=position)


def non_zero(call: Operands) -> Sequence[Value]:
    """Infer NonZero: one row for each axis, one column for each element that is not zero.

    Runtimes treat a scalar as a vector of one element.
    """
    data = call.value(0)
    if data is None or data.shape is None:
        return [call.bounded(Interval(0, LARGEST_SIZE))]
    if call.semantics.reads_out_of_bounds and len(data.shape) > 1 and all(dim == ONE for dim in data.shape):
        return list(call.outputs)  # when OpenVINO folds a constant of one element, it sets the first row only
    rows = [positions(call.algebra, dim) for dim in data.shape or (ONE,)]
    if data.parts is not None and not data.may_be_nan:
        some = [place for place, part in enumerate(data.parts.intervals) if (part.low, part.high) != (0, 0)]
        rows[data.parts.axis] = Interval(some[0], some[-1]) if some else Interval(0, 0)
    columns = None if call.outputs[0].shape is None else call.outputs[0].shape[-1]
    found = call.bounded(Interval(0, LARGEST_SIZE))
    if columns is not None:
        columns = at_least_one(columns) if data.peak > 0 and columns.value is None else columns
        found = replace(found, shape=(Polynomial.constant(len(rows)), columns))
    return [in_slices(call.algebra, found, 0, rows)]


def count_up(call: Operands) -> Sequence[Value]:
    """Infer Range: from the first operand up to the second, exclusive, in steps of the third."""
    start, stop, step = (call.operand(position) for position in range(3))
    algebra, length = call.algebra, call.outputs[0].shape
    by = step.elements
    if not all(is_integer(operand.element_type) for operand in (start, stop, step)):
        return _count_fractions(call, start, stop)
    if by.low > 0:
        first, end = start.elements, algebra.subtract(stop.elements, algebra.exact(1))
        length = _length(call, start, stop) or length if by.exactly == ONE else length
        return [replace(call.bounded(_counted_up(call, first, end)), shape=length)]
    if by.high < 0:
        first, end = -start.elements, algebra.subtract(-stop.elements, algebra.exact(1))
        length = _length(call, stop, start) or length if by.exactly == -ONE else length
        return [replace(call.bounded(-_counted_up(call, first, end)), shape=length)]
    return list(call.outputs)


def _length(call: Operands, low: Value, high: Value) -> Shape | None:
    """Return the shape of a Range in steps of 1 between two sizes; None unless the first is known not to exceed the second."""
    first, last = low.elements.exactly, high.elements.exactly
    if first is None or last is None or not (first == ZERO or all(map(is_of_sizes, (first, last)))):
        return None
    return (last - first,) if call.algebra.sizes.least(last - first) >= 0 else None


def _count_fractions(call: Operands, start: Value, stop: Value) -> Sequence[Value]:
    """Bound a Range of fractions, which may run in the wrong direction, as in `_counted_up`."""
    if start.may_be_nan or stop.may_be_nan:
        return list(call.outputs)
    mirrored = call.algebra.subtract(call.algebra.add(start.elements, start.elements), stop.elements)
    found = limited(call, call.algebra.join(start.elements, stop.elements, mirrored))
    if not is_integer(call.outputs[0].element_type) or inf in (-found.low, found.high):
        return [call.bounded(found)]
    return [call.bounded(Interval(floor(found.low), ceil(found.high)))]


def _counted_up(call: Operands, first: Interval, last: Interval) -> Interval:
    """Return the numbers from the first to the last.

    If the last comes first, the plugin counts as far in the other direction: Range(5, 0, 1) is 5, 6, 7, 8, 9.
    """
    algebra = call.algebra
    if call.semantics.reads_out_of_bounds and not algebra.is_at_least(algebra.subtract(last, first), -ONE):
        last = algebra.join(last, algebra.subtract(algebra.add(first, first), algebra.add(last, algebra.exact(2))))
    return Interval(first.low, max(first.low, last.high), first.lows, last.highs)


def bucketize(call: Operands) -> Sequence[Value]:
    """Infer Bucketize: the bucket of each element, from 0 to the number of boundaries."""
    return [_placed(call, call.shape(1, 1)[0], call.operand(0))]


def search_sorted(call: Operands) -> Sequence[Value]:
    """Infer SearchSorted: the insertion position of each value, from 0 to the length of a row."""
    return [_placed(call, call.shape(0, 1)[-1], call.operand(1))]


def _placed(call: Operands, dim: Polynomial, data: Value) -> Value:
    """Return insertion positions along an axis. The plugin skips the search in an empty axis, so that the result is unknown."""
    if call.semantics.reads_out_of_bounds and call.algebra.sizes.least(dim) < 1:
        return replace(call.outputs[0], shape=data.shape)
    return call.bounded(counted(call.algebra, call.algebra.between(ZERO, dim)), data.shape)


def one_hot(call: Operands, axis: int) -> Sequence[Value]:
    """Infer OneHot: the "on" or "off" value for each element, "off" for a class that no index can name."""
    indices, depth, on, off = call.operand(0), call.integer(1), call.operand(2), call.operand(3)
    both = call.algebra.join(on.elements, off.elements)
    found = call.output(elements=both, may_be_nan=on.may_be_nan or off.may_be_nan)
    if indices.shape is None or depth is None or not -len(indices.shape) - 1 <= axis <= len(indices.shape):
        return [found]
    axis %= len(indices.shape) + 1
    shape = (*indices.shape[:axis], Polynomial.constant(depth), *indices.shape[axis:])
    is_named = is_within(call.algebra, indices.elements, Polynomial.constant(depth), from_end=False)
    is_on = is_named and count(call.algebra, indices.shape)[0] >= 1 and not on.may_be_nan
    found = replace(found, shape=shape, peak=on.elements.low if is_on else -inf)
    if not 0 < depth <= MAX_PARTS:
        return [found]
    low, high = indices.elements.low, indices.elements.high
    # In some versions a negative index counts from the end.
    may_be_on = [low <= place <= high or low <= place - depth <= high for place in range(depth)]
    return [in_slices(call.algebra, found, axis, [both if named else off.elements for named in may_be_on])]
