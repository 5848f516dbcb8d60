"""Moves: abstract values under reshapes, transposes and selections, which change no element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ov_gather.ranges.algebra.intervals import Algebra
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import MAX_PARTS, ONE, Shape, Value, in_slices, product


def reshape(value: Value, shape: Shape | None) -> Value:
    """Reshape a value. Parts survive if their axis does, with as many elements before it."""
    if value.parts is None or value.shape is None or shape is None:
        return value.with_shape(shape)
    size, before = value.shape[value.parts.axis], product(value.shape[: value.parts.axis])
    axes = (axis for axis, dim in enumerate(shape) if dim == size and product(shape[:axis]) == before)
    return value.with_shape(shape, next(axes, None))


def transpose(value: Value, order: Sequence[int] | None) -> Value:
    """Reorder the axes of a value. An order of None is unknown."""
    if value.shape is None or order is None:
        return value.with_shape(None)
    axis = None if value.parts is None else list(order).index(value.parts.axis)
    return value.with_shape(tuple(value.shape[i] for i in order), axis)


def take(algebra: Algebra, value: Value, axis: int, positions: Sequence[int]) -> Value:
    """Take the slices at these positions of an axis of known size, in this order."""
    if value.shape is None:
        return value.with_shape(None)
    shape = with_dim(value.shape, axis, Polynomial.constant(len(positions)))
    if value.parts is None or value.parts.axis != axis:
        return value.with_shape(shape, None if value.parts is None else value.parts.axis)
    return in_slices(algebra, value.with_shape(shape), axis, [value.parts.intervals[i] for i in positions])


def resize(value: Value, axis: int, dim: Polynomial) -> Value:
    """Take `dim` unknown slices along an axis."""
    if value.shape is None:
        return value
    other = None if value.parts is None or value.parts.axis == axis else value.parts.axis
    return value.with_shape(with_dim(value.shape, axis, dim), other)


def concatenate(algebra: Algebra, values: Sequence[Value], axis: int) -> Value:
    """Concatenate one or more values. If the axis is short, each slice along it keeps its own bounds."""
    first = values[0]
    may_be_nan = any(value.may_be_nan for value in values)
    joined = replace(first, elements=algebra.join(*(value.elements for value in values)), parts=None, may_be_nan=may_be_nan)
    shapes = [value.shape for value in values if value.shape is not None]
    if len(shapes) < len(values) or len({len(shape) for shape in shapes}) != 1:
        return joined.with_shape(None)
    total = sum((shape[axis] for shape in shapes), Polynomial(()))
    # The other dimensions are equal in all values, so that one number is enough.
    dims = [next((shape[i] for shape in shapes if shape[i].value is not None), shapes[0][i]) for i in range(len(shapes[0]))]
    joined = replace(joined, shape=with_dim(tuple(dims), axis, total))
    slices = [value.along(axis) for value in values]
    if total.value is not None and total.value <= MAX_PARTS and all(given is not None for given in slices):
        return in_slices(algebra, joined, axis, [interval for given in slices for interval in given or ()])
    return joined


def broadcast(value: Value, shape: Shape | None) -> Value:
    """Broadcast a value along axes of size 1 and new leading axes."""
    if value.shape is None or shape is None or value.parts is None or len(shape) < len(value.shape):
        return value.with_shape(shape)
    axis = value.parts.axis + len(shape) - len(value.shape)
    if shape[axis] == value.shape[value.parts.axis]:
        return value.with_shape(shape, axis)
    return value.with_shape(shape)


def tile(algebra: Algebra, value: Value, repeats: Sequence[Polynomial] | None) -> Value:
    """Tile a value along each axis. Surplus repeats are for new leading axes."""
    if value.shape is None or repeats is None:
        return value.with_shape(None)
    missing = len(repeats) - len(value.shape)
    axis = None if value.parts is None else value.parts.axis + max(missing, 0)
    value = value.with_shape((ONE,) * missing + value.shape, axis)
    shape = value.shape or ()
    repeats = [ONE] * (len(shape) - len(repeats)) + list(repeats)
    tiled = tuple(dim * times for dim, times in zip(shape, repeats, strict=True))
    if value.parts is None:
        return value.with_shape(tiled)
    axis, times = value.parts.axis, repeats[value.parts.axis].value
    if times is None or times * len(value.parts.intervals) > MAX_PARTS:
        return value.with_shape(tiled)
    return in_slices(algebra, value.with_shape(tiled), axis, value.parts.intervals * times)


def with_dim(shape: Shape, axis: int, dim: Polynomial) -> Shape:
    """Return the shape with another size for one axis, counted from the front."""
    return (*shape[:axis], dim, *shape[axis + 1 :])
