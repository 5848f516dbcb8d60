"""Blocks: scatters with constant indices that overwrite one contiguous range per axis, in the order of the updates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.acceleration.graph import constant
from ov_gather.extension.python_api import Node


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a tensor of shape `whole`: elements `starts[i]` to `starts[i] + sizes[i]` of each axis i."""

    whole: tuple[int, ...]
    starts: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def cut(self) -> list[int]:
        """The axes that the block covers only in part."""
        return [axis for axis, size in enumerate(self.whole) if self.sizes[axis] < size]

    def moved(self, order: list[int]) -> Block:
        """Return this block in coordinates of the input of a Transpose by `order`."""
        source = [order.index(axis) for axis in range(len(order))]
        whole, starts, sizes = (tuple(one[i] for i in source) for one in (self.whole, self.starts, self.sizes))
        return Block(whole, starts, sizes)


def block_of(scatter: Node) -> Block | None:
    """Return the block that a scatter overwrites; None if there is none, indices are not constant, or a shape is dynamic."""
    shape, elements = scatter.get_input_partial_shape(0), constant(scatter.input_value(1))
    if shape.is_dynamic or elements is None or not elements.size or scatter.get_attributes().get("reduction", "none") != "none":
        return None
    whole = tuple(shape.to_shape())
    if scatter.get_type_name() == "ScatterNDUpdate":
        return _of_tuples(whole, elements)
    axis = constant(scatter.input_value(3))
    return None if axis is None else _along(whole, elements, int(axis.item()) % len(whole))


def _of_tuples(whole: tuple[int, ...], tuples: NDArray[Any]) -> Block | None:
    length = tuples.shape[-1]
    tuples = tuples.reshape(-1, length).astype(np.int64)
    from_start = _from_start(tuples, np.array(whole[:length]))
    if from_start is None or not length:
        return None
    starts = from_start.min(0)
    sizes = from_start.max(0) + 1 - starts
    if sizes.prod() != len(tuples) or not np.array_equal(np.indices(sizes).reshape(length, -1).T + starts, from_start):
        return None
    rest = whole[length:]
    return Block(whole, (*starts.tolist(), *(0 for _ in rest)), (*sizes.tolist(), *rest))


def _along(whole: tuple[int, ...], indices: NDArray[Any], axis: int) -> Block | None:
    from_start = _from_start(indices.astype(np.int64), np.array(whole[axis]))
    if from_start is None:
        return None
    line = np.moveaxis(from_start, axis, -1)
    start = int(line.flat[0])
    if not (line == np.arange(start, start + indices.shape[axis])).all():
        return None
    starts = tuple(start if i == axis else 0 for i in range(len(whole)))
    return Block(whole, starts, indices.shape)


def _from_start(indices: NDArray[Any], sizes: NDArray[Any]) -> NDArray[Any] | None:
    """Convert negative indices to positions from the start; return None if an index is out of bounds."""
    if ((indices < -sizes) | (indices >= sizes)).any():
        return None
    return np.asarray(np.where(indices < 0, indices + sizes, indices))
