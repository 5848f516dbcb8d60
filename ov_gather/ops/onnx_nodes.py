"""ONNX's gathers, scatters and loops, and the integer attributes of nodes."""

from __future__ import annotations

import onnx_ir

from ov_gather.ops.table import ONNX, OpKind, where

GATHERS = tuple(sorted(where(ONNX, lambda op: op.kind is OpKind.GATHER)))
"""ONNX's gather operators; OpenVINO's operations have the same names."""

SCATTERS = tuple(sorted(where(ONNX, lambda op: op.kind is OpKind.SCATTER)))
"""ONNX's scatter operators. ScatterElements was named Scatter before opset 11."""

AHEAD = {"If": (0, 0), "Loop": (2, 1), "Scan": (0, 0)}
"""For each operator with bodies, the leading inputs, and outputs of a body, that are neither carried values nor slices."""


def is_branching(node: onnx_ir.Node) -> bool:
    """Return True for an If, whose bodies are branches."""
    return node.op_type == "If" and node.domain == ""


def attribute(node: onnx_ir.Node, name: str, default: int) -> int:
    """Return an integer attribute of a node, or its default."""
    return node.attributes[name].as_int() if name in node.attributes else default
