"""Repairs of a converted model where it meets a known fault of OpenVINO, bodies included, and the faults that are left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import openvino
from numpy.typing import NDArray

from ov_gather.acceleration.fold_constants import value_before_compiling
from ov_gather.acceleration.graph import copied, is_constant_foldable, replace_node
from ov_gather.extension.python_api import Model, Output
from ov_gather.extension.python_api import Node as OpenvinoNode
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.graph.openvino import OpenvinoGraph
from ov_gather.graph.protocol import Node
from ov_gather.ops.table import OPENVINO
from ov_gather.plugin.base import KnownFault
from ov_gather.plugin.empties import summed_axes
from ov_gather.plugin.reductions import OF_NOTHING
from ov_gather.plugin.register import KNOWN
from ov_gather.plugin.turns import PASSED, behind
from ov_gather.ranges.known_faults import FaultFinder
from ov_gather.rules.known_faults import RULE_OF

from .inexactness import Inexactness
from .passes.rewriter import Rewrite
from .recurrence import iterated

_EXACT = {"INFERENCE_PRECISION_HINT": "f32"}
_TURNS = ("transpose_a", "transpose_b")
_ALL = 1 << 30
"""The end of a Slice that takes all: exact in 32 bits and in float32, through which Select may pass."""
_ROUNDS = 4
"""Most rounds of repairs: what one makes may meet another fault."""


def repair_faults(model: Model) -> tuple[list[Rewrite], list[Inexactness]]:
    """Repair a model in place until it meets no fault that has a repair; return the repairs, and the faults that are left.

    Faults that show for inputs that ONNX refuses are not looked for.
    """
    faults = [fault for fault in KNOWN if not fault.before and not fault.is_of_refused_inputs]
    repaired = list[Rewrite]()
    for _ in range(_ROUNDS):
        found = [(fault, node) for fault, node in FaultFinder(OpenvinoGraph(model)).found(faults)]
        repairable = dict[Node, KnownFault]()
        for fault, node in found:
            if fault.report in REPAIRS:
                repairable.setdefault(node, fault)
        if not repairable:
            break
        for node, fault in repairable.items():
            REPAIRS[fault.report](node.handle)
            repaired.append(Rewrite(_place(node), f"avoided: {fault.instead}", True))
        model.validate_nodes_and_infer_types()
    return repaired, [Inexactness(_place(node), f"{RULE_OF[fault.effect]}: {fault.instead}") for fault, node in found]


def _place(node: Node) -> str:
    return f"node {node.type} '{node.name}'"


def _as_matrix(absolute: OpenvinoNode) -> None:
    """Abs(x) of a vector  ->  Squeeze(Abs(Unsqueeze(x)))."""
    axis = ops.constant(np.array([0]))
    replace_node(absolute, ops.squeeze(ops.abs(ops.unsqueeze(absolute.input_value(0), axis)), axis))


def _count(non_zero: OpenvinoNode) -> None:
    """NonZero(x)  ->  NonZero(NotEqual(x, 0))."""
    non_zero.input(0).replace_source_output(_is_not_zero(non_zero.input_value(0)).output(0))


def _is_not_zero(value: Output) -> OpenvinoNode:
    return ops.not_equal(value, ops.constant(0, value.get_element_type()))


def _limit(node: OpenvinoNode) -> None:
    """Range(start, limit, step)  ->  Range(start, Select(step > 0, Maximum(limit, start), Minimum(limit, start)), step)."""
    start, limit, step = node.input_values()
    kind = limit.get_element_type()
    sign = np.sign(step.get_node().get_data()).item() if step.get_node().get_type_name() == "Constant" else 0
    ahead, back = ops.maximum(limit, ops.convert(start, kind)), ops.minimum(limit, ops.convert(start, kind))
    either = ops.select(ops.greater(step, ops.constant(0, step.get_element_type())), ahead, back)
    node.input(1).replace_source_output((ahead if sign > 0 else back if sign < 0 else either).output(0))


def _none_by_zero(node: OpenvinoNode) -> None:
    """Range(start, limit, step)  ->  Range(start, limit - (limit - start) * z, step + z), z = Convert(step == 0).

    By a step of 0, for which ONNX defines no Range, it has no elements.
    """
    start, limit, step = node.input_values()
    is_zero = ops.equal(step, ops.constant(0, step.get_element_type()))
    whole = ops.subtract(limit, ops.convert(start, limit.get_element_type()))
    left = ops.subtract(limit, ops.multiply(whole, ops.convert(is_zero, limit.get_element_type())))
    node.input(1).replace_source_output(left.output(0))
    node.input(2).replace_source_output(ops.add(step, ops.convert(is_zero, step.get_element_type())).output(0))


def _stride_last(node: OpenvinoNode) -> None:
    """Convolution <strides> (x, w)  ->  Slice(Convolution <strides of 1> (x, w), step = strides)."""
    data, filters = node.input_values()
    given = node.get_attributes()
    strides = np.array(given["strides"])
    windows = ops.convolution(
        data, filters, np.ones_like(strides), given["pads_begin"], given["pads_end"], given["dilations"], given["auto_pad"]
    )
    starts, axes = np.zeros_like(strides), np.arange(2, 2 + strides.size)
    limits = (ops.constant(array) for array in (starts, np.full_like(strides, _ALL), strides, axes))
    replace_node(node, ops.slice(windows, *limits))


def _choose_apart(select: OpenvinoNode) -> None:
    """Select(Less(a, b), x, y)  ->  Select(Convert(Convert(Less(a, b))), x, y), which is not fused."""
    condition = ops.convert(ops.convert(select.input_value(0), "i32"), "boolean")
    select.input(0).replace_source_output(condition.output(0))


def _at_least_zero(relu: OpenvinoNode) -> None:
    """ReLU(x)  ->  Maximum(x, 0)."""
    value = relu.input_value(0)
    replace_node(relu, ops.maximum(value, ops.constant(0, value.get_element_type())))


def _limit_apart(node: OpenvinoNode) -> None:
    """Clamp(x, low, high)  ->  Minimum(Minimum(m, high), m), m = Maximum(x, low), which is read twice and so makes no Clamp.

    The same for Minimum(m, high), and for Maximum(m, low) where m is a Minimum.
    """
    first, kind = node.input_value(0), node.get_element_type()
    if node.get_type_name() == "Clamp":
        limits, widest = node.get_attributes(), np.iinfo(kind.to_dtype())
        low, high = (ops.constant(min(max(int(limits[one]), widest.min), widest.max), kind) for one in ("min", "max"))
        first = ops.maximum(first, low).output(0)
        limited = ops.minimum(first, high)
    else:
        first = next(value for value in node.input_values() if not is_constant_foldable([value]))
        limited = copied(node, node.input_values())
    replace_node(node, copied(limited, [limited.output(0), first]))


def _in_32_bits(node: OpenvinoNode) -> None:
    """Add(x, y) of bytes  ->  Convert(Add(Convert(x), Convert(y)))."""
    kind = node.get_element_type()
    wide = copied(node, [ops.convert(value, "i32").output(0) for value in node.input_values()])
    replace_node(node, ops.convert(wide, kind))


def _apart(node: OpenvinoNode) -> None:
    """Subtract(c, Reduce(x))  ->  Subtract(c, BitwiseOr(r, r)), r = Reduce(x), which is not fused: r is read twice."""
    for given in node.inputs():
        value = given.get_source_output()
        if value.get_node().get_type_name() != "Constant":
            given.replace_source_output(ops.bitwise_or(value, value).output(0))


def _from_the_back(gather: OpenvinoNode) -> None:
    """Gather(Unsqueeze(x, 0), i, 0)  ->  Gather(Unsqueeze(x, 0), i, -rank), which is not removed."""
    rank = gather.get_input_partial_shape(0).rank.get_length()
    axis = gather.input_value(2).get_node().get_data().item()
    gather.input(2).replace_source_output(ops.constant(np.int64(axis - rank if axis >= 0 else axis + rank)).output(0))


def _select_padding(pad: OpenvinoNode) -> None:
    """Pad(x, begin, end, value)  ->  Select(Pad(1, begin, end, 0), Pad(x, begin, end, 0), value)."""
    data, begin, end, value = pad.input_values()
    zero = ops.constant(0, data.get_element_type())
    ones = ops.broadcast(ops.constant(np.int32(1)), ops.shape_of(data))
    is_inside = ops.convert(ops.pad(ones, begin, end, "constant", ops.constant(np.int32(0))), "boolean")
    replace_node(pad, ops.select(is_inside, ops.pad(data, begin, end, "constant", zero), value))


def _start_by_axes(node: OpenvinoNode) -> None:
    """Slice(x, start, stop, step, axes)  ->  Slice(x, start + (axes - axes), stop, step, axes), whose start is computed."""
    start, axes = node.input_value(1), node.input_value(4)
    zeros = ops.convert(ops.subtract(axes, axes), start.get_element_type())
    node.input(1).replace_source_output(ops.add(start, zeros).output(0))


def _tile_by_pairs(tile: OpenvinoNode) -> None:
    """Tile(x, [a, b, c, d])  ->  Tile(Tile(x, [a, b, 1, 1]), [1, 1, c, d])."""
    data, repeats = tile.input_values()
    axes = range(repeats.get_shape()[0])
    each = [ops.gather(repeats, ops.constant(np.array([axis])), ops.constant(0)) for axis in axes]
    one = ops.constant([1], repeats.get_element_type())
    for first in axes[::2]:
        data = ops.tile(data, ops.concat([each[i] if i - first in (0, 1) else one for i in axes], 0)).output(0)
    replace_node(tile, data.get_node())


def _tile_of_six(tile: OpenvinoNode) -> None:
    """Tile(x of 4 axes, [a, b, c, d])  ->  Squeeze(Tile(Unsqueeze(x), [1, 1, a, b, c, d]))."""
    data, repeats = tile.input_values()
    added = np.arange(6 - tile.get_input_partial_shape(0).rank.get_length())
    longer = ops.concat([ops.constant(np.ones_like(added), repeats.get_element_type()), repeats], 0)
    replace_node(tile, ops.squeeze(ops.tile(ops.unsqueeze(data, ops.constant(added)), longer), ops.constant(added)))


def _copy_first(node: OpenvinoNode) -> None:
    """Add(x, y)  ->  Add(copy of x, y): an element of a Tile, which is neither removed nor computed in place."""
    value, zero = node.input_value(0), ops.constant(0)
    repeats = ops.constant(np.array([2, *[1] * value.get_partial_shape().rank.get_length()]))
    doubled = ops.tile(ops.unsqueeze(value, zero), repeats)
    node.input(0).replace_source_output(ops.gather(doubled, zero, zero).output(0))


def _of_vector(non_zero: OpenvinoNode) -> None:
    """NonZero of a single element, of rank 2  ->  Concat(z, z), z = NonZero(Reshape(x, [-1]))."""
    flat = ops.reshape(non_zero.input_value(0), ops.constant(np.array([-1])), False)
    rows = [ops.non_zero(flat)] * non_zero.get_input_partial_shape(0).rank.get_length()
    replace_node(non_zero, ops.concat(rows, 0))


def _all_empty(concat: OpenvinoNode) -> None:
    """Concat(x[0, 2], y[?, 4])  ->  Concat(x[0, 2], Slice(y, 0, 0) [0, 4]): no operand has elements."""
    shapes = [value.get_partial_shape() for value in concat.input_values()]
    along = concat.get_attributes()["axis"] % len(shapes[0])
    axes = [i for i in range(len(shapes[0])) if i != along and any(shape[i] == 0 for shape in shapes)]
    zeros = ops.constant(np.zeros(len(axes), np.int64))
    ones = ops.constant(np.ones(len(axes), np.int64))
    for given in concat.inputs():
        none = ops.slice(given.get_source_output(), zeros, zeros, ones, ops.constant(np.array(axes)))
        given.replace_source_output(none.output(0))


def _sum_of_nothing(matmul: OpenvinoNode) -> None:
    """MatMul(x[m, 0], y[0, n])  ->  Add(ReduceSum(x, 1) [m, 1], ReduceSum(y, 0) [1, n]), which are zeros."""
    sums, attributes = [], matmul.get_attributes()
    if "equation" in attributes:
        _einsum_of_zeros(matmul)
        return
    for value, axis, is_turned in zip(matmul.input_values(), (-1, -2), map(attributes.get, _TURNS), strict=True):
        total = ops.reduce_sum(value, ops.constant(np.array([-3 - axis if is_turned else axis])), True)
        rank = value.get_partial_shape().rank.get_length()
        order = ops.constant(np.array([*range(rank - 2), rank - 1, rank - 2]))
        sums.append(ops.transpose(total, order) if is_turned else total)
    replace_node(matmul, ops.add(*sums))


def _einsum_of_zeros(einsum: OpenvinoNode) -> None:
    """Einsum("ij,kj->ik", x[m, 0], y[n, 0])  ->  Einsum("i,k->ik", Broadcast(0, [m]), Broadcast(0, [n]))."""
    equation, zeros = einsum.get_attributes()["equation"], []
    summed = summed_axes(equation)
    for value, axes in zip(einsum.input_values(), summed, strict=True):
        rank = value.get_partial_shape().rank.get_length()
        kept = np.setdiff1d(np.arange(rank), [axis % rank for axis in axes])
        zeros.append(ops.broadcast(ops.constant(0, value.get_element_type()), _at(ops.shape_of(value), ops.constant(kept))))
    labels = {ord(label): None for axes in summed for label in axes.values()}
    replace_node(einsum, ops.einsum(zeros, equation.translate(labels)))


def _of_none(reduce: OpenvinoNode) -> None:
    """ReduceMax(x) of nothing  ->  Add(ReduceSum(x), -inf), as the sum is 0."""
    total = ops.reduce_sum(*reduce.input_values(), reduce.get_attributes()["keep_dims"])
    replace_node(reduce, ops.add(total, _of_nothing(reduce)))


def _choose_infinity(reduce: OpenvinoNode) -> None:
    """ReduceMax(x)  ->  Select(ReduceLogicalAnd(Equal(x, -inf)), -inf, ReduceMax(x))."""
    data, axes = reduce.input_values()
    infinity = _of_nothing(reduce)
    every = ops.reduce_logical_and(ops.equal(data, infinity), axes, reduce.get_attributes()["keep_dims"])
    replace_node(reduce, ops.select(every, infinity, copied(reduce, [data, axes])))


def _of_nothing(reduce: OpenvinoNode) -> OpenvinoNode:
    """Return what a reduction of nothing is. OpenVINO makes no infinite constant of bf16, but converts one."""
    return ops.convert(ops.constant(np.float32(OF_NOTHING[reduce.get_type_name()])), reduce.get_element_type())


def _keep_axes(reduction: OpenvinoNode) -> None:
    """ReduceSum(x, axes)  ->  Squeeze(ReduceSum(x, axes, keep_dims), axes)."""
    kept = copied(reduction, reduction.input_values())
    kept.set_keep_dims(True)
    kept.validate_and_infer_types()
    replace_node(reduction, ops.squeeze(kept, reduction.input_value(1)))


def _moved_first(repair: Callable[[OpenvinoNode], None]) -> Callable[[OpenvinoNode], None]:
    """Return a repair that of ReduceSum(Transpose(x, order), axes) makes Transpose(ReduceSum(x, order[axes]), left order).

    OpenVINO does so, too. What is wrong then is repaired in the next round.
    """

    def repaired(node: OpenvinoNode) -> None:
        if node.get_type_name() not in PASSED:
            repair(node)
            return
        transpose = node
        while OPENVINO[transpose.get_type_name()].rule != "transpose":
            node = transpose if transpose.get_type_name() in PASSED else node
            transpose = next(one for one in transpose.input_values() if not is_constant_foldable([one])).get_node()
        order, axes = (one.input_value(1).get_node().get_data().ravel().tolist() for one in (transpose, node))
        taken, left = behind(order, axes, node.get_attributes().get("keep_dims", False))
        data = ops.convert(transpose.input_value(0), node.get_input_element_type(0))
        reduced = copied(node, [data.output(0), ops.constant(np.array(taken)).output(0)])
        replace_node(node, ops.transpose(reduced, ops.constant(np.array(left))))

    return repaired


def _to_moved_sizes(transpose: OpenvinoNode) -> None:
    """Transpose(x, order) of nothing  ->  Broadcast(0, Gather(ShapeOf(x), order))."""
    data, order = transpose.input_values()
    replace_node(transpose, _nothing(data, _at(ops.shape_of(data), order)))


def _to_open_sizes(transpose: OpenvinoNode) -> None:
    """Transpose(x, order) of axes of size 1  ->  Reshape(x, Gather(ShapeOf(x), order)), in which 0 is no copy."""
    data, order = transpose.input_values()
    replace_node(transpose, ops.reshape(data, _at(ops.shape_of(data), order), False))


def _to_own_sizes(node: OpenvinoNode) -> None:
    """Unsqueeze(x, 1) of nothing  ->  Broadcast(0, [a, 1, b]), ShapeOf(x) = [a, b]; the same for Squeeze."""
    data, axes = node.input_values()
    rank, made = (port.get_partial_shape().rank.get_length() for port in (data, node.output(0)))
    taken = {axis % max(rank, made) for axis in axes.get_node().get_data().ravel().tolist()}
    kept = [axis for axis in range(max(rank, made)) if axis not in taken]
    order = kept if made < rank else [rank if axis in taken else kept.index(axis) for axis in range(made)]
    sizes = ops.concat([ops.shape_of(data), ops.constant(np.array([1]))], 0)
    replace_node(node, _nothing(data, _at(sizes, ops.constant(np.array(order)))))


def _nothing(data: Output, sizes: OpenvinoNode) -> OpenvinoNode:
    """Return no elements in other sizes: a Reshape would copy some of them, but strings have no Broadcast."""
    kind = data.get_element_type()
    if kind == openvino.Type.string:
        return ops.reshape(data, sizes, False)
    return ops.broadcast(ops.constant(0, kind), sizes)


def _at(sizes: OpenvinoNode, order: OpenvinoNode | Output) -> OpenvinoNode:
    """Return sizes in another order."""
    return ops.gather(sizes, order, ops.constant(np.int64(0)))


def _slice_none(topk: OpenvinoNode) -> None:
    """TopK(x, 0)  ->  Slice(x, 0, 0), Convert(Slice(x, 0, 0))."""
    zero, axis = ops.constant(np.array([0])), ops.constant(np.array([topk.get_attributes()["axis"]]))
    none = ops.slice(topk.input_value(0), zero, zero, ops.constant(np.array([1])), axis)
    _feed_outputs(topk, [none.output(0), ops.convert(none, topk.get_output_element_type(1)).output(0)])


def _no_positions(non_zero: OpenvinoNode) -> None:
    """NonZero(x) of no elements  ->  a constant without elements."""
    shape = (non_zero.get_input_partial_shape(0).rank.get_length(), 0)
    replace_node(non_zero, ops.constant(np.empty(shape), non_zero.get_element_type()))


def _only_input(node: OpenvinoNode) -> None:
    """Tile(x, [])  ->  x."""
    node.output(0).replace(node.input_value(0))


def _empty(broadcast: OpenvinoNode) -> None:
    """Broadcast(x, shape) of no elements  ->  a constant without elements."""
    data, target = (value.get_node() for value in broadcast.input_values())
    is_known = target.get_type_name() == "Constant"
    shape = np.broadcast_shapes(data.get_output_shape(0), target.get_data()) if is_known else broadcast.get_output_shape(0)
    replace_node(broadcast, ops.constant(np.empty(shape), broadcast.get_element_type()))


def _sliced_to_nothing(broadcast: OpenvinoNode) -> None:
    """Broadcast(x, [0, 2])  ->  Slice(Broadcast(x, [1, 2]), 0, 0, axis 0)."""
    data, target = broadcast.input_values()
    sizes = target.get_node().get_data()
    filled = ops.broadcast(data, ops.constant(np.maximum(sizes, 1)), broadcast_spec="BIDIRECTIONAL")
    axes = np.flatnonzero(sizes == 0) - sizes.size  # counted from the last
    zeros = ops.constant(np.zeros_like(axes))
    replace_node(broadcast, ops.slice(filled, zeros, zeros, ops.constant(np.ones_like(axes)), ops.constant(axes)))


def _draw_vector(random: OpenvinoNode) -> None:
    """RandomUniform([], low, high)  ->  Reshape(RandomUniform([1], low, high), [])."""
    shape, *limits = random.input_values()
    one = copied(random, [ops.constant([1], shape.get_element_type()).output(0), *limits])
    replace_node(random, ops.reshape(one, shape, False))


def _read_inverse(unique: OpenvinoNode) -> None:
    """Unique(x), whose inverse is not read  ->  its positions (or counts) are gathered from them and the inverse, joined.

    The elements are then gathered at these positions. Of constants, all outputs are computed here.
    """
    if is_constant_foldable(unique.input_values()):
        _fold_unique(unique)
        return
    is_read = [bool(unique.output(position).get_target_inputs()) for position in range(4)]
    position = 1 if is_read[0] or is_read[1] else 3
    short, zero = unique.output(position), ops.constant(0)
    readers = short.get_target_inputs()
    joined = ops.concat([short, ops.convert(unique.output(2), short.get_element_type())], 0)
    places = ops.range(zero, ops.squeeze(ops.shape_of(short), zero), ops.constant(1), "i64")
    found = ops.gather(joined, places, zero).output(0)
    _feed(readers, found)
    if is_read[0]:
        elements = ops.gather(ops.reshape(unique.input_value(0), ops.constant(np.array([-1])), False), found, zero)
        _feed(unique.output(0).get_target_inputs(), elements.output(0))


def _store(node: OpenvinoNode) -> None:
    """CumSum(constant)  ->  its result, computed here."""
    alone = openvino.Core().compile_model(Model(node.outputs(), []).clone(), "CPU", _EXACT)
    request = alone.create_infer_request()
    request.start_async()
    request.wait()
    results = zip(node.outputs(), request.output_tensors, strict=True)
    _feed_outputs(node, [_constant(port, tensor.data) for port, tensor in results])


def _cut_to_none(loop: OpenvinoNode) -> None:
    """Joined slices of Loop(trips, condition)  ->  Slice(slices, 0, Select(trips != 0 and condition, all, 0))."""
    one = ops.constant(np.array([1]))
    trips, condition = (ops.reshape(value, one, False) for value in loop.input_values()[:2])
    runs = ops.logical_and(ops.not_equal(trips, ops.constant(np.array([0]), trips.get_element_type())), condition)
    end = ops.select(runs, ops.constant(np.array([_ALL])), ops.constant(np.array([0])))
    for entry in loop.get_output_descriptions():
        port = loop.output(entry.output_index)
        readers = port.get_target_inputs()
        if hasattr(entry, "axis") and readers:
            cut = ops.slice(port, ops.constant(np.array([0])), end, one, ops.constant(np.array([entry.axis]))).output(0)
            cut.set_names(port.get_names())
            port.set_names(set())
            _feed(readers, cut)


def _first_axis(unique: OpenvinoNode) -> None:
    """Unique(x, axis)  ->  Unique(Transpose(x), 0), and its first output is transposed back."""
    data, axis = unique.input_value(0), unique.input_value(1).get_node().get_data().item()
    rank = unique.get_input_partial_shape(0).rank.get_length()
    order = np.array([axis % rank, *(i for i in range(rank) if i != axis % rank)])
    moved = copied(unique, [ops.transpose(data, ops.constant(order)).output(0), ops.constant(np.int64(0)).output(0)])
    back = ops.transpose(moved.output(0), ops.constant(np.argsort(order)))
    _feed_outputs(unique, [back.output(0), *moved.outputs()[1:]])


def _wide_unique(unique: OpenvinoNode) -> None:
    """Unique(x, axis) of bytes  ->  Unique(Convert(x), axis), and its first output is converted back."""
    data, axis = unique.input_values()
    wide = copied(unique, [ops.convert(data, "i32").output(0), axis])
    _feed_outputs(unique, [ops.convert(wide.output(0), data.get_element_type()).output(0), *wide.outputs()[1:]])


def _iterate(sequence: OpenvinoNode) -> None:
    """LSTMSequence(x, h, c, lengths, ...)  ->  TensorIterator of an LSTMCell."""
    _feed_outputs(sequence, iterated(sequence))


def _feed_outputs(node: OpenvinoNode, values: Iterable[Output]) -> None:
    """Let the readers of each output of a node read these values instead; names of tensors move along."""
    for port, value in zip(node.outputs(), values, strict=True):
        port.replace(value)


def _fold_unique(unique: OpenvinoNode) -> None:
    """Unique(constant)  ->  its outputs as constants."""
    data, *axes = (value_before_compiling(value) for value in unique.input_values())
    if data is None or any(one is None for one in axes):
        return
    axis = axes[0].item() if axes and axes[0] is not None else None
    elements, first, inverse, counts = np.unique(data, True, True, True, axis)
    if not unique.get_attributes()["sorted"]:
        order = np.argsort(first)
        elements, first, inverse, counts = (
            elements.take(order, axis or 0),
            first[order],
            np.argsort(order)[inverse],
            counts[order],
        )
    arrays = (elements, first, inverse.ravel(), counts)
    _feed_outputs(unique, [_constant(port, array) for port, array in zip(unique.outputs(), arrays, strict=True)])


def _constant(port: Output, array: NDArray[Any]) -> Output:
    """Return a constant of the element type of an output."""
    return ops.constant(array, port.get_element_type()).output(0)


def _feed(readers: Iterable[Any], value: Output) -> None:
    for reader in readers:
        reader.replace_source_output(value)


def _copy_results(choice: OpenvinoNode) -> None:
    """If(condition, x) of an open shape -> y  ->  Broadcast(y, ShapeOf(y))."""
    for output in choice.outputs():
        readers = output.get_target_inputs()
        if output.get_partial_shape().is_dynamic and output.get_partial_shape().rank.is_static:
            _feed(readers, ops.broadcast(output, ops.shape_of(output)).output(0))


REPAIRS: Mapping[str, Callable[[OpenvinoNode], None]] = {
    "abs_of_clamp": _as_matrix,
    "abs_of_folded_convert": _as_matrix,
    "abs_of_reshaped_constants": _as_matrix,
    "abs_overwrites_concat": _as_matrix,
    "arithmetic_after_integer_reduction": _apart,
    "bidirectional_broadcast_of_no_elements": _empty,
    "bidirectional_broadcast_to_no_elements": _sliced_to_nothing,
    "broadcast_by_no_sizes": _only_input,
    "broadcast_of_empty_constant": _empty,
    "broadcast_of_no_elements": _empty,
    "bytes_saturate": _in_32_bits,
    "clamp_limits_through_float32": _limit_apart,
    "concat_of_nothing": _all_empty,
    "constant_minus_byte_reduction": _apart,
    "constant_result_overwritten": _store,
    "gather_of_inserted_axis": _from_the_back,
    "if_before_pool": _copy_results,
    "loop_of_no_iterations_keeps_slices": _cut_to_none,
    "loop_overwrites_outer_value": _copy_first,
    "matmul_over_nothing": _sum_of_nothing,
    "maximum_of_infinities": _choose_infinity,
    "non_zero_before_convert": _count,
    "non_zero_of_moved_nothing": _no_positions,
    "non_zero_of_one_constant": _of_vector,
    "pad_value_of_run_time": _select_padding,
    "pad_value_through_float32": _select_padding,
    "random_scalar": _draw_vector,
    "range_away_from_its_limit": _limit,
    "range_by_zero": _none_by_zero,
    "reductions_of_nothing": _of_none,
    "relu_through_float32": _at_least_zero,
    "reshape_after_reduction": _keep_axes,
    "select_through_float32": _choose_apart,
    "sequence_lengths_ignored": _iterate,
    "slice_of_computed_axes": _start_by_axes,
    "strides_of_padding": _stride_last,
    "tile_by_no_repeats": _only_input,
    "tile_of_one_channel": _tile_of_six,
    "tile_run_time_repeats": _tile_by_pairs,
    "topk_of_none": _slice_none,
    "transpose_of_nothing": _moved_first(_to_moved_sizes),
    "transpose_of_open_sizes": _moved_first(_to_open_sizes),
    "unique_along_later_axis": _first_axis,
    "unique_of_constants": _fold_unique,
    "unique_slices_of_bytes": _wide_unique,
    "unique_without_inverse": _read_inverse,
    "unsqueeze_of_nothing": _to_own_sizes,
}
"""What repairs a fault, by its report."""
