"""Sites of OpenVINO operations, for both adapters."""

from __future__ import annotations

from collections.abc import Sequence

from ov_gather.ranges.graph import Key
from ov_gather.ranges.rules.openvino import Described
from ov_gather.ranges.sites import Site

_AXIS_OPERAND = {"Gather": 2, "ScatterElementsUpdate": 3, "ScatterUpdate": 3}


def site_of(
    operation: Described, name: str, line: int, inputs: Sequence[Key | None], output: Key, within: Key | None = None
) -> Site | None:
    """Return the site of an operation; None if inputs or attributes are missing."""
    if len(inputs) < 2 or inputs[0] is None or inputs[1] is None:
        return None
    axis: int | Key | None = None
    batch_dims = 0
    try:
        if operation.type in ("GatherElements", "ScatterElements"):
            axis = operation.integer("axis")
            if axis < 0 and operation.has_scattered_lanes:
                axis -= 1
        elif operation.type in _AXIS_OPERAND:
            axis = next(iter(inputs[_AXIS_OPERAND[operation.type] :]), None)
            if axis is None:
                return None
        else:
            batch_dims = operation.integer("batch_dims")
    except ValueError:
        return None
    return Site(name, operation.type, line, inputs[0], inputs[1], axis, batch_dims, operation.counts_from_end, within, output)
