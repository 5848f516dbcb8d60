"""Casts to booleans of an output of an operation with several: OpenVINO reads the first one, or refuses the model.

Cast(x, to=BOOL)  ->  Not(Equal(x, 0))
"""

from __future__ import annotations

import numpy as np
import onnx_ir

from ..graphs import nodes_of
from .rewriter import Rewriter

_WITH_BODIES = ("If", "Loop", "Scan")
_AS_TOPK = ("ArgMax", "ArgMin")
_FIRST_OPSET = 11  # of Equal for all numbers


def booleans(rewriter: Rewriter) -> None:
    """Rewrite in place, bodies included."""
    for node in nodes_of(rewriter.model, "Cast"):
        value = node.inputs[0]
        producer = None if value is None else value.producer()
        if value is None or producer is None or rewriter.opset < _FIRST_OPSET or node.outputs[0].dtype != onnx_ir.DataType.BOOL:
            continue
        is_one_of_several = len(producer.outputs) > 1 and producer.op_type not in _WITH_BODIES
        if value.dtype is None or not (is_one_of_several or producer.op_type in _AS_TOPK):
            continue
        if not (value.dtype.is_integer() or value.dtype.is_floating_point()):
            continue
        zero = rewriter.constant(node, np.array(0, value.dtype.numpy()))
        is_zero = rewriter.insert(node, "Equal", [value, zero], onnx_ir.DataType.BOOL, value.shape)
        rewriter.become(node, "Not", [is_zero])
        rewriter.report(node, "compared with 0, as OpenVINO may convert another output to booleans, or refuse it")
