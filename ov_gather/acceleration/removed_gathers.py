"""Gathers that OpenVINO removes at compile time, together with the check of their indices."""

from __future__ import annotations

from ov_gather.acceleration.axis_sizes import batch_dims
from ov_gather.acceleration.graph import constant, wide
from ov_gather.acceleration.guards import is_ours
from ov_gather.extension.python_api import Node
from ov_gather.extension.python_api import opset13 as ops


def removed_axis(gather: Node) -> int | None:
    """Return the axis of a Gather of one index along an axis of size 1; None for others.

    OpenVINO removes it because its output equals data.
    """
    if gather.get_type_name() != "Gather" or is_ours(gather):
        return None
    axis, shape = constant(gather.input_value(2)), gather.get_input_partial_shape(0)
    if axis is None or shape.is_dynamic or shape != gather.get_output_partial_shape(0):
        return None
    return int(axis.item()) if shape[int(axis.item())] == 1 else None


def as_gather_elements(gather: Node, axis: int, *, counts_from_end: bool) -> Node:
    """Return an equivalent GatherElements, which OpenVINO keeps and which raises.

    before: Gather(data [2, 1], indices [2, 1], axis 1, batch_dims 1)
    after:  GatherElements(data, Broadcast(Maximum(i, -1 - i)), axis 1)
    """
    data, indices = gather.input_value(0), wide(gather.input_value(1))
    shape, batch = list(data.get_shape()), batch_dims(gather)
    # Map -1 to 0 if it counts from the end; else to 1, which is out of bounds.
    negated = ops.negative(indices)
    mirrored = ops.add(negated, ops.constant(-1, indices.get_element_type())) if counts_from_end else negated
    positions = ops.reshape(ops.maximum(indices, mirrored), ops.constant([*shape[:batch], *[1] * (len(shape) - batch)]), False)
    return ops.gather_elements(data, ops.broadcast(positions, ops.constant(shape)), axis)
