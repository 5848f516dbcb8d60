"""GatherElements that gathers whole slices, expressed as operands of Gather."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from ov_gather.acceleration.graph import FOLDED_AT_COMPILE, axis_of, dims, is_constant_foldable, is_one, same
from ov_gather.acceleration.quantised import is_low_precision
from ov_gather.acceleration.ranges import BoundsQueries
from ov_gather.acceleration.repeated import unrepeated, why_not_exact
from ov_gather.divergences import low_precision
from ov_gather.extension.python_api import Dimension, Node, Output
from ov_gather.extension.python_api import opset13 as ops

MOVED_EXACTLY = ("boolean", "i8", "u8", "i32", "i64", "f32")
"""Types that OpenVINO's Gather moves without changing bits."""


@dataclass(frozen=True, slots=True)
class Slices:
    """Operands of a Gather. `indices` has `batch_dims` leading dimensions and one more.

    `out_of_bounds` is the reason why an index may be out of bounds; empty if all are proved in bounds.
    """

    data: Output
    indices: Output
    axis: int
    batch_dims: int
    out_of_bounds: str


@dataclass(frozen=True, slots=True)
class NoSlices:
    """The reason why a GatherElements does not gather whole slices."""

    reason: str


def why_not_stock(slices: Slices, *, is_quantised: bool, assume_in_bounds: bool) -> str:
    """Return the reason why Gather-8 should not gather these slices; empty if it should."""
    if is_quantised and is_low_precision(slices.data):
        return low_precision.REASON
    if _is_taken_for_none(slices):
        return "OpenVINO would take such a Gather for one that changes nothing"
    return "" if assume_in_bounds else slices.out_of_bounds


def slices_of(gather: Node, bounds: BoundsQueries) -> Slices | NoSlices:
    """Return the operands of the Gather that can replace a GatherElements, or the reason why there are none."""
    data, index = gather.input_values()
    if is_constant_foldable([data, index]):
        return NoSlices(FOLDED_AT_COMPILE)
    smaller, axis, have = unrepeated(index), axis_of(gather), dims(data)
    if axis is None or have is None or (given := dims(smaller)) is None:
        return NoSlices("the rank of data or indices is not known")
    if reason := why_not_exact(gather, smaller, axis):
        return NoSlices(reason)
    batch_dims = _batch_dims(have, given, axis)
    if batch_dims is None:
        return NoSlices("the index is not the same for whole slices")
    ones = [i for i in range(batch_dims, len(given)) if i != axis]
    indices = ops.squeeze(smaller, ops.constant(np.array(ones, np.int64))).output(0) if ones else smaller
    return Slices(data, indices, axis, batch_dims, _out_of_bounds(data, smaller, axis, bounds))


def _is_taken_for_none(slices: Slices) -> bool:
    """Return True if OpenVINO 2026.4.1 may remove the Gather because it takes it for an identity.

    It does so if constant indices count 0, 1, ... to the end of the axis, even if all batches only do so together.
    """
    if not slices.batch_dims or not is_constant_foldable([slices.indices]):
        return False
    shape, size = slices.indices.get_partial_shape(), slices.data.get_partial_shape()[slices.axis]
    return bool(shape.is_dynamic or size.is_dynamic or prod(shape.to_shape()) == size.get_length())


def _batch_dims(data: list[Dimension], index: list[Dimension], axis: int) -> int | None:
    """Return the number of leading dimensions that data and indices share, if all others of indices, but the axis, are 1."""
    batch_dims = max((i + 1 for i in range(axis) if not is_one(index[i])), default=0)
    shared = all(same(*pair) for pair in zip(data[:batch_dims], index, strict=False))
    return batch_dims if shared and all(map(is_one, index[axis + 1 :])) else None


def _out_of_bounds(data: Output, indices: Output, axis: int, bounds: BoundsQueries) -> str:
    if bounds.are_kept(data, indices, axis):
        return ""
    dim = data.get_partial_shape()[axis]
    known = f"in -{dim}..{dim.get_length() - 1}" if dim.is_static else f"in bounds of axis {axis}, whose size is open,"
    return f"whether the index is {known} is not known before it runs"
