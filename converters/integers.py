"""This module tells which integers OpenVINO's CPU plugin computes in other ways than ONNX: narrowed, signed or rounded."""

from __future__ import annotations

import numpy as np
import onnx_ir

from ov_gather.divergences.conditions import NARROWED_BY_CPU
from ov_gather.ir.element_types import F64, I32, I64, U32, U64, ElementType
from ov_gather.ops.onnx_nodes import GATHERS, SCATTERS

from .graphs import bodies_of, uses_of
from .loading import is_default
from .moves import OF_SHAPES, carries_elements, element_type_of, is_index, moves
from .ranges import Ranges

INT32 = np.iinfo(np.int32)
_EXACT = 2**24  # float32 has all integers up to this one
# Numbers modulo 2^32 have the same results, whether they are signed or not.
_MODULAR = ("Add", "Sub", "Mul", "Sum", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "ReverseSequence")
SIGNED = "u32 is computed as i32, values from 2^31 on are negative"
"""What happens at a node that `is_signed`."""
_AS_FLOAT = "OpenVINO's CPU plugin {} integers as f32, which rounds those beyond 2^24"
ROUNDED = {
    "ReverseSequence": _AS_FLOAT.format("reverses") + "; target extension keeps them",
    "Resize": _AS_FLOAT.format("resizes"),
    "Upsample": _AS_FLOAT.format("resizes"),
    "ReduceMax": _AS_FLOAT.format("compares"),
    "ReduceMin": _AS_FLOAT.format("compares"),
    "Trilu": _AS_FLOAT.format("multiplies"),
}
"""What happens at a node of these operators that `is_rounded`."""


def narrowing(element_type: ElementType) -> str:
    """Say what becomes of values of a type that OpenVINO's CPU plugin narrows."""
    consequence = "rounded" if element_type is F64 else "values beyond wrap around"
    return f"{element_type} is computed as {NARROWED_BY_CPU[element_type]}, {consequence}"


def stays_within(value: onnx_ir.Value) -> bool:
    """Tell whether all integers that are computed from a value fit in 32 bits if the value does."""
    return all(
        is_index(node, position)
        or is_default(node, OF_SHAPES)
        or moves(node)
        or not any(element_type_of(output) in NARROWED_BY_CPU for output in node.outputs)
        for node, position in uses_of(value, carries_elements)
    )


def is_signed(node: onnx_ir.Node, ranges: Ranges) -> bool:
    """Tell whether a node computes with u32 that no i32 is equal to, where that makes a difference."""

    def is_large(value: onnx_ir.Value | None) -> bool:
        if element_type_of(value) is not U32:
            return False
        interval = ranges.of(value)
        return interval is None or interval.high > INT32.max

    is_harmless = moves(node) or bodies_of(node) or is_default(node, (*_MODULAR, *OF_SHAPES, *GATHERS, *SCATTERS))
    return not is_harmless and node.domain == "" and any(map(is_large, node.inputs))


def is_rounded(node: onnx_ir.Node, ranges: Ranges) -> bool:
    """Tell whether a node of ROUNDED may take integers that float32 does not have."""
    interval = ranges.of(node.inputs[0])
    fits = interval is not None and interval.low >= -_EXACT and interval.high <= _EXACT
    wide = (I64, U64) if node.op_type == "ReverseSequence" else ()  # of others the narrowing is told
    return element_type_of(node.inputs[0]) in (I32, U32, *wide) and not fits
