"""Compress becomes a Gather where its condition is true; OpenVINO would need the rank, and yield zeros beyond the end.

Compress(data, condition, axis)  ->  Gather(data, Reshape(NonZero(condition), [-1]), axis)
Compress(data, [false], axis)    ->  Slice(data, 0, 0, axis): the plugin may end the process at a Gather of nothing
"""

from __future__ import annotations

import numpy as np
import onnx_ir
from onnx_ir import DataType

from ov_gather.ops.onnx_nodes import attribute

from ..graphs import constant_of, nodes_of
from .empty_operands import slice_nothing
from .rewriter import Rewriter


def compress(rewriter: Rewriter) -> None:
    """Rewrite in place; without an axis, data is flattened."""
    for node in nodes_of(rewriter.model, "Compress"):
        data, condition = node.inputs
        if data is None or condition is None:
            continue
        table = data if "axis" in node.attributes else _flat(rewriter, node, data, data.dtype)
        if _chooses_nothing(condition) and slice_nothing(rewriter, node, table):
            continue
        rewriter.report(node, "Compress replaced by a Gather of the places where the condition is true")
        rewriter.instead(node).Gather(table, _places(rewriter, node, condition), axis=attribute(node, "axis", 0))


def _chooses_nothing(condition: onnx_ir.Value) -> bool:
    """Return True for a condition without elements, or a constant that is never true."""
    tensor = constant_of(condition)
    is_empty = condition.shape is not None and list(condition.shape) == [0]
    return is_empty or (tensor is not None and not tensor.numpy().any())


def _places(rewriter: Rewriter, node: onnx_ir.Node, condition: onnx_ir.Value) -> onnx_ir.Value:
    """Return the positions where the condition is true; constant if that is: the plugin crashes for an empty dynamic Gather."""
    tensor = constant_of(condition)
    if tensor is not None:
        return rewriter.constant(node, np.flatnonzero(tensor.numpy()))
    found = rewriter.before(node).NonZero(condition, dtype=DataType.INT64, shape=[1, None])
    return _flat(rewriter, node, found, DataType.INT64)


def _flat(rewriter: Rewriter, node: onnx_ir.Node, value: onnx_ir.Value, dtype: DataType | None) -> onnx_ir.Value:
    return rewriter.before(node).Reshape(value, rewriter.constant(node, [-1]), dtype=dtype, shape=[None])
