"""Folding of integers and booleans computed from constants, which OpenVINO folds differently from ONNX in some cases.

    Gather(W, Div(-3, 5))       ->  Gather(W, 0)
    Gather(W, Abs(Cast(-3)))    ->  Gather(W, 3)

Sizes, even static ones, are not folded, so that the model can still be reshaped; `repair_division` repairs their divisions.
"""

from __future__ import annotations

from typing import Any

import onnx_ir
from numpy.typing import NDArray

from ov_gather.ops.onnx_nodes import is_branching

from ..arithmetic import LARGEST, evaluate
from ..graphs import bodies_of, constant_of
from ..moves import moves
from .rewriter import Rewriter

_FIRST_OPSET = 9  # of Constants of integers


def fold_arithmetic(rewriter: Rewriter) -> None:
    """Rewrite in place, bodies included, except for mere moves of constants and large results."""
    if rewriter.opset < _FIRST_OPSET:
        return
    folding = _Folding(rewriter.opset)
    folding.visit(rewriter.model.graph)
    for value in reversed(folding.results()):
        node, array = value.producer(), folding.known[value]
        if node is None or node.graph is None:  # it was removed when its consumers were folded
            continue
        rewriter.report(node, "arithmetic of constants folded")
        if len(node.outputs) == 1 and not bodies_of(node):
            rewriter.become_constant(node, onnx_ir.tensor(array))
        elif not value.is_graph_output():
            value.replace_all_uses_with(rewriter.constant(node, array))


class _Folding:
    """The values of a model that depend on constants alone; `known` holds their elements."""

    def __init__(self, opset: int) -> None:
        self.known: dict[onnx_ir.Value, NDArray[Any]] = {}
        self._opset = opset
        self._computed: dict[onnx_ir.Value, None] = {}  # results of more than moves, in the order of the model
        self._folded: set[onnx_ir.Node] = set()

    def visit(self, graph: onnx_ir.Graph) -> None:
        """Evaluate the nodes of a graph and its bodies whose operands are known."""
        for node in graph:
            for _, body in bodies_of(node):
                self.visit(body)
            outputs = self._chosen(node) if is_branching(node) else self._outputs(node)
            if outputs is None or not _fit(node, outputs):
                continue
            self.known.update(zip(node.outputs, outputs, strict=True))
            if not moves(node) or any(value in self._computed for value in node.inputs):
                self._computed.update(dict.fromkeys(node.outputs))
            if all(array.size and array.dtype.kind in "biu" for array in outputs):
                self._folded.add(node)

    def results(self) -> list[onnx_ir.Value]:
        """Return the folded integers and booleans with a consumer that is not folded."""
        return [
            value
            for value in self._computed
            if value.producer() in self._folded
            and (value.is_graph_output() or any(use.node not in self._folded for use in value.uses()))
        ]

    def _outputs(self, node: onnx_ir.Node) -> list[NDArray[Any]] | None:
        operands: list[NDArray[Any] | None] = []
        for value in node.inputs:
            operands.append(None if value is None else self._elements(value))
            if value is not None and operands[-1] is None:
                return None
        return evaluate(node, operands, self._opset)

    def _elements(self, value: onnx_ir.Value) -> NDArray[Any] | None:
        if value not in self.known:
            tensor = constant_of(value)
            if tensor is None or tensor.size > LARGEST or tensor.dtype is onnx_ir.DataType.STRING or tensor.dtype.bitwidth < 8:
                return None
            self.known[value] = tensor.numpy()
        return self.known[value]

    def _chosen(self, node: onnx_ir.Node) -> list[NDArray[Any]] | None:
        """Return the outputs of an If whose condition and chosen branch are known; None for others."""
        condition = None if node.inputs[0] is None else self._elements(node.inputs[0])
        if condition is None or condition.size != 1:
            return None
        body = node.attributes["then_branch" if condition.item() else "else_branch"].as_graph()
        found = [self._elements(value) for value in body.outputs]
        return None if any(array is None for array in found) else [array for array in found if array is not None]


def _fit(node: onnx_ir.Node, outputs: list[NDArray[Any]]) -> bool:
    """Return True if the outputs have the declared or inferred types."""
    return len(outputs) == len(node.outputs) and all(
        value.dtype is None or value.dtype.numpy() == array.dtype for value, array in zip(node.outputs, outputs, strict=True)
    )
