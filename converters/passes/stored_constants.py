"""Constants whose numbers OpenVINO's front end misreads, as their field is wider than their type: they are stored as bytes.

uint32 in `uint64_data`, bfloat16 in `int32_data`  ->  `raw_data`
"""

from __future__ import annotations

import onnx_ir

from .rewriter import Rewriter

_MISREAD = (onnx_ir.DataType.UINT32, onnx_ir.DataType.BFLOAT16)


def stored_constants(rewriter: Rewriter) -> None:
    """Store the constants of a model, and the tensors that are attributes of its nodes, as exporters do."""
    for graph in rewriter.model.graphs():
        for value in graph.initializers.values():
            if value.const_value is not None and _is_misread(value.const_value):
                value.const_value = _as_bytes(value.const_value)
    for node in rewriter.model.graph.all_nodes():
        for name, attribute in [*node.attributes.items()]:
            if attribute.type is onnx_ir.AttributeType.TENSOR and _is_misread(attribute.as_tensor()):
                node.attributes[name] = onnx_ir.AttrTensor(name, _as_bytes(attribute.as_tensor()))


def _is_misread(tensor: onnx_ir.TensorProtocol) -> bool:
    """Return True for numbers in a field of their own, not in bytes, of one of the types that are misread."""
    is_proto = tensor.dtype in _MISREAD and isinstance(tensor, onnx_ir.TensorProtoTensor)
    return is_proto and not tensor.raw.HasField("raw_data")


def _as_bytes(tensor: onnx_ir.TensorProtocol) -> onnx_ir.TensorProtocol:
    return onnx_ir.Tensor(tensor.numpy(), dtype=tensor.dtype, name=tensor.name)
