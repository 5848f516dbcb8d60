"""Guards of operations that users declare and of those in the index table: any input may hold their indices."""

from __future__ import annotations

from ov_gather.acceleration.axis_sizes import AxisSizes
from ov_gather.acceleration.graph import wide
from ov_gather.acceleration.guards import checked, clamped
from ov_gather.extension.python_api import Node, Output
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.ops import OPERATIONS, indexing
from ov_gather.ops.spec import AxisSize
from ov_gather.ranges.sites import Site

_DONE = {
    "clamp": "indices are clamped",
    "raise": "raises: a check",
    "zero": "raises: a check, as this operation reads no zeros",
}


def is_declared(node: Node) -> bool:
    """Return True if a node with indices is an operation of users, or has a row in the index table."""
    return indexing(node.get_type_name(), node.get_type_info().version_id) not in OPERATIONS


def guard(node: Node, site: Site, sizes: AxisSizes, policy: str, *, portable: bool, is_open: bool) -> str:
    """Guard the indices of a node; return what was done, for people.

    before: Lookup(table, places)
    after:  Lookup(table, clamp(places)), or Lookup(table, check(places)), whose computation raises
    """
    source = node.input_value(site.port)
    indices = wide(source)
    bounds = sizes.of_size(_size(node, site, indices), indices, counts_from_end=site.counts_from_end)
    name = source.get_node().get_friendly_name()
    if policy == "clamp":
        safe = clamped(indices, bounds)
    else:
        portable, name = portable or policy == "zero", f"{name}/bounds_check"
        safe = checked(indices, bounds, counts_from_end=site.counts_from_end, portable=portable, is_open=is_open, name=name)
    kind = source.get_element_type()
    if safe.get_element_type() != kind:
        safe = ops.convert(safe, kind.get_type_name()).output(0)
    node.input(site.port).replace_source_output(safe)
    return _DONE[policy]


def _size(node: Node, site: Site, indices: Output) -> Output:
    """Return the size that indices address, or one for each coordinate, as a tensor."""
    kind, first = indices.get_element_type(), ops.constant(0)
    if site.size is not None:
        return ops.constant(site.size, kind).output(0)
    shape = ops.shape_of(node.input_value(site.data_port), output_type=kind.get_type_name())
    if site.has_coordinates:
        start = ops.constant([site.batch_dims])
        length = ops.gather(ops.shape_of(indices, output_type="i64"), ops.constant([-1]), first)
        return ops.slice(shape, start, ops.add(length, start), ops.constant([1])).output(0)
    if isinstance(site.axis, int):
        size = ops.gather(shape, ops.constant(site.axis), first).output(0)
        return ops.add(size, ops.constant(site.spare, kind)).output(0) if site.spare else size
    operation = indexing(node.get_type_name(), node.get_type_info().version_id)
    assert operation is not None and operation.index_rule is not None  # only a declared operation has an axis that is an input
    rule = operation.index_rule.sizes
    assert isinstance(rule, AxisSize)
    axis = ops.reshape(node.input_value(operation.port_of(str(rule.axis))), ops.constant([], dtype="i64"), False)
    return ops.gather(shape, axis, first).output(0)
