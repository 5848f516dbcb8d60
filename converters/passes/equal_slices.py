"""Scan outputs of a Loop whose shape may change from iteration to iteration, which ONNX forbids, and OpenVINO does not check.

Body: Concat(state, x) -> next state, row  ->  Body: Expand(row, s) -> row, s = Where(iteration == 0, Shape(row), s) -> s
A row of another size than the first one then raises an error, instead of leaving memory unwritten, unless the first has size 1.
OpenVINO would remove a Reshape of vectors.
"""

from __future__ import annotations

import onnx_ir
from onnx_ir import DataType, Value

from ov_gather.graph.protocol import LOOPS

from ..graphs import nodes_of, viewed
from .lane_loops import LoopView, ScanValue, has_parts, reached
from .rewriter import Rewriter

_FIRST_OPSET = 9  # of Where


def equal_slices(rewriter: Rewriter) -> None:
    """Rewrite in place, bodies included, where the rows depend on a state that a Concat makes longer, from opset 9 on."""
    if rewriter.opset < _FIRST_OPSET:
        return
    for node in nodes_of(rewriter.model, "Loop"):
        if not has_parts(node, rewriter.opset):
            continue
        loop = LoopView(node)
        longer = {state.inner for state in loop.states if _is_longer(state.inner, state.end)}
        parts = [part for part in loop.out_of if part.inner.shape is not None and not part.inner.shape.is_static()]
        parts = [part for part in parts if longer & reached([part.inner], {node: loop})]
        for part in parts:
            _compare(rewriter, loop, part)
            rewriter.report(node, f"its rows '{part.outer.name}' are checked to have equal sizes")
        if parts:
            loops = {one: LoopView(one) for one in nodes_of(rewriter.model, *LOOPS) if one is not node}
            loop.rebuild(loops | {node: loop})


def _is_longer(state: Value, end: Value) -> bool:
    """Return True if the next state is a Concat that reads the state, maybe behind Identities."""
    node = viewed(end).producer()
    return node is not None and node.op_type == "Concat" and state in node.inputs and len(node.inputs) > 1


def _compare(rewriter: Rewriter, loop: LoopView, part: ScanValue) -> None:
    """Let a row have the shape of the first one, which becomes a state."""
    row, body = part.inner, loop.body
    rank = 0 if row.shape is None else row.shape.rank()
    last = rewriter.identity(row, f"{row.name}.checked")
    body.append(last)
    op, kind = rewriter.before(last), onnx_ir.TensorType(DataType.INT64)
    first = Value(name=rewriter.new_name(f"{row.name}.first"), shape=onnx_ir.Shape([rank]), type=kind)
    is_first = op.Equal(body.inputs[0], rewriter.constant(last, 0), shape=[])
    sizes = op.Where(is_first, op.Shape(row, shape=[rank]), first, dtype=DataType.INT64, shape=[rank])
    last.replace_input_with(0, op.Expand(row, sizes, shape=row.shape))
    index = next(i for i, value in enumerate(body.outputs) if value is row)
    body.outputs[index] = last.outputs[0]
    position = loop.out_of.index(part)
    loop.out_of[position] = ScanValue(part.outer, last.outputs[0], part.axis, part.direction)
    out = loop.add_state(rewriter.constant(loop.node, [0] * rank), first, sizes)
    out.name, out.type = rewriter.new_name(f"{first.name}.last"), kind
