"""Simplification of GatherND, which PyTorch exports for every index that is a tensor.

1. Tuples of several coordinates:
   before: GatherND(data [2, 3, 4], Concat(i, j))
   after:  GatherND(Reshape(data) [6, 4], 3 * i + j)
2. Tuples of one coordinate that gather single elements:
   before: GatherND(data [6], i [n, 1])
   after:  Gather-8(data, i [n], axis 0)

The CPU plugin moves slices by GatherND as fast as by Gather-8, but single elements slower; concatenating coordinates takes
longer than gathering. OpenVINO checks no tuple: GatherND reads arbitrary memory for one out of bounds, Gather-8 writes zeros.
"""

from __future__ import annotations

from itertools import accumulate
from math import prod

import numpy as np

from ov_gather.acceleration.axis_sizes import batch_dims, constant_size, takes_tuples, tuple_length
from ov_gather.acceleration.changes import Tracker
from ov_gather.acceleration.costs import why_too_small
from ov_gather.acceleration.divergent import added_divergence
from ov_gather.acceleration.graph import (
    FOLDED_AT_COMPILE,
    constant,
    dims,
    identity,
    is_constant_foldable,
    is_gather,
    is_one,
    viewed,
    walk,
)
from ov_gather.acceleration.operators import IN_ORDER, gathers_slices, is_concat, op_of
from ov_gather.acceleration.quantised import is_quantised
from ov_gather.acceleration.ranges import BoundsQueries
from ov_gather.acceleration.rounding import FUSED_OVER, would_fuse_across
from ov_gather.acceleration.slices import MOVED_EXACTLY, Slices, why_not_stock
from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.extension.python_api import opset13 as ops


def gather_tuples(model: Model, tracker: Tracker) -> None:
    """Rewrite case 1 if the tuples are proved in bounds for finite inputs and the output is large; then, or alone, case 2."""
    gathers = [node for _, node in walk(model) if is_gather(node) and takes_tuples(node) and not tracker.leaves(node)]
    gathers = [node for node in gathers if dims(node.input_value(0)) is not None]
    several = [node for node in gathers if (tuple_length(node) or 0) > 1]
    found = BoundsQueries(model).counted_from_start(several) if several else []
    quantised, placed = is_quantised(model), {node.get_instance_id() for node in found}
    for gather in gathers:
        length = tuple_length(gather)
        if length is None:
            tracker.kept(gather, "the length of a tuple is open")
        elif is_constant_foldable(gather.input_values()):
            tracker.kept(gather, FOLDED_AT_COMPILE)
        elif length > 1:
            if reason := _why_not_flat(gather, is_placed=gather.get_instance_id() in placed):
                tracker.kept(gather, reason)
                continue
            flat = _flat(gather)  # case 1
            if flat is None:
                tracker.kept(gather, "the coordinates of a tuple are not computed one by one, in known sizes")
                continue
            other = ops.gather_nd(*flat, 0)
            if not _why_not_single(other, gather, quantised):
                other = _single(other)
            tracker.replace(gather, other)
        elif reason := _why_not_single(gather, gather, quantised):
            tracker.kept(gather, reason)
        else:
            tracker.replace(gather, _single(gather))


def _why_not_single(other: Node, gather: Node, quantised: bool) -> str:
    """Return the reason why Gather-8 should not replace `other` (case 2), a rewrite of `gather`; empty if it should."""
    data, batch = other.input_value(0), batch_dims(other)
    if not all(map(is_one, (dims(data) or [])[batch + 1 :])):
        return "OpenVINO's own is as fast"
    if data.get_element_type().get_type_name() not in MOVED_EXACTLY:
        return f"OpenVINO's Gather may alter bits of {data.get_element_type().get_type_name()}"
    if other.get_type_info().version_id == "opset5" and batch > 1:
        return "GatherND-5 joins batch dimensions"
    if would_fuse_across(data, gather):
        return FUSED_OVER
    reason = why_not_stock(_slices(other), is_quantised=quantised, assume_in_bounds=True)
    return reason or added_divergence(_single(other), other)


def _slices(gather: Node) -> Slices:
    data, tuples = gather.input_values()
    indices = ops.squeeze(tuples, ops.constant(np.array([-1]))).output(0)
    return Slices(data, indices, batch_dims(gather), batch_dims(gather), "")


def _single(gather: Node) -> Node:
    slices = _slices(gather)
    return ops.gather(slices.data, slices.indices, ops.constant(slices.axis), slices.batch_dims)


def _why_not_flat(gather: Node, *, is_placed: bool) -> str:
    if batch_dims(gather):
        return "the tuples of each batch have several coordinates"
    if reason := why_too_small(gather.output(0)):
        return reason
    return "" if is_placed else "whether the tuples are in bounds, and count from the start, is not known before it runs"


def _flat(gather: Node) -> tuple[Output, Output] | None:
    """Return data with the indexed dimensions joined, and tuples of one coordinate; None if sizes are dynamic or too large.

    If the first coordinate counts from the end, so does the joined one.
    """
    data, tuples = gather.input_values()
    sizes = constant_size(gather)
    if sizes is None or prod(sizes.tolist()) >= 2**31:  # OpenVINO computes indices in i32
        return None
    steps = [*accumulate(sizes[:0:-1].tolist(), lambda step, size: step * size, initial=1)][::-1]
    rest = (dims(data) or [])[len(steps) :]
    places = _places(tuples, steps)
    if places is None or any(dim.is_dynamic for dim in rest):
        return None
    shape = np.array([prod(sizes.tolist()), *(dim.get_length() for dim in rest)])
    return ops.reshape(data, ops.constant(shape), special_zero=False).output(0), places


def _places(tuples: Output, steps: list[int]) -> Output | None:
    """Return the joined coordinate of tuples that are constant or a Concat of coordinates; None for others."""
    if (known := constant(tuples)) is not None:
        return ops.constant((known.astype(np.int64) * steps).sum(-1, keepdims=True).astype(np.int32)).output(0)
    node, kind = tuples.get_node(), tuples.get_element_type()
    if not is_concat(node) or kind.get_type_name() not in ("i32", "i64"):
        return None
    coordinates = node.input_values()
    if not all(is_one((dims(one) or [])[-1]) for one in coordinates) or _are_slices_of_one(coordinates):
        return None
    place = coordinates[-1]
    for coordinate, step in zip(coordinates[-2::-1], steps[-2::-1], strict=True):
        place = ops.add(ops.multiply(coordinate, ops.constant(step, kind)), place).output(0)
    return place


def _are_slices_of_one(coordinates: list[Output]) -> bool:
    """Return True if the coordinates are slices of one tensor: OpenVINO then reads that tensor and drops the Concat."""
    sources = set()
    for coordinate in coordinates:
        node = viewed(coordinate, IN_ORDER).get_node()
        if not (op_of(node).takes_part or gathers_slices(node)):
            return False
        sources.add(identity(node.input_value(0)))
    return len(sources) == 1
