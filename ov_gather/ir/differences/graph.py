"""A model becomes a graph here in which equal things have equal numbers, whatever ids, names and order they have.

A Const is no node of the graph but a value at each input that it feeds, because exporters share constants as they like.
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

CONSTANT, OPEN = -1, -2
"""What stands for the producer in an input that a Const feeds, and in one that nothing feeds."""

Slot = tuple[int, int]
"""An input of a node: the index of the node that feeds it, and which of its outputs; or CONSTANT or OPEN, and what is there."""

EXACT, SAME_CONSTANTS, SAME_ATTRIBUTES, SAME_TYPE = range(4)
"""How alike two nodes are by themselves: in everything; but for types, shapes and bodies; but for constants, too; or but for
attributes, too."""


class Numbers:
    """Numbers gives equal things the same number, and different things different ones."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def of(self, thing: Hashable) -> int:
        """Give the number of a thing, which is at least 0."""
        return self._known.setdefault(thing, len(self._known))


@dataclass(slots=True, eq=False)
class Node:
    """A Node is a layer in its graph.

    Attributes:
        attributes: those that mean something, written in one way.
        slots: one for each input; an Assign has one more, for the ReadValue of its variable.
        keys: the numbers of what the node is by itself: EXACT, SAME_CONSTANTS, SAME_ATTRIBUTES, SAME_TYPE.
        role: what a Parameter or Result is for the outside, if that is known.
        consumers: the index of each node that an output feeds, with the position of the input and of the output.
    """

    layer: Layer
    attributes: Mapping[str, str]
    slots: tuple[Slot, ...]
    bodies: tuple[Graph, ...] = ()
    keys: tuple[int, ...] = ()
    role: str = ""
    consumers: list[tuple[int, int, int]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Graph:
    """A Graph has the layers of one graph of a model in topological order, its Consts left out that feed something."""

    model: Model
    path: tuple[str, ...]
    nodes: list[Node]
    up: list[int] = field(default_factory=list)


class GraphMaker:
    """A GraphMaker makes the graphs of both models, so that they have the same numbers for the same things."""

    def __init__(self) -> None:
        self.numbers = Numbers()
        self._content = Content()

    def make(self, model: Model, roles: Roles, path: tuple[str, ...] = ()) -> Graph:
        """Make the graph of a model or body, with the graphs of its bodies."""
        index, order = _in_order(model)
        positions = {(layer.id, port.id): i for layer in model.layers for i, port in enumerate(layer.outputs)}
        readers = {layer.attributes.get(VARIABLE): index[layer.id] for layer in model.of_type("ReadValue") if layer.id in index}
        graph = Graph(model, path, [])
        for layer in order:
            slots = [self._slot(model, layer, port, index, positions) for port in layer.inputs]
            if layer.type == "Const":
                slots = [(CONSTANT, self._number(model, layer))]
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

    def upwards(self, graph: Graph, likeness: int, known: Mapping[int, int] = MappingProxyType({})) -> list[int]:
        """Number each node by what it is and by all that leads to it. The numbers of some nodes may be known."""
        up = [0] * len(graph.nodes)
        for i, node in enumerate(graph.nodes):
            if i in known:
                up[i] = known[i]
                continue
            sources = tuple((up[producer], output) for producer, output in node.slots if producer >= 0)
            up[i] = self.numbers.of(("up", node.keys[likeness], sources))
        return up

    def downwards(self, graph: Graph, likeness: int) -> list[int]:
        """Number each node by what it is and by all that it leads to."""
        down = [0] * len(graph.nodes)
        for i in range(len(graph.nodes) - 1, -1, -1):
            node = graph.nodes[i]
            uses = sorted((down[user], position, output) for user, position, output in node.consumers)
            down[i] = self.numbers.of(("down", node.keys[likeness], tuple(uses)))
        return down

    def _slot(
        self, model: Model, layer: Layer, port: Port, index: Mapping[int, int], positions: Mapping[tuple[int, int], int]
    ) -> Slot:
        source = model.producer(layer, port)
        if source is None:
            return OPEN, self.numbers.of(("open", port.precision, port.dims))
        producer, output = source
        if producer.type == "Const":
            return CONSTANT, self._number(model, producer)
        return index[producer.id], positions[producer.id, output.id]

    def _number(self, model: Model, layer: Layer) -> int:
        return self.numbers.of(("constant", *self._content.key(model, layer)))

    def _node(self, layer: Layer, slots: tuple[Slot, ...], roles: Roles, path: tuple[str, ...]) -> Node:
        of = self.numbers.of
        inner = (*path, f"{layer.type} '{layer.name}'")
        bodies = tuple(self.make(body, body_roles(layer, body), (*inner, body.tag)) for body in layer.bodies)
        role = roles.get(layer.id, NO_ROLE)
        attributes = meaning(layer)
        if role.attributes:
            attributes |= {name: normal(value) for name, value in role.attributes.items()}
        type_key = of(("type", layer.type.lower(), role.name))
        attributes_key = of(("attributes", type_key, layer.version, frozenset(attributes.items())))
        edges = tuple(slot if slot[0] < 0 else position for position, slot in enumerate(slots))
        constants_key = of(("constants", attributes_key, edges))
        outputs = tuple(port_text(layer, port) for port in layer.outputs)
        prints = tuple((body.model.tag, tuple(sorted(body.up))) for body in bodies)
        keys = of(("exact", constants_key, outputs, prints)), constants_key, attributes_key, type_key
        return Node(layer, attributes, slots, bodies, keys, role.name)


def _in_order(model: Model) -> tuple[dict[int, int], list[Layer]]:
    """Bring layers into topological order; Consts that feed something are left out, and a circle comes last, as it stands."""
    users: dict[int, list[int]] = {}
    waiting = {layer.id: 0 for layer in model.layers}
    for layer, _, producer, _ in model.links:
        users.setdefault(producer.id, []).append(layer.id)
        waiting[layer.id] += 1
    ready = [layer_id for layer_id, count in waiting.items() if not count]
    for layer_id in ready:
        for user in users.get(layer_id, ()):
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    done = set(ready)
    ready += [layer_id for layer_id in waiting if layer_id not in done]
    layers = [model.layer_by_id[layer_id] for layer_id in ready]
    kept = [layer for layer in layers if layer.type != "Const" or layer.id not in users]
    return {layer.id: i for i, layer in enumerate(kept)}, kept


def port_text(layer: Layer, port: Port) -> tuple[str, str]:
    """Give the type and shape of an output as texts. The shape of a Parameter may have intervals."""
    declared = layer.declared_shape
    element_type = port.element_type or layer.declared_type
    name = element_type.name if element_type else port.precision or "?"
    return name, _dims_text(port.dims) if declared is None else str(declared)


@lru_cache(maxsize=4096)
def _dims_text(dims: tuple[int, ...]) -> str:
    return str(PartialShape.of(dims))
