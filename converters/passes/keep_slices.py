"""Slices of GatherElements' data that start at the first element, which OpenVINO would remove.

GatherElements(Slice(data, [0], ends, axes), i)  ->  GatherElements(Slice(data, [START], ends, axes), i)
"""

from __future__ import annotations

import numpy as np
import onnx_ir

from ..graphs import nodes_of
from ..passes.rewriter import Rewriter
from ..passes.slice_data import START


def keep_slices(rewriter: Rewriter) -> None:
    """Rewrite in place: START is the same element, counted from the end."""
    for node in nodes_of(rewriter.model, "GatherElements"):
        part = _producer(node.inputs[0])
        if part is None or part.op_type != "Slice" or part.domain != "" or len(part.inputs) < 4:
            continue
        starts, steps = part.inputs[1], part.inputs[4] if len(part.inputs) > 4 else None
        if starts is None or starts.shape is None or not _is_all(rewriter, starts, 0):
            continue
        count = starts.shape[0]
        if isinstance(count, int) and starts.dtype is not None and (steps is None or _is_all(rewriter, steps, 1)):
            rewriter.replace_input(part, 1, rewriter.constant(part, np.full(count, START, starts.dtype.numpy())))
            rewriter.report(node, "slice of data counted from the end, as OpenVINO removes one that starts at 0")


def _producer(value: onnx_ir.Value | None) -> onnx_ir.Node | None:
    """Return the node that computes a value, skipping Identity."""
    node = None if value is None else value.producer()
    while node is not None and node.op_type == "Identity":
        value = node.inputs[0]
        node = None if value is None else value.producer()
    return node


def _is_all(rewriter: Rewriter, value: onnx_ir.Value, number: int) -> bool:
    found = rewriter.ranges.of(value)
    return found is not None and found.low == found.high == number
