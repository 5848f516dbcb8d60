"""Initial states of a Loop, and elements of a Scan, that no iteration reads: OpenVINO drops them.

A Loop without iterations returns the initial state; OpenVINO executes a Scan that reads no element once. An If reads them:

1. Loop, body: e -> next state  ->  If(iteration > -0.5) { e } else { state } -> next state
2. Scan, body: e -> output      ->  If(Sum(element > -0.5) > -0.5) { e } else { e } -> output
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx_ir
from onnx_ir import DataType, Value

from ov_gather.graph.protocol import LOOPS

from ..errors import ConversionError, describe
from ..graphs import is_used, nodes_of
from .lane_loops import LoopView, has_parts, reached
from .rewriter import Rewriter

Loops = Mapping[onnx_ir.Node, LoopView]

_FIRST_OPSET = 7  # of Greater with broadcasting
_NOT_CAST = (DataType.STRING, DataType.COMPLEX64, DataType.COMPLEX128)


def loop_states(rewriter: Rewriter) -> None:
    """Rewrite in place, bodies included, except for strings and opsets before 7."""
    if rewriter.opset < _FIRST_OPSET:
        return
    for node in nodes_of(rewriter.model, *LOOPS):
        if not has_parts(node, rewriter.opset):
            continue
        parts = LoopView(node)
        inside = onnx_ir.traversal.RecursiveGraphIterator(parts.body)
        loops = {node: parts} | {inner: LoopView(inner) for inner in inside if has_parts(inner, rewriter.opset)}
        (_read_states if parts.counts else _read_elements)(rewriter, parts, loops)


def _read_states(rewriter: Rewriter, loop: LoopView, loops: Loops) -> None:
    """Apply case 1: make each next state of a Loop depend on the state before."""
    for i, state in enumerate(loop.states, start=1):  # the condition comes first
        if state.end.dtype is not DataType.STRING and state.inner not in reached([state.end], loops, by_shape=False):
            _choose(rewriter, loop.body, i, loop.body.inputs[0], state.inner)
            rewriter.report(loop.node, f"its state '{state.inner.name}' is read, or OpenVINO would forget the initial value")


def _read_elements(rewriter: Rewriter, scan: LoopView, loops: Loops) -> None:
    """Apply case 2: make an output of a Scan depend on an element if none does."""
    used = [i for i, output in enumerate(scan.node.outputs) if is_used(output)]
    read = reached([scan.body.outputs[i] for i in used], loops, by_shape=False)
    if not used or any(part.inner in read for part in scan.into):
        return
    element = next((part.inner for part in scan.into if part.inner.dtype not in _NOT_CAST), None)
    if element is None:
        raise ConversionError(f"{describe(scan.node)}: its body reads none of its elements, and OpenVINO would execute it once")
    _choose(rewriter, scan.body, used[0], element, scan.body.outputs[used[0]])
    rewriter.report(scan.node, f"its element '{element.name}' is read, or OpenVINO would make one iteration")


def _choose(rewriter: Rewriter, body: onnx_ir.Graph, position: int, read: Value, other: Value) -> None:
    """Make an output of a body depend on two values by an If whose condition always holds, which OpenVINO cannot fold."""
    end = body.outputs[position]
    branches = [_branch(rewriter, *side) for side in (("then_branch", end), ("else_branch", other))]
    chosen = onnx_ir.Node("", "If", [None], branches, num_outputs=1, name=rewriter.new_name(f"{end.name}.read"))
    (handed,) = chosen.outputs
    handed.name, handed.type, handed.shape = str(chosen.name), end.type, end.shape
    body.append(chosen)
    op = rewriter.before(chosen)
    number = op.Cast(read, to=DataType.FLOAT)
    below = rewriter.constant(chosen, np.array(-0.5, np.float32))
    holds = op.Greater(number, below)
    if read.shape is None or read.shape.rank():  # OpenVINO refuses ReduceSum of a scalar in a Loop that makes no iteration
        count = op.ReduceSum(op.Cast(holds, to=DataType.FLOAT), shape=[], keepdims=0)
        holds = op.Greater(count, below, shape=[])
    chosen.replace_input_with(0, holds)
    body.outputs[position] = handed


def _branch(rewriter: Rewriter, name: str, value: Value) -> onnx_ir.Attr:
    """Return a branch that yields a captured value."""
    node = rewriter.identity(value, f"{value.name}.{name}")
    return onnx_ir.AttrGraph(name, onnx_ir.Graph([], node.outputs, nodes=[node], name=str(node.name)))
