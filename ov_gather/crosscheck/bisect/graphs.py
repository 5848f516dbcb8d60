"""A common view of the main graphs of ONNX models and IRs, and of arrays: nodes in topological order, and values by name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import onnx_ir

from ov_gather.converters.onnx_graph import OnnxGraph
from ov_gather.crosscheck.models.nondeterminism import is_random
from ov_gather.graph.ir import IrGraph
from ov_gather.graph.protocol import Graph, Key, Node
from ov_gather.ir.gc_paused import paused_collection
from ov_gather.ir.model import Layer, Model, Port
from ov_gather.ir.states import stored_values
from ov_gather.ops.table import ENDS
from ov_gather.system.traversal import breadth_first, reachable


@dataclass(frozen=True)
class ValueGraph:
    """The main graph of a model, without bodies.

    Attributes:
        nodes: the nodes that compute values, in topological order.
        inputs, outputs: values of the model's inputs and outputs by name, in order.
        constants: constant values, each with the name of its layer or initializer.
        names: all names of each value.
        shapes: declared shapes; -1 is an open size, None an unknown rank.
        graph: the model with its bodies; None for arrays.
    """

    nodes: Sequence[Node]
    inputs: Mapping[str, Key]
    outputs: Mapping[str, Key]
    constants: Mapping[Key, str] = field(default_factory=dict)
    names: Mapping[Key, Sequence[str]] = field(default_factory=dict)
    shapes: Mapping[Key, Sequence[int] | None] = field(default_factory=dict)
    graph: Graph | None = None

    @cached_property
    def producers(self) -> Mapping[Key, Node]:
        """Node that computes each value."""
        return {value: node for node in self.nodes for value in node.outputs}

    @cached_property
    def order(self) -> Mapping[Key, int]:
        """Topological position of the node that computes each value."""
        return {value: i for i, node in enumerate(self.nodes) for value in node.outputs}

    @cached_property
    def computed(self) -> Collection[Key]:
        """Values that depend on an input of the model, or on a node without inputs; all others can be folded."""
        found = set(self.inputs.values())
        for node in self.nodes:
            if not found.isdisjoint(node.sources) or not node.sources:
                found.update(node.outputs)
        return found

    @cached_property
    def random(self) -> Mapping[Key, Node]:
        """First random node that each random value depends on."""
        found: dict[Key, Node] = {}
        for node in self.nodes:
            source = node if is_random(node) else next((found[value] for value in node.sources if value in found), None)
            if source is not None:
                found |= dict.fromkeys(node.outputs, source)
        return found

    def between(self, ends: Collection[Key], value: Key) -> list[Node]:
        """Return the nodes that compute a value from `ends`, that of the value first."""

        def before(node: Node) -> list[Node]:
            return [self.producers[key] for key in node.sources if key in self.producers and key not in ends]

        return list(reachable([self.producers[value]] if value in self.producers else [], before))

    def in_order(self, nodes: Iterable[Node]) -> list[Node]:
        """Sort nodes that compute values topologically."""
        return sorted(nodes, key=lambda node: self.order[node.outputs[0]])

    def label(self, value: Key) -> str:
        """Return the name of a value for users: its first name, or else its node's name."""
        names = self.names.get(value)
        if names:
            return names[0]
        node = self.producers.get(value)
        if node is None:
            return self.constants.get(value, str(value))
        return node.name if len(node.outputs) == 1 else f"{node.name}:{node.outputs.index(value)}"


@paused_collection()
def ir_graph(model: Model) -> ValueGraph:
    """Build the graph of an IR."""
    graph = IrGraph(model)
    found = list(graph.nodes_in(None))
    producers = {key: node for node in found for key in node.outputs}
    nodes = breadth_first({node: [producers[key] for key in node.sources] for node in found})
    names: dict[Key, Sequence[str]] = {}
    shapes: dict[Key, Sequence[int] | None] = {}
    for node in found:
        for key, port in zip(node.outputs, node.handle.outputs, strict=True):
            shapes[key] = _shape(node.handle, port)
            if known := port.names:
                names[key] = known
    for variable, value in stored_values(model).items():
        key = (0, *value)
        names[key] = [*names.get(key, ()), f"what is stored in {variable}"]
    outputs: dict[str, Key] = {}
    for node in found:
        if node.is_output and node.sources:
            (source,) = node.sources
            outputs.setdefault(names.get(source, [node.name])[0], source)
    return ValueGraph(
        [node for node in nodes if node.type not in ENDS],
        {node.name: node.outputs[0] for node in found if node.is_input},
        outputs,
        {node.outputs[0]: node.name for node in found if node.type == "Const"},
        names,
        shapes,
        graph,
    )


def _shape(layer: Layer, port: Port) -> Sequence[int] | None:
    declared = layer.declared_shape
    if declared is None:
        return port.dims
    return None if declared.dims is None else declared.sizes


def onnx_graph(model: onnx_ir.Model) -> ValueGraph:
    """Build the graph of an ONNX model, whose functions must be inlined."""
    model.graph.sort()
    graph, initializers = OnnxGraph(model), model.graph.initializers
    made = [value for node in model.graph for value in node.outputs]
    values = [value for value in (*model.graph.inputs, *initializers.values(), *made) if value.name]
    nodes = list(graph.nodes_in(None))
    computed = {value for node in nodes for value in node.outputs}
    constants = dict.fromkeys([*initializers.values(), *(value for value in made if value not in computed)])
    return ValueGraph(
        [_named(node) for node in nodes],
        {str(value.name): value for value in model.graph.inputs if value.name not in initializers},
        {str(value.name): value for value in model.graph.outputs},
        {value: str(value.name) for value in constants},
        {value: [str(value.name)] for value in values},
        {value: _onnx_shape(value) for value in values},
        graph,
    )


def _named(node: Node) -> Node:
    """Return a node without absent outputs, and with its type as an IR may have it, without the domain."""
    return replace(node, type=node.handle.op_type, outputs=[value for value in node.handle.outputs if value.name])


def _onnx_shape(value: onnx_ir.Value) -> Sequence[int] | None:
    if value.shape is None:
        return None
    return tuple(dim if isinstance(dim, int) else -1 for dim in value.shape)


def arrays_graph(arrays: Mapping[str, Any], inputs: Collection[str]) -> ValueGraph:
    """Build a graph of precomputed arrays, including inputs. It has values but no nodes."""
    shapes: dict[Key, Sequence[int] | None] = {name: array.shape for name, array in arrays.items()}
    outputs: dict[str, Key] = {name: name for name in arrays if name not in inputs}
    return ValueGraph([], {name: name for name in inputs}, outputs, {}, {name: [name] for name in arrays}, shapes)
