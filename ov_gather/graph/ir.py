"""An IR, as it was read, as a graph. It needs no OpenVINO."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ov_gather.graph.protocol import LOOPS, Body, BodyEdge, Key, Node, Passing
from ov_gather.graph.symbols import Dim, InnerDim, InputDim
from ov_gather.ir.bodies import Entry, Slicing, carried, entries
from ov_gather.ir.constants import constant
from ov_gather.ir.element_types import ElementType
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Layer, Model, Port, ValueId
from ov_gather.ir.shapes import UNKNOWN, PartialShape

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CONDITIONS = {"then_body": True, "else_body": False}

Tensor = tuple[int, int, int]
"""An output port: number of the graph, id of the layer, id of the port."""


class IrGraph:
    """An IR as a graph. Parts of a broken IR that make no sense are skipped."""

    def __init__(self, model: Model) -> None:
        self._paths = [path for path, _ in model.walk()]
        self._graphs = [graph for _, graph in model.walk()]
        self._numbers = {id(graph): number for number, graph in enumerate(self._graphs)}
        self._nodes: dict[int, Node] = {}
        self._producers: dict[Key, Node | None] = {}
        self._shapes: dict[Key, PartialShape] = {}
        self._readers: dict[int, dict[ValueId, list[tuple[Layer, int]]]] = {}
        self._uses: dict[Key, Sequence[tuple[Node, int]]] = {}

    @cached_property
    def inputs(self) -> dict[str, Key]:
        """The inputs of the model, by name."""
        return {_input_name(layer): (0, layer.id, layer.outputs[0].id) for layer in self._parameters}

    @property
    def input_count(self) -> int:
        """The number of inputs, which may share a name."""
        return len(self._parameters)

    @property
    def _parameters(self) -> list[Layer]:
        return [layer for layer in self._graphs[0].of_type("Parameter") if layer.outputs]

    def nodes(self, *types: str, of: Collection[str] = ()) -> Iterator[Node]:
        """Yield the nodes of these types, or all, bodies included; if `of` is given, of these element types."""
        for number in range(len(self._graphs)):
            yield from self._nodes_of(number, types, of)

    def nodes_in(self, body: Body | None) -> Iterator[Node]:
        """Yield the nodes of a body, or of the main graph."""
        number = 0 if body is None else body.id
        assert isinstance(number, int)
        return self._nodes_of(number)

    def _nodes_of(self, number: int, types: Sequence[str] = (), of: Collection[str] = ()) -> Iterator[Node]:
        graph = self._graphs[number]
        layers: Iterable[Layer] = graph.of_type(*types) if types else graph.layers
        return (self.node(number, layer) for layer in layers if not of or _made_type(layer) in of)

    def producer(self, key: Key) -> Node | None:
        """Return the layer that makes a tensor; None for an unknown port."""
        if key not in self._producers:
            layer = self._layer(key)
            self._producers[key] = None if self._port(key, layer) is None else self.node(_tensor(key)[0], layer)
        return self._producers[key]

    def uses(self, key: Key) -> Sequence[tuple[Node, int]]:
        """Return the layers that read an output port, each with the position of the input."""
        if key not in self._uses:
            number, *value = _tensor(key)
            readers = self._readers_in(number).get((value[0], value[1]), ())
            self._uses[key] = [(self.node(number, layer), position) for layer, position in readers]
        return self._uses[key]

    def _readers_in(self, number: int) -> dict[ValueId, list[tuple[Layer, int]]]:
        """Return the layers that read each value of a graph. Nodes are made of few of them."""
        if number not in self._readers:
            found = self._readers[number] = {}
            graph = self._graphs[number]
            for layer in graph.layers:
                for position, port in enumerate(layer.inputs):
                    if source := graph.producer(layer, port):
                        found.setdefault((source[0].id, source[1].id), []).append((layer, position))
        return self._readers[number]

    def type_of(self, key: Key) -> ElementType | None:
        """Return the declared element type of an output port."""
        layer = self._layer(key)
        declared = layer.declared_type
        if declared is not None:
            return declared
        port = self._port(key, layer)
        return None if port is None else port.element_type

    def shape_of(self, key: Key) -> PartialShape:
        """Return the declared shape of an output port."""
        if key not in self._shapes:
            layer = self._layer(key)
            port = self._port(key, layer)
            self._shapes[key] = UNKNOWN if port is None else layer.declared_shape or port.shape
        return self._shapes[key]

    def size_symbol(self, key: Key, axis: int) -> Dim:
        """Return a symbol for the size of an axis."""
        number, layer_id, port_id = _tensor(key)
        layer = self._layer(key)
        if layer.type == "Parameter" and self.inputs.get(name := _input_name(layer)) == key:
            return InputDim(name, axis)
        return InnerDim(self.name_of(key) if layer.name in self.inputs else layer.name, axis, (number, layer_id, port_id))

    def is_constant(self, key: Key) -> bool:
        """Return True for a Const."""
        return self._layer(key).type == "Const"

    def constant(self, key: Key) -> NDArray[Any] | None:
        """Return the elements of a Const; None if they cannot be read, which rules 5xx report."""
        if not self.is_constant(key):
            return None
        try:
            return constant(self._graphs[_tensor(key)[0]], self._layer(key))
        except IRError:
            return None

    def name_of(self, key: Key) -> str:
        """Return the display name of a tensor: type and name of its layer."""
        layer = self._layer(key)
        return f"{layer.type} '{'/'.join((*self._paths[_tensor(key)[0]], layer.name))}'"

    # Construction of nodes

    def node(self, number: int, layer: Layer) -> Node:
        """Return the node of a layer, in the graph of this number."""
        found = self._nodes.get(id(layer))  # ids of layers may occur twice (OVG101)
        if found is None:
            found = self._nodes[id(layer)] = self._made(number, layer)
        return found

    def _made(self, number: int, layer: Layer) -> Node:
        producer = self._graphs[number].producer
        sources = [producer(layer, port) for port in layer.inputs]
        bodies = layer.bodies if layer.type not in LOOPS or len(layer.bodies) == 1 else ()  # otherwise OVG121
        return Node(
            layer.type,
            layer.version or "",
            layer.name,
            self._paths[number],
            tuple([None if one is None else (number, one[0].id, one[1].id) for one in sources]),
            tuple([(number, layer.id, port.id) for port in layer.outputs]),
            layer.attributes,
            tuple([self._body(number, layer, body) for body in bodies]) if bodies else (),
            self._around.get(number) if number else None,
            decompresses(layer),
            layer.line,
            layer,
        )

    def _source(self, number: int, layer: Layer, port: Port) -> Key | None:
        source = self._graphs[number].producer(layer, port)
        return None if source is None else (number, source[0].id, source[1].id)

    def _body(self, number: int, layer: Layer, body: Model) -> Body:
        inner = self._numbers[id(body)]
        states = {parameter: (inner, *value) for parameter, value in carried(layer, body).items()}
        into, out_of, goes_on = [], [], None
        for entry in entries(layer, body):
            if entry.value is None:
                continue
            key, passing = (inner, *entry.value), Passing.SLICED if entry.is_sliced else Passing.WHOLE
            if not entry.is_input:
                goes_on = key if entry.purpose == "execution_condition" else goes_on
                outer = (number, layer.id, entry.port.id) if entry.port else None
                out_of.append(BodyEdge(outer, key, passing, slicing=_slicing(entry)))
            elif entry.port is None:
                into.append(BodyEdge(None, key, Passing.COUNT if entry.purpose == "current_iteration" else passing))
            else:
                passing, following = Passing.CARRIED if key[1] in states else passing, states.get(key[1])
                into.append(BodyEdge(self._source(number, layer, entry.port), key, passing, following, _slicing(entry)))
        return Body(inner, into, out_of, _CONDITIONS.get(body.tag), goes_on)

    @cached_property
    def _around(self) -> dict[int, Key]:
        """For each body, an output of the top-level layer that contains it."""
        layers = [layer for layer in self._graphs[0].layers if layer.bodies and layer.outputs]
        return {
            self._numbers[id(graph)]: (0, layer.id, layer.outputs[0].id)
            for layer in layers
            for body in layer.bodies
            for _, graph in body.walk()
        }

    def _layer(self, key: Key) -> Layer:
        number, layer_id, _ = _tensor(key)
        return self._graphs[number].layer_by_id[layer_id]

    def _port(self, key: Key, layer: Layer) -> Port | None:
        """Return the port; None if another layer has the same id (OVG101)."""
        port_id = _tensor(key)[2]
        for port in layer.outputs:  # a loop: the analyses of a large model spend much of their time here
            if port.id == port_id:
                return port
        return None


def decompresses(layer: Layer) -> bool:
    """Return True for the Convert that save_model inserts behind a compressed Const.

    OpenVINO writes the precision of the Const on its output, unless something infers the type again.
    """
    marks = (mark.attributes.get("name") for section in layer.sections for mark in section.children)
    return layer.type == "Convert" and "decompression" in marks


def _made_type(layer: Layer) -> str:
    """Return the name of the element type of the first output; "" if there is none, or it is unknown."""
    found = layer.declared_type or (layer.outputs[0].element_type if layer.outputs else None)
    return str(found or "")


def _slicing(entry: Entry) -> Slicing | None:
    """Return the slices of an entry; None if there are none, or a number is malformed."""
    try:
        return entry.slicing
    except ValueError:
        return None


def _tensor(key: Key) -> Tensor:
    assert isinstance(key, tuple)
    return key


def _input_name(layer: Layer) -> str:
    """Return the name of an input as users write it: the first name of its tensor, or else the name of the layer."""
    return layer.outputs[0].attributes.get("names", "").partition(",")[0] or layer.name
