"""Integers that OpenVINO's CPU plugin computes differently from ONNX: narrowed, as signed numbers, or rounded."""

from __future__ import annotations

import numpy as np
import onnx_ir

from ov_gather.divergences.conditions import NARROWED_BY_CPU
from ov_gather.ir.element_types import F64, I32, I64, U32, U64, ElementType
from ov_gather.ops.onnx_nodes import GATHERS, SCATTERS
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.values import every_value, is_of_sizes

from .graphs import bodies_of, constant_of, is_constant, uses_of
from .loading import is_default
from .moves import OF_SHAPES, carries_elements, element_type_of, is_index, moves
from .ranges import Ranges

INT32 = np.iinfo(np.int32)
_EXACT = 2**24  # float32 represents all integers up to this one
# Operators whose results modulo 2^32 are the same for signed and unsigned operands.
_MODULAR = ("Add", "Sub", "Mul", "Sum", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "ReverseSequence")
_WRAPPING = ("Abs", "Add", "BitShift", "BitwiseNot", "Mul", "Neg", "Sub", "Sum")
WRAPPED = "i16 and u16 are computed as i32, values beyond do not wrap around"
"""Reason reported for nodes for which `is_wrapped` holds."""
SIGNED = "u32 is computed as i32, values from 2^31 on are negative"
"""Reason reported for nodes for which `is_signed` holds."""
_AS_FLOAT = "OpenVINO's CPU plugin {} integers as f32, which rounds those beyond 2^24"
_DIVISIONS = ("Div", "Mod")
_COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
_NARROWED = ("ReduceMax", "ReduceMin", "Resize", "Trilu", "Upsample")  # at 64 bits, the narrowing is reported instead
_TOTALS = ("MatMul", "Pow", "ReduceL1", "ReduceMean", "ReduceProd", "ReduceSum", "ReduceSumSquare")
ROUNDED = {
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
"""Reason reported for nodes for which `is_rounded` holds, by operator."""


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
    """Return True if a node of ROUNDED may compute with integers that float32 does not represent.

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
        folded = [value for value in node.inputs if value is not None and is_constant(value)]
        known = [(value, found) for value, found in known if value in folded or not _is_wide(found)]
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


def _is_wide(interval: Interval | None) -> bool:
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
