"""Construction of values from closed XML elements: <dim> to int, <port> to Port, <layer> to Layer, and so on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.location import Location
from ov_gather.ir.model import Edge, Element, Layer, Model, Port
from ov_gather.ir.numbers import parse_digits
from ov_gather.ir.shapes import BLANKS, MAX_DIMENSION, element_count
from ov_gather.ir.weights import Weights

VERSIONS = ("10", "11")


@dataclass(slots=True)
class OpenElement:
    """An element before its end tag. `build` makes its value; None: the element is kept verbatim."""

    tag: str
    attributes: dict[str, str]
    line: int
    build: Build | None = None
    values: dict[str, list[Any]] = field(default_factory=dict)  # values of closed children, by tag
    others: list[Element] = field(default_factory=list)  # closed children that are kept verbatim
    text: list[str] = field(default_factory=list)

    def verbatim(self) -> Element:
        """Return the element with everything in it."""
        return Element(self.tag, self.attributes, tuple(self.others), "".join(self.text).strip(BLANKS), self.line)


class ElementBuilder:
    """Builder of the values of elements. Errors from which reading recovers are collected in `problems`."""

    def __init__(self, path: str, weights: Weights) -> None:
        self.path, self.weights = path, weights
        self.problems: list[IRError] = []
        self.stack: list[OpenElement] = []

    def error(self, fault: Fault, reason: str, hint: str, line: int) -> IRError:
        """Return an error on this line, in the layer that is open."""
        return IRError(fault, reason, self._location(line), hint)

    def _location(self, line: int) -> Location:
        subgraph_path: list[str] = []
        layer: Mapping[str, str] | None = None
        for element in self.stack:
            if element.build is None:
                break  # elements kept verbatim contain no layers
            if element.tag == "layer":
                layer = element.attributes
            elif element.tag in _BODIES and layer is not None:
                subgraph_path += [f"{layer.get('type', '')} '{layer.get('name', '')}'", element.tag]
                layer = None
        if layer is None:
            return Location(self.path, line, subgraph_path=tuple(subgraph_path))
        number, name, layer_type = parse_digits(layer.get("id", "")), layer.get("name", ""), layer.get("type", "layer")
        return Location(self.path, line, number, name, layer_type, subgraph_path=tuple(subgraph_path))

    # ---- one method for each kind of element

    def list_of_children(self, element: OpenElement) -> tuple[Any, ...]:
        """Return the children of <layers>, <edges>, <input> or <output>, which all have the same tag."""
        self._refuse_others(element)
        return tuple(value for values in element.values.values() for value in values)

    def net(self, element: OpenElement) -> Model:
        """Build a Model from <net> or from the body of a sub-graph."""
        name, version = "", "11"  # a body has neither
        if element.tag == "net":
            name, version = element.attributes.get("name", ""), element.attributes.get("version", "")
            if version not in VERSIONS:
                raise self.error(Fault.VERSION, f"IR version '{version}' is unknown", "10 and 11 are known", element.line)
        return Model(
            layers=self._section(element, "layers", mandatory=True),
            edges=self._section(element, "edges"),
            name=name,
            version=int(version),
            tag=element.tag,
            sections=tuple(element.others),
            line=element.line,
            path=self.path,
            weights=self.weights,
        )

    def fragment(self, element: OpenElement) -> Model:
        """Build a Model from a bare <layer>."""
        element.attributes.setdefault("id", "0")
        element.attributes.setdefault("name", "")
        return Model((self.layer(element),), tag="layer", line=element.line, path=self.path, weights=self.weights)

    def layer(self, element: OpenElement) -> Layer:
        """Build a Layer from <layer>."""
        attributes = dict(element.attributes)
        data = self._section(element, "data", default=OpenElement("data", {}, element.line))
        return Layer(
            id=self._number(element, attributes.pop("id", None), "id"),
            name=self._mandatory(element, attributes.pop("name", None), "name"),
            type=self._mandatory(element, attributes.pop("type", None), "type"),
            version=attributes.pop("version", None),
            attributes=data.attributes,
            inputs=self._section(element, "input"),
            outputs=self._section(element, "output"),
            extra=attributes,
            sections=tuple(element.others),
            bodies=tuple(body for tag, bodies in element.values.items() if tag in _BODIES for body in bodies),
            line=element.line,
            data_line=data.line,
        )

    def port(self, element: OpenElement) -> Port:
        """Build a Port from <port>."""
        attributes = dict(element.attributes)
        dims = tuple(element.values.get("dim", ()))
        if element_count(dims) > MAX_DIMENSION:
            self.problems.append(self.error(Fault.LIMIT, f"dims {list(dims)} make more than 2^63-1 elements", "", element.line))
            dims = (-1,) * len(dims)
        return Port(
            id=self._number(element, attributes.pop("id", None), "id"),
            dims=dims,
            precision=attributes.pop("precision", None),
            attributes=attributes,
            sections=tuple(element.others),
            below=element.line - self.stack[-3].line,  # the stack is layer, list of ports, port
        )

    def dim(self, element: OpenElement) -> int:
        """Parse <dim>."""
        text = "".join(element.text).strip(BLANKS)
        return -1 if text == "-1" else self._number(element, text, "<dim>", instead=-1)

    def edge(self, element: OpenElement) -> Edge:
        """Build an Edge from <edge>."""
        names = ("from-layer", "from-port", "to-layer", "to-port")
        from_layer, from_port, to_layer, to_port = (self._number(element, element.attributes.get(name), name) for name in names)
        return Edge(from_layer, from_port, to_layer, to_port, element.line)

    def data(self, element: OpenElement) -> OpenElement:
        """Keep <data> until its layer closes, which takes its attributes and its line."""
        self._refuse_others(element)
        return element

    # ---- parts of an element

    def _refuse_others(self, element: OpenElement) -> None:
        for other in element.others:
            reason = f"<{element.tag}> has a <{other.tag}>"
            self.problems.append(self.error(Fault.STRUCTURE, reason, "OpenVINO ignores it", other.line))

    def _section(self, element: OpenElement, tag: str, *, default: Any = (), mandatory: bool = False) -> Any:
        found = element.values.get(tag, ())
        if len(found) > 1 or (mandatory and not found):
            reason = f"<{element.tag}> has {len(found) or 'no'} <{tag}> sections"
            self.problems.append(self.error(Fault.STRUCTURE, reason, "exactly one is right", element.line))
        return found[0] if found else default

    def _mandatory(self, element: OpenElement, text: str | None, name: str) -> str:
        if text is None:
            self.problems.append(self.error(Fault.STRUCTURE, f"<{element.tag}> has no {name}", "", element.line))
        return text or ""

    def _number(self, element: OpenElement, text: str | None, name: str, instead: int = 0) -> int:
        if text is None:
            self._mandatory(element, text, name)
            return instead
        number = parse_digits(text)
        if number is not None and number <= MAX_DIMENSION:
            return number
        reason = f"{name} '{text[:40]}' is not a whole number from 0 to 2^63-1"
        hint = "a <dim> may also be -1: any size" if name == "<dim>" else ""
        self.problems.append(self.error(Fault.NUMBER, reason, hint, element.line))
        return instead


Build = Callable[[ElementBuilder, OpenElement], Any]

_BODIES = ("body", "then_body", "else_body")
_GRAPH: Mapping[str, Build] = {"layers": ElementBuilder.list_of_children, "edges": ElementBuilder.list_of_children}
_PORTS: Mapping[str, Build] = {"port": ElementBuilder.port}
_LAYER: Mapping[str, Build] = {
    "data": ElementBuilder.data,
    "input": ElementBuilder.list_of_children,
    "output": ElementBuilder.list_of_children,
    **dict.fromkeys(_BODIES, ElementBuilder.net),
}

BUILD: Mapping[str | None, Mapping[str, Build]] = {
    None: {"net": ElementBuilder.net, "layer": ElementBuilder.fragment},
    "net": _GRAPH,
    **dict.fromkeys(_BODIES, _GRAPH),
    "layers": {"layer": ElementBuilder.layer},
    "edges": {"edge": ElementBuilder.edge},
    "layer": _LAYER,
    "input": _PORTS,
    "output": _PORTS,
    "port": {"dim": ElementBuilder.dim},
}
"""Tag of the parent -> tag of the element -> its builder. All other elements are kept verbatim."""
