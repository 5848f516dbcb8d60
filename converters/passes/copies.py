"""Copies of values whose memory OpenVINO's CPU plugin would overwrite while they are still needed.

1. A state of a Scan that is the element itself. The plugin reads the next element before it hands the state on:

       body: Identity(element) -> next state
       body: element -> copy -> next state

2. A Concat, or a Reshape of it, that something reads beside an Abs. Abs writes into its memory:

       z = Concat(x, w), y = Abs(z)
       z = Concat(x, w), y = Abs(copy of z)

A copy is an element of a Tile, which OpenVINO neither removes nor computes in place.
"""

from __future__ import annotations

import onnx_ir
from onnx_ir import DataType, Value

from ..graphs import bodies_of, constant_of, nodes_of
from ..loading import is_default
from .lane_loops import LoopParts, has_parts
from .rewriter import Rewriter

_VIEWS = ("Cast", "Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze")
_WITH_EXPAND = 8  # the first opset that has it
# These compute elements anew, whatever their operands are; OpenVINO may remove any other operator.
_NEW = ("ConstantOfShape", "RandomNormal", "RandomUniform", "Shape", "Size")


def copies(rewriter: Rewriter) -> None:
    """Rewrite in place, in bodies too; strings and opsets before 8 are left alone."""
    if rewriter.opset < _WITH_EXPAND:
        return
    for scan in nodes_of(rewriter.model, "Scan"):
        if has_parts(scan, rewriter.opset):
            _copy_states(rewriter, scan)
    for node in nodes_of(rewriter.model, "Abs"):
        value = node.inputs[0]
        if value is not None and _shares_concat(value):
            node.replace_input_with(0, _copy(rewriter, node, value))
            rewriter.report(node, f"computed of a copy of '{value.name}', which OpenVINO would overwrite")


def _copy_states(rewriter: Rewriter, scan: onnx_ir.Node) -> None:
    """Rewrite case 1."""
    parts = LoopParts(scan)
    elements = {part.inner for part in parts.into}
    for state in parts.states:
        if state.end.dtype is DataType.STRING or not _may_be(state.end, elements):
            continue
        last = onnx_ir.node("Identity", [state.end], name=rewriter.new_name(f"{state.end.name}.copied"))
        (handed,) = last.outputs
        handed.name, handed.type, handed.shape = str(last.name), state.end.type, state.end.shape
        parts.body.append(last)
        parts.body.outputs[list(parts.body.outputs).index(state.end)] = handed
        last.replace_input_with(0, _copy(rewriter, last, state.end))
        rewriter.report(scan, f"its state '{state.inner.name}' becomes a copy of the element, which OpenVINO would overwrite")


def _may_be(value: Value, elements: set[Value]) -> bool:
    """Return True if a value of a body may be one of some inputs once OpenVINO has removed what changes nothing.

    That is a chain of operations, in branches too, of which no other operand is computed, or of which all may be such inputs.
    """
    found, waiting = set[Value](), [value]
    while waiting:
        value = waiting.pop()
        node = value.producer()
        if value in elements:
            return True
        if value in found or node is None or is_default(node, _NEW):
            continue
        found.add(value)
        if node.op_type == "If":
            waiting += [body.outputs[value.index() or 0] for _, body in bodies_of(node)]
        computed = [given for given in node.inputs if given is not None and constant_of(given) is None]
        waiting += computed if len(computed) == 1 or node.op_type == "Where" else []
    return False


def _shares_concat(value: Value) -> bool:
    """Return True for a view of a Concat, if something else reads any of the two."""
    is_shared = False
    while True:
        is_shared |= value.is_graph_output() or len(value.uses()) > 1
        node = value.producer()
        if node is None or not is_default(node, (*_VIEWS, "Concat")):
            return False
        if node.op_type == "Concat":
            return is_shared
        (value, *_) = (given for given in node.inputs if given is not None)


def _copy(rewriter: Rewriter, before: onnx_ir.Node, value: Value) -> Value:
    """Insert a copy of a value before a node."""
    shape = None if value.shape is None else value.shape.dims
    two = rewriter.constant(before, [2])
    if shape is None:
        sizes = rewriter.insert(before, "Shape", [value], DataType.INT64, [None])
        sizes = rewriter.insert(before, "Concat", [two, sizes], DataType.INT64, [None], axis=0)
        doubled = rewriter.insert(before, "Expand", [value, sizes], value.dtype, None)
    else:
        sizes = rewriter.constant(before, [1] * (len(shape) + 1))
        unsqueezed = rewriter.insert(before, "Expand", [value, sizes], value.dtype, [1, *shape])
        repeats = rewriter.constant(before, [2, *[1] * len(shape)])
        doubled = rewriter.insert(before, "Tile", [unsqueezed, repeats], value.dtype, [2, *shape])
    zero = rewriter.constant(before, 0)
    return rewriter.insert(before, "Gather", [doubled, zero], value.dtype, shape, axis=0)
