"""OpenVINO's own Gather takes the place of ours where no index can be out of bounds, so that there is nothing to check.

It is cheaper to call, and OpenVINO infers more of the shapes that are computed by it. Ours stays where OpenVINO would do more
than gather: remove the Gather, fuse over it, compute in 8 bits behind it, or alter the bits of a type. It stays, too, where the
static shape of indices has no elements, because OpenVINO's compiler dies of that; and in models with a value of open rank, as
these are compiled for static shapes.
"""

from __future__ import annotations

from ov_gather.acceleration.graph import dims, nodes_of, take_place
from ov_gather.acceleration.quantised import is_quantised
from ov_gather.acceleration.ranges import Bounds
from ov_gather.acceleration.rounding import is_fused_over
from ov_gather.acceleration.slices import MOVED_EXACTLY
from ov_gather.extension.python_api import Model
from ov_gather.extension.python_api import opset8 as ops


def use_stock_where_proved(model: Model) -> list[str]:
    """Rewrite a model in place, and its sub-graphs. It returns the names of the gathers."""
    if any(dims(output) is None for node in model.get_ops() for output in node.outputs()):
        return []
    gathers = [gather for gather in nodes_of(model, "ov_gather.Gather") if gather.get_attributes()["bounds"] == "error"]
    quantised, done = is_quantised(model), []
    for gather in Bounds(model).in_bounds(gathers):
        data, indices, axis = gather.input_values()
        is_moved = not gather.get_attributes()["batch_dims"] and data.get_element_type().get_type_name() in MOVED_EXACTLY
        is_empty = any(dim.is_static and dim.get_length() == 0 for dim in dims(indices) or ())
        is_real = data.get_element_type().is_real()
        if is_moved and not is_empty and not (is_real and (quantised or is_fused_over(data, gather))):
            take_place(gather, ops.gather(data, indices, axis))
            done.append(gather.get_friendly_name())
    if done:
        model.validate_nodes_and_infer_types()
    return done
