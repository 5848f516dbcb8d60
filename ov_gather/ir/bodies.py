"""The bodies of If, Loop and TensorIterator: what port maps pass into and out of them, and what back edges carry on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from ov_gather.ir.model import Element, Layer, Model, Port, ValueId
from ov_gather.ir.numbers import parse_digits


@dataclass(frozen=True, slots=True)
class BodyTags:
    """The bodies of a type of layers.

    Attributes:
        tags: the tags of the bodies.
        own_inputs: number of leading inputs that the layer reads itself: the condition of If; trip count and execution
            condition of Loop.
    """

    tags: tuple[str, ...]
    own_inputs: int


BODIES: Mapping[str, BodyTags] = {
    "If": BodyTags(("then_body", "else_body"), 1),
    "Loop": BodyTags(("body",), 2),
    "TensorIterator": BodyTags(("body",), 0),
}
"""The types of layers with bodies."""


@dataclass(frozen=True, slots=True)
class Slicing:
    """How the iterations slice an input, or make slices of an output. A negative stride starts at the end."""

    axis: int
    start: int = 0
    end: int = -1
    stride: int = 1
    part_size: int = 1


MAPPING = ("external_port_id", "internal_layer_id", "purpose")
SLICING = tuple(field.name for field in fields(Slicing))
"""The attributes of an entry of a port map."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a port map.

    Attributes:
        element: the entry as written.
        position, port: the input or output of the layer; None if there is none, as for an entry with a purpose.
        inner: the Parameter or Result of the body; None if there is none.
    """

    element: Element
    body: Model
    position: int | None
    port: Port | None
    inner: Layer | None

    @property
    def is_input(self) -> bool:
        """True if a value is passed into the body."""
        return self.element.tag == "input"

    @property
    def purpose(self) -> str | None:
        """In a Loop, "current_iteration" or "execution_condition"."""
        return self.element.attributes.get("purpose")

    @property
    def is_sliced(self) -> bool:
        """True if each iteration gets, or makes, another slice."""
        return "axis" in self.element.attributes

    @property
    def slicing(self) -> Slicing | None:
        """None if the whole value is passed. Raises ValueError for a malformed number."""
        given = self.element.attributes
        return Slicing(**{name: int(given[name]) for name in SLICING if name in given}) if self.is_sliced else None

    @property
    def value(self) -> ValueId | None:
        """The output of the Parameter, or what the Result reads; None if there is none."""
        if self.is_input:
            return (self.inner.id, self.inner.outputs[0].id) if self.inner and self.inner.outputs else None
        return _read_by(self.inner, self.body) if self.element.tag == "output" else None


def port_map(body: str) -> str:
    """Return the tag of the port map of a body."""
    return body.replace("body", "port_map")


def entries(layer: Layer, body: Model) -> Iterator[Entry]:
    """Yield the children of the port map of a body, including those with a wrong tag."""
    inputs, outputs = ({port.id: (i, port) for i, port in enumerate(ports)} for ports in (layer.inputs, layer.outputs))
    for element in _children(layer, port_map(body.tag)):
        ports = inputs if element.tag == "input" else outputs
        position, port = ports.get(_number(element, "external_port_id"), (None, None))
        yield Entry(element, body, position, port, body.layer_by_id.get(_number(element, "internal_layer_id")))


def back_edges(layer: Layer, body: Model) -> Iterator[tuple[Element, Layer | None, Layer | None]]:
    """Yield the children of <back_edges>, each with its Result and its Parameter; None if the body has no such layer."""
    for edge in _children(layer, "back_edges"):
        result, parameter = (body.layer_by_id.get(_number(edge, end)) for end in ("from-layer", "to-layer"))
        yield edge, result, parameter


def carried(layer: Layer, body: Model) -> dict[int, ValueId]:
    """Map the id of each Parameter at a back edge to the value that it gets from the previous iteration."""
    values = ((parameter, _read_by(result, body)) for _, result, parameter in back_edges(layer, body))
    return {parameter.id: value for parameter, value in values if parameter and value}


def _read_by(result: Layer | None, body: Model) -> ValueId | None:
    source = body.producer(result, result.inputs[0]) if result and result.inputs else None
    return (source[0].id, source[1].id) if source else None


def _children(layer: Layer, tag: str) -> list[Element]:
    return [child for section in layer.sections if section.tag == tag for child in section.children]


def _number(element: Element, name: str) -> int:
    """Parse an id; -1 for any other text."""
    number = parse_digits(element.attributes.get(name, ""))
    return -1 if number is None else number
