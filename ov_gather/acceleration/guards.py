"""Guards are stock operations in front of indices, or behind a gather, that make indices out of bounds harmless.

They count on what OpenVINO's CPU plugin (2026.4.1) does for certain: its GatherElements raises for an index out of bounds of an
axis that is not empty, with one thread and with many, in asynchronous inference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from openvino import Node, Output, Type
from openvino import opset13 as ops

from ov_gather.acceleration.graph import axis_of, constant
from ov_gather.acceleration.index_roots import Unproved
from ov_gather.ops.spec import CUSTOM_OPSET

_WIDE = ("i32", "i64")


@dataclass(frozen=True)
class Bounds:
    """Bounds are the sizes of the axes that indices go along, as tensors: one scalar, or a vector of one size a coordinate.

    Attributes:
        size: the sizes, of the type of the indices.
        lowest, highest: the least and the greatest index that is in bounds.
        may_be_empty: whether a size may be 0.
    """

    size: Output
    lowest: Output
    highest: Output
    may_be_empty: bool


def wide(indices: Output) -> Output:
    """Give indices a type that holds every index that OpenVINO reads, and its negative."""
    kind = indices.get_element_type().get_type_name()
    return indices if kind in _WIDE else ops.convert(indices, "i64" if kind in ("u32", "u64") else "i32").output(0)


def bounds_of(site: Unproved, indices: Output) -> Bounds:
    """Make the bounds for the indices of a gather or scatter. Sizes that are open are computed."""
    kind, node = indices.get_element_type(), site.node
    size = _constant_size(node)
    if size is not None:
        numbers = size.astype(kind.to_dtype())
        lowest = -numbers if site.counts_from_end else np.zeros_like(numbers)
        constants = [ops.constant(value).output(0) for value in (numbers, lowest, numbers - 1)]
        return Bounds(constants[0], constants[1], constants[2], site.may_be_empty)
    computed = _size_along(*site.size_of, kind) if site.size_of else _computed_size(node, kind)
    none, one = (ops.constant(number, kind) for number in (0, 1))
    lowest_of = ops.negative(computed) if site.counts_from_end else none
    return Bounds(computed, lowest_of.output(0), ops.subtract(computed, one).output(0), site.may_be_empty)


def _size_along(node: Node, axis: int, kind: Type) -> Output:
    sizes = ops.shape_of(node, output_type=kind.get_type_name())
    return ops.gather(sizes, ops.constant(axis), ops.constant(0)).output(0)


def _constant_size(node: Node) -> NDArray[Any] | None:
    """Tell the sizes of the axes where they are known before the model runs."""
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


def _computed_size(node: Node, kind: Type) -> Output:
    sizes = ops.shape_of(node.input_value(0), output_type=kind.get_type_name())
    if takes_tuples(node):
        last = ops.gather(ops.shape_of(node.input_value(1), output_type="i64"), ops.constant([-1]), ops.constant(0))
        start = ops.constant([batch_dims(node)])
        return ops.slice(sizes, start, ops.add(start, last), ops.constant([1])).output(0)
    if node.get_type_name() == "GatherElements":
        axis = ops.constant(node.get_attributes()["axis"]).output(0)
    else:
        axis = ops.reshape(axis_operand(node), ops.constant(np.zeros(0, np.int64)), False).output(0)
    return ops.gather(sizes, axis, ops.constant(0)).output(0)


def clamped(indices: Output, bounds: Bounds) -> Output:
    """Move indices out of bounds to the nearest that is in bounds. Of an empty axis there is none: that raises."""
    highest = bounds.highest
    if bounds.may_be_empty:
        highest = _raising_for_empty(indices, bounds)
    return ops.maximum(ops.minimum(indices, highest), bounds.lowest).output(0)


def _raising_for_empty(indices: Output, bounds: Bounds) -> Output:
    """Give the greatest index; where there are indices, but an axis is empty, this raises."""
    kind, first = indices.get_element_type(), ops.constant([0])
    one = ops.constant(1, kind)
    least = ops.reduce_min(ops.reshape(bounds.size, ops.constant([-1]), False), first, keep_dims=True)
    count = ops.reduce_prod(ops.shape_of(indices, output_type=kind.get_type_name()), first, keep_dims=True)
    # 0 or -1 where all is well, and both are indices of an axis of size 1; but 1 is not.
    is_wrong = ops.subtract(ops.minimum(count, one), ops.minimum(least, one))
    nothing = ops.gather_elements(ops.constant([0], kind), is_wrong, 0)
    return ops.add(bounds.highest, ops.squeeze(nothing, first)).output(0)


def checked(indices: Output, bounds: Bounds) -> Output:
    """Give the same indices, or raise where one is out of bounds."""
    is_out = ops.logical_or(ops.less(indices, bounds.lowest), ops.greater(indices, bounds.highest))
    first, kind = ops.constant([0]), indices.get_element_type()
    is_any_out = ops.reduce_logical_or(ops.reshape(is_out, ops.constant([-1]), False), first, keep_dims=True)
    nothing = ops.gather_elements(ops.constant([0], kind), ops.convert(is_any_out, "i32"), 0)
    return ops.add(indices, ops.squeeze(nothing, first)).output(0)


def takes_tuples(node: Node) -> bool:
    """Tell whether the indices of a gather or scatter are tuples of coordinates."""
    return node.get_type_name() in ("GatherND", "ScatterNDUpdate")


def batch_dims(node: Node) -> int:
    """Return how many leading dimensions of data the tuples of a node do not count."""
    return int(node.get_attributes().get("batch_dims", 0))


def tuple_length(node: Node) -> int | None:
    """Return how many coordinates a tuple of indices has; None while that is open."""
    shape = node.get_input_partial_shape(1)
    if shape.rank.is_dynamic or shape[-1].is_dynamic:
        return None
    return int(shape[-1].get_length())


def axis_operand(node: Node) -> Output:
    """Return the input that tells the axis of a gather or scatter."""
    return node.input_value(2 if node.get_type_name() == "Gather" else 3)


def axis_of_site(node: Node) -> int | None:
    """Return the axis that indices go along, from the first dimension; None while that, or the rank of data, is not known."""
    rank = node.get_input_partial_shape(0).rank
    if rank.is_dynamic:
        return None
    if node.get_type_name() == "GatherElements":
        return axis_of(node)
    axis = constant(axis_operand(node))
    return None if axis is None else int(axis.item()) % rank.get_length()


_RAISE = ("GatherElements", "ScatterNDUpdate", "ScatterUpdate")


def raises_by_itself(node: Node) -> bool:
    """Tell whether an operation of OpenVINO raises for every index out of bounds of an axis that is not empty."""
    return node.get_type_name() in _RAISE and not is_ours(node)


def is_ours(node: Node) -> bool:
    """Tell whether an operation is one of this package."""
    return bool(node.get_type_info().version_id == CUSTOM_OPSET)
