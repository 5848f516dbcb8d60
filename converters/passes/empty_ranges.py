"""Ranges whose step leads away from the limit: empty in ONNX, but OpenVINO's CPU plugin counts on.

1. Range(start, limit, 2)       ->  Range(start, Max(limit, start), 2)
2. Range(start, limit, -2)      ->  Range(start, Min(limit, start), -2)
3. Range(start, limit, step)    ->  Range(start, Where(step > 0, Max(limit, start), Min(limit, start)), step)
"""

from __future__ import annotations

import numpy as np
import onnx_ir

from ..graphs import constant_of, nodes_of
from .rewriter import Rewriter

_Bounds = tuple[float, float]
_FIRST_OPSET = 12  # of Max and Min for integers; Constants of integers are older than Range


def empty_ranges(rewriter: Rewriter) -> None:
    """Rewrite in place, bodies included, unless the step is proved to lead to the limit."""
    for node in nodes_of(rewriter.model, "Range"):
        start, limit, step = node.inputs
        if rewriter.opset < _FIRST_OPSET or start is None or limit is None or step is None or limit.dtype is None:
            continue
        (low, high), (least, most), (backward, forward) = (_bounds(rewriter, value) for value in (start, limit, step))
        if (backward > 0 and high <= least) or (forward < 0 and most <= low):
            continue
        op = rewriter.before(node)
        ahead = None if forward < 0 else op.Max(limit, start, shape=[])  # case 1
        back = None if backward > 0 else op.Min(limit, start, shape=[])  # case 2
        if ahead is not None and back is not None:  # case 3
            zero = rewriter.constant(node, np.array(0, limit.dtype.numpy()))
            is_forward = op.Greater(step, zero, shape=[])
            ahead = op.Where(is_forward, ahead, back, shape=[])
        rewriter.replace_input(node, 1, ahead or back)
        rewriter.report(node, "limit kept on the side that the step leads to, as OpenVINO counts on behind it")


def _bounds(rewriter: Rewriter, value: onnx_ir.Value) -> _Bounds:
    tensor = constant_of(value)
    if tensor is not None and tensor.size == 1:
        number = float(tensor.numpy().item())
        return number, number
    known = rewriter.ranges.of(value)
    return (-np.inf, np.inf) if known is None else (float(known.low), float(known.high))
