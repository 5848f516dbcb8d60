"""Replacement of our operations by stock ones if all indices are proved to be in bounds.

before: ov_gather.Gather(data, i), i proved
after:  Gather-8(data, i)

OpenVINO's Gather is cheaper to call, with more precise shapes; its other operations are cheaper for few elements. Its GatherND
copies long slices as fast as ours, and its scatter writes in place into data that OpenVINO has computed, which ours copies.

Ours stays if OpenVINO would do more than move elements: remove the Gather, fuse across it, compute in 8 bits behind it, or
alter bits. It also stays if it reduces; if a tensor may be empty, which crashes OpenVINO's compiler and skips its other
operations; and in models with a dynamic rank, which are compiled for static shapes.
"""

from __future__ import annotations

from math import prod

from ov_gather.acceleration.axis_sizes import batch_dims, tuple_length
from ov_gather.acceleration.costs import too_small
from ov_gather.acceleration.divergent import added_divergence
from ov_gather.acceleration.graph import dims, gathers_elements, has_same_shape, is_ours, replace_node, walk
from ov_gather.acceleration.operators import gathers_slices, is_given
from ov_gather.acceleration.quantised import is_quantised
from ov_gather.acceleration.ranges import BoundsQueries
from ov_gather.acceleration.rounding import would_fuse_across
from ov_gather.acceleration.slices import MOVED_EXACTLY
from ov_gather.extension.python_api import Model, Node
from ov_gather.extension.python_api import opset8 as ops

_SHORT = 64
"""Maximum slice length in bytes up to which our GatherND copies faster than OpenVINO's."""


def use_stock_where_proved(model: Model) -> list[str]:
    """Rewrite a model and its sub-graphs in place; return the names of the rewritten gathers and scatters."""
    if any(dims(output) is None for node in model.get_ops() for output in node.outputs()):
        return []
    quantised, done = is_quantised(model), []
    candidates = [node for _, node in walk(model) if is_ours(node) and _only_moves(node)]
    for node in BoundsQueries(model).in_bounds(candidates):
        other = _stock_gather(node, quantised) if gathers_slices(node) else _stock(node)
        if other is not None and not added_divergence(other, node):
            replace_node(node, other)
            done.append(node.get_friendly_name())
    if done:
        model.validate_nodes_and_infer_types()
    return done


def _only_moves(node: Node) -> bool:
    """Return True if our operation only moves elements, of a type that OpenVINO moves exactly."""
    attributes = node.get_attributes()
    is_plain = attributes.get("bounds", "error") == "error" and attributes.get("reduction", "none") == "none"
    is_moved = node.get_input_element_type(0).get_type_name() in MOVED_EXACTLY
    return is_plain and is_moved and attributes.get("lanes", False) in (False, "none")


def _stock_gather(gather: Node, quantised: bool) -> Node | None:
    data, indices, axis = gather.input_values()
    is_altered = data.get_element_type().is_real() and (quantised or would_fuse_across(data, gather))
    if gather.get_attributes()["batch_dims"] or is_altered:
        return None
    return ops.gather(data, indices, axis)


def _stock(node: Node) -> Node | None:
    """Return the stock operation for one of ours; None if an input may be empty, or ours moves this much data faster."""
    inputs, attributes = node.input_values(), node.get_attributes()
    if any(dim.get_min_length() == 0 for value in inputs for dim in dims(value) or ()):
        return None
    kind, is_little = node.get_type_name(), too_small(node.output(0))
    if kind == "GatherElements" and is_little and gathers_elements(node) and has_same_shape(node):
        return ops.gather_elements(*inputs, attributes["axis"])
    if kind == "GatherND" and (is_little or _slice_bytes(node) > _SHORT):
        return ops.gather_nd(*inputs, attributes["batch_dims"])
    if kind == "ScatterElements" and (is_little or not is_given(inputs[0])):
        return ops.scatter_elements_update(*inputs, ops.constant(attributes["axis"]))
    return None


def _slice_bytes(gather: Node) -> int:
    """Return a lower bound of the bytes per tuple; 0 if the tuple length is dynamic."""
    length, shape = tuple_length(gather), dims(gather.input_value(0))
    if length is None or shape is None:
        return 0
    rest = shape[batch_dims(gather) + length :]
    return int(prod(dim.get_min_length() for dim in rest) * gather.get_output_element_type(0).size)
