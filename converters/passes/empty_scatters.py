"""A scatter without updates returns its data. OpenVINO loses constants without elements, and crashes for some.

ScatterND(data, i[0, 2], updates[0])  ->  Identity(data)
"""

from __future__ import annotations

import onnx_ir

from ov_gather.ops.onnx_nodes import SCATTERS

from ..graphs import nodes_of
from .rewriter import Rewriter


def empty_scatters(rewriter: Rewriter) -> None:
    """Rewrite in place scatters whose indices have no elements for every input."""
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
    """Return True if a node has no updates. Tuples without coordinates address all of data, and do have updates."""
    data, indices = node.inputs[:2]
    if data is None or indices is None or indices.shape is None:
        return False
    if data.dtype == onnx_ir.DataType.STRING:  # the plugin crashes for strings that are only passed on
        return False
    return 0 in (indices.shape.dims[:-1] if node.op_type == "ScatterND" else indices.shape.dims)
