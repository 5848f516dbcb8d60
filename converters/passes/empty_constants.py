"""Constants without elements, from which OpenVINO's front end makes one element: they are computed instead.

Constant[0, 3]  ->  Cast(ConstantOfShape([0, 3]))
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir

from ov_gather.ops.table import ONNX, Trait, where

from ..graphs import constant_of, constants_of, is_default
from .rewriter import Rewriter, drop

_WITH_SETTINGS = where(ONNX, lambda op: Trait.SETTINGS in op.traits)
# Strings cannot be cast, and OpenVINO lacks complex numbers; `compile_onnx` computes their lanes instead.
_LEFT = (onnx_ir.DataType.STRING, onnx_ir.DataType.COMPLEX64, onnx_ir.DataType.COMPLEX128)
_FATAL = where(ONNX, lambda op: Trait.FATAL in op.traits)


def empty_constants(rewriter: Rewriter) -> None:
    """Rewrite in place, except for strings, opsets before 9, and where OpenVINO would crash."""
    for value, tensor in [(value, tensor) for value, tensor in lost_constants(rewriter.model) if not _is_fatal(value)]:
        graph, before = value.graph, value.producer()
        if before is None and isinstance(graph, onnx_ir.Graph) and len(graph):
            before = graph[0]
        if before is None or tensor.dtype in _LEFT or rewriter.opset < 9:
            continue
        sizes = [int(size) for size in tensor.shape.numpy()]
        op, shape = rewriter.before(before), rewriter.constant(before, sizes)
        empty = op.ConstantOfShape(shape, dtype=onnx_ir.DataType.FLOAT, shape=sizes)
        if tensor.dtype != onnx_ir.DataType.FLOAT:
            empty = op.Cast(empty, shape=sizes, to=tensor.dtype)
        for node, position in _uses(value):
            rewriter.report(node, f"its empty input '{value.name}' is computed, as OpenVINO makes one element of the constant")
            rewriter.replace_input(node, position, empty)
        if value.is_graph_output():
            _replace_output(value, empty)


def lost_constants(model: onnx_ir.Model) -> Iterator[tuple[onnx_ir.Value, onnx_ir.TensorProtocol]]:
    """Yield the constants without elements that are used other than as settings."""
    for value in constants_of(model):
        tensor = constant_of(value)
        if tensor is not None and tensor.size == 0 and (value.is_graph_output() or _uses(value)):
            yield value, tensor


def _is_fatal(value: onnx_ir.Value) -> bool:
    """Return True if a constant, or a value folded from it, is the first input of an operator of _FATAL."""
    folded, waiting = {value}, [value]
    while waiting:
        for node, position in waiting.pop().uses():
            if is_default(node, _FATAL) and position == 0:
                return True
            if all(given is None or given in folded or constant_of(given) is not None for given in node.inputs):
                waiting += [output for output in node.outputs if output not in folded]
                folded.update(node.outputs)
    return False


def _replace_output(value: onnx_ir.Value, computed: onnx_ir.Value) -> None:
    """Make `computed` an output of the graph instead of `value`, under its name."""
    graph = value.graph
    assert graph is not None
    value.name, computed.name = computed.name, value.name
    graph.outputs[list(graph.outputs).index(value)] = computed
    drop(value)


def _uses(value: onnx_ir.Value) -> list[tuple[onnx_ir.Node, int]]:
    return [(node, position) for node, position in value.uses() if not _is_setting(node, position)]


def _is_setting(node: onnx_ir.Node, position: int) -> bool:
    return is_default(node, _WITH_SETTINGS if position else ("ConstantOfShape",))
