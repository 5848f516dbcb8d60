"""ONNX's shape inference, in bounded time and memory."""

from __future__ import annotations

import onnx_ir
from onnx_ir.passes.common import ShapeInferencePass

from ov_gather.ops.table import ONNX, Trait, where

MAX_PROPAGATED = 1 << 20
"""Maximum number of vector elements for which ONNX may propagate values: it spends about 1 us and 100 bytes on each."""
_PROPAGATING = where(ONNX, lambda op: Trait.VALUES in op.traits)


def infer_shapes(model: onnx_ir.Model) -> None:
    """Infer types and shapes in place, also from the values of shapes unless vectors exceed MAX_PROPAGATED elements.

    ONNX propagates a dimension for each element of a vector: 30 Concats of a vector with itself make 2^30 of them.
    """
    ShapeInferencePass(check_type=False, strict_mode=False, data_prop=False)(model)
    if sum(map(_propagated, model.graphs())) <= MAX_PROPAGATED:
        ShapeInferencePass(check_type=False, strict_mode=False, data_prop=True)(model)


def _propagated(graph: onnx_ir.Graph) -> int:
    """Count the elements of the vectors at nodes that ONNX propagates values through; dynamic vectors count as empty."""
    nodes = [node for node in graph if node.op_type in _PROPAGATING]
    values = (value for node in nodes for value in (*node.inputs, *node.outputs))
    shapes = [value.shape for value in values if value is not None and not value.is_initializer()]
    return sum(shape[0] for shape in shapes if shape is not None and len(shape) == 1 and isinstance(shape[0], int))
