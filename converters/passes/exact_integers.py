"""Integers that OpenVINO's CPU plugin would compute in floating point.

1. Div(i8, i8), rounded to the nearest      ->  Cast(Div(Cast(i8), Cast(i8))), with i32 in between
   Add(u8, u8), 254 + 3 = 255               ->  Cast(Add(Cast(u8), Cast(u8))), which wraps around
2. BitShift of scalars, of shape [1]        ->  Reshape(BitShift), of shape []
"""

from __future__ import annotations

import numpy as np
import onnx_ir

from ov_gather.ops.table import ONNX, Trait, where

from ..graphs import nodes_of
from .rewriter import Rewriter

_ROUNDED = where(ONNX, lambda op: Trait.I8 in op.traits)
_BYTES = (onnx_ir.DataType.INT8, onnx_ir.DataType.UINT8)


def exact_integers(rewriter: Rewriter) -> None:
    """Rewrite in place, bodies included."""
    for node in nodes_of(rewriter.model, *_ROUNDED):
        if node.outputs[0].dtype in _BYTES:
            _widen(rewriter, node)
    for node in nodes_of(rewriter.model, "BitShift"):
        if all(value is not None and value.shape is not None and value.shape.rank() == 0 for value in node.inputs):
            _flatten(rewriter, node)


def _widen(rewriter: Rewriter, node: onnx_ir.Node) -> None:
    """Apply case 1: compute bytes as 32-bit integers; the Cast back to bytes wraps around."""
    output = node.outputs[0]
    narrow, wide = output.dtype, onnx_ir.DataType.UINT32 if node.op_type == "BitShift" else onnx_ir.DataType.INT32
    assert narrow is not None
    operands = [rewriter.before(node).Cast(value, shape=value.shape, to=wide) for value in node.inputs if value is not None]
    attributes = {name: attribute.value for name, attribute in node.attributes.items()}
    computed = rewriter.insert(node, node.op_type, operands, wide, output.shape, **attributes)
    rewriter.instead(node).Cast(computed, to=narrow)
    rewriter.report(node, "bytes computed as 32-bit integers, as OpenVINO rounds and saturates them")


def _flatten(rewriter: Rewriter, node: onnx_ir.Node) -> None:
    """Apply case 2."""
    output = node.outputs[0]
    direction = node.attributes["direction"].as_string()
    shifted = rewriter.before(node).BitShift(*node.inputs, dtype=output.dtype, shape=[1], direction=direction)
    rewriter.instead(node).Reshape(shifted, rewriter.constant(node, np.empty(0, np.int64)))
    rewriter.report(node, "shape of a shifted scalar stated, as OpenVINO makes a vector of it")
