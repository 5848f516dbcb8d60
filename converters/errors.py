"""Errors of the converters, and how they name a node."""

from __future__ import annotations

import onnx
import onnx_ir

from ov_gather.divergences.refusals import REFUSALS


class ConversionError(ValueError):
    """An ONNX node, value or model cannot be converted to IR; the message names it."""


class ConstantIndexError(ConversionError, IndexError):
    """A constant index is out of bounds for every input."""


def refused(name: str, message: str) -> ConversionError:
    """Return the error for one of REFUSALS, with the command that explains it."""
    assert name in REFUSALS
    return ConversionError(f"{message}; see ov-gather explain {name}")


def explained(message: str, *noise: str) -> str:
    """Return the relevant lines of a message of OpenVINO's front ends: those that begin otherwise than its `noise` does."""
    lines = (line.strip() for line in message.splitlines())
    telling = [line for line in lines if line and not line.startswith(("Exception from", "Check '", "FrontEnd API", *noise))]
    return f"OpenVINO cannot convert it: {' '.join(telling)[:500]}"


def describe(node: onnx_ir.Node | onnx.NodeProto) -> str:
    """Return the name of a node for error messages: its operator, name and outputs."""
    names = node.output if isinstance(node, onnx.NodeProto) else (str(value.name) for value in node.outputs)
    domain = f"{node.domain}." if node.domain else ""
    return f"node {domain}{node.op_type} '{node.name or ''}' (output {', '.join(names)})"
