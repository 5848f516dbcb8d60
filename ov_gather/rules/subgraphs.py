"""1xx: the bodies of If, Loop and TensorIterator, and their connections with the layer around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ov_gather.ir.model import Element, Layer, Model, Port
from ov_gather.ir.numbers import parse_digits
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.spec import parse_integer
from ov_gather.rules.base import Violation, rule

# For each type with sub-graphs: its bodies, and the section with the port map of each.
_BODIES: Mapping[str, Mapping[str, str]] = {
    "If": {"then_body": "then_port_map", "else_body": "else_port_map"},
    "Loop": {"body": "port_map"},
    "TensorIterator": {"body": "port_map"},
}
# Number of leading inputs that the layer reads itself: the condition of If; trip count and execution condition of Loop.
_OWN_INPUTS = {"If": 1, "Loop": 2, "TensorIterator": 0}
_SLICING = ("axis", "start", "end", "stride", "part_size")
_OF_ENTRY = frozenset({"external_port_id", "internal_layer_id", "purpose", *_SLICING})
_OF_LOOP = ("current_iteration", "execution_condition")  # purposes of Loop's entries without a port outside


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry of a port map: the port outside, and the Parameter or Result of the body that it maps to.

    `port` is None if there is no such port, as for entries of Loop with a purpose; `layer` if the body has no such layer.
    """

    element: Element
    body: Model
    is_input: bool
    port: Port | None
    layer: Layer | None


@rule("OVG121", Model)
def bodies(graph: Model) -> Iterator[Violation]:
    """An If, Loop or TensorIterator has no body or port map, or has one twice; or another layer has a body.

    OpenVINO executes the bodies of only these three types, and needs a port map for each body to pass values in and out. Write
    each body and its port map exactly once.
    """
    for layer in graph.layers:
        if layer.type not in _BODIES and not layer.bodies:
            continue
        expected = _BODIES.get(layer.type, {})
        found = Counter(body.tag for body in layer.bodies) + Counter(_maps(layer))
        wanted = {tag for item in expected.items() for tag in item}
        for tag in sorted(wanted | found.keys()):
            if tag in wanted and found[tag] != 1:
                yield Violation.at(layer, f"<{tag}> stands {found[tag] or 'no'} times", "one is right")
            elif tag not in wanted:
                yield Violation.at(layer, f"{layer.type} has no <{tag}>", "OpenVINO ignores it: remove it")


@rule("OVG122", Model)
def port_map_entry(graph: Model) -> Iterator[Violation]:
    """An entry of a port map refers to a port or a layer that does not exist, or its attributes are malformed.

    OpenVINO stops with "unordered_map::at" or "node index is out of range", without saying where. Let each entry name a port of
    the layer and a Parameter or Result of the body.
    """
    for layer in _with_bodies(graph):
        for entry in _entries(layer):
            for message, hint in _wrong(layer, entry):
                yield Violation.at(layer, message, hint, line=entry.element.line)


@rule("OVG123", Model)
def unmapped(graph: Model) -> Iterator[Violation]:
    """A port of a layer with sub-graphs, or a Parameter of a body, has no entry in a port map, or several.

    A port map passes values into and out of a body. Without an entry, a Parameter or an output has no value; with several, the
    value is ambiguous. In the port map of each body, write one entry for each Parameter and each output. A Loop also needs
    exactly one entry with the purpose execution_condition.
    """
    for layer in _with_bodies(graph):
        entries = list(_entries(layer))
        for tag in _BODIES[layer.type]:
            of_body = [entry for entry in entries if entry.body.tag == tag]
            inner = Counter(entry.layer.id for entry in of_body if entry.layer and entry.is_input)
            for body in (body for body in layer.bodies if body.tag == tag):
                for parameter in body.of_type("Parameter"):
                    if inner[parameter.id] != 1:
                        text = f"{parameter} of <{tag}> stands in {inner[parameter.id] or 'no'} <input> entries of its port map"
                        hint = "every Parameter of a body gets its value from one"
                        yield Violation.at(layer, text, hint, line=parameter.line)
            outer = Counter(entry.port.id for entry in of_body if entry.port and not entry.is_input)
            for port in layer.outputs:
                if outer[port.id] != 1:
                    text = f"stands in {outer[port.id] or 'no'} <output> entries of the port map of <{tag}>"
                    yield Violation.at(layer, text, "every output gets its value from one", port=port)
        conditions = sum(entry.element.attributes.get("purpose") == "execution_condition" for entry in entries)
        if layer.type == "Loop" and conditions != 1:
            text = f"{conditions or 'no'} <output> entries have the purpose execution_condition"
            yield Violation.at(layer, text, "a Result of the body tells whether to go on")
        used = {entry.port.id for entry in entries if entry.port and entry.is_input}
        for port in layer.inputs[_OWN_INPUTS[layer.type] :]:
            if port.id not in used:
                yield Violation.at(layer, "no entry of a port map uses this input", "map it, or remove it", port=port)


@rule("OVG124", Model)
def back_edge(graph: Model) -> Iterator[Violation]:
    """A back edge of a Loop or TensorIterator does not connect a Result of the body to a Parameter of the body.

    A back edge carries a value from one iteration to the next, from a Result to a Parameter. A Parameter takes at most one.
    """
    for layer in _with_bodies(graph):
        by_id = layer.bodies[0].layer_by_id
        seen: set[str | None] = set()
        for section in layer.sections:
            for edge in section.children if section.tag == "back_edges" else ():
                if edge.tag != "edge":
                    yield Violation.at(layer, f"<{edge.tag}> is no back edge", "write <edge>", line=edge.line)
                    continue
                for name, wanted in (("from-layer", "Result"), ("to-layer", "Parameter")):
                    text = edge.attributes.get(name, "")
                    number = parse_digits(text)
                    end = by_id.get(number) if number is not None else None
                    if end is None or end.type != wanted:
                        reason = f"{name}='{text[:40]}' of a back edge is no {wanted} of the body"
                        hint = "a back edge leads from a Result to a Parameter"
                        yield Violation.at(layer, reason, hint, line=edge.line)
                target = edge.attributes.get("to-layer")
                if target in seen:
                    yield Violation.at(layer, f"two back edges lead to layer {target}", "leave one", line=edge.line)
                seen.add(target)


@rule("OVG307", Model)
def boundary_type(graph: Model) -> Iterator[Violation]:
    """The precision of a Parameter or Result of a body differs from that of the outer port that it is mapped to.

    Both are the same tensor, so one of them is wrong. Declare the same precision inside and outside.
    """
    for layer in _with_bodies(graph):
        for entry in _entries(layer):
            inside = _inside(entry)
            if entry.port and inside and entry.port.element_type not in (None, inside.element_type) and inside.element_type:
                text = f"declares {entry.port.precision}, but {entry.layer} of <{entry.body.tag}> has {inside.precision}"
                yield Violation.at(layer, text, "declare the same precision inside and outside", port=entry.port)


@rule("OVG406", Model)
def boundary_shape(graph: Model) -> Iterator[Violation]:
    """The dims of a Parameter or Result of a body contradict those of the outer port that it is mapped to.

    Both are the same tensor, unless the port map entry slices it along an axis. Declare dims that agree. An output of If may
    have the dims of one body only: OpenVINO removes a body that its condition never chooses.
    """
    for layer in _with_bodies(graph):
        found = [(entry, inside) for entry in _entries(layer) if (inside := _contradiction(entry)) is not None]
        for entry, inside in found:
            assert entry.port is not None  # _contradiction checks it
            wrong = sum(other.port is entry.port and not other.is_input for other, _ in found)
            if layer.type == "If" and not entry.is_input and wrong < len(layer.bodies):
                continue
            outside = f"declares dims {list(entry.port.dims)}"
            text = f"{outside}, but {entry.layer} of <{entry.body.tag}> has {list(inside.dims)}"
            yield Violation.at(layer, text, "declare dims that agree inside and outside", port=entry.port)


def _contradiction(entry: _Entry) -> Port | None:
    """Return the port inside whose dims contradict those of the port outside; None if they agree."""
    inside = _inside(entry)
    if not entry.port or not inside or "axis" in entry.element.attributes or not entry.port.dims or not inside.dims:
        return None
    return inside if PartialShape.of(entry.port.dims).intersect(PartialShape.of(inside.dims)) is None else None


def _inside(entry: _Entry) -> Port | None:
    ports = () if entry.layer is None else entry.layer.outputs if entry.is_input else entry.layer.inputs
    return ports[0] if ports else None


def _maps(layer: Layer) -> list[str]:
    return [section.tag for section in layer.sections if section.tag.endswith("port_map")]


def _with_bodies(graph: Model) -> list[Layer]:
    """Return the layers that have each of their bodies once; OVG121 reports the others."""
    return [layer for layer in graph.of_type(*_BODIES) if 0 < len(layer.bodies) == len({body.tag for body in layer.bodies})]


def _entries(layer: Layer) -> Iterator[_Entry]:
    inputs, outputs = ({port.id: port for port in ports} for ports in (layer.inputs, layer.outputs))
    for section in layer.sections:
        for body in layer.bodies:
            if _BODIES[layer.type].get(body.tag) != section.tag:
                continue
            for element in section.children:
                port = parse_digits(element.attributes.get("external_port_id", ""))
                inner = parse_digits(element.attributes.get("internal_layer_id", ""))
                is_input = element.tag == "input"
                yield _Entry(
                    element,
                    body,
                    is_input,
                    None if port is None else (inputs if is_input else outputs).get(port),
                    None if inner is None else body.layer_by_id.get(inner),
                )


def _wrong(layer: Layer, entry: _Entry) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with an entry of a port map, and what would be right."""
    attributes = entry.element.attributes
    if entry.element.tag not in ("input", "output"):
        yield f"<{entry.element.tag}> is no entry of a port map", "<input> and <output> are"
        return
    for child in entry.element.children:
        yield f"<{child.tag}> in an entry of a port map", "an entry has but attributes"
    for name in attributes.keys() - _OF_ENTRY:
        yield f"unknown attribute {name} of a port map entry", f"it may have {', '.join(sorted(_OF_ENTRY))}"
    for name in _SLICING:
        try:
            parse_integer(attributes.get(name, "0"))
        except ValueError as error:
            yield f"{name}: {error}", "write a decimal integer"
    kind, inner = ("input", "Parameter") if entry.is_input else ("output", "Result")
    outside, inside = attributes.get("external_port_id", ""), attributes.get("internal_layer_id", "")
    if layer.type == "Loop" and outside == "-1":
        if attributes.get("purpose") not in _OF_LOOP:
            yield "external_port_id is -1 without a purpose", f"write purpose={' or '.join(_OF_LOOP)}, or a port"
    elif entry.port is None:
        yield f"external_port_id='{outside[:40]}' is no {kind} port of the layer", f"write the id of an {kind} port"
    if entry.layer is None or entry.layer.type != inner:
        yield f"internal_layer_id='{inside[:40]}' is no {inner} of <{entry.body.tag}>", f"write the id of a {inner}"
