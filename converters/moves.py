"""This module tells which nodes of an ONNX graph only move elements, and which read them as indices."""

from __future__ import annotations

import onnx_ir

from ov_gather.ir.element_types import ElementType, by_onnx
from ov_gather.ops.meanings import ONNX, carries, operators
from ov_gather.ops.onnx_nodes import GATHERS, SCATTERS
from ov_gather.ops.spec import CUSTOM_OPSET

from .graphs import uses_of
from .loading import is_default

OF_SHAPES = ("Shape", "Size")
# They give out elements of inputs, and nothing else, in the type of these: what came in within 32 bits is the same at the end.
# The CPU plugin of 2026.4.1 reverses sequences of integers as float32, as which it compares integers, too.
_MOVES = operators(
    ONNX, lambda meaning: bool(meaning.sources) and not (meaning.adds or meaning.converts or meaning.computes)
) - {"ReverseSequence"}


def element_type_of(value: onnx_ir.Value | None) -> ElementType | None:
    """Return the element type of a value; None where it is unknown, or OpenVINO does not have it."""
    return None if value is None or value.dtype is None else by_onnx(value.dtype.value)


def is_only_index(value: onnx_ir.Value) -> bool:
    """Tell whether a value, perhaps moved, serves as indices of gathers and scatters and as nothing else."""
    return all(
        is_index(node, position)
        or is_default(node, OF_SHAPES)
        or (carries_elements(node, position) and not any(output.is_graph_output() for output in node.outputs))
        for node, position in uses_of(value, carries_elements)
    )


def is_gathered(value: onnx_ir.Value) -> bool:
    """Tell whether a gather, or a scatter that reduces nothing, moves elements of a value, perhaps after other moves."""
    uses = uses_of(value, carries_elements)
    return any(position != 1 and (is_default(node, GATHERS) or only_scatters(node)) for node, position in uses)


def is_index(node: onnx_ir.Node, position: int) -> bool:
    """Tell whether an input of a node holds the indices of a gather or scatter."""
    return node.domain in ("", CUSTOM_OPSET) and node.op_type in (*GATHERS, *SCATTERS) and position == 1


def is_only_bound(value: onnx_ir.Value) -> bool:
    """Return True if a value, perhaps moved, serves as starts and ends of Slices only.

    Any number beyond 32 bits then means the same as the nearest that fits, as no dimension is longer.
    """
    return not value.is_graph_output() and all(
        (is_default(node, ("Slice",)) and position in (1, 2))
        or is_default(node, OF_SHAPES)
        or (carries_elements(node, position) and not any(output.is_graph_output() for output in node.outputs))
        for node, position in uses_of(value, carries_elements)
    )


def is_read(value: onnx_ir.Value) -> bool:
    """Tell whether anything depends on the elements of a value, and not on its shape alone."""
    return value.is_graph_output() or not all(is_default(node, OF_SHAPES) for node, _ in value.uses())


def carries_elements(node: onnx_ir.Node, position: int) -> bool:
    """Tell whether the elements of an input come out of a node as they are."""
    return position != 1 if only_scatters(node) else is_default(node, _MOVES) and carries(ONNX, node.op_type, position)


def moves(node: onnx_ir.Node) -> bool:
    """Tell whether a node gives out elements of its inputs, and nothing else, in the type of these."""
    return is_default(node, _MOVES) or only_scatters(node)


def only_scatters(node: onnx_ir.Node) -> bool:
    """Tell whether a node writes elements to where indices say, and reduces none."""
    return is_default(node, SCATTERS) and (
        "reduction" not in node.attributes or node.attributes["reduction"].as_string() == "none"
    )
