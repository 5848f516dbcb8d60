"""GatherElements and GatherND of constants become constants: OpenVINO cannot fold them, and may misread them in a MatMul.

GatherElements(Constant, Constant)  ->  Constant
"""

from __future__ import annotations

from math import prod

import onnx_ir

from ov_gather.kernels.gather_elements import gather_elements
from ov_gather.kernels.gather_nd import gather_nd
from ov_gather.ops.onnx_nodes import attribute

from ..errors import ConversionError, describe
from ..graphs import axis_of, constant_of, nodes_of
from .rewriter import Rewriter


def fold_constants(rewriter: Rewriter) -> None:
    """Rewrite in place unless the result is too large; indices are in bounds. Raises ConversionError if shapes do not fit."""
    for node in nodes_of(rewriter.model, "GatherElements", "GatherND"):
        data, indices = (None if value is None else constant_of(value) for value in node.inputs)
        if data is None or indices is None or data.dtype == onnx_ir.DataType.STRING or data.dtype.bitwidth < 8:
            continue
        if rewriter.opset < 9 or not _fits(node, data, indices):  # Constant takes integers from opset 9 on
            continue
        try:
            if node.op_type == "GatherElements":
                result = gather_elements(data.numpy(), indices.numpy(), axis_of(node, len(data.shape)))
            else:
                result = gather_nd(data.numpy(), indices.numpy(), attribute(node, "batch_dims", 0))
        except ValueError as error:
            raise ConversionError(f"{describe(node)}: {error}") from None
        rewriter.report(node, "gather of constants folded")
        rewriter.become_constant(node, onnx_ir.tensor(result, dtype=data.dtype))


def _fits(node: onnx_ir.Node, data: onnx_ir.TensorProtocol, indices: onnx_ir.TensorProtocol) -> bool:
    from ov_gather.acceleration.fold_constants import LARGEST  # imports openvino

    shape = node.outputs[0].shape
    if shape is None or not shape.is_static():
        return False
    return prod(shape.numpy()) * data.dtype.bitwidth // 8 <= max(LARGEST, data.nbytes + indices.nbytes)
