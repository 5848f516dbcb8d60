"""Operations that take a part of a tensor along one axis, at positions known before inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ov_gather.acceleration.axis_sizes import axis_of_site, batch_dims
from ov_gather.acceleration.graph import constant, dims, operation
from ov_gather.acceleration.operators import is_stock_gather
from ov_gather.extension.python_api import Node, Output
from ov_gather.ops.table import OPENVINO, where

SPLITS = where(OPENVINO, lambda op: op.meaning.splits)


@dataclass(frozen=True)
class Taken:
    """A part of a tensor: the positions that it takes along an axis of static size, and all along the others."""

    axis: int
    positions: Sequence[int]
    size: int


def taken(part: Output) -> Taken | None:
    """Return what an output of an operation takes of the first input; None if it is no part, or unknown."""
    node = part.get_node()
    if node.get_type_name() in SPLITS:
        return _split(part)
    return _sliced(node) if operation(node) == "Slice-8" else picked(node)


def picked(gather: Node) -> Taken | None:
    """Return what a stock Gather by constant indices in bounds takes; None for other nodes."""
    if not is_stock_gather(gather) or batch_dims(gather):
        return None
    indices, axis, shape = constant(gather.input_value(1)), axis_of_site(gather), gather.get_input_partial_shape(0)
    if indices is None or axis is None or shape[axis].is_dynamic:
        return None
    size = shape[axis].get_length()
    lowest = -size if operation(gather) == "Gather-8" else 0
    positions = [int(one) for one in indices.ravel()]
    return Taken(axis, [one % size for one in positions], size) if all(lowest <= one < size for one in positions) else None


def _split(part: Output) -> Taken | None:
    node = part.get_node()
    axis, shape = constant(node.input_value(1)), dims(node.input_value(0))
    if axis is None or shape is None:
        return None
    place = int(axis.item()) % len(shape)
    lengths = [output.get_partial_shape()[place] for output in node.outputs()]
    if shape[place].is_dynamic or any(length.is_dynamic for length in lengths):
        return None
    sizes = [length.get_length() for length in lengths]
    first = sum(sizes[: part.get_index()])
    return Taken(place, range(first, first + sizes[part.get_index()]), shape[place].get_length())


def _sliced(node: Node) -> Taken | None:
    numbers, shape = [constant(value) for value in node.input_values()[1:]], dims(node.input_value(0))
    if shape is None or len(numbers) != 4 or any(one is None or one.size != 1 for one in numbers):
        return None
    start, stop, step, axis = (int(one.item()) for one in numbers if one is not None)
    if shape[axis].is_dynamic:
        return None
    size = shape[axis].get_length()
    return Taken(axis % len(shape), range(size)[start:stop:step], size)
