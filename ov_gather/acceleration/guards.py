"""Guards: operations before indices, or instead of a gather, that clamp indices or raise for one out of bounds.

The CPU plugin (2026.4.1) crashes when it compiles a Gather with a static empty shape (division by zero): these are filled.
"""

from __future__ import annotations

import numpy as np

from ov_gather.acceleration.axis_sizes import BoundTensors, batch_dims
from ov_gather.acceleration.compressed import is_compressed
from ov_gather.acceleration.graph import (
    INDICES,
    attributes_of_ours,
    constant,
    copied,
    dims,
    ours,
    redirect_readers,
    walk,
    wide,
)
from ov_gather.acceleration.operators import gathers_slices, is_broadcast, is_stock_gather, op_of, our_gather
from ov_gather.acceleration.raising import raising_zero
from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.ops.table import Trait


def clamped(indices: Output, bounds: BoundTensors) -> Output:
    """Return Maximum(Minimum(indices, highest), lowest), which raises at inference if the axis is empty."""
    highest, shape, node = bounds.highest, indices.get_partial_shape(), indices.get_node()
    # OpenVINO drops a Broadcast of one index to zero elements before a Maximum with a constant.
    if is_broadcast(node) and len(highest.get_partial_shape()) == 0:
        return copied(node, [clamped(node.input_value(0), bounds), *node.input_values()[1:]]).output(0)
    # OpenVINO fuses Maximum(Minimum(constant of shape [1], dynamic scalar), 0) to a Clamp, and loses the shape [1].
    if shape.is_static and len(shape) > 0 and set(indices.get_shape()) == {1} and constant(highest) is None:
        highest = ops.reshape(highest, ops.constant(list(indices.get_shape())), False).output(0)
    return ops.maximum(ops.minimum(indices, highest), bounds.lowest).output(0)


def in_long_rows(indices: Output, bounds: BoundTensors) -> tuple[Output, BoundTensors]:
    """Reshape indices of short rows so that each row holds several of them, and repeat the bounds accordingly.

    The plugin compares 230,000 rows of 3 with 3 numbers five times as slowly as 1,360 rows of 510 with 510 (Sapphire Rapids).
    """
    arrays, sizes = [constant(value) for value in vars(bounds).values()], indices.get_partial_shape()
    shape = None if sizes.is_dynamic else list(indices.get_shape())
    if not shape or any(array is None or array.shape != (shape[-1],) for array in arrays):
        return indices, bounds
    length, count = shape[-1], int(np.prod(shape[:-1]))
    times = next((times for times in range(_LONG_ROW // max(length, 1), 1, -1) if count % times == 0), 1)
    if times == 1 or count == 0:
        return indices, bounds
    kind = indices.get_element_type()
    repeated = [ops.constant(np.tile(array, times), kind).output(0) for array in arrays if array is not None]
    return ops.reshape(indices, ops.constant([count // times, times * length]), False).output(0), BoundTensors(*repeated)


def in_shape_of(indices: Output, rows: Output) -> Output:
    """Reshape what was computed of the rows of `in_long_rows` like the indices."""
    shape = indices.get_partial_shape()
    if shape == rows.get_partial_shape():
        return rows
    return ops.reshape(rows, ops.constant(np.array(shape.to_shape(), np.int64)), False).output(0)


def checked(
    indices: Output, bounds: BoundTensors, *, counts_from_end: bool, portable: bool, is_open: bool, name: str
) -> Output:
    """Return indices whose computation raises if one is out of bounds, in a node of this name, which the error contains.

    1. GatherElements([0, 1, 2, ...], i), or our Gather: it also converts negative indices.
    2. i + raising_zero(any(i is out of bounds)).
    """
    # In open shapes only our operations leave no sizes behind, if their own output shape is open, too.
    is_clean = not is_open or (not portable and indices.get_partial_shape().is_dynamic)
    if counts_from_end and is_clean and len(bounds.size.get_partial_shape()) == 0:
        return _looked_up(indices, bounds, portable, name)
    rows, bounds = in_long_rows(indices, bounds)
    is_out = ops.not_equal(clamped(rows, bounds), rows)
    if not (shape := dims(rows)):
        is_out = ops.reshape(is_out, ops.constant([-1]), False)
    # The plugin reduces all axes of a matrix at once twenty times as fast as a vector.
    is_any_out = ops.reduce_logical_or(is_out, ops.constant(np.arange(len(shape or [-1]))), keep_dims=True)
    zero = raising_zero(is_any_out.output(0), indices.get_element_type(), is_open=is_open, name=name)
    return in_shape_of(indices, ops.add(rows, zero).output(0))


def _looked_up(indices: Output, bounds: BoundTensors, portable: bool, name: str) -> Output:
    """Gather the positions 0, 1, 2, ... by the indices (way 1)."""
    kind = indices.get_element_type()
    start, step = (ops.constant(number, kind) for number in (0, 1))
    positions = ops.range(start, bounds.filled if portable else bounds.size, step, kind.get_type_name())
    if not portable:
        inputs = [positions.output(0), indices, ops.constant(0).output(0)]
        looked_up = our_gather(inputs)
        looked_up.set_friendly_name(name)
        return looked_up.output(0)
    flat = ops.reshape(indices, ops.constant([-1]), False)
    shape = ops.constant(np.array(indices.get_shape(), np.int64))
    looked_up = ops.gather_elements(positions, flat, 0)
    looked_up.set_friendly_name(name)
    return ops.reshape(looked_up, shape, False).output(0)


_AS_I32 = ("i16", "u16", "i32", "u32", "i64", "u64")
_SHORT = 64
_LONG_ROW = 512
"""Elements of a row beyond which a longer one is no faster."""


def raises_by_itself(node: Node) -> bool:
    """Return True if an operation, stock or ours, raises for every index out of bounds of a non-empty axis."""
    return Trait.RAISES in op_of(node).traits and not _may_scatter_shortly(node)


def _may_scatter_shortly(node: Node) -> bool:
    """Return True if the plugin may use its path for at most 64 integers, which does not check indices."""
    if node.get_type_name() != "ScatterUpdate" or node.get_input_element_type(0).get_type_name() not in _AS_I32:
        return False
    data = node.get_input_partial_shape(0)
    return bool(data.rank.is_dynamic or (len(data) == 1 and data[0].get_min_length() <= _SHORT))


def reads_state(site: Node) -> bool:
    """Return True if the data is a state.

    A stock Gather that reorders a cache by beam_idx has to stay: OpenVINO fuses it with attention, and GenAI's paged attention
    removes it together with its indices.
    """
    return bool(site.input_value(0).get_node().get_type_name() == "ReadValue")


def checking_operation(gather: Node, *, counts_from_end: bool) -> Node | None:
    """Return our operation on the same inputs; None if there is none or its output shape would be less precise.

    Gathers of compressed weights have none: OpenVINO's Gather decompresses only what it gathers, but before ours all weights.
    """
    kind, inputs = gather.get_type_name(), gather.input_values()
    if not kind.startswith("Gather") or not counts_from_end or inputs[0].get_element_type().bitwidth % 8:
        return None
    if gathers_slices(gather):
        if is_compressed(inputs[0]):
            return None
        attributes = {"batch_dims": batch_dims(gather), "bounds": "error"}
    elif kind == "GatherElements":
        attributes = attributes_of_ours(gather, broadcast=False)
    elif batch_dims(gather) > 1 and gather.get_type_info().version_id == "opset5":
        return None  # its output joins the batch dimensions
    else:
        attributes = {"batch_dims": batch_dims(gather)}
    other = ours(kind, inputs, attributes)
    return other if other.get_output_partial_shape(0) == gather.get_output_partial_shape(0) else None


def removed_axis(gather: Node) -> int | None:
    """Return the axis of a Gather of one index along an axis of size 1; None for others.

    OpenVINO removes it because its output equals data.
    """
    if not is_stock_gather(gather):
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


def empty_gathers(model: Model) -> list[Node]:
    """Return the Gathers, bodies included, that the CPU plugin cannot compile because data or indices are empty."""
    return [node for _, node in walk(model) if is_stock_gather(node) and _is_empty(node)]


def _is_empty(gather: Node) -> bool:
    data, indices = gather.input_values()[:2]
    if any(
        one.is_dynamic for one in (data.get_partial_shape(), indices.get_partial_shape(), gather.get_output_partial_shape(0))
    ):
        return False
    return 0 in (*data.get_shape(), *indices.get_shape()) and (constant(data) is None or constant(indices) is None)


def fill(gather: Node) -> None:
    """Pad the inputs of an empty Gather with zeros and slice the result back to its shape, if that is empty.

    before: Gather(data [0, 4], indices [3], axis 1)
    after:  Slice(Gather(Pad(data) [1, 4], indices [3], axis 1), to [0, 3])
    """
    shape, readers = list(gather.get_output_shape(0)), gather.output(0).get_target_inputs()
    for port in (0, INDICES):
        gather.input(port).replace_source_output(_filled(gather.input_value(port)))
    gather.validate_and_infer_types()
    if 0 not in shape:  # padding leaves the result as it is: the indexed axis alone was empty
        return
    axes = list(range(len(shape)))
    starts, stops, steps = (ops.constant(numbers) for numbers in ([0] * len(shape), shape, [1] * len(shape)))
    redirect_readers(gather, ops.slice(gather, starts, stops, steps, ops.constant(axes)), readers)


def _filled(tensor: Output) -> Output:
    """Return a tensor in which the axes of size 0 are padded to size 1."""
    shape = list(tensor.get_shape())
    if 0 not in shape:
        return tensor
    none, added = ops.constant([0] * len(shape)), ops.constant([int(size == 0) for size in shape])
    return ops.pad(tensor, none, added, "constant", ops.constant(0, tensor.get_element_type())).output(0)
