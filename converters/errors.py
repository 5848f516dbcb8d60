"""Errors of the converters, and how they name a node."""

from __future__ import annotations

import onnx
import onnx_ir


class ConversionError(ValueError):
    """An ONNX node, value or model cannot be converted to IR; the message names it."""


class ConstantIndexError(ConversionError, IndexError):
    """A constant index is out of bounds for every input."""


def describe(node: onnx_ir.Node | onnx.NodeProto) -> str:
    """Return the name of a node for error messages: its operator, name and outputs."""
    names = node.output if isinstance(node, onnx.NodeProto) else (str(value.name) for value in node.outputs)
    domain = f"{node.domain}." if node.domain else ""
    return f"node {domain}{node.op_type} '{node.name or ''}' (output {', '.join(names)})"
