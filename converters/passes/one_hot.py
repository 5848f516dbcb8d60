"""OneHot of values that OpenVINO would change or reject becomes a Gather of them, which keeps every bit.

OneHot(indices, depth, values)  ->  Gather(values, OneHot(indices, depth, [0, 1]))
"""

from __future__ import annotations

import onnx_ir
from onnx_ir import DataType

from ov_gather.ir.element_types import STRING
from ov_gather.ops.onnx_nodes import attribute

from ..graphs import constant_of, nodes_of
from ..inexactness import is_preserved
from ..lane_types import CHANGED
from ..moves import element_type_of
from .rewriter import Rewriter


def one_hot(rewriter: Rewriter) -> None:
    """Rewrite in place."""
    for node in nodes_of(rewriter.model, "OneHot"):
        indices, depth, values = node.inputs
        if values is None or _is_kept(values):
            continue
        rewriter.report(node, "OneHot replaced by a Gather of its values")
        numbers = rewriter.constant(node, [0, 1])
        axis = attribute(node, "axis", -1)
        which = rewriter.before(node).OneHot(
            indices, depth, numbers, dtype=DataType.INT64, shape=node.outputs[0].shape, axis=axis
        )
        rewriter.instead(node).Gather(values, which)


def _is_kept(values: onnx_ir.Value) -> bool:
    """Return True if OpenVINO accepts the values and changes none."""
    tensor, element_type = constant_of(values), element_type_of(values)
    if element_type in (None, STRING) or values.shape is None or not values.shape.is_static():
        return False  # the front end splits the values in two, and the CPU plugin crashes for strings
    return values.dtype not in CHANGED if tensor is None else is_preserved(tensor.numpy(), constant=True)
