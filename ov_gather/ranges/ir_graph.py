"""Adapter from an IR, as it was read, to the graph of the analysis. It needs no OpenVINO."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf

from ov_gather.ir.bodies import carried, entries
from ov_gather.ir.constants import constant
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Layer, Model, Port
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops import indexing, known_types
from ov_gather.ranges.algebra.constants import constant_value
from ov_gather.ranges.algebra.polynomials import Number
from ov_gather.ranges.algebra.values import Shape, Value, is_integer
from ov_gather.ranges.graph import Body, BodyEdge, EdgeKind, Key, Step, named_shape
from ov_gather.ranges.rules.openvino import LOOPS, Described, rule_of
from ov_gather.ranges.sites import Site, site_of

_CONDITIONS = {"then_body": True, "else_body": False}

Tensor = tuple[int, int, int]
"""An output port: number of the graph, id of the layer, id of the port."""


@dataclass(frozen=True)
class Place:
    """A layer that reads or writes by indices.

    Attributes:
        path: the path to its graph, e.g. ("If 'x'", "then_body").
        graph: the number of its graph.
        site: None if the layer lacks an input or an attribute.
    """

    path: tuple[str, ...]
    graph: int
    layer: Layer
    site: Site | None


class IrGraph:
    """An IR as a graph of the analysis. Parts of a broken IR that make no sense are skipped."""

    def __init__(self, model: Model) -> None:
        self.bounds: dict[str, tuple[int, Number]] = {}
        self.answers: dict[str, dict[Key, bool]] = {}
        self._graphs = [graph for _, graph in model.walk()]
        self._paths = [path for path, _ in model.walk()]
        self._numbers = {id(graph): number for number, graph in enumerate(self._graphs)}
        self._declared: dict[Key, Value] = {}
        self._steps: dict[Key, Step | None] = {}
        self._by_layer: dict[tuple[int, int], Step] = {}

    # The Graph protocol

    def step_of(self, key: Key) -> Step | None:
        """Return the layer that produces a tensor; None for a Parameter, a Const or an unknown port."""
        if key not in self._steps:
            self._steps[key] = self._find_step(*_tensor(key))
        return self._steps[key]

    def declared(self, key: Key) -> Value:
        """Return the declared type and shape of an output port, and the elements of a Const."""
        if key not in self._declared:
            self._declared[key] = self._declare(*_tensor(key))
        return self._declared[key]

    # Sites

    @cached_property
    def sites(self) -> list[Site]:
        """The gathers and scatters of the model and its bodies."""
        return [place.site for place in self.places if place.site is not None]

    @cached_property
    def places(self) -> list[Place]:
        """The layers that read or write by indices."""
        return [
            Place(path, number, layer, self._site(number, layer))
            for number, (path, graph) in enumerate(zip(self._paths, self._graphs, strict=True))
            for layer in graph.of_type(*known_types())
            if indexing(layer.type, layer.version)
        ]

    def graph(self, place: Place) -> Model:
        """Return the graph that contains the layer."""
        return self._graphs[place.graph]

    def _site(self, number: int, layer: Layer) -> Site | None:
        if not layer.outputs:
            return None
        name, output = f"{_prefix(self._paths[number])}{layer.name}", (number, layer.id, layer.outputs[0].id)
        inputs, within = self._inputs(number, layer), self._around.get(number)
        return site_of(_described(layer), name, layer.line, inputs, output, within)

    @cached_property
    def _sites(self) -> dict[int, list[Site]]:
        """The sites of each graph that has some."""
        found: dict[int, list[Site]] = {}
        for place in self.places:
            if place.site is not None:
                found.setdefault(place.graph, []).append(place.site)
        return found

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

    @cached_property
    def inputs(self) -> dict[str, Key]:
        """The inputs of the model, by name."""
        return {
            _input_name(layer): (0, layer.id, layer.outputs[0].id)
            for layer in self._graphs[0].of_type("Parameter")
            if layer.outputs
        }

    @property
    def input_count(self) -> int:
        """The number of inputs, which may share a name."""
        return sum(bool(layer.outputs) for layer in self._graphs[0].of_type("Parameter"))

    def name_of(self, key: Key) -> str:
        """Return the display name of a tensor: type and name of its layer."""
        number, layer_id, _ = _tensor(key)
        layer = self._graphs[number].layer_by_id[layer_id]
        return f"{layer.type} '{_prefix(self._paths[number])}{layer.name}'"

    # Construction of values and steps

    def _find_step(self, number: int, layer_id: int, port_id: int) -> Step | None:
        layer = self._graphs[number].layer_by_id[layer_id]
        if layer.type in ("Parameter", "Const") or all(port.id != port_id for port in layer.outputs):
            return None
        if (number, layer_id) not in self._by_layer:
            self._by_layer[number, layer_id] = self._step(number, layer)
        return self._by_layer[number, layer_id]

    def _declare(self, number: int, layer_id: int, port_id: int) -> Value:
        graph = self._graphs[number]
        layer = graph.layer_by_id[layer_id]
        port = next((port for port in layer.outputs if port.id == port_id), None)
        if port is None:  # another layer has the same id (OVG101)
            return Value(None, None)
        element_type = layer.declared_type or port.element_type
        declared = layer.declared_shape or port.shape
        if layer.type == "Const":
            try:
                return constant_value(element_type, constant(graph, layer))
            except IRError:  # reported by rules 5xx
                return Value(element_type, self._shape(declared, f"{layer.name}#{number}.{layer.id}"))
        is_input = number == 0 and layer.type == "Parameter"
        name = _input_name(layer) if is_input else f"{layer.name}#{number}.{layer.id}.{port_id}"
        return Value(element_type, self._shape(declared, name), may_be_nan=not is_integer(element_type))

    def _shape(self, shape: PartialShape, name: str) -> Shape | None:
        if shape.dims is None:
            return None
        return named_shape(name, ((dim.lower, inf if dim.upper is None else dim.upper) for dim in shape.dims), self.bounds)

    def _inputs(self, number: int, layer: Layer) -> list[Key | None]:
        return [self._source(number, layer, port) for port in layer.inputs]

    def _source(self, number: int, layer: Layer, port: Port) -> Key | None:
        source = self._graphs[number].producer(layer, port)
        return None if source is None else (number, source[0].id, source[1].id)

    def _step(self, number: int, layer: Layer) -> Step:
        outputs = [(number, layer.id, port.id) for port in layer.outputs]
        name, inputs = f"{_prefix(self._paths[number])}{layer.name}", self._inputs(number, layer)
        bodies = tuple(self._body(number, layer, body) for body in layer.bodies)
        if bodies and (layer.type not in LOOPS or len(bodies) == 1):  # otherwise OVG121
            trips = inputs[0] if layer.type == "Loop" and inputs else None
            return Step(name, layer.type, inputs, outputs, bodies=bodies, repeats=layer.type in LOOPS, trips=trips)
        try:
            rule = rule_of(_described(layer)) if inputs else None
        except (KeyError, ValueError):  # a wrong attribute, reported by rules 2xx
            rule = None
        return Step(name, layer.type, inputs, outputs, rule, reads_shapes_only=layer.type == "ShapeOf")

    def _body(self, number: int, layer: Layer, body: Model) -> Body:
        inner = self._numbers[id(body)]
        states = {parameter: (inner, *value) for parameter, value in carried(layer, body).items()}
        into, out_of = [], []
        for entry in entries(layer, body):
            if entry.value is None:
                continue
            key, kind = (inner, *entry.value), EdgeKind.SLICED if entry.is_sliced else EdgeKind.AS_IT_IS
            if not entry.is_input:
                out_of.append(BodyEdge((number, layer.id, entry.port.id) if entry.port else None, key, kind))
            elif entry.port is None:
                into.append(BodyEdge(None, key, EdgeKind.COUNT if entry.purpose == "current_iteration" else kind))
            else:
                kind, following = EdgeKind.STATE if key[1] in states else kind, states.get(key[1])
                into.append(BodyEdge(self._source(number, layer, entry.port), key, kind, following))
        wanted = [key for key in self._wanted(inner) if key is not None]
        return Body(into, out_of, wanted, _CONDITIONS.get(body.tag))

    def _wanted(self, number: int) -> Iterator[Key]:
        """Yield the tensors that sites of a graph depend on, and an output of each layer whose bodies have sites."""
        for site in self._sites.get(number, ()):
            yield from site.operands
        for layer in self._graphs[number].of_type("If", *LOOPS):
            inside = [self._numbers[id(graph)] for body in layer.bodies for _, graph in body.walk()]
            if layer.outputs and any(inner in self._sites for inner in inside):
                yield (number, layer.id, layer.outputs[0].id)


def _tensor(key: Key) -> Tensor:
    assert isinstance(key, tuple)
    return key


def _prefix(path: tuple[str, ...]) -> str:
    return "".join(f"{part}/" for part in path)


def _input_name(layer: Layer) -> str:
    """Return the name of an input as users write it: the first name of its tensor, or else the name of the layer."""
    return layer.outputs[0].attributes.get("names", "").partition(",")[0] or layer.name


def _described(layer: Layer) -> Described:
    return Described(layer.type, layer.version or "", layer.attributes)
