"""Axis sizes and bounds for guards, each computed once per model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.acceleration.graph import INDICES, axis_of, constant, identity
from ov_gather.acceleration.operators import gathers_slices, op_of
from ov_gather.acceleration.raising import raising_zero
from ov_gather.acceleration.unproved import Unproved
from ov_gather.extension.python_api import Node, Output, PartialShape, Type
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.ops.table import Along


@dataclass(frozen=True)
class BoundTensors:
    """The bounds of indices as tensors: scalars, or vectors with one element per coordinate.

    Attributes:
        size: the axis sizes, in the element type of the indices.
        lowest, highest: the least and the greatest index in bounds.
        filled: the axis sizes. Computing `filled` or `highest` raises if an axis is empty although there are indices.
    """

    size: Output
    lowest: Output
    highest: Output
    filled: Output


@dataclass(frozen=True)
class Columns:
    """The columns of a tensor along an axis: for each a site that it holds the indices of, or None."""

    axis: int
    sites: Sequence[Unproved | None]


class AxisSizes:
    """Cache of the size computations added to one model."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Output] = {}

    def bounds(self, sites: Sequence[Unproved], indices: Output) -> BoundTensors:
        """Return the bounds for the indices of sites that index axes of the same sizes."""
        kind, site = indices.get_element_type(), sites[0]
        numbers = constant_size(site.node)
        if numbers is not None:
            numbers = numbers.astype(kind.to_dtype())
            lowest = -numbers if site.counts_from_end else np.zeros_like(numbers)
            size, low, high = (ops.constant(value).output(0) for value in (numbers, lowest, numbers - 1))
        else:
            size = self._size(site, kind)
            low = self._once(("lowest", identity(size)), lambda: ops.negative(size))
            if not site.counts_from_end:
                low = ops.constant(0, kind).output(0)
            high = self._once(("highest", identity(size)), lambda: ops.subtract(size, ops.constant(1, kind)))
        if not any(one.may_be_empty for one in sites):
            return BoundTensors(size, low, high, size)
        count = site.count if all(one.count == site.count for one in sites) else identity(indices)
        zero = self._zero(site, size, (1,), count, indices)
        high = self._once(("filled", identity(high), identity(zero)), lambda: ops.add(high, zero))
        filled = self._once(("filled", identity(size), identity(zero)), lambda: ops.add(size, zero))
        return BoundTensors(size, low, high, filled)

    def of_size(self, size: Output, indices: Output, *, counts_from_end: bool) -> BoundTensors:
        """Return the bounds for indices of axes of these sizes; computing them raises if there are indices but one is empty."""
        kind = indices.get_element_type()
        low = ops.negative(size) if counts_from_end else ops.constant(0, kind)
        zeros = _raising(size, (1,), indices, is_open=True)
        filled = ops.add(size, zeros).output(0)
        return BoundTensors(size, low.output(0), ops.subtract(filled, ops.constant(1, kind)).output(0), filled)

    def of_columns(self, columns: Columns, indices: Output) -> BoundTensors:
        """Return the bounds for indices whose columns index axes of different sizes."""
        kind, rank = indices.get_element_type(), len(indices.get_partial_shape())
        limits, shape = np.iinfo(kind.to_dtype()), [-1] + [1] * (rank - 1 - columns.axis)
        rows = [(0, limits.min, limits.max) if site is None else _numbers(site) for site in columns.sites]
        size, low, high = (
            ops.constant(np.array(row, kind.to_dtype()).reshape(shape)).output(0) for row in zip(*rows, strict=True)
        )
        return BoundTensors(size, low, high, size)

    def zero(self, site: Unproved, indices: Output, needs: tuple[int, ...]) -> Output:
        """Return a scalar 0. Computing it raises if there are indices but an axis of the site is shorter than `needs`."""
        needs = needs[:1] if len(set(needs)) == 1 else tuple(needs)
        return self._zero(site, self._size(site, indices.get_element_type()), needs, site.count, indices)

    def _zero(self, site: Unproved, size: Output, needs: tuple[int, ...], count: Hashable, indices: Output) -> Output:
        is_open = constant_size(site.node) is None
        return self._once(
            ("zero", identity(size), needs, count),
            lambda: _raising(size, needs, None if count == () else indices, is_open=is_open),
        )

    def _size(self, site: Unproved, kind: Type) -> Output:
        """Return the axis sizes of a site as a tensor."""
        node = site.node
        data = node.input_value(0) if site.size_of is None else site.size_of[0].output(0)
        sizes = self._once((identity(data), str(kind)), lambda: ops.shape_of(data, output_type=kind.get_type_name()))
        first = ops.constant(0)
        if takes_tuples(node):
            start, length = batch_dims(node), tuple_length(node)
            if length is not None:
                places = ops.constant(np.arange(start, start + length))
                return self._once((identity(sizes), start, length), lambda: ops.gather(sizes, places, first))
            shape = ops.shape_of(node.input_value(INDICES), output_type="i64")
            stop = ops.add(ops.gather(shape, ops.constant([-1]), first), ops.constant([start]))
            return ops.slice(sizes, ops.constant([start]), stop, ops.constant([1])).output(0)
        axis = axis_of_site(node) if site.size_of is None else site.size_of[1]
        if axis is None:
            computed = ops.reshape(axis_operand(node), ops.constant(np.zeros(0, np.int64)), False)
            return ops.gather(sizes, computed, first).output(0)
        return self._once((identity(sizes), axis), lambda: ops.gather(sizes, ops.constant(axis), first))

    def _once(self, key: Hashable, make: Callable[[], Node | Output]) -> Output:
        if key not in self._known:
            made = make()
            self._known[key] = made if isinstance(made, Output) else made.output(0)
        return self._known[key]


def _raising(size: Output, needs: tuple[int, ...], indices: Output | None, *, is_open: bool) -> Output:
    """Return a scalar 0; computing it raises if a size is too small, and `indices`, if any, not empty."""
    kind, is_vector = size.get_element_type(), len(size.get_partial_shape()) == 1
    needed = ops.constant(list(needs) if is_vector else needs[0], kind)
    if indices is not None:
        shape = ops.shape_of(indices, output_type=kind.get_type_name())
        count = ops.reduce_prod(shape, ops.constant([0]), keep_dims=False)
        needed = ops.multiply(needed, ops.minimum(count, ops.constant(1, kind)))
    is_short = ops.less(size, needed)
    if is_vector and size.get_partial_shape() != PartialShape([1]):
        is_short = ops.reduce_logical_or(is_short, ops.constant([0]), keep_dims=True)
    return raising_zero(is_short.output(0), kind, is_open=is_open)


def _numbers(site: Unproved) -> tuple[int, int, int]:
    """Return size, lowest and highest index of an axis of static size."""
    numbers = constant_size(site.node)
    assert numbers is not None
    size = int(numbers)
    return size, -size if site.counts_from_end else 0, size - 1


def constant_size(node: Node) -> NDArray[Any] | None:
    """Return the axis sizes if they are static, else None."""
    shape = node.get_input_partial_shape(0)
    if shape.rank.is_dynamic:
        return None
    if takes_tuples(node):
        length, batch = tuple_length(node), batch_dims(node)
        if length is None or any(shape[axis].is_dynamic for axis in range(batch, batch + length)):
            return None
        return np.array([shape[axis].get_length() for axis in range(batch, batch + length)])
    axis = axis_of_site(node)
    return None if axis is None or shape[axis].is_dynamic else np.array(shape[axis].get_length())


def takes_tuples(node: Node) -> bool:
    """Return True if the indices of a gather or scatter are tuples of coordinates."""
    return op_of(node).along is Along.COORDINATES


def batch_dims(node: Node) -> int:
    """Return the number of leading batch dimensions of a gather."""
    return int(node.get_attributes().get("batch_dims", 0))


def tuple_length(node: Node) -> int | None:
    """Return the number of coordinates per tuple; None if it is dynamic."""
    shape = node.get_input_partial_shape(1)
    if shape.rank.is_dynamic or shape[-1].is_dynamic:
        return None
    return int(shape[-1].get_length())


def axis_operand(node: Node) -> Output:
    """Return the axis input of a gather or scatter."""
    return node.input_value(2 if gathers_slices(node) else 3)


def axis_of_site(node: Node) -> int | None:
    """Return the axis of a gather or scatter, counted from the first dimension; None if it or the rank of data is unknown."""
    rank = node.get_input_partial_shape(0).rank
    if rank.is_dynamic:
        return None
    if node.get_type_name() == "GatherElements":
        return axis_of(node)
    if node.get_type_name() == "ScatterElements":
        attributes = node.get_attributes()
        return int(attributes["axis"] % (rank.get_length() - (attributes["lanes"] != "none")))
    axis = constant(axis_operand(node))
    return None if axis is None else int(axis.item()) % rank.get_length()
