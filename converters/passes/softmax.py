"""Softmax of opsets 11 and 12, which OpenVINO's front end computes along one axis; ONNX flattens the axes from it on.

Softmax <axis = 1> (x)  ->  Reshape(Softmax <axis = 1> (Flatten <axis = 1> (x)), Shape(x))

1. Nothing changes if the axis is the last one, all axes behind it have size 1, or there are no elements.
2. From axis 0 on, OpenVINO refuses the Reshape if the first size turns out to be 0 at inference: it copies sizes of 0.
"""

from __future__ import annotations

import onnx_ir

from ov_gather.ops.onnx_nodes import attribute

from ..graphs import nodes_of
from .rewriter import Rewriter


def softmax(rewriter: Rewriter) -> None:
    """Rewrite in place, bodies included."""
    for node in nodes_of(rewriter.model, "Softmax") if 11 <= rewriter.opset < 13 else ():
        data, axis = node.inputs[0], attribute(node, "axis", 1)
        if data is None or _is_one_axis(data.shape, axis):
            continue
        rewriter.report(node, "softmax of several axes at once, of which OpenVINO's front end takes the first")
        calls = rewriter.before(node)
        rows = calls.Softmax(calls.Flatten(data, axis=axis), axis=1)
        rewriter.instead(node).Reshape(rows, calls.Shape(data))


def _is_one_axis(shape: onnx_ir.Shape | None, axis: int) -> bool:
    """Return True for case 1."""
    if shape is None:
        return axis == -1
    return 0 in shape or all(size == 1 for size in shape[axis:][1:])
