"""Replacement of scatters by elements.

Scatters of whole rows, with indices repeated by a Broadcast, become scatters by one index per row (`scatter_rows`):

1. before: ScatterElementsUpdate-12(data, Broadcast(i [n, 1]), updates, axis 0, reduction="sum"), as graph networks write it
   after:  ScatterNDUpdate-15(data, i [n, 1], updates, reduction="sum"), which reduces in the same order
2. Without a reduction, to ours: threads of ScatterNDUpdate race for a row that is written twice.
3. before: ov_gather.ScatterElements(...)
   after:  ov_gather.ScatterND(...)

Others become ours for many updates into an input or a constant (`scatter_elements`):

4. before: ScatterElementsUpdate(Parameter, indices, updates)
   after:  ov_gather.ScatterElements(Parameter, indices, updates)

OpenVINO's scatter writes in place into data that it has computed, which ours has to copy: that costs more than it gains. Inputs
and constants are copied by both. Ours is then 1.05 to 1.45 times as fast on a Zen 5 for many updates that are assigned or
added. It is slower for few updates and for maxima.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ov_gather.acceleration.changes import Tracker, why_not_ours
from ov_gather.acceleration.costs import too_small
from ov_gather.acceleration.graph import (
    FOLDED_AT_COMPILE,
    constant,
    dims,
    is_constant_foldable,
    is_one,
    is_ours,
    is_scatter,
    ours,
    same,
    walk,
)
from ov_gather.acceleration.operators import is_converted, is_given, is_numpy_broadcast, op_of
from ov_gather.acceleration.repeated import unrepeated
from ov_gather.acceleration.rounding import is_computed
from ov_gather.extension.python_api import Dimension, Model, Node, NodeFactory, Output
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.kernels.reduction_names import onnx_name
from ov_gather.ops.table import Along

_MOVED = ("boolean", "i8", "u8", "i32", "i64", "f16", "bf16", "f32")
_REDUCED = ("i32", "i64", "f32")
"""Types that all scatters of OpenVINO reduce with the same arithmetic."""


def scatter_rows(model: Model, tracker: Tracker, *, portable: bool = False) -> None:
    """Rewrite scatters along the first axis with rows of more than one element."""
    for scatter in [node for _, node in walk(model) if _scatters_elements(node)]:
        of_ours = is_ours(scatter)
        if tracker.leaves(scatter) or (of_ours and (portable or scatter.get_attributes()["lanes"] != "none")):
            continue
        reason = _why_not_rows(scatter)
        smaller = None if reason else _first_of_rows(scatter.input_value(1))
        if smaller is None:
            tracker.kept(scatter, reason or "no index is repeated for a whole row")
            continue
        data, updates = scatter.input_value(0), scatter.input_value(2)
        rank = len(dims(smaller) or ())
        index = ops.squeeze(smaller, ops.constant(np.arange(2, rank))).output(0) if rank > 2 else smaller
        reduction = scatter.get_attributes().get("reduction", "none")
        if of_ours:  # case 3
            other = ours("ScatterND", [data, index, updates], {"reduction": reduction})
        elif reduction != "none":  # case 1
            other = NodeFactory("opset15").create("ScatterNDUpdate", [data, index, updates], {"reduction": reduction})
        elif portable:  # case 2
            tracker.kept(scatter, "threads of OpenVINO's ScatterNDUpdate race for a row that is written twice")
            continue
        elif reason := why_not_ours(scatter, scatter, open_size=tracker.open_size):
            tracker.kept(scatter, reason)
            continue
        else:
            other = ours("ScatterND", [data, index, updates], {"reduction": "none"})
        is_other_precision = not of_ours and reduction == "none" and (is_computed(data) or is_computed(updates))
        tracker.replace(scatter, other, rounds=is_other_precision and scatter.get_element_type().is_real())


def _scatters_elements(node: Node) -> bool:
    """Return True for a ScatterElementsUpdate, stock or ours."""
    return is_scatter(node) and op_of(node).along is Along.AXIS


def _why_not_rows(scatter: Node) -> str:
    """Return the reason why no ScatterND of rows can replace a scatter, whatever its indices; empty if one can."""
    data, index, updates = scatter.input_values()[:3]
    of_ours, attributes = is_ours(scatter), scatter.get_attributes()
    axis = np.array(attributes["axis"]) if of_ours else constant(scatter.input_value(3))
    have, want = dims(data), dims(index)
    if axis is None or have is None or want is None:
        return "the axis, or a rank, is not known"
    if not have or int(axis.item()) % len(have):
        return "it scatters along another axis than the first"
    if is_constant_foldable([data, index, updates]):
        return FOLDED_AT_COMPILE
    if all(map(is_one, have[1:])):
        return "a row is a single element"
    reduction = attributes.get("reduction", "none")
    if reduction == "mean" or not attributes.get("use_init_val", True):
        return "ScatterNDUpdate has no such reduction"
    if not of_ours and not same_bits(scatter):
        return f"of {data.get_element_type().get_type_name()} not all bits are known to stay the same"
    if not all(same(one, other) for one, other in zip(want[1:], have[1:], strict=True)):
        return "rows may be scattered in part"
    return ""


def same_bits(scatter: Node) -> bool:
    """Return True if OpenVINO's and our scatter compute the same bits for the element type of a ScatterElementsUpdate."""
    is_moved = scatter.get_attributes().get("reduction", "none") == "none"
    return scatter.get_element_type().get_type_name() in (_MOVED if is_moved else _REDUCED)


def _first_of_rows(index: Output) -> Output | None:
    """Return one index per row, with dimensions of 1; None if the indices of a row may differ."""
    smaller = unrepeated(index)
    given, want = dims(smaller), dims(index)
    if given is not None and want is not None and smaller != index and all(map(is_one, given[1:])) and same(given[0], want[0]):
        return smaller
    types, node = [], index.get_node()
    while is_converted(node):
        types.append(node.get_element_type())
        node = node.input_value(0).get_node()
    if not is_numpy_broadcast(node):
        return None
    inner, shape = node.input_value(0), node.input_value(1)
    given, rank = dims(inner), len(want or ())
    if given is None or len(given) != rank or not all(map(is_one, given[1:])) or dims(shape) != [Dimension(rank)]:
        return None
    start, stop, ones = ops.constant(np.array([0])), ops.constant(np.array([1])), np.ones(rank - 1, np.int64)
    rows = ops.slice(shape, start, stop, stop)
    whole = ops.concat([rows, ops.constant(ones, shape.get_element_type())], 0)
    found = ops.broadcast(inner, whole, broadcast_spec=node.get_attributes()["mode"].upper()).output(0)
    for element_type in reversed(types):
        found = ops.convert(found, element_type.get_type_name()).output(0)
    return found


_GAINING = ("none", "sum")
_SHARE = 4
"""Minimum density: one update per 4 elements of data."""
_TIMES = 8
"""Minimum size of data, as a multiple of SMALL."""


def scatter_elements(model: Model, tracker: Tracker) -> None:
    """Rewrite the scatters that `scatter_rows` has left, except in bodies, whose inputs OpenVINO may write into."""
    for scatter in [node for node in model.get_ordered_ops() if _scatters_elements(node) and not is_ours(node)]:
        if tracker.leaves(scatter):
            continue
        if reason := _why_not(scatter):
            tracker.kept(scatter, reason)
            continue
        inputs, axis = scatter.input_values()[:3], constant(scatter.input_value(3))
        assert axis is not None
        reduction = onnx_name(scatter.get_attributes().get("reduction", "none"))
        other = ours("ScatterElements", inputs, {"axis": int(axis.item()), "reduction": reduction})
        is_rounded = reduction != "none" or is_computed(inputs[2])
        tracker.replace(scatter, other, rounds=is_rounded and scatter.get_element_type().is_real())


def _why_not(scatter: Node) -> str:
    attributes, (data, indices) = scatter.get_attributes(), scatter.input_values()[:2]
    if not is_given(data):
        return "OpenVINO's own writes into the memory of data, which ours would copy"
    if attributes.get("reduction", "none") not in _GAINING or not attributes.get("use_init_val", True):
        return "OpenVINO's own is as fast"
    if constant(scatter.input_value(3)) is None:
        return "the axis is not known"
    shapes = [value.get_partial_shape() for value in (data, indices)]
    if any(shape.is_dynamic for shape in shapes):
        return "how many updates there are is open"
    if not same_bits(scatter):
        return f"of {data.get_element_type().get_type_name()} not all bits are known to stay the same"
    elements, updates = (prod(shape.to_shape()) for shape in shapes)
    if too_small(data, _TIMES) or updates * _SHARE < elements:
        return "too few updates to gain"
    return why_not_ours(scatter, scatter)
