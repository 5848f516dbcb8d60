"""A RotaryEmbedding of com.microsoft that is given the position of the first token gets those of all tokens.

RotaryEmbedding(x, [p], cos, sin)  ->  RotaryEmbedding(x, Expand([p, p + 1, .., p + tokens - 1], [batch, tokens]), cos, sin)

OpenVINO 2026.4 takes the position of the first token for that of each.
"""

from __future__ import annotations

import numpy as np
import onnx_ir

from .rewriter import Rewriter

_OLDEST = 11
"""The first opset with Range."""


def token_positions(rewriter: Rewriter) -> None:
    """Rewrite in place."""
    for node in [] if rewriter.opset < _OLDEST else list(rewriter.model.graph.all_nodes()):
        if (node.domain, node.op_type) == ("com.microsoft", "RotaryEmbedding"):
            first = node.inputs[1]
            if first is not None and first.shape is not None and len(first.shape) == 1:
                node.replace_input_with(1, _of_each_token(rewriter, node, first))
                rewriter.report(node, "the positions of all tokens instead of that of the first")


def _of_each_token(rewriter: Rewriter, node: onnx_ir.Node, first: onnx_ir.Value) -> onnx_ir.Value:
    """Return positions of the shape [batch, tokens]: the first and the last but one size of the data."""
    op = rewriter.before(node)

    def number(value: int) -> onnx_ir.Value:
        return rewriter.constant(node, np.array(value))

    def size(axis: int) -> onnx_ir.Value:
        return op.Slice(sizes, rewriter.constant(node, [axis]), rewriter.constant(node, [axis + 1]), shape=[1])

    sizes = op.Shape(node.inputs[0], shape=[None])
    batch, tokens = size(0), size(-2)
    count = op.Reshape(tokens, rewriter.constant(node, []), shape=[])
    row = op.Add(first, op.Range(number(0), count, number(1), shape=[None]), shape=[None])
    return op.Expand(row, op.Concat(batch, tokens, axis=0, shape=[2]), shape=[None, None])
