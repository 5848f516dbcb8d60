"""Uses of values in an ONNX graph: nodes that only move elements, and inputs that are indices or bounds."""

from __future__ import annotations

import onnx_ir

from ov_gather.ir.element_types import ElementType, by_onnx
from ov_gather.ops.index_table import ONNX_INDICES
from ov_gather.ops.onnx_nodes import GATHERS, SCATTERS
from ov_gather.ops.spec import CUSTOM_OPSET
from ov_gather.ops.table import ONNX, OpKind, where

from .graphs import is_default, type_of, uses_of

OF_SHAPES = where(ONNX, lambda op: op.kind is OpKind.SHAPE)
# Operators whose outputs are elements of their inputs, in the same type: values that fit in 32 bits pass unchanged.
# Not ReverseSequence: the CPU plugin of 2026.4.1 reverses integers as float32 (it compares them so, too).
_MOVES = where(
    ONNX, lambda op: bool(op.meaning.sources) and not (op.meaning.adds or op.meaning.converts or op.meaning.computes)
) - {"ReverseSequence"}

INDEX_CHECK = "ov_gather.index_check"
"""The key in `meta` of a comparison that a pass has added to refuse negative indices."""


def element_type_of(value: onnx_ir.Value | None) -> ElementType | None:
    """Return the element type of a value; None if it is unknown or OpenVINO lacks it."""
    return None if value is None or value.dtype is None else by_onnx(value.dtype.value)


def is_only_index(value: onnx_ir.Value) -> bool:
    """Return True if a value, directly or after moves, is used only as indices."""
    return all(
        is_index(node, position)
        or is_default(node, OF_SHAPES)
        or (carries_elements(node, position) and not any(output.is_graph_output() for output in node.outputs))
        for node, position in uses_of(value, carries_elements)
    )


def is_gathered(value: onnx_ir.Value) -> bool:
    """Return True if a gather, or a scatter without reduction, moves elements of a value, directly or after other moves."""
    uses = uses_of(value, carries_elements)
    return any(position != 1 and (is_default(node, GATHERS) or only_scatters(node)) for node, position in uses)


def is_index(node: onnx_ir.Node, position: int) -> bool:
    """Return True if an input of a node holds indices: of an operator that reads or writes at them, or of an added check."""
    if INDEX_CHECK in node.meta or any(row.port == position for row in ONNX_INDICES.get(type_of(node), ())):
        return True
    return node.domain in ("", CUSTOM_OPSET) and node.op_type in (*GATHERS, *SCATTERS) and position == 1


def is_bound(node: onnx_ir.Node, position: int) -> bool:
    """Return True if an input of a node is the starts or ends of a Slice."""
    return is_default(node, ("Slice",)) and position in (1, 2)


def is_only_bound(value: onnx_ir.Value) -> bool:
    """Return True if a value, directly or after moves, is used only as starts and ends of Slices.

    Clamping it to 32 bits then changes nothing, as no dimension is longer.
    """
    return not value.is_graph_output() and all(
        is_bound(node, position)
        or is_default(node, OF_SHAPES)
        or (carries_elements(node, position) and not any(output.is_graph_output() for output in node.outputs))
        for node, position in uses_of(value, carries_elements)
    )


def is_read(value: onnx_ir.Value) -> bool:
    """Return True if anything depends on the elements of a value, not on its shape alone."""
    return value.is_graph_output() or not all(is_default(node, OF_SHAPES) for node, _ in value.uses())


def carries_elements(node: onnx_ir.Node, position: int) -> bool:
    """Return True if a node passes the elements of an input on unchanged."""
    return position != 1 if only_scatters(node) else is_default(node, _MOVES) and ONNX[node.op_type].carries(position)


def moves(node: onnx_ir.Node) -> bool:
    """Return True if the outputs of a node are elements of its inputs, in the same type."""
    return is_default(node, _MOVES) or only_scatters(node)


def only_scatters(node: onnx_ir.Node) -> bool:
    """Return True if a node is a scatter without reduction."""
    return is_default(node, SCATTERS) and (
        "reduction" not in node.attributes or node.attributes["reduction"].as_string() == "none"
    )
