"""This module tells what the passes share: what is known of the model, and new nodes in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir

from ov_gather import logs

from ..graphs import Dim, bodies_of, is_used
from ..nodes import describe
from ..ranges import Ranges


@dataclass(frozen=True)
class Rewrite:
    """What was done to a node, or left and why."""

    node: str  # as errors name it
    what: str
    done: bool

    def __post_init__(self) -> None:
        logs.info("converters", "%s: %s%s", self.node, "" if self.done else "left: ", self.what)


class Rewriter:
    """A model that is being rewritten.

    Attributes:
        rewrites: what was done so far.
    """

    def __init__(self, model: onnx_ir.Model, ranges: Ranges) -> None:
        self.model = model
        self.ranges = ranges
        self.opset = model.opset_imports.get("", model.opset_imports.get("ai.onnx", 1))
        self.rewrites: list[Rewrite] = []
        self._names = _names_of(model)

    def report(self, node: onnx_ir.Node, what: str, *, done: bool = True) -> None:
        """Note what was done to a node, or left and why."""
        self.rewrites.append(Rewrite(describe(node), what, done))

    def insert(
        self,
        before: onnx_ir.Node,
        op_type: str,
        inputs: Sequence[onnx_ir.Value | None],
        dtype: onnx_ir.DataType | None,
        shape: Sequence[Dim | None] | None,
        **attributes: Any,
    ) -> onnx_ir.Value:
        """Return the output of a new node, which is named after the one that it stands before."""
        name = self.new_name(f"{before.name or before.outputs[0].name}_{op_type.lower()}")
        node = onnx_ir.node(op_type, inputs, attributes, name=name)
        (output,) = node.outputs
        output.name, output.shape = name, None if shape is None else onnx_ir.Shape(shape)
        output.type = None if dtype is None else onnx_ir.TensorType(dtype)
        _graph_of(before).insert_before(before, node)
        return output

    def constant(self, before: onnx_ir.Node, array: Any) -> onnx_ir.Value:
        """Return a new Constant: int64, unless it is an array."""
        array = array if isinstance(array, np.ndarray) else np.array(array, np.int64)
        tensor = onnx_ir.tensor(array)
        return self.insert(before, "Constant", [], tensor.dtype, array.shape, value=tensor)

    def copy(
        self,
        node: onnx_ir.Node,
        inputs: Sequence[onnx_ir.Value | None],
        outputs: Sequence[tuple[onnx_ir.DataType, Sequence[Dim | None] | None]],
        attributes: Iterable[onnx_ir.Attr],
        domain: str = "",
    ) -> Sequence[onnx_ir.Value]:
        """Return the outputs, of these types and shapes, of a node that does the same as another, and stands before that."""
        if domain:
            self.model.opset_imports.setdefault(domain, 1)
        name = self.new_name(f"{node.name or node.outputs[0].name}.lanes")
        copied = onnx_ir.Node(domain, node.op_type, inputs, attributes, num_outputs=len(outputs), name=name)
        for i, (output, (dtype, shape)) in enumerate(zip(copied.outputs, outputs, strict=True)):
            output.name = self.new_name(f"{name}_{i}")
            output.type, output.shape = onnx_ir.TensorType(dtype), None if shape is None else onnx_ir.Shape(shape)
        _graph_of(node).insert_before(node, copied)
        return copied.outputs

    def replace_input(self, node: onnx_ir.Node, position: int, value: onnx_ir.Value | None) -> None:
        """Connect an input with another value; what nothing uses any more goes."""
        old = node.inputs[position]
        node.replace_input_with(position, value)
        drop(old)

    def become_constant(self, node: onnx_ir.Node, tensor: onnx_ir.TensorProtocol) -> None:
        """A node of one output becomes a Constant."""
        inputs = set(node.inputs)
        node.resize_inputs(0)
        node.op_type = "Constant"
        node.attributes.clear()
        node.attributes["value"] = onnx_ir.AttrTensor("value", tensor)
        node.outputs[0].shape = onnx_ir.Shape(tensor.shape.numpy())
        for value in inputs:
            drop(value)

    def new_name(self, wanted: str) -> str:
        """Return a name that no node and no value has, and keep it for the caller: this one, or one like it."""
        name, number = wanted, 1
        while name in self._names:
            number += 1
            name = f"{wanted}_{number}"
        self._names.add(name)
        return name


def _names_of(model: onnx_ir.Model) -> set[str]:
    """Return the names of all nodes and values: a body must not reuse a name of the graphs around it."""
    names: set[str] = set()
    for graph in model.graphs():
        names |= {str(value.name) for value in (*graph.inputs, *graph.initializers.values())}
        for node in graph:
            names |= {str(node.name), *(str(value.name) for value in node.outputs)}
    return names


def drop(value: onnx_ir.Value | None) -> None:
    """Remove an unused value with what only served to compute it."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if value is None or is_used(value) or value.is_graph_input():
            continue
        node = value.producer()
        if node is None:
            if value.is_initializer() and value.graph is not None:
                value.graph.initializers.pop(str(value.name))
            continue
        if any(map(is_used, node.outputs)) or bodies_of(node):
            continue
        if node.graph is not None:  # a second output may have led here before
            waiting += set(node.inputs)
            node.graph.remove(node, safe=True)


def _graph_of(node: onnx_ir.Node) -> onnx_ir.Graph:
    """Return the graph, or the body, that a node stands in."""
    assert isinstance(node.graph, onnx_ir.Graph)  # functions are inlined
    return node.graph
