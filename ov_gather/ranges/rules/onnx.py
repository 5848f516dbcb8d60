"""Transfer functions of ONNX operators, by type, version and attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ov_gather.graph.protocol import Node
from ov_gather.ops.table import ONNX
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import LARGEST_SIZE, Value, product
from ov_gather.ranges.rules import arithmetic, indexing, linear, moves, reducing, shaping, slicing
from ov_gather.ranges.rules.call import Operands, TransferFunction, or_declared
from ov_gather.ranges.rules.common import Make, along, transfer_functions


def rule_of(operator: Node) -> TransferFunction | None:
    """Return the transfer function of an operator; None if it has none."""
    make = _RULES.get(operator.type)
    if make is None:
        return None
    rule = or_declared(make(operator))

    def of_every_output(call: Operands) -> Sequence[Value]:
        found = rule(call)
        return [*found, *call.outputs[len(found) :]][: len(call.outputs)]

    return of_every_output


def _axes(operator: Node, call: Operands) -> tuple[bool, list[int] | None]:
    """Return whether the axes are known, and the axes, None if absent: an attribute before opset 13 or 18, then an operand."""
    if "axes" in operator.attributes:
        return True, operator.integers("axes")
    if call.value(1) is None:
        return True, None
    axes = call.integers(1)
    return axes is not None, axes


def _reduced(rule: Callable[..., Sequence[Value]]) -> Make:
    """Bind the axes of a reduction. Without axes it reduces all, or none with `noop_with_empty_axes`."""

    def make(operator: Node) -> TransferFunction:
        keep_dims = bool(operator.integer("keepdims", 1))

        def apply(call: Operands) -> Sequence[Value]:
            is_known, axes = _axes(operator, call)
            if not is_known:
                return list(call.outputs)
            if not axes and operator.integer("noop_with_empty_axes"):
                return shaping.same_shape(call)
            return rule(call, axes or None, keep_dims=keep_dims)

        return apply

    return make


def bind_squeeze(operator: Node) -> TransferFunction:
    """Bind the axes."""

    def rule(call: Operands) -> Sequence[Value]:
        is_known, axes = _axes(operator, call)
        return shaping.squeeze(call, axes) if is_known else shaping.declared_shape(call)

    return rule


def bind_clip(operator: Node) -> TransferFunction:
    """Bind the bounds."""
    if "min" in operator.attributes or "max" in operator.attributes:  # before opset 11, floating-point only
        return shaping.shape_only

    def rule(call: Operands) -> Sequence[Value]:
        found, low, high = (call.value(position) for position in range(3))
        for bound, limit in ((low, arithmetic.maximum), (high, arithmetic.minimum)):
            if found is not None and bound is not None:
                (found,) = limit(replace(call, inputs=[found, bound]))
        return [call.outputs[0] if found is None else call.output(found)]

    return rule


def bind_split(operator: Node) -> TransferFunction:
    """Bind the axis and the lengths."""
    axis = operator.integer("axis")

    def rule(call: Operands) -> Sequence[Value]:
        lengths, value, number = operator.integers("split"), call.value(0), len(call.outputs)
        if call.value(1) is not None:
            lengths = call.integers(1)
        elif lengths is None and value is not None and value.shape is not None and -len(value.shape) <= axis < len(value.shape):
            size = value.shape[axis].value
            lengths = None if size is None or size % number else [size // number] * number
        return shaping.split(call, axis, lengths)

    return rule


def bind_pad(operator: Node) -> TransferFunction:
    """Bind the mode."""
    if "pads" in operator.attributes:  # before opset 11, floating-point only
        return lambda call: list(call.outputs)
    with_value = operator.text("mode", "constant") == "constant"

    def rule(call: Operands) -> Sequence[Value]:
        pads, data = call.value(1), call.value(0)
        frame: list[Value | None] = [None, None]
        if pads is not None and data is not None and data.rank and slicing.length_of(call, 1) == 2 * data.rank:
            axes = range(data.rank)
            frame = [moves.take(call.algebra, pads, 0, [axis + end for axis in axes]) for end in (0, data.rank)]
        return shaping.pad(replace(call, inputs=[data, *frame, call.value(2)]), with_value=with_value)

    return rule


def bind_slice(operator: Node) -> TransferFunction:
    """Bind the positions of the operands."""
    if "starts" in operator.attributes:  # before opset 10
        return shaping.elements_only
    return partial(slicing.slice_of, axes=3, steps=4)


def bind_shape_of(operator: Node) -> TransferFunction:
    """Bind which axes count."""
    end = operator.integer("end") if "end" in operator.attributes else None
    return partial(shaping.shape_of, start=operator.integer("start"), end=end)


def bind_filled(operator: Node) -> TransferFunction:
    """Bind the fill value."""
    fill = operator.attributes.get("value")

    def rule(call: Operands) -> Sequence[Value]:
        dims = call.dims(0)
        shape = call.outputs[0].shape if dims is None else tuple(dims)
        if not isinstance(fill, Value) or product(fill.shape or ()).value != 1:
            return [call.output(shape=shape)]
        return [call.output(shape=shape, elements=fill.elements, may_be_nan=fill.may_be_nan)]

    return rule


def one_hot(call: Operands) -> Sequence[Value]:
    """Infer OneHot: one of the two values."""
    values = call.operand(2)
    return [call.output(elements=values.elements, may_be_nan=values.may_be_nan)]


def _with_places(call: Operands) -> Sequence[Value]:
    """Infer elements of the first operand, and their positions or counts."""
    places = [call.bounded(Interval(0, LARGEST_SIZE), position=position) for position in range(1, len(call.outputs))]
    return [*shaping.elements_only(call), *places]


def boxes_kept(call: Operands) -> Sequence[Value]:
    """Infer NonMaxSuppression: rows of three indices."""
    return indexing.boxes_kept(replace(call, outputs=[_three_columns(call.outputs[0]), *call.outputs[1:]]), is_padded=False)


def _three_columns(declared: Value) -> Value:
    """Set the size of the last dimension, which many models do not declare."""
    shape = declared.shape
    return declared if shape is None or len(shape) != 2 else replace(declared, shape=(shape[0], Polynomial.constant(3)))


def bind_flatten(operator: Node) -> TransferFunction:
    """Bind the axis."""
    axis = operator.integer("axis", 1)

    def rule(call: Operands) -> Sequence[Value]:
        shape = call.shape(0)
        if not -len(shape) <= axis <= len(shape):
            return shaping.declared_shape(call)
        split = axis + len(shape) * (axis < 0)
        return [call.output(moves.reshape(call.operand(0), (product(shape[:split]), product(shape[split:]))))]

    return rule


def broadcast(call: Operands) -> Sequence[Value]:
    """Infer Expand."""
    return shaping.broadcast(call, both_ways=True)


def matrix_product(call: Operands) -> Sequence[Value]:
    """Infer MatMul."""
    return linear.matrix_product(call, transposed=(False, False))


def bind_gather(operator: Node) -> TransferFunction:
    """Bind the axis."""
    return partial(indexing.gather, axis=operator.integer("axis"), batch_dims=0, from_end=True)


def bind_gather_nd(operator: Node) -> TransferFunction:
    """Bind the number of batch dimensions."""
    return partial(indexing.gather_nd, batch_dims=operator.integer("batch_dims"))


def bind_remainder(operator: Node) -> TransferFunction:
    """Bind the sign of Mod."""
    return partial(arithmetic.remainder, sign_of_dividend=bool(operator.integer("fmod")))


def bind_reshape(operator: Node) -> TransferFunction:
    """Bind what a size of 0 means."""
    return partial(shaping.reshape, copies_zeros=not operator.integer("allowzero"))


def bind_transpose(operator: Node) -> TransferFunction:
    """Bind the order of axes."""
    return partial(shaping.transpose, order=operator.integers("perm") or [])


def bind_unique(operator: Node) -> TransferFunction:
    """Bind whether elements, or slices along an axis, are unique."""
    return _with_places if "axis" in operator.attributes else indexing.unique


def bind_unsqueeze(operator: Node) -> TransferFunction:
    """Bind the axes."""
    return lambda call: shaping.unsqueeze(call, _axes(operator, call)[1])


bind_arg_extreme = along(indexing.arg_extreme)
bind_gather_elements = along(indexing.gather_elements)
pool = _with_places
bind_reduce_extreme = _reduced(reducing.extreme)
bind_reduce_mean = _reduced(reducing.mean)
bind_reduce_product = _reduced(reducing.multiplied)
bind_reduce_sum = _reduced(reducing.total)
_RULES = transfer_functions(ONNX, globals())
