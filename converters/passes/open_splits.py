"""Splits of an axis of open size into a number of parts: ONNX's last part may be smaller, OpenVINO's may not.

Split<num_outputs = 2>(x [n])  ->  Split(x, Concat(c, n - c)) with c = (n + 1) / 2
"""

from __future__ import annotations

from typing import Any

import onnx_ir

from ov_gather.ops.onnx_nodes import attribute

from ..graphs import nodes_of
from .rewriter import Rewriter


def open_splits(rewriter: Rewriter) -> None:
    """Rewrite in place, bodies included, from opset 18 on, which introduced such Splits."""
    for node in nodes_of(rewriter.model, "Split"):
        data, axis, count = node.inputs[0], attribute(node, "axis", 0), len(node.outputs)
        is_static = data is not None and data.shape is not None and isinstance(data.shape[axis], int)
        if data is None or is_static or count == 1 or "num_outputs" not in node.attributes:
            continue

        one_size = onnx_ir.DataType.INT64, [1]
        along: dict[str, Any] = {"start": axis} if axis == -1 else {"start": axis, "end": axis + 1}
        size = rewriter.insert(node, "Shape", [data], *one_size, **along)
        others, parts = rewriter.constant(node, [count - 1]), rewriter.constant(node, [count])
        above = rewriter.insert(node, "Add", [size, others], *one_size)
        part = rewriter.insert(node, "Div", [above, parts], *one_size)
        before_last = rewriter.insert(node, "Mul", [part, others], *one_size)
        last = rewriter.insert(node, "Sub", [size, before_last], *one_size)
        lengths = rewriter.insert(node, "Concat", [part] * (count - 1) + [last], onnx_ir.DataType.INT64, [count], axis=0)
        rewriter.become(node, "Split", [data, lengths], axis=axis)
        rewriter.report(node, "sizes of the parts computed, as OpenVINO splits an open axis into equal parts only")
