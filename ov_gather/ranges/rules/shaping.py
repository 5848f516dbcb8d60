"""Transfer functions of operations that reshape, reorder, slice, pad or repeat, possibly to a computed shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.symbols import Copied
from ov_gather.ranges.algebra.values import LARGEST_SIZE, MAX_PARTS, ONE, Shape, Value, counted, in_slices, product
from ov_gather.ranges.rules import moves
from ov_gather.ranges.rules.call import Operands
from ov_gather.ranges.rules.elementwise import broadcast_shape, limited


def same_shape(call: Operands) -> Sequence[Value]:
    """Infer an operation that returns its first operand."""
    return [call.output(call.operand(0), peak=call.operand(0).peak)]


def shape_only(call: Operands) -> Sequence[Value]:
    """Infer the shape of the first operand; the elements are unknown."""
    return [replace(call.outputs[0], shape=call.operand(0).shape)]


def rounded_elements(call: Operands) -> Sequence[Value]:
    """Infer elements at other positions. Some runtimes compute them, which rounds large integers."""
    value = call.operand(0)
    return [call.output(elements=limited(call, value.elements), shape=value.shape, may_be_nan=value.may_be_nan)]


def declared_shape(call: Operands) -> Sequence[Value]:
    """Infer the same elements in the same order, in the declared shape."""
    return [call.output(moves.reshape(call.operand(0), call.outputs[0].shape))]


def shape_of(call: Operands, start: int = 0, end: int | None = None) -> Sequence[Value]:
    """Infer ShapeOf: the dimensions from `start` to `end`."""
    value = call.value(0)
    if value is None or value.shape is None:
        return [call.bounded(call.algebra.meet(call.outputs[0].elements, Interval(0, LARGEST_SIZE)))]
    dims = value.shape[slice(start, end)]
    found = replace(call.bounded(Interval(0, 0)), shape=(Polynomial.constant(len(dims)),))
    return [in_slices(call.algebra, found, 0, [counted(call.algebra, call.algebra.exact(dim)) for dim in dims])]


def size_of(call: Operands) -> Sequence[Value]:
    """Infer the number of elements."""
    value = call.value(0)
    if value is None or value.shape is None:
        return [call.bounded(call.algebra.meet(call.outputs[0].elements, Interval(0, LARGEST_SIZE)))]
    return [call.bounded(counted(call.algebra, call.algebra.exact(product(value.shape))))]


def reshape(call: Operands, *, copies_zeros: bool) -> Sequence[Value]:
    """Infer Reshape. In the second operand -1 is the remaining size; 0 copies a dimension of data if `copies_zeros`."""
    value, wanted = call.operand(0), call.dims(1)
    shape = None if wanted is None else _asked_for(call, value, wanted, copies_zeros=copies_zeros)
    return [call.output(moves.reshape(value, _merged(shape, call.outputs[0].shape)), peak=value.peak)]


def _asked_for(call: Operands, value: Value, wanted: Sequence[Polynomial], *, copies_zeros: bool) -> Shape | None:
    dims, declared = list(wanted), call.outputs[0].shape
    if copies_zeros:
        given: list[Polynomial | None] = [*(value.shape or ()), *[None] * len(dims)]
        if any(not dim.terms and copied is None for dim, copied in zip(dims, given, strict=False)):
            return None
        whole = [*(declared or ()), *[None] * len(dims)]
        copies = [_or_copied(call, *each) for each in zip(dims, given, whole, strict=False)]
        if None in copies:
            return None
        dims = [dim for dim in copies if dim is not None]
    open_places = [i for i, dim in enumerate(dims) if dim.value == -1]
    if any(call.algebra.sizes.least(dim) < 0 for i, dim in enumerate(dims) if i not in open_places):
        return None
    if not open_places:
        return tuple(dims)
    others = product([dim for i, dim in enumerate(dims) if i not in open_places])
    is_exact = value.shape is not None and _divides_exactly(call, value.shape, dims, copies_zeros=copies_zeros)
    rest = product(value.shape).divided_by(others) if value.shape is not None and is_exact else None
    if rest is None and declared is not None and len(declared) == len(dims):
        rest = declared[open_places[0]]
    if rest is None:
        return None
    dims[open_places[0]] = rest
    return tuple(dims)


def _divides_exactly(call: Operands, shape: Shape, dims: Sequence[Polynomial], *, copies_zeros: bool) -> bool:
    """Return True if -1 is an exact quotient.

    Beside a computed 0 it is 0 in OpenVINO; onnxruntime fails, or makes any size of it if zeros are not copied.
    """
    if copies_zeros and not call.semantics.reads_out_of_bounds:
        return True
    copied = shape if copies_zeros else ()
    pairs = enumerate(dims)
    return all(dim.value == -1 or call.algebra.sizes.least(dim) >= 1 or dim in copied[i : i + 1] for i, dim in pairs)


def _or_copied(call: Operands, dim: Polynomial, copied: Polynomial | None, declared: Polynomial | None) -> Polynomial | None:
    """Return a computed dimension, or the dimension of data that is copied if it is 0; their sum if it may be 0.

    If neither that dimension nor the declared one is known, there is nothing by which to know the sum: None.
    """
    sizes = call.algebra.sizes
    if not dim.terms:
        assert copied is not None
        return copied
    if dim == copied or dim.value is not None or sizes.least(dim) >= 1:
        return dim
    other = declared if copied is None else copied
    if other is None:
        return None
    symbol = Copied(dim.terms, other.terms)
    sizes.set_bounds(symbol, (0, LARGEST_SIZE if copied is None else sizes.greatest(copied)))
    return dim + Polynomial.symbol(symbol)


def _merged(shape: Shape | None, declared: Shape | None) -> Shape | None:
    """Return the computed shape with the numbers that the model declares."""
    if shape is None or declared is None or len(shape) != len(declared):
        return declared if shape is None else shape
    return tuple(told if told.value is not None else dim for dim, told in zip(shape, declared, strict=True))


def transpose(call: Operands, order: Sequence[int] | None) -> Sequence[Value]:
    """Infer Transpose. An empty order reverses the axes; None is an unknown order."""
    value = call.value(0)
    if value is None or value.shape is None or order is None:
        return elements_only(call)
    axes = range(len(value.shape))
    order = order or axes[::-1]
    if sorted(order) != list(axes):
        return elements_only(call)
    return [call.output(moves.transpose(value, order), peak=value.peak)]


def concatenate(call: Operands, axis: int) -> Sequence[Value]:
    """Infer Concat."""
    values = [value for value in call.inputs if value is not None]
    ranks = {value.rank for value in values}
    rank = ranks.pop() if len(ranks) == 1 else None
    if not values or rank is None or not -rank <= axis < rank:
        elements = call.algebra.join(*(value.elements for value in values)) if values else Interval()
        return [call.output(elements=elements, may_be_nan=any(value.may_be_nan for value in values))]
    return [call.output(moves.concatenate(call.algebra, values, axis % rank))]


def broadcast(call: Operands, *, both_ways: bool) -> Sequence[Value]:
    """Infer Broadcast to the shape in the second operand, or with `both_ways` to the common shape of both."""
    value, wanted = call.operand(0), call.dims(1)
    declared = call.outputs[0].shape
    shape = None if wanted is None else tuple(wanted)
    if both_ways and shape is not None:
        shape = broadcast_shape([value.shape, shape], declared)
    return [call.output(moves.broadcast(value, _merged(shape, declared)))]


def broadcast_along(call: Operands) -> Sequence[Value]:
    """Infer Broadcast to the shape in the second operand, with axes aligned in another way than NumPy's."""
    found, wanted = _elements(call), call.dims(1)
    return [replace(found, shape=_merged(None if wanted is None else tuple(wanted), found.shape))]


def tile(call: Operands) -> Sequence[Value]:
    """Infer Tile: the first operand repeated along each axis, as often as the second says."""
    value, repeats = call.operand(0), call.dims(1)
    tiled = moves.tile(call.algebra, value, repeats)
    shape = tiled.shape if tiled.shape is not None else call.outputs[0].shape
    if call.semantics.reads_out_of_bounds and call.integers(1) is None and not _is_all_written(call, value, repeats):
        return [replace(call.outputs[0], shape=shape)]
    return [call.output(tiled if tiled.shape is not None else tiled.with_shape(shape))]


def _is_all_written(call: Operands, value: Value, repeats: Sequence[Polynomial] | None) -> bool:
    """Return True if the plugin writes the whole output of a Tile whose repeats are known at run time only.

    If there are four axes or more, three of which are repeated, it leaves parts uninitialized.
    """
    sizes = call.algebra.sizes
    if repeats is None or value.shape is None or any(sizes.least(times) < 0 for times in repeats):
        return False
    return max(len(repeats), len(value.shape)) <= 3 or sum(sizes.greatest(times) > 1 for times in repeats) <= 2


def squeeze(call: Operands, axes: Sequence[int] | None) -> Sequence[Value]:
    """Infer Squeeze: remove axes of size 1, all of them if `axes` is None."""
    value = call.operand(0)
    rank = len(value.shape or ())
    if value.shape is None or any(not -rank <= axis < rank for axis in axes or ()):
        return declared_shape(call)
    if axes is None:
        if any(dim.value is None for dim in value.shape):
            return declared_shape(call)
        left = [axis for axis, dim in enumerate(value.shape) if dim != ONE]
    else:
        removed = {axis % rank for axis in axes}
        left = [axis for axis in range(rank) if axis not in removed]
        if call.semantics.reads_out_of_bounds and any(call.algebra.sizes.least(value.shape[axis]) < 1 for axis in removed):
            return list(call.outputs)  # OpenVINO treats an empty axis as one of size 1
    return [call.output(moves.reshape(value, tuple(value.shape[axis] for axis in left)), peak=value.peak)]


def unsqueeze(call: Operands, axes: Sequence[int] | None) -> Sequence[Value]:
    """Infer Unsqueeze: insert axes of size 1, numbered as in the output."""
    value = call.operand(0)
    if value.shape is None or axes is None:
        return declared_shape(call)
    rank = len(value.shape) + len(axes)
    if any(not -rank <= axis < rank for axis in axes):
        return declared_shape(call)
    new, dims = {axis % rank for axis in axes}, iter(value.shape)
    if len(new) < len(axes):
        return declared_shape(call)
    shape = tuple(ONE if axis in new else next(dims) for axis in range(rank))
    return [call.output(moves.reshape(value, shape), peak=value.peak)]


def split(call: Operands, axis: int | None, lengths: Sequence[int] | None) -> Sequence[Value]:
    """Infer Split along an axis into these lengths; -1 is the remainder."""
    value = call.value(0)
    rank = None if value is None else value.rank
    if value is None or rank is None or axis is None or not -rank <= axis < rank:
        return [_elements(call, position) for position in range(len(call.outputs))]
    axis %= rank
    size = None if value.shape is None else value.shape[axis].value
    if lengths is not None and size is not None and list(lengths).count(-1) == 1:
        lengths = [size - sum(lengths) - 1 if length == -1 else length for length in lengths]
    if lengths is None or size is None or min(lengths) < 0 or size != sum(lengths) or size > MAX_PARTS:
        return [_resized(call, value, axis, position) for position in range(len(call.outputs))]
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    return [
        call.output(moves.take(call.algebra, value, axis, range(start, start + length)), position)
        for position, (start, length) in enumerate(zip(starts, lengths, strict=True))
    ]


def pad(call: Operands, *, with_value: bool) -> Sequence[Value]:
    """Infer Pad: data in a frame of a value, or of elements of data."""
    value, shape = call.operand(0), _framed(call)
    if not with_value:
        return [replace(_elements(call), shape=shape)]
    filler = call.value(3)
    frame = limited(call, filler.elements) if filler is not None else Interval(0, 0)  # the plugin converts the value to float32
    elements = call.algebra.join(value.elements, frame)
    may_be_nan = value.may_be_nan or (filler is not None and filler.may_be_nan)
    return [call.output(elements=elements, shape=shape, may_be_nan=may_be_nan)]


def _framed(call: Operands) -> Shape | None:
    """Return the shape of padded data."""
    shape, before, behind = call.operand(0).shape, call.dims(1), call.dims(2)
    if shape is None or before is None or behind is None or not len(shape) == len(before) == len(behind):
        return call.outputs[0].shape
    dims = tuple(dim + first + last for dim, first, last in zip(shape, before, behind, strict=True))
    return dims if all(call.algebra.sizes.least(dim) >= 0 for dim in dims) else call.outputs[0].shape


def elements_only(call: Operands) -> Sequence[Value]:
    """Infer elements of the first operand, in the declared shape."""
    return [_elements(call)]


def _elements(call: Operands, position: int = 0) -> Value:
    """Return an output in its declared shape, with elements of the first operand."""
    value = call.value(0)
    if value is None:
        return call.outputs[position]
    return call.output(position=position, elements=value.elements, may_be_nan=value.may_be_nan)


def _resized(call: Operands, value: Value, axis: int, position: int) -> Value:
    declared = call.outputs[position].shape
    if declared is None or value.shape is None or len(declared) != len(value.shape):
        return _elements(call, position)
    return call.output(moves.resize(value, axis, declared[axis]), position)
