"""Replacement of stock gathers by our operations, which raise for an index out of bounds."""

from __future__ import annotations

from ov_gather.acceleration.axis_sizes import batch_dims
from ov_gather.acceleration.compressed import is_compressed
from ov_gather.acceleration.graph import demands_same_shape, has_same_shape, ours
from ov_gather.extension.python_api import Node


def checking_operation(gather: Node, *, counts_from_end: bool) -> Node | None:
    """Return our operation on the same inputs; None if there is none or its output shape would be less precise.

    Gathers of compressed weights have none: OpenVINO's Gather decompresses only what it gathers, but before ours all weights.
    """
    kind, (data, indices) = gather.get_type_name(), gather.input_values()[:2]
    if not kind.startswith("Gather") or not counts_from_end or data.get_element_type().bitwidth % 8:
        return None
    if kind == "Gather":
        if is_compressed(data):
            return None
        inputs = [data, indices, gather.input_value(2)]
        other = ours("Gather", inputs, {"batch_dims": batch_dims(gather), "bounds": "error"})
    elif kind == "GatherElements":
        same_shape = demands_same_shape(gather) and not has_same_shape(gather)
        attributes = {"axis": gather.get_attributes()["axis"], "broadcast": False, "same_shape": same_shape}
        other = ours("GatherElements", [data, indices], attributes)
    else:
        if batch_dims(gather) > 1 and gather.get_type_info().version_id == "opset5":
            return None  # its output joins the batch dimensions
        other = ours("GatherND", [data, indices], {"batch_dims": batch_dims(gather)})
    return other if other.get_output_partial_shape(0) == gather.get_output_partial_shape(0) else None
