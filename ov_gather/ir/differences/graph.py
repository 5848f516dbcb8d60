"""Graphs of two models with value numbers: equal things have equal numbers, whatever their ids, names and order.

A Const is not a node but a value at each input that it feeds, because exporters share constants differently.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from ov_gather.ir.attributes import VARIABLE, meaning, normal
from ov_gather.ir.differences.constants import Content
from ov_gather.ir.differences.interfaces import NO_ROLE, Roles, body_roles
from ov_gather.ir.model import Layer, Model, Port
from ov_gather.ir.shapes import PartialShape
from ov_gather.system.traversal import breadth_first

CONSTANT, OPEN = -1, -2
"""Pseudo-producers of an input: CONSTANT if a Const feeds it, OPEN if nothing does."""

Slot = tuple[int, int]
"""An input of a node: index of its producer and position of the producer's output; or CONSTANT or OPEN, and a number."""

EXACT, SAME_CONSTANTS, SAME_ATTRIBUTES, SAME_TYPE = range(4)
"""Likeness of two nodes, sources aside, each ignoring more: nothing; types, shapes, bodies; constants; attributes, version."""


@dataclass(slots=True, eq=False)
class DiffNode:
    """A layer in its graph.

    Attributes:
        attributes: those that affect what the layer computes, normalized.
        slots: one for each input; an Assign has one more, for the ReadValue of its variable.
        keys: numbers of the node without its sources, by likeness: EXACT, SAME_CONSTANTS, SAME_ATTRIBUTES, SAME_TYPE.
        role: the outside name of a Parameter or Result, if known.
        consumers: for each use of an output, the index of the consumer, the position of its input and of the output.
    """

    layer: Layer
    attributes: Mapping[str, str]
    slots: tuple[Slot, ...]
    bodies: tuple[DiffGraph, ...] = ()
    keys: tuple[int, ...] = ()
    role: str = ""
    consumers: list[tuple[int, int, int]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class DiffGraph:
    """The layers of one graph in topological order, without the Consts that feed another layer; `up` numbers each node."""

    model: Model
    path: tuple[str, ...]
    nodes: list[DiffNode]
    up: list[int] = field(default_factory=list)


class GraphMaker:
    """Builder of the graphs of both models, with shared numbers."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}
        self._content = Content()

    def number(self, *thing: Hashable) -> int:
        """Return the number of a thing, at least 0; different things have different numbers."""
        return self._known.setdefault(thing, len(self._known))

    def make(self, model: Model, roles: Roles, path: tuple[str, ...] = ()) -> DiffGraph:
        """Build the graph of a model or body, including its bodies."""
        index, order = _in_order(model)
        positions = {(layer.id, port.id): i for layer in model.layers for i, port in enumerate(layer.outputs)}
        readers = {layer.attributes.get(VARIABLE): index[layer.id] for layer in model.of_type("ReadValue") if layer.id in index}
        graph = DiffGraph(model, path, [])
        for layer in order:
            slots = [self._slot(model, layer, port, index, positions) for port in layer.inputs]
            if layer.type == "Const":
                slots = [(CONSTANT, self._constant(model, layer))]
            if layer.type == "Assign":
                reader = readers.get(layer.attributes.get(VARIABLE))
                slots.append((OPEN, 0) if reader is None else (reader, 0))
            graph.nodes.append(self._node(layer, tuple(slots), roles, path))
        for number, node in enumerate(graph.nodes):
            for position, (producer, output) in enumerate(node.slots):
                if producer >= 0:
                    graph.nodes[producer].consumers.append((number, position, output))
        graph.up = self.upwards(graph, EXACT)
        return graph

    def upwards(self, graph: DiffGraph, likeness: int, known: Mapping[int, int] = MappingProxyType({})) -> list[int]:
        """Number each node by itself and everything upstream. `known` fixes the numbers of some nodes."""
        up = [0] * len(graph.nodes)
        for i, node in enumerate(graph.nodes):
            if i in known:
                up[i] = known[i]
                continue
            sources = tuple((up[producer], output) for producer, output in node.slots if producer >= 0)
            up[i] = self.number("up", node.keys[likeness], sources)
        return up

    def downwards(self, graph: DiffGraph, likeness: int) -> list[int]:
        """Number each node by itself and everything downstream."""
        down = [0] * len(graph.nodes)
        for i in range(len(graph.nodes) - 1, -1, -1):
            node = graph.nodes[i]
            uses = sorted((down[user], position, output) for user, position, output in node.consumers)
            down[i] = self.number("down", node.keys[likeness], tuple(uses))
        return down

    def _slot(
        self, model: Model, layer: Layer, port: Port, index: Mapping[int, int], positions: Mapping[tuple[int, int], int]
    ) -> Slot:
        source = model.producer(layer, port)
        if source is None:
            return OPEN, self.number("open", port.precision, port.dims)
        producer, output = source
        if producer.type == "Const":
            return CONSTANT, self._constant(model, producer)
        return index[producer.id], positions[producer.id, output.id]

    def _constant(self, model: Model, layer: Layer) -> int:
        return self.number("constant", *self._content.key(model, layer))

    def _node(self, layer: Layer, slots: tuple[Slot, ...], roles: Roles, path: tuple[str, ...]) -> DiffNode:
        inner = (*path, f"{layer.type} '{layer.name}'")
        bodies = tuple(self.make(body, body_roles(layer, body), (*inner, body.tag)) for body in layer.bodies)
        role = roles.get(layer.id, NO_ROLE)
        attributes = meaning(layer)
        if role.attributes:
            attributes |= {name: normal(value) for name, value in role.attributes.items()}
        type_key = self.number("type", layer.type.lower(), role.name)
        attributes_key = self.number("attributes", type_key, layer.version, frozenset(attributes.items()))
        edges = tuple(slot if slot[0] < 0 else position for position, slot in enumerate(slots))
        constants_key = self.number("constants", attributes_key, edges)
        outputs = tuple(port_text(layer, port) for port in layer.outputs)
        prints = tuple((body.model.tag, tuple(sorted(body.up))) for body in bodies)
        keys = self.number("exact", constants_key, outputs, prints), constants_key, attributes_key, type_key
        return DiffNode(layer, attributes, slots, bodies, keys, role.name)


def _in_order(model: Model) -> tuple[dict[int, int], list[Layer]]:
    """Sort layers topologically, without Consts that feed another layer; layers on or behind a cycle come last."""
    sources: dict[int, list[int]] = {layer.id: [] for layer in model.layers}
    for layer, _, producer, _ in model.links:
        sources[layer.id].append(producer.id)
    layers = [model.layer_by_id[layer_id] for layer_id in dict.fromkeys([*breadth_first(sources), *sources])]
    used = {producer.id for _, _, producer, _ in model.links}
    kept = [layer for layer in layers if layer.type != "Const" or layer.id not in used]
    return {layer.id: i for i, layer in enumerate(kept)}, kept


def port_text(layer: Layer, port: Port) -> tuple[str, str]:
    """Return the type and shape of an output as texts. The shape of a Parameter may have intervals."""
    declared = layer.declared_shape
    element_type = port.element_type or layer.declared_type
    name = element_type.name if element_type else port.precision or "?"
    return name, _dims_text(port.dims) if declared is None else str(declared)


@lru_cache(maxsize=4096)
def _dims_text(dims: tuple[int, ...]) -> str:
    return str(PartialShape.of(dims))
