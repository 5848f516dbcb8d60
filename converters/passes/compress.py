"""Compress becomes a Gather of the places where its condition is true.

OpenVINO would need the rank of what it selects from, and would yield zeros where the condition is true beyond the end.
"""

from __future__ import annotations

import onnx_ir

from ..graphs import nodes_of
from .rewriter import Rewriter

I64 = onnx_ir.DataType.INT64


def compress(rewriter: Rewriter) -> None:
    """Rewrite in place."""
    for node in nodes_of(rewriter.model, "Compress"):
        data, condition = node.inputs
        if data is None or condition is None:
            continue
        rewriter.report(node, "Compress replaced by a Gather of the places where the condition is true")
        flat = rewriter.constant(node, [-1])
        places = rewriter.insert(node, "NonZero", [condition], I64, [1, None])
        rewriter.replace_input(node, 1, rewriter.insert(node, "Reshape", [places, flat], I64, [None]))
        if "axis" not in node.attributes:
            rewriter.replace_input(node, 0, rewriter.insert(node, "Reshape", [data, flat], data.dtype, [None]))
            node.attributes.add(onnx_ir.AttrInt64("axis", 0))
        node.op_type = "Gather"
