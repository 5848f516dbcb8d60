"""The model that passes rewrite: edits of its graphs, and a record of what was done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
import onnx_ir

from ov_gather.ops.table import ONNX, OpKind
from ov_gather.system import logs

from ..errors import describe
from ..graphs import Dims, Inputs, bodies_of, graph_of, is_used
from ..ranges import Ranges

Made = TypeVar("Made")


@dataclass(frozen=True)
class Rewrite:
    """A rewrite of a node that was made; or was not, with the reason."""

    node: str  # as `describe` names it
    what: str
    done: bool

    def __post_init__(self) -> None:
        logs.info("converters", "%s: %s%s", self.node, "" if self.done else "left: ", self.what)


class OperatorCalls(Generic[Made]):
    """Operators that are called by their names: `op.Reshape(data, sizes)`, as in onnxscript."""

    def __init__(self, make: Callable[..., Made]) -> None:
        self._make = make

    def __getattr__(self, op_type: str) -> Callable[..., Made]:
        if not op_type[:1].isupper():
            raise AttributeError(op_type)
        return partial(self._make, op_type)


class Rewriter:
    """A model that passes rewrite; `rewrites` records what was done so far."""

    def __init__(self, model: onnx_ir.Model, ranges: Ranges) -> None:
        self.model = model
        self.ranges = ranges
        self.opset = model.opset_imports.get("", model.opset_imports.get("ai.onnx", 1))
        self.rewrites: list[Rewrite] = []
        self._names = _names_of(model)

    def report(self, node: onnx_ir.Node, what: str, *, done: bool = True) -> None:
        """Record what was done to a node, or why it was left."""
        self.rewrites.append(Rewrite(describe(node), what, done))

    def before(self, node: onnx_ir.Node) -> OperatorCalls[onnx_ir.Value]:
        """Return operators that are inserted before a node: `rewriter.before(node).Add(a, b, shape=[None])` is the sum.

        The arguments are inputs, then by name the `dtype` (by default what follows from the operator and its first input), the
        `shape` (by default unknown), and attributes.
        """

        def insert(
            op_type: str,
            *inputs: onnx_ir.Value | None,
            dtype: onnx_ir.DataType | None = None,
            shape: Dims = None,
            **attributes: Any,
        ) -> onnx_ir.Value:
            if dtype is None:
                dtype = _result_type(op_type, inputs, attributes)
            return self.insert(node, op_type, inputs, dtype, shape, **attributes)

        return OperatorCalls(insert)

    def instead(self, node: onnx_ir.Node) -> OperatorCalls[None]:
        """Return operators that replace a node, but keep its outputs: `rewriter.instead(node).Gather(data, places, axis=1)`."""

        def become(op_type: str, *inputs: onnx_ir.Value | None, **attributes: Any) -> None:
            self.become(node, op_type, inputs, **attributes)

        return OperatorCalls(become)

    def insert(
        self, before: onnx_ir.Node, op_type: str, inputs: Inputs, dtype: onnx_ir.DataType | None, shape: Dims, **attributes: Any
    ) -> onnx_ir.Value:
        """Insert a node before another, and name it after that; return its output."""
        name = self.new_name(f"{before.name or before.outputs[0].name}_{op_type.lower()}")
        node = onnx_ir.node(op_type, inputs, attributes, name=name)
        (output,) = node.outputs
        output.name, output.shape = name, None if shape is None else onnx_ir.Shape(shape)
        output.type = None if dtype is None else onnx_ir.TensorType(dtype)
        graph_of(before).insert_before(before, node)
        return output

    def constant(self, before: onnx_ir.Node, array: Any) -> onnx_ir.Value:
        """Insert a Constant and return its output; numbers become int64."""
        array = array if isinstance(array, np.ndarray) else np.array(array, np.int64)
        tensor = onnx_ir.tensor(array)
        return self.insert(before, "Constant", [], tensor.dtype, array.shape, value=tensor)

    def identity(self, value: onnx_ir.Value, name: str) -> onnx_ir.Node:
        """Return an Identity that is in no graph yet, with the type and shape of the value."""
        node = onnx_ir.node("Identity", [value], name=self.new_name(name))
        (output,) = node.outputs
        output.name, output.type, output.shape = node.name, value.type, value.shape
        return node

    def replace_input(self, node: onnx_ir.Node, position: int, value: onnx_ir.Value | None) -> None:
        """Replace an input of a node, and remove the old value if it becomes unused."""
        old = node.inputs[position]
        node.replace_input_with(position, value)
        drop(old)

    def become_constant(self, node: onnx_ir.Node, tensor: onnx_ir.TensorProtocol) -> None:
        """Turn a node of one output into a Constant."""
        self.become(node, "Constant", [], value=tensor)
        node.outputs[0].shape = onnx_ir.Shape(tensor.shape.numpy())

    def become(self, node: onnx_ir.Node, op_type: str, inputs: Inputs, **attributes: Any) -> None:
        """Change the operator, inputs and attributes of a node, and remove old inputs that become unused. Its outputs stay."""
        old = set(node.inputs)
        node.op_type = op_type
        node.attributes.clear()
        node.attributes.update((attr.name, attr) for attr in onnx_ir.convenience.convert_attributes(attributes))
        node.resize_inputs(len(inputs))
        for position, value in enumerate(inputs):
            node.replace_input_with(position, value)
        for unused in old:
            drop(unused)

    def new_name(self, wanted: str) -> str:
        """Reserve a name that no node or value has: the wanted one, with a number appended if necessary."""
        name, number = wanted, 1
        while name in self._names:
            number += 1
            name = f"{wanted}_{number}"
        self._names.add(name)
        return name


def _result_type(op_type: str, inputs: Inputs, attributes: Mapping[str, Any]) -> onnx_ir.DataType | None:
    """Return the element type of an output; for most operators, that of the input whose elements it holds."""
    if "to" in attributes:
        return onnx_ir.DataType(attributes["to"])
    op = ONNX[op_type]
    if op.kind in (OpKind.COMPARISON, OpKind.LOGICAL):
        return onnx_ir.DataType.BOOL
    if op.kind is OpKind.SHAPE:
        return onnx_ir.DataType.INT64
    value = inputs[next(iter(op.meaning.sources), 0)]
    return None if value is None else value.dtype


def _names_of(model: onnx_ir.Model) -> set[str]:
    """Return the names of all nodes and values, as a body must not reuse names of the graphs around it."""
    names: set[str] = set()
    for graph in model.graphs():
        names |= {str(value.name) for value in (*graph.inputs, *graph.initializers.values())}
        for node in graph:
            names |= {str(node.name), *(str(value.name) for value in node.outputs)}
    return names


def drop(value: onnx_ir.Value | None) -> None:
    """Remove an unused value, and the nodes that only serve to compute it."""
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
        if node.graph is not None:  # otherwise another output has led here before
            waiting += set(node.inputs)
            node.graph.remove(node, safe=True)
