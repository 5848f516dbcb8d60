"""Transfer functions of OpenVINO operations, by type and attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ov_gather.graph.protocol import Node
from ov_gather.ops.spec import CUSTOM_OPSET
from ov_gather.ops.table import OPENVINO
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import ONE, Value, at_least_one
from ov_gather.ranges.rules import arithmetic, cutting, elementwise, indexing, linear, moves, reducing, shaping, slicing
from ov_gather.ranges.rules.call import Operands, TransferFunction, UndeterminedError, or_declared
from ov_gather.ranges.rules.common import Make, along, always, transfer_functions
from ov_gather.ranges.rules.windows import windows


def counts_from_end(operation: Node) -> bool:
    """Return True if negative indices count from the end: not in ScatterUpdate, nor in Gather before version 8."""
    number = operation.opset.removeprefix("opset")
    return operation.type != "ScatterUpdate" and (operation.type != "Gather" or not number.isdecimal() or int(number) >= 8)


def has_scattered_lanes(operation: Node) -> bool:
    """Return True if data has one dimension more than the axis counts: the lanes of our ScatterElements."""
    return operation.type == "ScatterElements" and operation.text("lanes", "none") != "none"


def rule_of(operation: Node) -> TransferFunction | None:
    """Return the transfer function of an operation; None if it has none. Raises ValueError for a wrong attribute."""
    if operation.attributes.get("auto_broadcast", "").lower() == "pdpd":  # aligns axes in another way
        return None
    make = _RULES.get(operation.type)
    return or_declared(make(operation)) if make is not None else None


def bind_gather(operation: Node) -> TransferFunction:
    """Bind the batch dimensions, and where indices count from."""
    batch_dims, from_end = operation.integer("batch_dims"), counts_from_end(operation)
    is_stock = operation.opset != CUSTOM_OPSET

    def rule(call: Operands) -> Sequence[Value]:
        batch = (call.operand(1).shape or (ONE,))[:batch_dims]
        if is_stock and batch_dims and all(dim.value == 1 for dim in batch):  # unrelated memory: divergence batches-of-one
            return call.outputs
        return indexing.gather(call, call.integer(2), batch_dims, from_end=from_end)

    return rule


def bind_gather_elements(operation: Node) -> TransferFunction:
    """Bind the axis."""
    axis = operation.integer("axis")
    if any(map(operation.is_set, ("broadcast", "transpose", "lanes"))):
        return lambda call: [replace(indexing.gather_elements(call, axis)[0], shape=call.outputs[0].shape)]
    return partial(indexing.gather_elements, axis=axis)


def bind_split(operation: Node) -> TransferFunction:
    """Bind the number of parts."""
    number = operation.integer("num_splits", 1)

    def rule(call: Operands) -> Sequence[Value]:
        axis = call.integer(1)
        whole = _dim(call, axis)
        if axis is None or whole is None or not number:
            return shaping.split(call, axis, None)
        part = whole.divided_by(Polynomial.constant(number))
        if part is not None and part.value is not None:
            return shaping.split(call, axis, [part.value] * number)
        found = shaping.split(call, axis, None)
        return [_of_size(one, axis, part, is_some=call.algebra.sizes.least(whole) >= 1) for one in found]

    return rule


def variadic_split(call: Operands) -> Sequence[Value]:
    """Infer VariadicSplit."""
    axis, lengths = call.integer(1), call.integers(2)
    if lengths is not None and -1 not in lengths:
        return shaping.split(call, axis, lengths)
    whole, least = _dim(call, axis), sum(length for length in lengths or () if length > 0)
    if lengths is None or whole is None or call.algebra.sizes.least(whole) < least:
        return list(call.outputs)  # the plugin reads beyond an axis that is too short by 1
    return shaping.split(call, axis, lengths)


def _dim(call: Operands, axis: int | None) -> Polynomial | None:
    """Return the size of an axis of the first operand; None if unknown."""
    try:
        return call.shape(0)[call.axis(axis)]
    except UndeterminedError:
        return None


def _of_size(value: Value, axis: int, size: Polynomial | None, *, is_some: bool) -> Value:
    """Set the size of an axis; to 1 or more if it is unknown, but not 0."""
    if value.shape is None or not -len(value.shape) <= axis < len(value.shape):
        return value
    dim = value.shape[axis]
    size = size or (at_least_one(dim) if is_some and dim.value is None else dim)
    return replace(value, shape=moves.with_dim(value.shape, axis % len(value.shape), size))


def bind_strided_slice(operation: Node) -> TransferFunction:
    """Bind the masks."""
    masks = {name: operation.integers(f"{name}_mask") or [] for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    if any(masks["new_axis"]) and any(masks["shrink_axis"]):
        return lambda call: list(call.outputs)  # the plugin leaves most of the output uninitialized

    def is_set(mask: str, axis: int) -> bool:
        return axis < len(masks[mask]) and bool(masks[mask][axis])

    def rule(call: Operands) -> Sequence[Value]:
        value, starts, stops = call.value(0), call.dims(1), call.dims(2)
        count = slicing.length_of(call, 1)
        steps = call.integers(3) if len(call.inputs) > 3 else [1] * (count or 0)
        if any(masks["shrink_axis"]) and call.semantics.reads_out_of_bounds and not _has_elements(call, masks, count):
            return list(call.outputs)  # OpenVINO treats an empty axis as one of size 1
        rank = None if value is None else value.rank
        if any(masks["ellipsis"]) or any(masks["new_axis"]) or rank is None or count is None or count > rank:
            return shaping.elements_only(call)
        removed = [axis for axis in range(count) if is_set("shrink_axis", axis)]
        cuts = []
        for axis in range(count):
            start, stop = starts[axis] if starts else None, stops[axis] if stops else None
            step = steps[axis] if steps else None
            if axis in removed:
                cuts.append(_one_slice(axis, None if is_set("begin", axis) else start))  # the mask selects the first slice
            elif step is None or (start is None and not is_set("begin", axis)) or (stop is None and not is_set("end", axis)):
                cuts.append(cutting.Cut(axis, None, None, is_known=False))
            else:
                end = None if stop is None or is_set("end", axis) else slicing.end_of(stop, step)
                cuts.append(cutting.Cut(axis, None if is_set("begin", axis) else start, end, step))
        return cutting.cut(call, cuts, removed)

    return rule


def _has_elements(call: Operands, masks: Mapping[str, Sequence[int]], count: int | None) -> bool:
    """Return True if no axis that a StridedSlice removes is empty. Axes after the ellipsis count from the end."""
    value = call.value(0)
    if value is None or value.shape is None or count is None:
        return False
    ellipsis = masks["ellipsis"].index(1) if 1 in masks["ellipsis"] else count
    places = [i if i < ellipsis else i - count for i, bit in enumerate(masks["shrink_axis"][:count]) if bit]
    return all(-len(value.shape) <= i < len(value.shape) and call.algebra.sizes.least(value.shape[i]) >= 1 for i in places)


def _one_slice(axis: int, start: Polynomial | None) -> cutting.Cut:
    if start is None:
        return cutting.Cut(axis, None, None, is_known=False)
    return cutting.Cut(axis, start, None if start.value == -1 else start + 1)


def bind_broadcast(operation: Node) -> TransferFunction:
    """Bind how axes are aligned."""
    mode = operation.attributes.get("mode", "numpy").lower()
    is_lined_up_at_the_end = mode in ("numpy", "bidirectional")  # otherwise an operand or an attribute aligns the axes
    return partial(shaping.broadcast, both_ways=mode == "bidirectional") if is_lined_up_at_the_end else shaping.broadcast_along


def _along_axes(rule: Callable[..., Sequence[Value]]) -> Make:
    """Bind the axes of a reduction to an operand."""

    def make(operation: Node) -> TransferFunction:
        keep_dims = operation.is_set("keep_dims")

        def apply(call: Operands) -> Sequence[Value]:
            axes = call.integers(1)
            return list(call.outputs) if axes is None else rule(call, axes, keep_dims=keep_dims)

        return apply

    return make


def squeeze(call: Operands) -> Sequence[Value]:
    """Infer Squeeze, whose axes are an operand."""
    axes = call.integers(1)
    return shaping.declared_shape(call) if len(call.inputs) > 1 and axes is None else shaping.squeeze(call, axes or None)


def bind_clamp(operation: Node) -> TransferFunction:
    """Bind the bounds."""
    low, high = (float(operation.attributes[name]) for name in ("min", "max"))
    return partial(elementwise.clamp, low=low, high=high)


def bind_interpolate(operation: Node) -> TransferFunction:
    """Bind how sizes are given."""
    number = operation.opset.removeprefix("opset")
    is_padded = any(any(operation.integers(name) or ()) for name in ("pads_begin", "pads_end"))
    if is_padded or not number.isdecimal() or int(number) < 4:  # before version 4 the axes are an attribute
        return lambda call: list(call.outputs)
    has_sizes = operation.attributes.get("shape_calculation_mode") == "sizes"
    return partial(linear.resize, axes=3 if int(number) < 11 else 2, sizes=1 if has_sizes else None)


def bind_boxes_kept(operation: Node) -> TransferFunction:
    """Bind whether outputs are padded: those of a declared size."""

    def rule(call: Operands) -> Sequence[Value]:
        shape = call.outputs[0].shape
        return indexing.boxes_kept(call, is_padded=shape is None or shape[0].value is not None)

    return rule if operation.opset == "opset9" else lambda call: indexing.boxes_kept(call, is_padded=True)


def remainder(call: Operands) -> Sequence[Value]:
    """Infer Mod."""
    return arithmetic.remainder(call, sign_of_dividend=True)


def floor_remainder(call: Operands) -> Sequence[Value]:
    """Infer FloorMod."""
    return arithmetic.remainder(call, sign_of_dividend=False)


def transpose(call: Operands) -> Sequence[Value]:
    """Infer Transpose, whose order of axes is an operand."""
    return shaping.transpose(call, call.integers(1))


def unsqueeze(call: Operands) -> Sequence[Value]:
    """Infer Unsqueeze, whose axes are an operand."""
    return shaping.unsqueeze(call, call.integers(1))


def bind_convolution(operation: Node) -> TransferFunction:
    """Bind the windows."""
    return partial(linear.convolution, filter_axes=1, moved=windows(operation.attributes))


def bind_group_product(operation: Node) -> TransferFunction:
    """Bind the windows."""
    return partial(linear.convolution, filter_axes=2, moved=windows(operation.attributes))


def bind_gather_nd(operation: Node) -> TransferFunction:
    """Bind the number of batch dimensions, and whether they are merged."""
    batch_dims = operation.integer("batch_dims")
    return partial(indexing.gather_nd, batch_dims=batch_dims, merges_batches=operation.opset == "opset5")


def bind_matrix_product(operation: Node) -> TransferFunction:
    """Bind the order of axes."""
    transposed = (operation.is_set("transpose_a"), operation.is_set("transpose_b"))
    return partial(linear.matrix_product, transposed=transposed)


def bind_pad(operation: Node) -> TransferFunction:
    """Bind the mode."""
    return partial(shaping.pad, with_value=operation.attributes.get("pad_mode", "constant") == "constant")


def bind_pool(operation: Node) -> TransferFunction:
    """Bind the windows."""
    return partial(linear.pool, moved=windows(operation.attributes))


def bind_reshape(operation: Node) -> TransferFunction:
    """Bind what a size of 0 means."""
    return partial(shaping.reshape, copies_zeros=operation.is_set("special_zero"))


bind_one_hot = along(indexing.one_hot, -1)
bind_reduce_extreme = _along_axes(reducing.extreme)
bind_reduce_mean = _along_axes(reducing.mean)
bind_reduce_product = _along_axes(reducing.multiplied)
bind_reduce_sum = _along_axes(reducing.total)
bind_reduce_truth = _along_axes(reducing.truth)
bind_slice = always(partial(slicing.slice_of, axes=4, steps=3))
_RULES = transfer_functions(OPENVINO, globals())
