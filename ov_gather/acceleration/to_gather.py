"""GatherElements-6 whose index is the same for whole slices becomes Gather-8, which needs no extension."""

from __future__ import annotations

import numpy as np
from openvino import Dimension, Model, Node
from openvino import opset8 as ops

from ov_gather.acceleration.changes import Log
from ov_gather.acceleration.graph import axis_of, dims, is_one, same, stock
from ov_gather.acceleration.ranges import value_range
from ov_gather.acceleration.repeated import unrepeated, why_not_exact


def to_gather(model: Model, log: Log, *, assume_in_bounds: bool = False) -> None:
    """Where the index is in bounds whatever the inputs are, or `assume_in_bounds`: Gather-8 writes zeros where GatherElements-6
    raises."""
    for gather in stock(model, "GatherElements-6"):
        made = _gather_of_slices(gather, assume_in_bounds)
        if isinstance(made, str):
            log.kept(gather, made)
        else:
            log.replace(gather, made)


def _gather_of_slices(gather: Node, assume_in_bounds: bool) -> Node | str:
    """Or why there is none."""
    data, index = gather.input_values()
    smaller, axis, have = unrepeated(index), axis_of(gather), dims(data)
    if axis is None or have is None or (given := dims(smaller)) is None:
        return "the rank of data or indices is not known"
    if reason := why_not_exact(data, index, smaller, axis):
        return reason
    batch_dims = _batch_dims(have, given, axis)
    if batch_dims is None:
        return "the index is not the same for whole slices"
    low, high = value_range(smaller)
    size = have[axis].get_min_length()
    if not assume_in_bounds and not -size <= low <= high < size:
        return f"whether the index is in -{size}..{size - 1} is not known before it runs"
    ones = [i for i in range(batch_dims, len(given)) if i != axis]
    slices = ops.squeeze(smaller, ops.constant(np.array(ones, np.int64))) if ones else smaller
    return ops.gather(data, slices, ops.constant(axis), batch_dims)


def _batch_dims(data: list[Dimension], index: list[Dimension], axis: int) -> int | None:
    """How many leading dimensions data and indices share, if of the others indices have only that of the axis."""
    batch_dims = max((i + 1 for i in range(axis) if not is_one(index[i])), default=0)
    shared = all(same(*pair) for pair in zip(data[:batch_dims], index, strict=False))
    return batch_dims if shared and all(map(is_one, index[axis + 1 :])) else None
