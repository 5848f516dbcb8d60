"""One change is planted in a model, and how `diff` has to name it is told."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from helpers.planting import with_layer, with_payload, with_swapped, without
from ov_gather.ir.constants import payload
from ov_gather.ir.differences.changes import Differences
from ov_gather.ir.model import Edge, Layer, Model, Port


@dataclass(frozen=True)
class Planted:
    """A model with one change: the kind that `diff` gives it, the id of the layer that differs, and the attribute or input."""

    model: Model
    kind: str
    layer: int
    what: str = ""


def is_told(planted: Planted, found: Differences) -> bool:
    """Tell whether the differences between the model before and the one with the change are this change and nothing else.

    A swap is told as two other inputs. What was removed is known by its kind alone, as the ids of the model before are others.
    """
    if planted.kind == "removed":
        return [change.kind for change in found.changes] == ["removed"]
    places = [change.b for change in found.changes if change.kind == planted.kind and planted.what in ("", change.what)]
    count = 2 if planted.kind == "input" else 1
    return len(found.changes) == len(places) == count and all(place and place.layer_id == planted.layer for place in places)


def _chosen(random: Random, layers: list[Layer]) -> Layer | None:
    return random.choice(layers) if layers else None


def attribute(model: Model, random: Random) -> Planted | None:
    """Change an attribute that is a number."""
    found = [
        (layer, name)
        for layer in model.layers
        if layer.type not in ("Const", "Parameter")
        for name, value in layer.attributes.items()
        if value.lstrip("-").isdigit()
    ]
    if not found:
        return None
    layer, name = random.choice(found)
    attributes = {**layer.attributes, name: str(int(layer.attributes[name]) + 1)}
    return Planted(with_layer(model, replace(layer, attributes=attributes)), "attribute", layer.id, name)


def constant(model: Model, random: Random) -> Planted | None:
    """Change one byte of a Const that is fed to something."""
    used = {edge.from_layer for edge in model.edges}
    layer = _chosen(random, [layer for layer in model.of_type("Const") if layer.id in used and _has_elements(layer)])
    if layer is None:
        return None
    data = np.frombuffer(payload(model, layer), np.uint8).copy()
    data[random.randrange(len(data))] ^= 1
    return Planted(with_payload(model, layer, data), "constant", layer.id)


def _has_elements(layer: Layer) -> bool:
    shape = layer.declared_shape
    return shape is not None and 0 not in shape.sizes and layer.attributes["element_type"] not in ("string", "boolean")


def swapped(model: Model, random: Random) -> Planted | None:
    """Swap two inputs of a layer that come from different layers that are no Consts."""
    found = []
    for layer in model.layers:
        if len(layer.inputs) >= 2:
            sources = [model.producer(layer, port) for port in layer.inputs[:2]]
            if all(source and source[0].type != "Const" for source in sources) and sources[0] != sources[1]:
                found.append(layer)
    layer = _chosen(random, found)
    if layer is None:
        return None
    return Planted(with_swapped(model, layer, *(port.id for port in layer.inputs[:2])), "input", layer.id)


def operation(model: Model, random: Random) -> Planted | None:
    """Put another operation in the place of one."""
    layer = _chosen(random, [layer for layer in _inner(model) if not layer.bodies])
    if layer is None:
        return None
    return Planted(with_layer(model, replace(layer, type="Mystery")), "operation", layer.id)


def _inner(model: Model) -> list[Layer]:
    outer = ("Const", "Parameter", "Result", "ReadValue", "Assign")
    return [layer for layer in model.layers if layer.type not in outer and layer.outputs]


def shape(model: Model, random: Random) -> Planted | None:
    """Declare another shape of an output."""
    layer = _chosen(random, _inner(model))
    if layer is None:
        return None
    port = layer.outputs[0]
    outputs = (replace(port, dims=(*port.dims, 7)), *layer.outputs[1:])
    return Planted(with_layer(model, replace(layer, outputs=outputs)), "shape", layer.id)


def element_type(model: Model, random: Random) -> Planted | None:
    """Declare another element type of an output."""
    layer = _chosen(random, _inner(model))
    if layer is None:
        return None
    outputs = (replace(layer.outputs[0], precision="U16"), *layer.outputs[1:])
    return Planted(with_layer(model, replace(layer, outputs=outputs)), "type", layer.id)


def added(model: Model, random: Random) -> Planted | None:
    """Put a SoftSign into an edge."""
    types = {layer.id: layer for layer in model.layers}
    edges = [edge for edge in model.edges if types[edge.from_layer].type != "Const"]
    if not edges:
        return None
    edge = random.choice(edges)
    new = max(types) + 1
    source = next(port for port in types[edge.from_layer].outputs if port.id == edge.from_port)
    ports = Port(0, source.dims, source.precision), Port(1, source.dims, source.precision)
    layer = Layer(new, "planted", "SoftSign", "opset9", inputs=ports[:1], outputs=ports[1:])
    others = [other for other in model.edges if other is not edge]
    ways = [Edge(edge.from_layer, edge.from_port, new, 0), Edge(new, 1, edge.to_layer, edge.to_port)]
    return Planted(replace(model, layers=(*model.layers, layer), edges=(*others, *ways)), "added", new)


def removed(model: Model, random: Random) -> Planted | None:
    """Take out a layer with one input, so that what it fed is fed by what fed the layer."""
    layer = _chosen(
        random,
        [layer for layer in model.layers if len(layer.inputs) == len(layer.outputs) == 1 and _fed_by_layer(model, layer)],
    )
    if layer is None:
        return None
    return Planted(without(model, layer), "removed", layer.id)


def _fed_by_layer(model: Model, layer: Layer) -> bool:
    source = model.producer(layer, layer.inputs[0])
    return source is not None and source[0].type != "Const"


KINDS: dict[str, Callable[[Model, Random], Planted | None]] = {
    function.__name__: function for function in (attribute, constant, swapped, operation, shape, element_type, added, removed)
}
"""The ways of planting a change, by name."""
