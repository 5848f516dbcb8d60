"""Quantised operators of com.microsoft, whose results OpenVINO's front end rounds towards zero and wraps around.

QLinearAdd(a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
->  QuantizeLinear(Add(DequantizeLinear(a, a_scale, a_zero), DequantizeLinear(b, b_scale, b_zero)), y_scale, y_zero)

1. QLinearAdd and QLinearMul have two operands.
2. QLinearSigmoid, QLinearLeakyRelu and QLinearAveragePool have one.
3. QLinearConcat has any number, after the scale and the zero point of the result.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir

from ov_gather.ops.onnx_nodes import attribute

from .rewriter import Rewriter

_JOINS = "QLinearConcat"
_NAMES = ("QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearAveragePool", _JOINS)
_SINCE = 10
"""The opset in which QuantizeLinear came."""


def quantised_operators(rewriter: Rewriter) -> None:
    """Rewrite in place, bodies included."""
    names = _NAMES if rewriter.opset >= _SINCE else ()
    for node in list(onnx_ir.traversal.RecursiveGraphIterator(rewriter.model.graph)):
        if node.domain == "com.microsoft" and node.op_type in names and not attribute(node, "channels_last", 0):
            _rewrite(rewriter, node)


def _rewrite(rewriter: Rewriter, node: onnx_ir.Node) -> None:
    name = node.op_type.removeprefix("QLinear")
    count = (len(node.inputs) - 1) // 3 * 3  # operands with scale and zero point; the zero point of the result may lack
    is_joined = node.op_type == _JOINS
    operands, result = (node.inputs[2:], node.inputs[:2]) if is_joined else (node.inputs[:count], node.inputs[count:])
    first, (scale, zero) = operands[0], (*result, None)[:2]
    if zero is None and first is not None and first.dtype is not None:
        zero = rewriter.constant(node, np.zeros((), first.dtype.numpy()))
    if zero is None:
        return  # of an unknown type, which OpenVINO refuses
    rewriter.report(node, "computed of dequantised values, as OpenVINO's front end wraps results around and does not round")
    attributes = {each.name: each.value for each in node.attributes.values() if each.name != "channels_last"}
    exact = [_dequantised(rewriter, node, operands[start : start + 3]) for start in range(0, len(operands), 3)]
    computed = getattr(rewriter.before(node), name)(*exact, **attributes)
    node.domain = ""
    rewriter.instead(node).QuantizeLinear(computed, scale, zero)


def _dequantised(rewriter: Rewriter, node: onnx_ir.Node, operand: Sequence[onnx_ir.Value | None]) -> onnx_ir.Value:
    shape = None if operand[0] is None else operand[0].shape
    return rewriter.before(node).DequantizeLinear(*operand, dtype=onnx_ir.DataType.FLOAT, shape=shape)
