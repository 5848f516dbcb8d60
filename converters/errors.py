"""This module tells how the converters name what they cannot convert."""

from __future__ import annotations

import onnx
import onnx_ir


class ConversionError(ValueError):
    """An ONNX node, value or model that cannot become IR; the message names it."""


class ConstantIndexError(ConversionError, IndexError):
    """A constant index that is out of bounds whatever the inputs are."""


def describe(node: onnx_ir.Node | onnx.NodeProto) -> str:
    """Tell how errors name a node."""
    names = node.output if isinstance(node, onnx.NodeProto) else (str(value.name) for value in node.outputs)
    domain = f"{node.domain}." if node.domain else ""
    return f"node {domain}{node.op_type} '{node.name or ''}' (output {', '.join(names)})"
