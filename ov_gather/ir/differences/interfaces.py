"""Roles of Parameters and Results, by which they are matched independently of layer names.

In the body of a sub-graph, the role is the port of the enclosing layer; in a whole model, the tensor name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ov_gather.ir.bodies import MAPPING, back_edges, entries
from ov_gather.ir.model import Layer, Model, Port


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
    for entry in entries(layer, body):
        element = entry.element
        if entry.inner is not None and element.tag in ("input", "output"):
            name = f"{element.tag} {entry.position}" if entry.port else entry.purpose or element.tag
            role = roles.setdefault(entry.inner.id, Role())
            role.name = f"{role.name}, {name}" if role.name else name
            for key, value in element.attributes.items():
                if key not in MAPPING:
                    role.attributes[f"{key} of {name}"] = value
    for _, result, parameter in back_edges(layer, body):
        if result is not None and parameter is not None and parameter.id in roles:
            role, target = roles.setdefault(result.id, Role("back edge")), roles[parameter.id]
            known = role.attributes.get("back edge")
            role.attributes["back edge"] = f"{known}, {target.name}" if known else f"to {target.name}"
    return roles


def named_roles(a: Model, b: Model) -> tuple[Roles, Roles]:
    """Return roles by tensor name, for inputs if both models have the same unique input names, and for outputs likewise.

    If the names differ, there is no telling which was renamed to which: the structure decides then.
    """
    both: tuple[dict[int, Role], dict[int, Role]] = {}, {}
    for (of_a, of_b), names_of in ((a.parameters, b.parameters), _input_names), ((a.results, b.results), _output_names):
        found = [{layer.id: names_of(a, layer) for layer in of_a}, {layer.id: names_of(b, layer) for layer in of_b}]
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
