"""States of a Loop that no iteration reads: OpenVINO forgets their initial values, which a Loop without iterations returns.

body: e -> next state
body: If(iteration > -0.5) { e } else { state } -> next state
"""

from __future__ import annotations

import numpy as np
import onnx_ir
from onnx_ir import DataType, Value

from ..graphs import nodes_of
from .lane_loops import LoopParts, State, has_parts, reached
from .rewriter import Rewriter

_FIRST_OPSET = 7  # of Greater with two shapes


def loop_states(rewriter: Rewriter) -> None:
    """Rewrite in place, in bodies too; strings and opsets before 7 are left alone."""
    if rewriter.opset < _FIRST_OPSET:
        return
    for node in nodes_of(rewriter.model, "Loop"):
        if not has_parts(node, rewriter.opset):
            continue
        parts = LoopParts(node)
        inside = onnx_ir.traversal.RecursiveGraphIterator(parts.body)
        loops = {node: parts} | {inner: LoopParts(inner) for inner in inside if has_parts(inner, rewriter.opset)}
        for i, state in enumerate(parts.states):
            if state.end.dtype is not DataType.STRING and state.inner not in reached([state.end], loops):
                _read(rewriter, parts.body, i, state)
                rewriter.report(node, f"its state '{state.inner.name}' is read, or OpenVINO would forget the initial value")


def _read(rewriter: Rewriter, body: onnx_ir.Graph, position: int, state: State) -> None:
    """Let the next state depend on the state, by a condition that OpenVINO cannot fold."""
    chosen = onnx_ir.Node("", "If", [None], [_branch(rewriter, side, value) for side, value in _sides(state)], num_outputs=1)
    chosen.name = rewriter.new_name(f"{state.end.name}.read")
    (handed,) = chosen.outputs
    handed.name, handed.type, handed.shape = str(chosen.name), state.end.type, state.end.shape
    body.append(chosen)
    number = rewriter.insert(chosen, "Cast", [body.inputs[0]], DataType.FLOAT, [], to=int(DataType.FLOAT))
    below = rewriter.constant(chosen, np.array(-0.5, np.float32))
    chosen.replace_input_with(0, rewriter.insert(chosen, "Greater", [number, below], DataType.BOOL, []))
    body.outputs[position + 1] = handed  # after the condition


def _sides(state: State) -> list[tuple[str, Value]]:
    return [("then_branch", state.end), ("else_branch", state.inner)]


def _branch(rewriter: Rewriter, name: str, value: Value) -> onnx_ir.Attr:
    """Return a branch that yields a value of the graph around it."""
    node = onnx_ir.node("Identity", [value], name=rewriter.new_name(f"{value.name}.{name}"))
    (output,) = node.outputs
    output.name, output.type, output.shape = str(node.name), value.type, value.shape
    return onnx_ir.AttrGraph(name, onnx_ir.Graph([], [output], nodes=[node], name=str(node.name)))
