"""What the nodes of an `openvino.Model` do, from the table of operators."""

from __future__ import annotations

from ov_gather.acceleration.graph import is_ours, ours
from ov_gather.extension.python_api import Node, Output
from ov_gather.ops.table import OPENVINO, Op, OpKind, where

IN_ORDER = where(OPENVINO, lambda op: op.meaning.keeps_order)
"""Operations that return their first input, maybe in another shape."""


def op_of(node: Node) -> Op:
    """Return the operator of a node."""
    return OPENVINO[node.get_type_name()]


def gathers_slices(node: Node) -> bool:
    """Return True for a Gather, stock or ours, of any version."""
    return bool(node.get_type_name() == "Gather")


def is_stock_gather(node: Node) -> bool:
    """Return True for a Gather of OpenVINO, of any version."""
    return gathers_slices(node) and not is_ours(node)


def is_concat(node: Node) -> bool:
    """Return True for a Concat."""
    return bool(node.get_type_name() == "Concat")


def is_broadcast(node: Node) -> bool:
    """Return True for a Broadcast."""
    return bool(node.get_type_name() == "Broadcast")


def is_converted(node: Node) -> bool:
    """Return True for a Convert."""
    return op_of(node).kind is OpKind.CAST


def is_given(value: Output) -> bool:
    """Return True for a constant, and for an input of a model or body."""
    return op_of(value.get_node()).kind in (OpKind.CONSTANT, OpKind.END)


def is_numpy_broadcast(node: Node) -> bool:
    """Return True for a Broadcast that aligns axes at the end, as NumPy does."""
    return is_broadcast(node) and node.get_attributes()["mode"] in ("numpy", "bidirectional")


def our_gather(inputs: list[Output], *, batch_dims: int = 0, bounds: str = "error") -> Node:
    """Create our Gather of data, indices and axis."""
    return ours("Gather", inputs, {"batch_dims": batch_dims, "bounds": bounds})
