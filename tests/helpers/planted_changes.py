"""One change is planted in a model, and how `diff` has to name it is told."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

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


KINDS: dict[str, Callable[[Model, Random], Planted | None]] = {}
"""The ways of planting a change, by name; None if there is no place for it."""


def _among(places: Callable[[Model], list[Any]]) -> Callable[[Callable[[Model, Any, Random], Planted]], None]:
    """Register a way of planting a change at one of some places."""

    def register(change: Callable[[Model, Any, Random], Planted]) -> None:
        def plant(model: Model, random: Random) -> Planted | None:
            found = places(model)
            return change(model, random.choice(found), random) if found else None

        KINDS[change.__name__] = plant

    return register


def _numbers(model: Model) -> list[tuple[Layer, str]]:
    layers = [layer for layer in model.layers if layer.type not in ("Const", "Parameter")]
    return [(layer, name) for layer in layers for name, value in layer.attributes.items() if value.lstrip("-").isdigit()]


@_among(_numbers)
def attribute(model: Model, place: tuple[Layer, str], random: Random) -> Planted:
    """Change an attribute that is a number."""
    layer, name = place
    attributes = {**layer.attributes, name: str(int(layer.attributes[name]) + 1)}
    return Planted(with_layer(model, replace(layer, attributes=attributes)), "attribute", layer.id, name)


def _used_constants(model: Model) -> list[Layer]:
    used = {edge.from_layer for edge in model.edges}
    return [layer for layer in model.of_type("Const") if layer.id in used and _has_elements(layer)]


def _has_elements(layer: Layer) -> bool:
    shape = layer.declared_shape
    return shape is not None and 0 not in shape.sizes and layer.attributes["element_type"] not in ("string", "boolean")


@_among(_used_constants)
def constant(model: Model, layer: Layer, random: Random) -> Planted:
    """Change one byte of a Const that is fed to something."""
    data = np.frombuffer(payload(model, layer), np.uint8).copy()
    data[random.randrange(len(data))] ^= 1
    return Planted(with_payload(model, layer, data), "constant", layer.id)


def _computed(model: Model, layer: Layer, count: int) -> list[tuple[Layer, Port]]:
    """Return the sources of the first inputs that are no Consts."""
    sources = (model.producer(layer, port) for port in layer.inputs[:count])
    return [source for source in sources if source is not None and source[0].type != "Const"]


def _of_two_sources(model: Model) -> list[Layer]:
    sources = [(layer, _computed(model, layer, 2)) for layer in model.layers]
    return [layer for layer, found in sources if len(found) == 2 and found[0] != found[1]]


@_among(_of_two_sources)
def swapped(model: Model, layer: Layer, random: Random) -> Planted:
    """Swap two inputs of a layer that come from different layers that are no Consts."""
    return Planted(with_swapped(model, layer, *(port.id for port in layer.inputs[:2])), "input", layer.id)


def _inner(model: Model) -> list[Layer]:
    outer = ("Const", "Parameter", "Result", "ReadValue", "Assign")
    return [layer for layer in model.layers if layer.type not in outer and layer.outputs]


@_among(lambda model: [layer for layer in _inner(model) if not layer.bodies])
def operation(model: Model, layer: Layer, random: Random) -> Planted:
    """Put another operation in the place of one."""
    return Planted(with_layer(model, replace(layer, type="Mystery")), "operation", layer.id)


@_among(_inner)
def shape(model: Model, layer: Layer, random: Random) -> Planted:
    """Declare another shape of an output."""
    outputs = (replace(layer.outputs[0], dims=(*layer.outputs[0].dims, 7)), *layer.outputs[1:])
    return Planted(with_layer(model, replace(layer, outputs=outputs)), "shape", layer.id)


@_among(_inner)
def element_type(model: Model, layer: Layer, random: Random) -> Planted:
    """Declare another element type of an output."""
    outputs = (replace(layer.outputs[0], precision="U16"), *layer.outputs[1:])
    return Planted(with_layer(model, replace(layer, outputs=outputs)), "type", layer.id)


@_among(lambda model: [edge for edge in model.edges if edge.from_layer not in {layer.id for layer in model.of_type("Const")}])
def added(model: Model, edge: Edge, random: Random) -> Planted:
    """Put a SoftSign into an edge."""
    layers = {layer.id: layer for layer in model.layers}
    new = max(layers) + 1
    source = next(port for port in layers[edge.from_layer].outputs if port.id == edge.from_port)
    ports = Port(0, source.dims, source.precision), Port(1, source.dims, source.precision)
    layer = Layer(new, "planted", "SoftSign", "opset9", inputs=ports[:1], outputs=ports[1:])
    others = [other for other in model.edges if other is not edge]
    ways = [Edge(edge.from_layer, edge.from_port, new, 0), Edge(new, 1, edge.to_layer, edge.to_port)]
    return Planted(replace(model, layers=(*model.layers, layer), edges=(*others, *ways)), "added", new)


def _passing(model: Model) -> list[Layer]:
    return [layer for layer in model.layers if len(layer.inputs) == len(layer.outputs) == 1 and _computed(model, layer, 1)]


@_among(_passing)
def removed(model: Model, layer: Layer, random: Random) -> Planted:
    """Take out a layer with one input, so that what it fed is fed by what fed the layer."""
    return Planted(without(model, layer), "removed", layer.id)
