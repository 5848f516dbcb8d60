"""Nodes that OpenVINO's CPU plugin computes differently from ONNX.

It narrows integers, takes them for signed ones, or rounds them. It computes float16 as float32, and drops Casts to float16.
A Tile whose repeats are computed may leave a part of its output unwritten.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx_ir
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator

from ov_gather.divergences.conditions import NARROWED_BY_CPU
from ov_gather.ir.element_types import F16, F64, I32, I64, U32, U64, ElementType
from ov_gather.ops.onnx_nodes import GATHERS, SCATTERS
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.values import every_value, is_of_sizes

from .graphs import bodies_of, constant_of, is_constant, is_default, nodes_of, uses_of
from .moves import OF_SHAPES, carries_elements, element_type_of, is_index, moves
from .ranges import Ranges

INT32 = np.iinfo(np.int32)
_EXACT = 2**24  # float32 represents all integers up to this one
# Operators whose results modulo 2^32 are the same for signed and unsigned operands.
_MODULAR = ("Add", "Sub", "Mul", "Sum", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "ReverseSequence")
_WRAPPING = ("Abs", "Add", "BitShift", "BitwiseNot", "Mul", "Neg", "Sub", "Sum")
_WRAPPED = "i16 and u16 are computed as i32, values beyond do not wrap around"
_SIGNED = "u32 is computed as i32, values from 2^31 on are negative"
_AS_FLOAT = "OpenVINO's CPU plugin {} integers as f32, which rounds those beyond 2^24"
_DIVISIONS = ("Div", "Mod")
_COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
_NARROWED = ("ReduceMax", "ReduceMin", "Resize", "Trilu", "Upsample")  # at 64 bits, the narrowing is reported instead
_TOTALS = ("MatMul", "Pow", "ReduceL1", "ReduceMean", "ReduceProd", "ReduceSum", "ReduceSumSquare")
_ROUNDED = {
    **dict.fromkeys(_DIVISIONS, _AS_FLOAT.format("divides")),
    **dict.fromkeys((*_COMPARISONS, "Clip"), _AS_FLOAT.format("compares")),
    **dict.fromkeys(_TOTALS, _AS_FLOAT.format("adds and multiplies")),
    "ReverseSequence": _AS_FLOAT.format("reverses") + "; target extension keeps them",
    "Resize": _AS_FLOAT.format("resizes"),
    "Upsample": _AS_FLOAT.format("resizes"),
    "ReduceMax": _AS_FLOAT.format("compares"),
    "ReduceMin": _AS_FLOAT.format("compares"),
    "Trilu": _AS_FLOAT.format("multiplies"),
}

_TILED = "repeats that the model computes may leave a part of the output unwritten on OpenVINO's CPU plugin"
_QUIETED = "OpenVINO's CPU plugin makes signalling NaNs of float16 quiet"
_QUIETING = (
    *("CenterCropPad", "ConcatFromSequence", "DepthToSpace", "SequenceAt", "SequenceConstruct", "SequenceInsert"),
    *("SpaceToDepth", "SplitToSequence", "Trilu"),
)
"""Operators that only move values, but are not moved in lanes."""


def inexact_nodes(model: onnx_ir.Model, ranges: Ranges) -> Iterator[tuple[onnx_ir.Node, str]]:
    """Yield each node that the plugin computes differently from ONNX, and how it departs."""
    yield from ((node, _TILED) for node in _wrong_tiles(model, ranges))
    yield from ((node, _ROUNDED[node.op_type]) for node in nodes_of(model, *_ROUNDED) if is_rounded(node, ranges))
    yield from _wrong_pads(model)
    yield from ((node, _QUIETED) for node in nodes_of(model, *_QUIETING) if _takes_halves(node))
    yield from ((node, _UNROUNDED) for node in nodes_of(model, *_CASTS) if is_unrounded(node, ranges))
    yield from ((node, _SIGNED) for node in model.graph.all_nodes() if is_signed(node, ranges))
    yield from ((node, _WRAPPED) for node in model.graph.all_nodes() if is_wrapped(node, ranges))


def narrowing(element_type: ElementType) -> str:
    """Return the reason reported for values of a type that OpenVINO's CPU plugin narrows."""
    consequence = "rounded" if element_type is F64 else "values beyond wrap around"
    return f"{element_type} is computed as {NARROWED_BY_CPU[element_type]}, {consequence}"


def stays_within(value: onnx_ir.Value) -> bool:
    """Return True if all integers computed from a value fit in 32 bits whenever the value does."""
    return all(
        is_index(node, position)
        or is_default(node, OF_SHAPES)
        or moves(node)
        or not any(element_type_of(output) in NARROWED_BY_CPU for output in node.outputs)
        for node, position in uses_of(value, carries_elements)
    )


def is_signed(node: onnx_ir.Node, ranges: Ranges) -> bool:
    """Return True if a node computes with u32 values beyond int32, and their sign matters."""

    def is_large(value: onnx_ir.Value | None) -> bool:
        if element_type_of(value) is not U32:
            return False
        interval = ranges.of(value)
        return interval is None or interval.high > INT32.max

    is_harmless = moves(node) or bodies_of(node) or is_default(node, (*_MODULAR, *OF_SHAPES, *GATHERS, *SCATTERS))
    return not is_harmless and node.domain == "" and any(map(is_large, node.inputs))


def is_rounded(node: onnx_ir.Node, ranges: Ranges) -> bool:
    """Return True if a node of _ROUNDED may compute with integers that float32 does not represent.

    Integers computed from sizes do not count: otherwise no model with computed shapes would be exact.
    """
    element_type = element_type_of(node.inputs[0])
    if element_type not in (I32, U32, I64, U64) or (element_type in (I64, U64) and node.op_type in _NARROWED):
        return False
    if node.op_type in _COMPARISONS and node.inputs[0] is node.inputs[1]:
        return False  # both sides are rounded alike
    if node.op_type == "Clip":
        return any(map(_is_rounded_bound, node.inputs[1:]))
    computes = node.op_type in (*_DIVISIONS, *_TOTALS)
    values = [*node.inputs, *node.outputs] if computes else node.inputs[: 2 if node.op_type in _COMPARISONS else 1]
    known = [(value, ranges.of(value)) for value in values if value is not None]
    if computes and element_type in (I64, U64):  # wide ones are reported as narrowed, unless OpenVINO folds them exactly
        known = [
            (value, found)
            for value, found in known
            if not exceeds_int32(found) or (value in node.inputs and is_constant(value))
        ]
    intervals = [found for _, found in known]
    if node.op_type in _COMPARISONS:  # rounding never moves a number across a small one
        return not any(_fits(interval, sizes=True) for interval in intervals)
    return not all(_fits(interval, sizes=computes) for interval in intervals)


def _fits(interval: Interval | None, *, sizes: bool) -> bool:
    if interval is None:
        return False
    least, most = interval.low > -_EXACT, interval.high < _EXACT
    return (least or (sizes and any(map(is_of_sizes, interval.lows)))) and (
        most or (sizes and any(map(is_of_sizes, interval.highs)))
    )


def _is_rounded_bound(value: onnx_ir.Value | None) -> bool:
    """Return True for a constant that float32 does not represent; computed bounds are compared as integers."""
    tensor = None if value is None else constant_of(value)
    number = 0 if tensor is None or tensor.size != 1 else int(tensor.numpy().item())
    return INT32.min < number < INT32.max and int(np.float32(number)) != number


def exceeds_int32(interval: Interval | None) -> bool:
    """Return True if a number of an interval may not fit in 32 bits."""
    return interval is None or interval.low < INT32.min or interval.high > INT32.max


def is_wrapped(node: onnx_ir.Node, ranges: Ranges) -> bool:
    """Return True if 16-bit integers may wrap around at a node; OpenVINO's CPU plugin computes them as i32."""
    element_type = element_type_of(node.outputs[0])
    if element_type is None or element_type.name not in ("i16", "u16") or not is_default(node, (*_WRAPPING, "Cast")):
        return False
    is_cast = node.op_type == "Cast"
    widest, found = every_value(element_type), ranges.of(node.inputs[0] if is_cast else node.outputs[0])
    if found is None:  # a Cast of floats, which ONNX leaves undefined outside the type's range
        return False
    if is_cast:
        return found.low < widest.low or found.high > widest.high
    return found.low <= widest.low and found.high >= widest.high


_CASTS = ("Cast", "CastLike")
_UNROUNDED = "OpenVINO's CPU plugin computes float16 as float32: this Cast neither rounds nor overflows"
_EXACT_IN_FLOAT16 = 2**11  # float16 represents all integers up to this one
_WITHIN_FLOAT16 = (onnx_ir.DataType.BOOL, onnx_ir.DataType.INT8, onnx_ir.DataType.UINT8, onnx_ir.DataType.FLOAT16)


def is_unrounded(node: onnx_ir.Node, ranges: Ranges) -> bool:
    """Return True if a Cast to float16 may round, and a node computes another type from its values, directly or after moves.

    Float16 arithmetic on its values does not count: in models that are float16 throughout, the plugin only rounds less.
    """
    if not is_default(node, _CASTS) or element_type_of(node.outputs[0]) is not F16:
        return False
    source = node.inputs[0]
    if source is None or source.dtype in _WITHIN_FLOAT16 or constant_of(source) is not None:
        return False
    interval = ranges.of(source)
    if interval is not None and interval.low >= -_EXACT_IN_FLOAT16 and interval.high <= _EXACT_IN_FLOAT16:
        return False
    return any(_leaves(*use) for use in uses_of(node.outputs[0], carries_elements))


def _leaves(node: onnx_ir.Node, position: int) -> bool:
    """Return True if a node computes a type other than float16 from the elements of an input."""
    if bodies_of(node) or is_default(node, OF_SHAPES) or carries_elements(node, position):
        return False
    if is_default(node, ("CastLike",)) and position == 1:  # only its type counts
        return False
    return any(element_type_of(output) not in (None, F16) for output in node.outputs)


# The plugin of 2026.4.1 is right if data has at most 3 axes, or at most 2 are repeated, or the repeats are constant.
_AXES, _REPEATED = 3, 2


def _wrong_tiles(model: onnx_ir.Model, ranges: Ranges) -> Iterator[onnx_ir.Node]:
    """Yield each Tile that may return uninitialised memory."""
    for node in nodes_of(model, "Tile"):
        if len(node.inputs) != 2 or node.inputs[0] is None or node.inputs[1] is None:
            continue  # Tile-1 repeats one axis
        data, repeats = node.inputs[0].shape, list(_parts(node.inputs[1]))
        if (data is not None and data.rank() <= _AXES) or all(_is_fixed(part, ranges) for part in repeats):
            continue
        if sum(_repeated(part, ranges) for part in repeats) > _REPEATED:
            yield node


def _parts(value: onnx_ir.Value) -> Iterator[onnx_ir.Value]:
    """Yield the values that Concat assembles this one from, through Cast and Identity; or the value itself."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        node = value.producer()
        if node is not None and is_default(node, ("Cast", "Concat", "Identity")):
            waiting += [part for part in node.inputs if part is not None]
        else:
            yield value


def _is_fixed(part: onnx_ir.Value, ranges: Ranges) -> bool:
    found = ranges.of(part)
    return constant_of(part) is not None or (found is not None and found.low == found.high)


def _repeated(part: onnx_ir.Value, ranges: Ranges) -> int:
    """Return how many axes a part of the repeats may repeat."""
    tensor, found = constant_of(part), ranges.of(part)
    if tensor is not None:
        return int((tensor.numpy() > 1).sum())
    if found is not None and found.high <= 1:
        return 0
    size = 1 if part.shape is None or part.shape.rank() != 1 else part.shape[0]
    return size if isinstance(size, int) and part.shape is not None else _REPEATED + 1


def _wrong_pads(model: onnx_ir.Model) -> Iterator[tuple[onnx_ir.Node, str]]:
    """Yield each Pad whose number OpenVINO's CPU plugin replaces or rounds."""
    for node in nodes_of(model, "Pad"):
        value, mode = node.inputs[2] if len(node.inputs) > 2 else None, node.attributes.get("mode")
        if value is None or (mode is not None and mode.as_string() != "constant"):
            continue
        tensor = constant_of(value)
        number = computed(model, value) if tensor is None else tensor.numpy()
        if number is None:
            yield node, "OpenVINO's CPU plugin pads with 0 instead of a number that the model computes"
        elif number.dtype.kind in "iu" and (number.astype(np.float32).astype(number.dtype) != number).any():
            yield node, f"OpenVINO's CPU plugin rounds {number.item()}, to pad with, to float32"


def computed(model: onnx_ir.Model, value: onnx_ir.Value) -> NDArray[Any] | None:
    """Return a value computed from constants alone, which OpenVINO folds exactly before it narrows; None for others."""
    try:
        graph = onnx_ir.convenience.extract(model.graph, [], [value])
        proto = onnx_ir.to_proto(onnx_ir.Model(graph, ir_version=model.ir_version))
        (array,) = ReferenceEvaluator(proto).run(None, {})
    except Exception:  # it depends on an input, or ONNX's reference lacks an operator
        return None
    return np.asarray(array)


def _takes_halves(node: onnx_ir.Node) -> bool:
    return any(value is not None and value.dtype is onnx_ir.DataType.FLOAT16 for value in (*node.inputs, *node.outputs))
