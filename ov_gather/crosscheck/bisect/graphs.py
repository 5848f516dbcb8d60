"""A common view of ONNX models, IRs and arrays: nodes in topological order, and values between them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Any

import onnx_ir

from ov_gather.converters.graphs import bodies_of
from ov_gather.crosscheck.models.nondeterminism import Picks, ir_picks, onnx_picks, random_nodes
from ov_gather.ir.model import Layer, Model, Port
from ov_gather.ir.states import stored_values
from ov_gather.ops.table import ENDS, RANDOM

Value = str | tuple[int, int]
"""A value of an ONNX model is its name; a value of an IR is (layer id, output port id)."""


@dataclass(frozen=True, slots=True)
class ValueNode:
    """A node that computes values from values; Parameter, Const and Result are not nodes.

    `picks` describes the results that its specification leaves undetermined.
    """

    type: str
    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    is_random: bool = False
    line: int = 0
    picks: Picks | None = None

    def __str__(self) -> str:
        return f"{self.type} '{self.name}'"


@dataclass(frozen=True)
class ValueGraph:
    """The main graph of a model, without bodies.

    Attributes:
        nodes: the nodes in topological order.
        inputs, outputs: values of the model's inputs and outputs by name, in order.
        constants: constant values, each with the name of its layer or initializer.
        names: all names of each value.
        shapes: declared shapes; -1 is an open size, None an unknown rank.
    """

    nodes: Sequence[ValueNode]
    inputs: Mapping[str, Value]
    outputs: Mapping[str, Value]
    constants: Mapping[Value, str] = field(default_factory=dict)
    names: Mapping[Value, Sequence[str]] = field(default_factory=dict)
    shapes: Mapping[Value, Sequence[int] | None] = field(default_factory=dict)

    @cached_property
    def producers(self) -> Mapping[Value, ValueNode]:
        """ValueNode that computes each value."""
        return {value: node for node in self.nodes for value in node.outputs}

    @cached_property
    def order(self) -> Mapping[Value, int]:
        """Topological position of the node that computes each value."""
        return {value: i for i, node in enumerate(self.nodes) for value in node.outputs}

    @cached_property
    def users(self) -> Mapping[Value, Sequence[ValueNode]]:
        """Nodes that use each value."""
        found: dict[Value, list[ValueNode]] = {}
        for node in self.nodes:
            for value in dict.fromkeys(node.inputs):
                found.setdefault(value, []).append(node)
        return found

    @cached_property
    def computed(self) -> Collection[Value]:
        """Values that depend on an input of the model, or on a node without inputs; all others can be folded."""
        found = set(self.inputs.values())
        for node in self.nodes:
            if not found.isdisjoint(node.inputs) or not node.inputs:
                found.update(node.outputs)
        return found

    @cached_property
    def random(self) -> Mapping[Value, ValueNode]:
        """First random node that each random value depends on."""
        found: dict[Value, ValueNode] = {}
        for node in self.nodes:
            source = node if node.is_random else next((found[value] for value in node.inputs if value in found), None)
            if source is not None:
                found |= dict.fromkeys(node.outputs, source)
        return found

    def label(self, value: Value) -> str:
        """Return the name of a value for users: its first name, or else its node's name."""
        names = self.names.get(value)
        if names:
            return names[0]
        node = self.producers.get(value)
        if node is None:
            return self.constants.get(value, str(value))
        return node.name if len(node.outputs) == 1 else f"{node.name}:{node.outputs.index(value)}"


def ir_graph(model: Model) -> ValueGraph:
    """Build the graph of an IR."""
    links: dict[tuple[int, int], tuple[int, int]] = {
        (layer.id, port.id): (source.id, given.id) for layer, port, source, given in model.links
    }
    sources = {
        layer.id: [links[layer.id, port.id] for port in layer.inputs if (layer.id, port.id) in links] for layer in model.layers
    }
    ordered = TopologicalSorter({layer: [source for source, _ in values] for layer, values in sources.items()}).static_order()
    layers = [model.layer_by_id[i] for i in ordered]
    nodes = [
        ValueNode(
            layer.type,
            layer.name,
            tuple(sources[layer.id]),
            tuple((layer.id, port.id) for port in layer.outputs),
            layer.type in RANDOM,
            layer.line,
            ir_picks(layer),
        )
        for layer in layers
        if layer.type not in ENDS
    ]
    names: dict[Value, Sequence[str]] = {
        (layer.id, port.id): known for layer in model.layers for port in layer.outputs if (known := port.names)
    }
    for variable, value in stored_values(model).items():
        names[value] = [*names.get(value, ()), f"what is stored in {variable}"]
    parameters = model.of_type("Parameter")
    outputs: dict[str, Value] = {}
    for result in model.layers:
        if result.type == "Result" and sources[result.id]:
            (source,) = sources[result.id]
            outputs.setdefault(names.get(source, [result.name])[0], source)
    return ValueGraph(
        nodes,
        {layer.name: (layer.id, layer.outputs[0].id) for layer in parameters},
        outputs,
        {(layer.id, layer.outputs[0].id): layer.name for layer in model.of_type("Const")},
        names,
        {(layer.id, port.id): _shape(layer, port) for layer in model.layers for port in layer.outputs},
    )


def _shape(layer: Layer, port: Port) -> Sequence[int] | None:
    declared = layer.declared_shape
    if declared is None:
        return port.dims
    return None if declared.dims is None else declared.sizes


def onnx_graph(model: onnx_ir.Model) -> ValueGraph:
    """Build the graph of an ONNX model, whose functions must be inlined."""
    graph = model.graph
    graph.sort()
    random = set(random_nodes(model))
    nodes = []
    constants: dict[Value, str] = {}
    values = list(graph.inputs)
    for name, value in graph.initializers.items():
        constants[name] = name
        values.append(value)
    for node in graph:
        values += node.outputs
        if node.op_type == "Constant" and not node.domain:
            constants |= {str(value.name): str(value.name) for value in node.outputs}
            continue
        used = [value for value in (*node.inputs, *captured(node, graph)) if value is not None]
        inputs = tuple(dict.fromkeys(str(value.name) for value in used if value.name))
        outputs = tuple(str(value.name) for value in node.outputs if value.name)
        nodes.append(ValueNode(node.op_type, node.name or outputs[0], inputs, outputs, node in random, picks=onnx_picks(node)))
    inputs_ = [str(value.name) for value in graph.inputs if value.name not in graph.initializers]
    return ValueGraph(
        nodes,
        {name: name for name in inputs_},
        {str(value.name): str(value.name) for value in graph.outputs},
        constants,
        {str(value.name): [str(value.name)] for value in values if value.name},
        {str(value.name): _onnx_shape(value) for value in values if value.name},
    )


def captured(node: onnx_ir.Node, graph: onnx_ir.Graph) -> Iterator[onnx_ir.Value]:
    """Yield the values of the graph that the bodies of a node use."""
    for _, body in bodies_of(node):
        for inner in body.all_nodes():
            yield from (value for value in inner.inputs if value is not None and value.graph is graph)
        yield from (value for value in body.outputs if value.graph is graph)


def _onnx_shape(value: onnx_ir.Value) -> Sequence[int] | None:
    if value.shape is None:
        return None
    return tuple(dim if isinstance(dim, int) else -1 for dim in value.shape)


def arrays_graph(arrays: Mapping[str, Any], inputs: Collection[str]) -> ValueGraph:
    """Build a graph of precomputed arrays, including inputs. It has values but no nodes."""
    shapes: dict[Value, Sequence[int] | None] = {name: array.shape for name, array in arrays.items()}
    outputs: dict[str, Value] = {name: name for name in arrays if name not in inputs}
    return ValueGraph([], {name: name for name in inputs}, outputs, {}, {name: [name] for name in arrays}, shapes)
