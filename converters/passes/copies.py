"""Copies of values whose memory OpenVINO's CPU plugin would overwrite while they are still needed.

1. The next state of a Scan: if the plugin computes it in the memory of an element, the next element overwrites it.
       body: Add(element, state) -> next state  ->  body: Add(element, state) -> copy -> next state
   Every state is copied, as it depends on fusions within the plugin whether it shares this memory.
2. The next state of a Loop that is a view of another state, which may be overwritten by its own next state before.
       body: Reshape(Reshape(a)) -> next b  ->  body: Reshape(Reshape(a)) -> copy -> next b
3. A Concat, or a view of it, that an Abs and something else read: Abs writes in place.
       z = Concat(x, w), y = Abs(z)  ->  z = Concat(x, w), y = Abs(copy of z)

A copy is an element of a Tile, which OpenVINO neither removes nor computes in place.
"""

from __future__ import annotations

import onnx_ir
from onnx_ir import DataType, Value

from ov_gather.graph.protocol import LOOPS

from ..graphs import VIEWS, is_default, nodes_of, viewed
from .lane_loops import LoopView, has_parts
from .rewriter import Rewriter

_WITH_EXPAND = 8  # the first opset with Expand


def copies(rewriter: Rewriter) -> None:
    """Rewrite in place, bodies included, except for states of strings and opsets before 8."""
    if rewriter.opset < _WITH_EXPAND:
        return
    for node in nodes_of(rewriter.model, *LOOPS):
        if has_parts(node, rewriter.opset):
            _copy_states(rewriter, node)
    for node in nodes_of(rewriter.model, "Abs"):  # case 3
        value = node.inputs[0]
        if value is not None and _shares_concat(value):
            node.replace_input_with(0, _copy(rewriter, node, value))
            rewriter.report(node, f"computed of a copy of '{value.name}', which OpenVINO would overwrite")


def _copy_states(rewriter: Rewriter, node: onnx_ir.Node) -> None:
    """Apply cases 1 and 2."""
    parts = LoopView(node)
    for state in parts.states:
        others = [other.inner for other in parts.states if other is not state]
        if state.end.dtype is DataType.STRING or (parts.counts and viewed(state.end, VIEWS) not in others):
            continue
        last = rewriter.identity(state.end, f"{state.end.name}.copied")
        (handed,) = last.outputs
        parts.body.append(last)
        parts.body.outputs[list(parts.body.outputs).index(state.end)] = handed
        last.replace_input_with(0, _copy(rewriter, last, state.end))
        rewriter.report(node, f"its state '{state.inner.name}' is copied, as OpenVINO may overwrite it")


def _shares_concat(value: Value) -> bool:
    """Return True for a Concat, or a view of it, if another node reads the Concat or any of its views."""
    is_shared = False
    while True:
        is_shared |= value.is_graph_output() or len(value.uses()) > 1
        node = value.producer()
        if node is None or not is_default(node, (*VIEWS, "Concat")):
            return False
        if node.op_type == "Concat":
            return is_shared
        (value, *_) = (given for given in node.inputs if given is not None)


def _copy(rewriter: Rewriter, before: onnx_ir.Node, value: Value) -> Value:
    op = rewriter.before(before)
    shape = None if value.shape is None else value.shape.dims
    two = rewriter.constant(before, [2])
    if shape is None:
        sizes = op.Shape(value, shape=[None])
        sizes = op.Concat(two, sizes, shape=[None], axis=0)
        doubled = op.Expand(value, sizes)
    else:
        sizes = rewriter.constant(before, [1] * (len(shape) + 1))
        unsqueezed = op.Expand(value, sizes, shape=[1, *shape])
        repeats = rewriter.constant(before, [2, *[1] * len(shape)])
        doubled = op.Tile(unsqueezed, repeats, shape=[2, *shape])
    zero = rewriter.constant(before, 0)
    return op.Gather(doubled, zero, shape=shape, axis=0)
