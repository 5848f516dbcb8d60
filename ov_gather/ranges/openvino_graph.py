"""Adapter from an `openvino.Model` to the graph of the analysis."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

from ov_gather.ir.element_types import by_name
from ov_gather.ops import indexing
from ov_gather.ranges.algebra.constants import constant_value
from ov_gather.ranges.algebra.polynomials import Number
from ov_gather.ranges.algebra.values import Shape, Value, is_integer
from ov_gather.ranges.graph import Body, BodyEdge, EdgeKind, Key, Step, named_shape
from ov_gather.ranges.rules.openvino import LOOPS, Described, rule_of
from ov_gather.ranges.sites import Site, site_of

if TYPE_CHECKING:
    import openvino


class OpenvinoGraph:
    """An `openvino.Model` as a graph of the analysis. The key of a tensor is its node's unique name and the output's index."""

    def __init__(self, model: openvino.Model) -> None:
        self.bounds: dict[str, tuple[int, Number]] = {}
        self.answers: dict[str, dict[Key, bool]] = {}
        self._model = model
        self._nodes: dict[str, openvino.Node] = {}
        self._places: dict[str, tuple[str, str]] = {}
        self._in_graph: dict[str, list[openvino.Node]] = {}
        self._declared: dict[Key, Value] = {}
        self._steps: dict[Key, Step | None] = {}
        self._by_node: dict[str, Step] = {}
        waiting = [(model, "", "")]
        while waiting:
            graph, prefix, outermost = waiting.pop()
            nodes = self._in_graph[_key_of(graph)] = graph.get_ordered_ops()
            for node in nodes:
                name = node.get_name()
                self._nodes[name], self._places[name] = node, (prefix, outermost)
                inside = f"{prefix}{node.get_type_name()} '{node.get_friendly_name()}'/"
                waiting += [(body, inside, outermost or name) for body in bodies(node)]

    # The Graph protocol

    def step_of(self, key: Key) -> Step | None:
        """Return the node that produces a tensor; None for a Parameter or a Constant."""
        if key not in self._steps:
            self._steps[key] = self._find_step(_tensor(key)[0])
        return self._steps[key]

    def declared(self, key: Key) -> Value:
        """Return the type and shape that OpenVINO has inferred, and the elements of a Constant."""
        if key not in self._declared:
            self._declared[key] = self._declare(*_tensor(key))
        return self._declared[key]

    def key(self, output: openvino.Output) -> Key:
        """Return the key of an output; registers the node if it is new."""
        node = output.get_node()
        name = node.get_name()
        if name not in self._nodes:
            self._nodes[name], self._places[name] = node, ("", "")
        return (name, output.get_index())

    def name_of(self, key: Key) -> str:
        """Return the display name of a tensor: type and name of its node."""
        name, _ = _tensor(key)
        node = self._nodes[name]
        return f"{node.get_type_name()} '{self._places[name][0]}{node.get_friendly_name()}'"

    # Sites

    @cached_property
    def sites(self) -> list[Site]:
        """The gathers and scatters of the model and its bodies."""
        return [site for _, site in self.nodes_with_sites]

    @cached_property
    def nodes_with_sites(self) -> list[tuple[openvino.Node, Site]]:
        """The nodes of the gathers and scatters, each with its site."""
        nodes = [node for graph in self._in_graph.values() for node in graph if _indexes(node)]
        return [(node, site) for node in nodes if (site := self._site(node)) is not None]

    @cached_property
    def inputs(self) -> dict[str, Key]:
        """The inputs of the model, by name."""
        return {_input_name(node): (node.get_name(), 0) for node in self._model.get_parameters()}

    @property
    def input_count(self) -> int:
        """The number of inputs, which may share a name."""
        return len(self._model.get_parameters())

    # Construction of values and steps

    def _find_step(self, name: str) -> Step | None:
        node = self._nodes[name]
        if node.get_type_name() in ("Parameter", "Constant"):
            return None
        if name not in self._by_node:
            self._by_node[name] = self._step(node)
        return self._by_node[name]

    def _site(self, node: openvino.Node) -> Site | None:
        prefix, outermost = self._places[node.get_name()]
        within = (outermost, 0) if outermost else None
        name, output = f"{prefix}{node.get_friendly_name()}", (node.get_name(), 0)
        return site_of(described(node), name, 0, self._inputs(node), output, within)

    def _declare(self, name: str, position: int) -> Value:
        node = self._nodes[name]
        output = node.output(position)
        element_type = by_name(output.get_element_type().get_type_name())
        if node.get_type_name() == "Constant" and element_type is not None and element_type.bits >= 8:
            return constant_value(element_type, node.get_data())
        is_input = node.get_type_name() == "Parameter" and not self._places[name][1]
        text = _input_name(node) if is_input else f"{node.get_friendly_name()}#{name}.{position}"
        return Value(element_type, self._shape(output.get_partial_shape(), text), may_be_nan=not is_integer(element_type))

    def _shape(self, shape: openvino.PartialShape, name: str) -> Shape | None:
        if shape.rank.is_dynamic:
            return None
        dims = ((dim.get_min_length(), inf if dim.get_max_length() < 0 else dim.get_max_length()) for dim in shape)
        return named_shape(name, dims, self.bounds)

    def _inputs(self, node: openvino.Node) -> list[Key | None]:
        return [self.key(output) for output in node.input_values()]

    def _step(self, node: openvino.Node) -> Step:
        inputs, kind = self._inputs(node), node.get_type_name()
        outputs = [(node.get_name(), position) for position in range(node.get_output_size())]
        name = f"{self._places[node.get_name()][0]}{node.get_friendly_name()}"
        if found := bodies(node):
            numbers = range(len(found)) if kind == "If" else [None]
            inside = [self._body(node, body, number) for number, body in zip(numbers, found, strict=True)]
            trips = inputs[0] if kind == "Loop" else None
            return Step(name, kind, inputs, outputs, bodies=inside, repeats=kind in LOOPS, trips=trips)
        return Step(name, kind, inputs, outputs, rule_of(described(node)), reads_shapes_only=kind == "ShapeOf")

    def _body(self, node: Any, body: openvino.Model, number: int | None) -> Body:
        which = () if number is None else (number,)
        outer, parameters = self._inputs(node), body.get_parameters()
        ends: list[Key] = [self.key(result.input_value(0)) for result in body.get_results()]
        entries, exits = [], []
        for entry in node.get_input_descriptions(*which):
            inner, source = (parameters[entry.body_parameter_index].get_name(), 0), outer[entry.input_index]
            if hasattr(entry, "body_value_index"):
                entries.append(BodyEdge(source, inner, EdgeKind.STATE, ends[entry.body_value_index]))
            else:
                entries.append(BodyEdge(source, inner, EdgeKind.SLICED if hasattr(entry, "axis") else EdgeKind.AS_IT_IS))
        if node.get_type_name() == "Loop" and (count := node.get_special_body_ports()[0]) >= 0:
            entries.append(BodyEdge(None, (parameters[count].get_name(), 0), EdgeKind.COUNT))
        for entry in node.get_output_descriptions(*which):
            way = EdgeKind.SLICED if hasattr(entry, "axis") else EdgeKind.AS_IT_IS
            exits.append(BodyEdge((node.get_name(), entry.output_index), ends[entry.body_value_index], way))
        return Body(entries, exits, list(self._wanted(body)), None if number is None else number == 0)

    def _wanted(self, graph: openvino.Model) -> Iterator[Key]:
        """Yield the tensors that sites of a body depend on, and an output of each node that has bodies."""
        for node in self._in_graph[_key_of(graph)]:
            site = self._site(node) if _indexes(node) else None
            if site is not None:
                yield from site.operands
            if bodies(node) and node.get_output_size():
                yield (node.get_name(), 0)


def _tensor(key: Key) -> tuple[str, int]:
    assert isinstance(key, tuple)
    return key


def _indexes(node: openvino.Node) -> bool:
    return indexing(node.get_type_name(), node.get_type_info().version_id) is not None


def _key_of(graph: openvino.Model) -> str:
    return str(graph.get_name())


def bodies(node: Any) -> list[openvino.Model]:
    """Return the bodies of If, Loop and TensorIterator."""
    if node.get_type_name() == "If":
        return [node.get_function(0), node.get_function(1)]
    return [node.get_function()] if node.get_type_name() in LOOPS else []


def _input_name(node: openvino.Node) -> str:
    """Return the name of an input as users write it: the first name of its tensor, or else the name of the node."""
    names: set[str] = node.output(0).get_names()
    return min(names, default=str(node.get_friendly_name()))


def described(node: openvino.Node) -> Described:
    """Return the type, opset and attributes of a node, as an IR writes them."""
    attributes = {name: _text(value) for name, value in node.get_attributes().items()}
    return Described(node.get_type_name(), node.get_type_info().version_id, attributes)


def _text(value: Any) -> str:
    """Format an attribute as an IR does."""
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
