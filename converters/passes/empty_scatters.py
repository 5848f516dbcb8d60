"""A scatter without updates gives out its data. OpenVINO loses constants without elements, and dies of some."""

from __future__ import annotations

import onnx_ir

from ov_gather.ops.onnx_nodes import SCATTERS

from ..graphs import nodes_of
from .rewriter import Rewriter


def empty_scatters(rewriter: Rewriter) -> None:
    """Rewrite in place: a scatter whose indices have no elements, whatever the inputs are, becomes an Identity."""
    for node in nodes_of(rewriter.model, *SCATTERS):
        if not _is_empty(node):
            continue
        for position in (1, 2):
            rewriter.replace_input(node, position, None)
        node.resize_inputs(1)
        node.op_type = "Identity"
        node.attributes.clear()
        rewriter.report(node, "scatter without updates replaced by its data")


def _is_empty(node: onnx_ir.Node) -> bool:
    """Tell whether a node has no update. Tuples of no coordinates name the whole of the data, and have updates."""
    data, indices = node.inputs[:2]
    if data is None or indices is None or indices.shape is None:
        return False
    if data.dtype == onnx_ir.DataType.STRING:  # The plugin dies of strings that nothing touches.
        return False
    return 0 in (indices.shape.dims[:-1] if node.op_type == "ScatterND" else indices.shape.dims)
