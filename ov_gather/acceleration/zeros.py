"""The policy "zero" of `harden`: gathers read 0 for an index out of bounds, and scatters drop the update."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ov_gather.acceleration.axis_sizes import BoundTensors, axis_of_site, batch_dims, takes_tuples, tuple_length
from ov_gather.acceleration.graph import INDICES, dims, is_constant_foldable, is_gather, redirect_readers
from ov_gather.acceleration.guards import clamped
from ov_gather.acceleration.operators import gathers_slices, op_of
from ov_gather.extension.python_api import Node, Output
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.ops.table import OpKind


def why_not_zeros(node: Node) -> str:
    """Return the reason why stock operations cannot implement the policy for a node; empty if they can."""
    data, indices = dims(node.input_value(0)), dims(node.input_value(1))
    if data is None or indices is None:
        return "a rank is open"
    kind = node.get_output_element_type(0)
    if (kind.bitwidth % 8 and kind.get_type_name() != "boolean") or kind.get_type_name() == "string":
        return f"data is {kind.get_type_name()}"
    if takes_tuples(node):
        if tuple_length(node) is None:
            return "the length of the tuples is open"
        is_old = node.get_type_info().version_id == "opset5"
        return "GatherND-5 joins batch dimensions" if is_old and batch_dims(node) > 1 else ""
    return "" if axis_of_site(node) is not None else "the axis is not constant"


def what_is_zero(site: Node) -> str:
    """Return the description of the guard for the summary."""
    writes = op_of(site).kind is OpKind.SCATTER
    return "updates out of bounds are dropped" if writes else "elements out of bounds are 0"


def reads_less(gather: Node) -> bool:
    """Return True if a gather takes fewer elements than its computed data have, and OpenVINO fuses nothing across it."""
    shapes = gather.get_input_partial_shape(0), gather.get_output_partial_shape(0)
    if not is_gather(gather) or gathers_slices(gather) or any(shape.is_dynamic for shape in shapes):
        return False
    data, taken = (int(np.prod(list(shape.to_shape()))) for shape in shapes)
    return taken < data and not is_constant_foldable([gather.input_value(0)])


def clear_results(gather: Node, indices: Output, bounds: BoundTensors) -> None:
    """Zero the elements that a gather reads out of bounds.

    before: Gather(data, i)
    after:  Select(i == clamp(i), Gather(data, clamp(i)), 0)
    """
    inside = clamped(indices, bounds)
    is_in_bounds = ops.equal(indices, inside)
    if takes_tuples(gather):
        is_in_bounds = ops.reduce_logical_and(is_in_bounds, ops.constant([-1]))
    if new_axes := _axes_of_slices(gather):
        is_in_bounds = ops.unsqueeze(is_in_bounds, ops.constant(new_axes))
    readers = gather.output(0).get_target_inputs()
    gather.input(INDICES).replace_source_output(inside)
    zero = ops.constant(0, gather.get_output_element_type(0))
    redirect_readers(gather, ops.select(is_in_bounds, gather, zero), readers)


def _axes_of_slices(gather: Node) -> list[int]:
    """Return the output axes along which one index, or tuple, gathers a slice."""
    kind, batch = gather.get_type_name(), batch_dims(gather)
    data, indices = (gather.get_input_partial_shape(port).rank.get_length() for port in (0, 1))
    if kind == "GatherElements":
        return [*range(indices, data)]  # the lanes
    if takes_tuples(gather):
        return list(range(indices - 1, indices - 1 + data - batch - (tuple_length(gather) or 0)))
    batch %= indices + 1
    axis = axis_of_site(gather) or 0
    return [*range(batch, axis), *range(axis + indices - batch, data + indices - batch - 1)]


def to_added_slice(indices: Output, bounds: BoundTensors, *, counts_from_end: bool) -> Output:
    """Return indices into data with the slice that `add_slice` appends; those out of bounds are redirected to it.

    Nothing is added behind a gather, where OpenVINO might fuse, and round, differently.

    before: Gather(data [n, 4], i)
    after:  1. c = clamp(i, -n - 1, n); Gather(Pad(data) [n + 1, 4], c - clamp(c, -1, 0) * n), where -1 is the added slice, too
            2. Gather(Pad(data) [n + 1, 4], Select(i == clamp(i, 0, n - 1), i, n)) if indices do not count from the end
    """
    if not counts_from_end:
        return ops.select(ops.equal(indices, clamped(indices, bounds)), indices, bounds.size).output(0)
    none, one, negative = (ops.constant(number, indices.get_element_type()) for number in (0, 1, -1))
    limits = replace(bounds, lowest=ops.subtract(bounds.lowest, one).output(0), highest=bounds.filled)
    nearest = clamped(indices, limits)
    is_negative = ops.maximum(ops.minimum(nearest, none), negative)  # -1 if it is, else 0
    return ops.subtract(nearest, ops.multiply(is_negative, bounds.size)).output(0)


def add_slice(site: Node) -> None:
    """Append a slice of zeros to data along each indexed axis; cut them off again behind a scatter."""
    data, readers = site.input_value(0), site.output(0).get_target_inputs()
    shape, first = data.get_partial_shape(), batch_dims(site) if takes_tuples(site) else axis_of_site(site) or 0
    axes = list(range(first, first + (tuple_length(site) or 0 if takes_tuples(site) else 1)))
    none, added = np.zeros(shape.rank.get_length(), np.int64), np.zeros(shape.rank.get_length(), np.int64)
    added[axes] = 1
    padded = ops.pad(data, ops.constant(none), ops.constant(added), "constant", ops.constant(0, data.get_element_type()))
    site.input(0).replace_source_output(padded.output(0))
    if op_of(site).kind is not OpKind.SCATTER:
        return
    sizes = [shape[axis].get_length() for axis in axes if shape[axis].is_static]
    computed = ops.gather(ops.shape_of(data, output_type="i64"), ops.constant(axes), ops.constant(0))
    stops = ops.constant(sizes) if len(sizes) == len(axes) else computed
    site.validate_and_infer_types()
    starts, steps = ([number] * len(axes) for number in (0, 1))
    whole = ops.slice(site, ops.constant(starts), stops, ops.constant(steps), ops.constant(axes))
    redirect_readers(site, whole, readers)
