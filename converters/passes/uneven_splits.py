"""Splits into a number of parts whose last one may be smaller than the others.

1. OpenVINO's front end dies if the last part is empty, or if the axis is too short for so many parts.
       Split<num_outputs = 2>(x [1])  ->  Split(x, [1, 0])
2. OpenVINO splits an axis of open size into equal parts only.
       Split<num_outputs = 2>(x [n])  ->  Split(x, Concat(c, n - c)) with c = (n + 1) / 2
"""

from __future__ import annotations

from typing import Any

import onnx_ir

from ov_gather.ops.onnx_nodes import attribute

from ..errors import ConversionError, describe
from ..graphs import axis_of, nodes_of
from .rewriter import Rewriter


def uneven_splits(rewriter: Rewriter) -> None:
    """Rewrite in place, bodies included, from opset 18 on, which introduced such Splits. Raises ConversionError."""
    for node in nodes_of(rewriter.model, "Split"):
        data, count = node.inputs[0], len(node.outputs)
        if data is None or count == 1 or "num_outputs" not in node.attributes:
            continue
        axis = attribute(node, "axis", 0) if data.shape is None else axis_of(node, data.shape.rank())
        size = None if data.shape is None else data.shape[axis]
        if not isinstance(size, int):
            lengths = _computed(rewriter, node, data, axis)
        elif size % count:
            part = -(-size // count)
            if part * (count - 1) > size:
                raise ConversionError(f"{describe(node)}: an axis of size {size} cannot be split into {count} parts")
            lengths = rewriter.constant(node, [part] * (count - 1) + [size - part * (count - 1)])
        else:
            continue
        rewriter.instead(node).Split(data, lengths, axis=axis)
        rewriter.report(node, "sizes of the parts given, as the last one may be smaller")


def _computed(rewriter: Rewriter, node: onnx_ir.Node, data: onnx_ir.Value, axis: int) -> onnx_ir.Value:
    """Return the sizes of the parts of an open axis."""
    op = rewriter.before(node)
    count = len(node.outputs)
    along: dict[str, Any] = {"start": axis} if axis == -1 else {"start": axis, "end": axis + 1}
    size = op.Shape(data, shape=[1], **along)
    others, parts = rewriter.constant(node, [count - 1]), rewriter.constant(node, [count])
    part = op.Div(op.Add(size, others, shape=[1]), parts, shape=[1])
    last = op.Sub(size, op.Mul(part, others, shape=[1]), shape=[1])
    return op.Concat(*[part] * (count - 1), last, shape=[count], axis=0)
