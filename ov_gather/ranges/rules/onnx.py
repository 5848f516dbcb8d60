"""Transfer functions of ONNX operators, by type, version and attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ov_gather.graph.protocol import Node
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import LARGEST_SIZE, Value, product
from ov_gather.ranges.rules import comparing, elementwise, indexing, linear, moves, reducing, shaping, slicing
from ov_gather.ranges.rules.arithmetic import ARITHMETIC, remainder
from ov_gather.ranges.rules.call import Operands, TransferFunction, or_declared
from ov_gather.ranges.rules.common import COMMON, Make, along, always
from ov_gather.ranges.rules.comparing import COMPARISONS


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


def _squeeze(operator: Node) -> TransferFunction:
    def rule(call: Operands) -> Sequence[Value]:
        is_known, axes = _axes(operator, call)
        return shaping.squeeze(call, axes) if is_known else shaping.declared_shape(call)

    return rule


def _clip(operator: Node) -> TransferFunction:
    if "min" in operator.attributes or "max" in operator.attributes:  # before opset 11, floating-point only
        return shaping.shape_only

    def rule(call: Operands) -> Sequence[Value]:
        found, low, high = (call.value(position) for position in range(3))
        for bound, name in ((low, "Max"), (high, "Min")):
            if found is not None and bound is not None:
                (found,) = ARITHMETIC[name](replace(call, inputs=[found, bound]))
        return [call.outputs[0] if found is None else call.output(found)]

    return rule


def _split(operator: Node) -> TransferFunction:
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


def _pad(operator: Node) -> TransferFunction:
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


def _slice(operator: Node) -> TransferFunction:
    if "starts" in operator.attributes:  # before opset 10
        return shaping.elements_only
    return partial(slicing.slice_of, axes=3, steps=4)


def _shape(operator: Node) -> TransferFunction:
    end = operator.integer("end") if "end" in operator.attributes else None
    return partial(shaping.shape_of, start=operator.integer("start"), end=end)


def _constant_of_shape(operator: Node) -> TransferFunction:
    fill = operator.attributes.get("value")

    def rule(call: Operands) -> Sequence[Value]:
        dims = call.dims(0)
        shape = call.outputs[0].shape if dims is None else tuple(dims)
        if not isinstance(fill, Value) or product(fill.shape or ()).value != 1:
            return [call.output(shape=shape)]
        return [call.output(shape=shape, elements=fill.elements, may_be_nan=fill.may_be_nan)]

    return rule


def _scatter(operator: Node) -> TransferFunction:
    return partial(indexing.scatter, reduction=operator.text("reduction", "none"))


def _one_hot(call: Operands) -> Sequence[Value]:
    """Infer OneHot: one of the two values."""
    values = call.operand(2)
    return [call.output(elements=values.elements, may_be_nan=values.may_be_nan)]


def _with_places(call: Operands) -> Sequence[Value]:
    """Infer elements of the first operand, and their positions or counts."""
    places = [call.bounded(Interval(0, LARGEST_SIZE), position=position) for position in range(1, len(call.outputs))]
    return [*shaping.elements_only(call), *places]


def _boxes_kept(call: Operands) -> Sequence[Value]:
    return indexing.boxes_kept(replace(call, outputs=[_three_columns(call.outputs[0]), *call.outputs[1:]]), is_padded=False)


def _three_columns(declared: Value) -> Value:
    """Set the size of the last dimension, which many models do not declare."""
    shape = declared.shape
    return declared if shape is None or len(shape) != 2 else replace(declared, shape=(shape[0], Polynomial.constant(3)))


def _flatten(operator: Node) -> TransferFunction:
    axis = operator.integer("axis", 1)

    def rule(call: Operands) -> Sequence[Value]:
        shape = call.shape(0)
        if not -len(shape) <= axis <= len(shape):
            return shaping.declared_shape(call)
        split = axis + len(shape) * (axis < 0)
        return [call.output(moves.reshape(call.operand(0), (product(shape[:split]), product(shape[split:]))))]

    return rule


_SAME_SHAPE = """
    BatchNormalization Celu Dropout HardSwish InstanceNormalization LayerNormalization LeakyRelu Reciprocal Softplus Softsign
    ThresholdedRelu
"""
_RULES: Mapping[str, Make] = {
    **COMMON,
    **{name: always(rule) for name, rule in {**ARITHMETIC, **COMPARISONS}.items()},
    **dict.fromkeys(["And", "Not", "Or", "Xor"], always(comparing.truth)),
    **dict.fromkeys(["BitShift", "Pow", "PRelu"], always(elementwise.any_value)),
    **dict.fromkeys(_SAME_SHAPE.split(), always(shaping.shape_only)),
    **dict.fromkeys(["ArgMax", "ArgMin"], along(indexing.arg_extreme)),
    **dict.fromkeys(["Cast", "CastLike"], always(elementwise.cast)),
    "MaxPool": always(_with_places),
    **dict.fromkeys(["ReduceMax", "ReduceMin"], _reduced(reducing.extreme)),
    **dict.fromkeys(["Scatter", "ScatterElements", "ScatterND"], _scatter),
    "Clip": _clip,
    "Compress": always(shaping.elements_only),
    "ConstantOfShape": _constant_of_shape,
    "CumSum": always(lambda call: reducing.running_total(call, call.integer(1))),
    "Einsum": lambda operator: partial(linear.einsum, equation=operator.text("equation", "")),
    "Expand": always(partial(shaping.broadcast, both_ways=True)),
    "Flatten": _flatten,
    "Gather": lambda operator: partial(indexing.gather, axis=operator.integer("axis"), batch_dims=0, from_end=True),
    "GatherElements": along(indexing.gather_elements),
    "GatherND": lambda operator: partial(indexing.gather_nd, batch_dims=operator.integer("batch_dims")),
    "MatMul": always(partial(linear.matrix_product, transposed=(False, False))),
    "Mod": lambda operator: partial(remainder, sign_of_dividend=bool(operator.integer("fmod"))),
    "NonMaxSuppression": always(_boxes_kept),
    "OneHot": always(_one_hot),
    "Pad": _pad,
    "ReduceMean": _reduced(reducing.mean),
    "ReduceProd": _reduced(reducing.multiplied),
    "ReduceSum": _reduced(reducing.total),
    "Reshape": lambda operator: partial(shaping.reshape, copies_zeros=not operator.integer("allowzero")),
    "Shape": _shape,
    "Size": always(shaping.size_of),
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Transpose": lambda operator: partial(shaping.transpose, order=operator.integers("perm") or []),
    "Unique": lambda operator: _with_places if "axis" in operator.attributes else indexing.unique,
    "Unsqueeze": lambda operator: lambda call: shaping.unsqueeze(call, _axes(operator, call)[1]),
    "Where": always(elementwise.select),
}
