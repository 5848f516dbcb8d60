"""Roles of Parameters and Results, by which they are matched independently of layer names.

In the body of a sub-graph, the role is the port of the enclosing layer; in a whole model, the tensor name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ov_gather.ir.model import Element, Layer, Model, Port
from ov_gather.ir.numbers import parse_digits

_MAPPED = ("external_port_id", "internal_layer_id", "purpose")


@dataclass(slots=True)
class Role:
    """The outside name of a Parameter or Result, and how its value is passed, e.g. in slices along an axis."""

    name: str = ""
    attributes: dict[str, str] = field(default_factory=dict)


NO_ROLE = Role()

Roles = Mapping[int, Role]
"""Layer id -> role."""


def body_roles(layer: Layer, body: Model) -> Roles:
    """Map each Parameter and Result of a body to the layer's ports that it stands for, from the port map and the back edges."""
    roles: dict[int, Role] = {}
    for entry in _children(layer, body.tag.replace("body", "port_map")):
        inner = parse_digits(entry.attributes.get("internal_layer_id", ""))
        if inner is not None and entry.tag in ("input", "output"):
            name = _port_name(layer, entry)
            role = roles.setdefault(inner, Role())
            role.name = f"{role.name}, {name}" if role.name else name
            for key, value in entry.attributes.items():
                if key not in _MAPPED:
                    role.attributes[f"{key} of {name}"] = value
    for edge in _children(layer, "back_edges"):
        source, target = (parse_digits(edge.attributes.get(key, "")) for key in ("from-layer", "to-layer"))
        if source is not None and target in roles:
            role = roles.setdefault(source, Role("back edge"))
            known = role.attributes.get("back edge")
            role.attributes["back edge"] = f"{known}, {roles[target].name}" if known else f"to {roles[target].name}"
    return roles


def _children(layer: Layer, tag: str) -> list[Element]:
    return [child for section in layer.sections if section.tag == tag for child in section.children]


def _port_name(layer: Layer, entry: Element) -> str:
    ports = layer.inputs if entry.tag == "input" else layer.outputs
    external = parse_digits(entry.attributes.get("external_port_id", ""))
    for position, port in enumerate(ports):
        if port.id == external:
            return f"{entry.tag} {position}"
    return entry.attributes.get("purpose", entry.tag)


def named_roles(a: Model, b: Model) -> tuple[Roles, Roles]:
    """Return roles by tensor name, for inputs if both models have the same unique input names, and for outputs likewise.

    If the names differ, there is no telling which was renamed to which: the structure decides then.
    """
    both: tuple[dict[int, Role], dict[int, Role]] = {}, {}
    for kind, names_of in (("Parameter", _input_names), ("Result", _output_names)):
        found = [{layer.id: names_of(graph, layer) for layer in graph.of_type(kind)} for graph in (a, b)]
        first, second = (sorted(names.values()) for names in found)
        if first == second and len(set(first)) == len(first) and "" not in first:
            for roles, names in zip(both, found, strict=True):
                roles |= {layer_id: Role(name) for layer_id, name in names.items()}
    return both


def _input_names(graph: Model, layer: Layer) -> str:
    return _names(layer.outputs[0]) if layer.outputs else ""


def _output_names(graph: Model, layer: Layer) -> str:
    if "output_names" in layer.extra:
        return layer.extra["output_names"]
    source = graph.producer(layer, layer.inputs[0]) if layer.inputs else None
    return _names(source[1]) if source else ""


def _names(port: Port) -> str:
    return port.attributes.get("names", "")
