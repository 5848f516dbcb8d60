"""Loops that may make no iteration.

1. Loops that a constant keeps from it: OpenVINO refuses them, ends the process, or returns their data.
   Loop(0 trips, or false, state) -> last state, scan output  ->  Identity(state), and the scan output without elements
2. Constant trips, unless a condition is false at first: OpenVINO returns uninitialized scan outputs.
   Loop(trips, condition, state)  ->  Loop(Where(condition, trips, 0), condition, state)
"""

from __future__ import annotations

from onnx_ir import DataType, Value

from ..graphs import constant_of, graph_of, nodes_of, viewed
from .lane_loops import LoopView, has_parts
from .rewriter import Rewriter, drop

_FIRST_OPSET = 9  # of ConstantOfShape
_NOT_CAST = (None, DataType.STRING)


def idle_loops(rewriter: Rewriter) -> None:
    """Rewrite in place, bodies included, except for scan outputs of strings or an open rank and opsets before 9."""
    if rewriter.opset < _FIRST_OPSET:
        return
    for node in nodes_of(rewriter.model, "Loop"):
        if not has_parts(node, rewriter.opset):
            continue
        loop, (trips, condition) = LoopView(node), node.inputs[:2]
        is_replaceable = all(part.inner.shape is not None and part.inner.dtype not in _NOT_CAST for part in loop.out_of)
        if (_stops(trips) or _stops(condition)) and is_replaceable:
            _replace(rewriter, loop)
            rewriter.report(node, "a loop without iterations replaced by its initial states")
        elif loop.out_of and _is_constant(trips) and condition is not None and not _is_constant(condition) and _goes_on(loop):
            zero = rewriter.constant(node, 0)
            rewriter.replace_input(node, 0, rewriter.before(node).Where(condition, trips, zero, dtype=DataType.INT64))
            rewriter.report(node, "no trips where its condition is false at first")


def _is_constant(value: Value | None) -> bool:
    return value is not None and constant_of(value) is not None


def _goes_on(loop: LoopView) -> bool:
    """Return True if the condition stays as it is at first, or is constant."""
    condition = viewed(loop.body.outputs[0])
    return condition is loop.body.inputs[1] or _is_constant(condition)


def _stops(value: Value | None) -> bool:
    """Return True for a constant trip count of 0 or less, or a constant condition that is false."""
    tensor = None if value is None else constant_of(value)
    return tensor is not None and tensor.size == 1 and tensor.numpy().item() <= 0


def _replace(rewriter: Rewriter, loop: LoopView) -> None:
    """Apply case 1."""
    node, graph, op = loop.node, graph_of(loop.node), rewriter.before(loop.node)
    found = [(state.out, op.Identity(state.given, shape=state.given.shape)) for state in loop.states]
    for part in loop.out_of:
        sizes = [0, *(dim if isinstance(dim, int) else 0 for dim in part.inner.shape or ())]
        empty = op.ConstantOfShape(rewriter.constant(node, sizes), dtype=DataType.FLOAT, shape=sizes)
        found.append((part.outer, op.Cast(empty, shape=sizes, to=part.inner.dtype)))
    for old, new in found:
        if old.is_graph_output():
            old.name, new.name = new.name, old.name
        old.replace_all_uses_with(new, replace_graph_outputs=True)
    unused = [value for value in node.inputs if value is not None]
    graph.remove(node, safe=True)
    for value in unused:
        drop(value)
