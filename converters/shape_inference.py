"""ONNX's shape inference, in bounded time and memory."""

from __future__ import annotations

import onnx_ir
from onnx_ir.passes.common import ShapeInferencePass

MAX_PROPAGATED = 1 << 20
"""Maximum number of vector elements for which ONNX may propagate values: it spends about 1 us and 100 bytes on each."""
_PROPAGATING = frozenset(
    ("Add", "Cast", "Ceil", "Concat", "Floor", "Gather", "Identity", "Mul", "Slice", "Squeeze", "Sub", "Unsqueeze")
)


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
    return sum(_length(value) for node in nodes for value in (*node.inputs, *node.outputs))


def _length(value: onnx_ir.Value | None) -> int:
    """Return the number of elements of a computed vector; 0 if unknown."""
    if value is None or value.is_initializer() or value.shape is None or len(value.shape) != 1:
        return 0
    (dim,) = value.shape
    return dim if isinstance(dim, int) else 0
