"""ONNX's gathers and scatters, and the integer attributes of nodes."""

from __future__ import annotations

import onnx_ir

GATHERS = ("Gather", "GatherElements", "GatherND")
"""ONNX's gather operators; OpenVINO's operations have the same names."""

SCATTERS = ("Scatter", "ScatterElements", "ScatterND")
"""ONNX's scatter operators. ScatterElements was named Scatter before opset 11."""


def attribute(node: onnx_ir.Node, name: str, default: int) -> int:
    """Return an integer attribute of a node, or its default."""
    return node.attributes[name].as_int() if name in node.attributes else default
