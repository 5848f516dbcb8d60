"""The content of an IR document, with line numbers: Model, Layer, Port and Edge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ov_gather.ir import element_types
from ov_gather.ir.element_types import ElementType
from ov_gather.ir.shapes import UNKNOWN, PartialShape, listed
from ov_gather.ir.weights import Weights
from ov_gather.system.tables import InNotebooks, counted, one_line, shortened, table_of

if TYPE_CHECKING:
    from dataclasses import dataclass as record

    from lxml import etree
    from rich.table import Table
else:

    def record(*, frozen: bool, slots: bool) -> Callable[[type], type]:
        """Return a dataclass that is frozen for the type checker only: freezing makes construction four times as slow."""
        return dataclass(slots=slots, unsafe_hash=frozen)


LEAVES = ("Const", "Parameter")
"""The types of layers that compute nothing: constants, and inputs of the model or of a body."""
ValueId = tuple[int, int]
"""Identity of a value: the ids of its layer and of the layer's output port."""


@record(frozen=True, slots=True)
class Element:
    """XML that is kept verbatim: rt_info, port maps, anything that this package does not interpret.

    `text` is the text before the first child; an IR has no other text.
    """

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: tuple[Element, ...] = ()
    text: str = ""
    line: int = field(default=0, compare=False)

    def to_element(self, parent: etree._Element | None = None) -> etree._Element:
        """Convert to an lxml element, appended to `parent`. Iterative, because children may be nested deeply."""
        from ov_gather.ir.tree import element

        root = element(self.tag, self.attributes, self.text, parent)
        waiting = [(root, self)]
        while waiting:
            made, kept = waiting.pop()
            waiting += [(element(child.tag, child.attributes, child.text, made), child) for child in kept.children]
        return root

    def __reduce__(self) -> tuple[Callable[..., Element], tuple[object, ...]]:
        """Pickle as a flat list, because pickle recurses, and elements may be nested deeper than Python's recursion limit."""
        flat = []
        waiting = [self]
        while waiting:
            kept = waiting.pop()
            flat.append((kept.tag, kept.attributes, kept.text, kept.line, len(kept.children)))
            waiting += kept.children
        return _nested, (flat,)


def _nested(flat: list[tuple[str, Mapping[str, str], str, int, int]]) -> Element:
    """Rebuild an element from its flat list, in which its children, last first, follow each element with their own."""
    ready: list[Element] = []
    for tag, attributes, text, line, count in reversed(flat):
        children = tuple(ready.pop() for _ in range(count))[::-1]
        ready.append(Element(tag, attributes, children, text, line))
    return ready.pop()


def split_names(text: str) -> list[str]:
    r"""Split the attribute `names` or `output_names` at its commas; `\,` is a comma within a name."""
    if "\\," not in text:
        return text.split(",") if text else []
    return [name.replace("\0", ",") for name in text.replace("\\,", "\0").split(",")]


@record(frozen=True, slots=True)
class Port:
    """An input or output of a layer. In `dims`, -1 is any size; empty dims mean a scalar or an open rank.

    `below` is its line relative to the layer's line, so that layers can share equal ports.
    """

    id: int
    dims: tuple[int, ...]
    precision: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    sections: tuple[Element, ...] = ()
    below: int = field(default=0, compare=False)

    @property
    def element_type(self) -> ElementType | None:
        """The element type that `precision` names; None if it is absent or unknown."""
        return element_types.by_precision(self.precision) if self.precision is not None else None

    @property
    def names(self) -> list[str]:
        """The names of the tensor."""
        return split_names(self.attributes.get("names", ""))

    @property
    def shape(self) -> PartialShape:
        """The shape with these `dims`. Without dims the rank is open, since the port may or may not be a scalar."""
        return PartialShape.of(self.dims) if self.dims else UNKNOWN

    def may_have(self, inferred: PartialShape) -> bool:
        """Return True if the dims declare an inferred shape: the exact size if known, any allowed size or -1 if open."""
        pairs = zip(self.dims, inferred.dims or (), strict=False)
        return self.allows(inferred) and not any(size == -1 and dim.is_static for size, dim in pairs)

    def allows(self, inferred: PartialShape) -> bool:
        """Return True if the dims contradict no size of an inferred shape; -1, of a tool that knew less, allows each."""
        if inferred.dims is None:
            return True
        return len(self.dims) == len(inferred.dims) and all(
            size == -1 or size in dim for size, dim in zip(self.dims, inferred.dims, strict=True)
        )

    def to_element(self, parent: etree._Element | None = None) -> etree._Element:
        """Convert to an lxml <port>, appended to `parent`."""
        from ov_gather.ir.tree import element

        precision = {} if self.precision is None else {"precision": self.precision}
        port = element("port", {"id": self.id, **precision, **self.attributes}, parent=parent)
        for dim in self.dims:
            element("dim", text=str(dim), parent=port)
        for section in self.sections:
            section.to_element(port)
        return port


@record(frozen=True, slots=True)
class Layer:
    """A layer, with the attributes of its <data>; `extra` holds other XML attributes of <layer>, e.g. output_names."""

    id: int
    name: str
    type: str
    version: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict)
    sections: tuple[Element, ...] = ()
    bodies: tuple[Model, ...] = ()
    line: int = field(default=0, compare=False)
    data_line: int = field(default=0, compare=False)

    def __str__(self) -> str:
        name = shortened(self.name, 100)  # every finding about a layer names its neighbours
        return (
            f"{shortened(self.type, 100)} '{name}' (layer {self.id})"
            if name
            else f"{shortened(self.type, 100)} (layer {self.id})"
        )

    def __repr__(self) -> str:
        sides = (f"({', '.join(map(_outline, ports))})" for ports in (self.inputs, self.outputs))
        return one_line(self, f"{self}, {self.version or 'no version'}: {' -> '.join(sides)}")

    @property
    def is_leaf(self) -> bool:
        """True for a Parameter or Const, whose attributes declare the type and shape of its output."""
        return self.type in LEAVES

    @property
    def declared_shape(self) -> PartialShape | None:
        """The attribute `shape` of a Parameter or Const; None for other layers and for malformed text."""
        if self.type not in LEAVES:
            return None
        try:
            return PartialShape.parse(self.attributes.get("shape", ""))
        except ValueError:
            return None

    @property
    def declared_type(self) -> ElementType | None:
        """The attribute `element_type` of a Parameter or Const; None for other layers and for unknown names."""
        if self.type not in LEAVES:
            return None
        return element_types.by_name(self.attributes.get("element_type", "dynamic"))

    def to_element(self, parent: etree._Element | None = None) -> etree._Element:
        """Convert to an lxml <layer> with its bodies, appended to `parent`."""
        from ov_gather.ir.tree import element

        version = {} if self.version is None else {"version": self.version}
        layer = element("layer", {"id": self.id, "name": self.name, "type": self.type, **version, **self.extra}, parent=parent)
        if self.attributes:
            element("data", self.attributes, parent=layer)
        for section in self.sections:
            section.to_element(layer)
        for tag, ports in (("input", self.inputs), ("output", self.outputs)):
            if ports:
                side = element(tag, parent=layer)
                for port in ports:
                    port.to_element(side)
        for body in self.bodies:
            body.to_element(layer)
        return layer


@record(frozen=True, slots=True)
class Edge:
    """A connection from an output port to an input port."""

    from_layer: int
    from_port: int
    to_layer: int
    to_port: int
    line: int = field(default=0, compare=False)

    def to_element(self, parent: etree._Element | None = None) -> etree._Element:
        """Convert to an lxml <edge>, appended to `parent`."""
        from ov_gather.ir.tree import element

        source = {"from-layer": self.from_layer, "from-port": self.from_port}
        return element("edge", source | {"to-layer": self.to_layer, "to-port": self.to_port}, parent=parent)


def _outline(port: Port) -> str:
    return f"{port.precision or '?'}{listed(port.dims)}"


@dataclass(frozen=True, repr=False)
class Model(InNotebooks):
    """A whole IR (`tag` "net"), the body of a sub-graph (e.g. "then_body"), or a bare layer fragment ("layer")."""

    layers: tuple[Layer, ...]
    edges: tuple[Edge, ...] = ()
    name: str = ""
    version: int = 11
    tag: str = "net"
    sections: tuple[Element, ...] = ()
    line: int = field(default=0, compare=False)
    path: str = field(default="", compare=False)
    weights: Weights | None = field(default=None, compare=False)

    @property
    def headline(self) -> str:
        """The name, and the number of layers and edges."""
        name = self.path if self.is_fragment else self.name
        return f"{self.tag} '{name}': {counted(len(self.layers), 'layer')}, {counted(len(self.edges), 'edge')}"

    def table(self) -> Table:
        """Return a table for `rich.print`: one row a layer."""
        rows = (
            (str(layer.id), f"{layer.type} ({layer.version})", layer.name, ", ".join(map(_outline, layer.outputs)))
            for layer in self.layers
        )
        return table_of(("id", "operation", "name", "outputs"), rows)

    @property
    def is_fragment(self) -> bool:
        """True for a bare <layer> without a <net> around it."""
        return self.tag == "layer"

    @property
    def header(self) -> Mapping[str, object]:
        """The XML attributes of <net>; a body has none."""
        return {"name": self.name, "version": self.version} if self.tag == "net" else {}

    def to_element(self, parent: etree._Element | None = None) -> etree._Element:
        """Convert to an lxml `<net>`, or the `<layer>` of a fragment, appended to `parent`.

        Layers, ids and edges keep their order, without white space between them. Each Const keeps its offset and size in the
        .bin that the model was read with: `read_ir(model.to_element(), weights)` is the same model.

        Raises:
            IRError: a name or text holds a character that XML does not allow.
        """
        from ov_gather.ir.tree import element

        if self.is_fragment:
            return self.layers[0].to_element(parent)
        graph = element(self.tag, self.header, parent=parent)
        parts = (element("layers", parent=graph), self.layers), (element("edges", parent=graph), self.edges)
        for section, members in parts:
            for member in members:
                member.to_element(section)
        for kept in self.sections:
            kept.to_element(graph)
        return graph

    @cached_property
    def layer_by_id(self) -> Mapping[int, Layer]:
        """The layer of each id; the last one for a duplicate id, as in OpenVINO's reader."""
        return {layer.id: layer for layer in self.layers}

    @cached_property
    def _sources(self) -> Mapping[tuple[int, int], tuple[Layer, Port] | None]:
        """The layer and output port that feed each connected input port; None if that is ambiguous or missing."""
        outputs = {(layer.id, port.id): (layer, port) for layer in self.layers for port in reversed(layer.outputs)}
        sources = {(edge.to_layer, edge.to_port): outputs.get((edge.from_layer, edge.from_port)) for edge in self.edges}
        if len(sources) < len(self.edges):
            counts = Counter((edge.to_layer, edge.to_port) for edge in self.edges)
            sources |= {place: None for place, count in counts.items() if count > 1}
        return sources

    def producer(self, layer: Layer, port: Port) -> tuple[Layer, Port] | None:
        """Return the layer and output port that feed an input port; None if there is no edge, or several."""
        return self._sources.get((layer.id, port.id))

    @cached_property
    def links(self) -> tuple[tuple[Layer, Port, Layer, Port], ...]:
        """Each input port with a unique producer: its layer, the port, then the producing layer and output port."""
        sources = self._sources
        ports = ((layer, port) for layer in self.layers for port in layer.inputs)
        return tuple((layer, port, *source) for layer, port in ports if (source := sources.get((layer.id, port.id))))

    @cached_property
    def kinds(self) -> Mapping[tuple[str, str | None], list[Layer]]:
        """The layers grouped by type and version."""
        found: dict[tuple[str, str | None], list[Layer]] = {}
        for layer in self.layers:
            found.setdefault((layer.type, layer.version), []).append(layer)
        return found

    def of_type(self, *types: str) -> list[Layer]:
        """Return the layers of these types."""
        return [layer for (layer_type, _), layers in self.kinds.items() if layer_type in types for layer in layers]

    @property
    def parameters(self) -> list[Layer]:
        """The Parameters: the inputs of a model, or of a body."""
        return self.of_type("Parameter")

    @property
    def leaves(self) -> list[Layer]:
        """The Parameters and Consts."""
        return [layer for layers in self.kinds.values() if layers[0].is_leaf for layer in layers]

    @property
    def results(self) -> list[Layer]:
        """The Results: the outputs of a model, or of a body."""
        return self.of_type("Result")

    def ports(self) -> Iterator[tuple[Layer, Port]]:
        """Yield every port with its layer."""
        for layer in self.layers:
            for port in (*layer.inputs, *layer.outputs):
                yield layer, port

    @cached_property
    def input_ports(self) -> list[Port]:
        """The input ports of all layers."""
        return [port for layer in self.layers for port in layer.inputs]

    @cached_property
    def output_ports(self) -> list[Port]:
        """The output ports of all layers."""
        return [port for layer in self.layers for port in layer.outputs]

    @cached_property
    def _with_bodies(self) -> list[Layer]:
        return [layer for layer in self.layers if layer.bodies]

    def walk(self, subgraph_path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Model]]:
        """Yield this graph and the bodies of its sub-graphs, at any depth, each with its sub-graph path."""
        yield subgraph_path, self
        for layer in self._with_bodies:
            for body in layer.bodies:
                yield from body.walk((*subgraph_path, f"{layer.type} '{layer.name}'", body.tag))
