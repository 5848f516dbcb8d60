"""A model is disguised: the same model with other ids, names, order of layers, port ids, and places in the .bin."""

from dataclasses import replace
from random import Random

from ov_gather.ir.constants import payload
from ov_gather.ir.model import Edge, Element, Layer, Model
from ov_gather.ir.weights import Weights


def disguised(model: Model, seed: int = 0) -> Model:
    """Give all layers, also those in bodies, other ids, names, ports and places."""
    random, weights = Random(seed), bytearray(b"\7" * 5)
    made = _graph(model, random, weights)
    return _with_weights(made, Weights(weights))


def _graph(model: Model, random: Random, weights: bytearray) -> Model:
    return replace(_graph_with_ids(model, _other_ids(model, random), random, weights), name="another")


def _other_ids(model: Model, random: Random) -> dict[int, int]:
    numbers = [100 + 3 * i for i in range(len(model.layers))]
    random.shuffle(numbers)
    return {layer.id: number for layer, number in zip(model.layers, numbers, strict=True)}


def _graph_with_ids(model: Model, ids: dict[int, int], random: Random, weights: bytearray) -> Model:
    layers = [_layer(model, layer, ids[layer.id], random, weights) for layer in model.layers]
    random.shuffle(layers)
    edges = [Edge(ids[e.from_layer], e.from_port + 10, ids[e.to_layer], e.to_port + 10) for e in model.edges]
    random.shuffle(edges)
    return replace(model, layers=tuple(layers), edges=tuple(edges))


def _layer(model: Model, layer: Layer, layer_id: int, random: Random, weights: bytearray) -> Layer:
    attributes = dict(layer.attributes)
    if layer.type == "Const":
        data = bytes(payload(model, layer))
        attributes |= {"offset": str(len(weights)), "size": str(len(data))}
        weights += data
    if "variable_id" in attributes:
        attributes["variable_id"] = f"variable {attributes['variable_id']}"
    inner = {body.tag: _other_ids(body, random) for body in layer.bodies}
    bodies = tuple(_graph_with_ids(body, inner[body.tag], random, weights) for body in layer.bodies)
    sections = tuple(_section(section, inner) for section in layer.sections if section.tag != "rt_info")
    ports = [
        tuple(
            replace(port, id=port.id + 10, attributes={"names": f"tensor_{layer_id}_{port.id}"} if port.attributes else {})
            for port in side
        )
        for side in (layer.inputs, layer.outputs)
    ]
    return replace(
        layer, id=layer_id, name=f"l{layer_id}", attributes=attributes, inputs=ports[0], outputs=ports[1], extra={},
        sections=sections, bodies=bodies,
    )  # fmt: skip


def _section(section: Element, inner: dict[str, dict[int, int]]) -> Element:
    ids = inner.get("body") or inner.get(section.tag.replace("port_map", "body"), {})
    children = []
    for child in section.children:
        attributes = dict(child.attributes)
        for name in ("internal_layer_id", "from-layer", "to-layer"):
            if name in attributes:
                attributes[name] = str(ids[int(attributes[name])])
        if attributes.get("external_port_id", "-1") != "-1":
            attributes["external_port_id"] = str(int(attributes["external_port_id"]) + 10)
        children.append(replace(child, attributes=attributes))
    return replace(section, children=tuple(children))


def _with_weights(model: Model, weights: Weights) -> Model:
    layers = [replace(layer, bodies=tuple(_with_weights(body, weights) for body in layer.bodies)) for layer in model.layers]
    return replace(model, layers=tuple(layers), weights=weights)
