"""An `openvino.Model` as a graph."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from ov_gather.graph.protocol import LOOPS, Body, BodyEdge, Key, Node, Passing
from ov_gather.graph.symbols import Dim, InnerDim, InputDim
from ov_gather.ir.bodies import Slicing
from ov_gather.ir.element_types import ElementType, by_name
from ov_gather.ir.shapes import UNKNOWN, Dimension, PartialShape

if TYPE_CHECKING:
    import openvino
    from numpy.typing import NDArray


class OpenvinoGraph:
    """An `openvino.Model` as a graph. The key of a tensor is its node's unique name and the output's index."""

    def __init__(self, model: openvino.Model) -> None:
        self._model = model
        self._by_name: dict[str, openvino.Node] = {}
        self._places: dict[str, tuple[tuple[str, ...], Key | None]] = {}  # of each node: path, and what is around it
        self._in_graph: dict[str, list[openvino.Node]] = {}
        self._nodes: dict[str, Node] = {}
        waiting: list[tuple[openvino.Model, tuple[str, ...], Key | None]] = [(model, (), None)]
        while waiting:
            graph, path, around = waiting.pop()
            found = self._in_graph[graph.get_name()] = graph.get_ordered_ops()
            for node in found:
                name = node.get_name()
                self._by_name[name], self._places[name] = node, (path, around)
                inside = (*path, f"{node.get_type_name()} '{node.get_friendly_name()}'")
                waiting += [(body, inside, around or (name, 0)) for body in bodies(node)]

    @cached_property
    def inputs(self) -> dict[str, Key]:
        """The inputs of the model, by name."""
        return {_input_name(node): (node.get_name(), 0) for node in self._model.get_parameters()}

    @property
    def input_count(self) -> int:
        """The number of inputs, which may share a name."""
        return len(self._model.get_parameters())

    def nodes(self, *types: str, of: Collection[str] = ()) -> Iterator[Node]:
        """Yield the nodes of these types, or all, bodies included; if `of` is given, of these element types."""
        for found in self._in_graph.values():
            nodes = self._nodes_of(found, types)
            yield from (node for node in nodes if not of or str(self.type_of(node.outputs[0]) or "") in of)

    def nodes_in(self, body: Body | None) -> Iterator[Node]:
        """Yield the nodes of a body, or of the main graph."""
        name = self._model.get_name() if body is None else body.id
        assert isinstance(name, str)
        return self._nodes_of(self._in_graph[name], ())

    def _nodes_of(self, found: Iterable[openvino.Node], types: tuple[str, ...]) -> Iterator[Node]:
        for node in found:
            if not types or _type(node) in types:
                yield self._node(node.get_name())

    def producer(self, key: Key) -> Node | None:
        """Return the node that makes a tensor."""
        return self._node(_tensor(key)[0])

    def uses(self, key: Key) -> Iterator[tuple[Node, int]]:
        """Yield the nodes that read an output, each with the position of the input; not those that a pass has cut off."""
        return ((self._node(name), position) for name, position in self._uses.get(key, ()))

    @cached_property
    def _uses(self) -> dict[Key, list[tuple[str, int]]]:
        """By output, the names of the nodes that read it. OpenVINO's own list may hold nodes that are freed meanwhile."""
        found = dict[Key, list[tuple[str, int]]]()
        for node in chain.from_iterable(self._in_graph.values()):
            for position, value in enumerate(node.input_values()):
                found.setdefault((value.get_node().get_name(), value.get_index()), []).append((node.get_name(), position))
        return found

    def type_of(self, key: Key) -> ElementType | None:
        """Return the element type that OpenVINO has inferred."""
        return by_name(self._output(key).get_element_type().get_type_name())

    def shape_of(self, key: Key) -> PartialShape:
        """Return the shape that OpenVINO has inferred."""
        shape = self._output(key).get_partial_shape()
        if shape.rank.is_dynamic:
            return UNKNOWN
        limits = ((dim.get_min_length(), dim.get_max_length()) for dim in shape)
        return PartialShape(tuple(Dimension(low, None if high < 0 else high) for low, high in limits))

    def size_symbol(self, key: Key, axis: int) -> Dim:
        """Return a symbol for the size of an axis."""
        name, position = _tensor(key)
        node = self._by_name[name]
        if node.get_type_name() == "Parameter" and self.inputs.get(given := _input_name(node)) == key:
            return InputDim(given, axis)
        label = node.get_friendly_name()
        return InnerDim(self.name_of(key) if label in self.inputs else label, axis, (name, position))

    def is_constant(self, key: Key) -> bool:
        """Return True for a Constant."""
        return bool(self._by_name[_tensor(key)[0]].get_type_name() == "Constant")

    def constant(self, key: Key) -> NDArray[Any] | None:
        """Return the elements of a Constant; None if they are smaller than a byte."""
        found = self.type_of(key)
        is_readable = self.is_constant(key) and found is not None and found.bits >= 8
        return self._by_name[_tensor(key)[0]].get_data() if is_readable else None

    def name_of(self, key: Key) -> str:
        """Return the display name of a tensor: type and name of its node."""
        name, _ = _tensor(key)
        node, (path, _) = self._by_name[name], self._places[name]
        return f"{node.get_type_name()} '{'/'.join((*path, node.get_friendly_name()))}'"

    def key(self, output: openvino.Output) -> Key:
        """Return the key of an output; registers the node if it is new."""
        node = output.get_node()
        name = node.get_name()
        if name not in self._by_name:
            self._by_name[name], self._places[name] = node, ((), None)
        return (name, output.get_index())

    # Construction of nodes

    def _output(self, key: Key) -> openvino.Output:
        name, position = _tensor(key)
        return self._by_name[name].output(position)

    def _node(self, name: str) -> Node:
        if name not in self._nodes:
            self._nodes[name] = self._made(self._by_name[name], *self._places[name])
        return self._nodes[name]

    def _made(self, node: openvino.Node, path: tuple[str, ...], around: Key | None) -> Node:
        found = bodies(node)
        numbers = range(len(found)) if node.get_type_name() == "If" else [None] * len(found)
        return Node(
            _type(node),
            node.get_type_info().version_id,
            node.get_friendly_name(),
            path,
            [self.key(output) for output in node.input_values()],
            [(node.get_name(), position) for position in range(node.get_output_size())],
            written_attributes(node),
            [self._body(node, body, number) for number, body in zip(numbers, found, strict=True)],
            around,
            node.get_type_name() == "Convert" and "decompression_0" in node.get_rt_info(),
            handle=node,
        )

    def _body(self, node: Any, body: openvino.Model, number: int | None) -> Body:
        which = () if number is None else (number,)
        outer, parameters = [self.key(output) for output in node.input_values()], body.get_parameters()
        ends: list[Key] = [self.key(result.input_value(0)) for result in body.get_results()]
        entries, exits, goes_on = [], [], None
        for entry in node.get_input_descriptions(*which):
            inner, source = (parameters[entry.body_parameter_index].get_name(), 0), outer[entry.input_index]
            if hasattr(entry, "body_value_index"):
                entries.append(BodyEdge(source, inner, Passing.CARRIED, ends[entry.body_value_index]))
            else:
                entries.append(BodyEdge(source, inner, *_slicing(entry)))
        if node.get_type_name() == "Loop":
            count, condition = node.get_special_body_ports()
            goes_on = ends[condition] if condition >= 0 else None
            if count >= 0:
                entries.append(BodyEdge(None, (parameters[count].get_name(), 0), Passing.COUNT))
        for entry in node.get_output_descriptions(*which):
            exits.append(BodyEdge((node.get_name(), entry.output_index), ends[entry.body_value_index], *_slicing(entry)))
        return Body(body.get_name(), entries, exits, None if number is None else number == 0, goes_on)


def bodies(node: Any) -> list[openvino.Model]:
    """Return the bodies of If, Loop and TensorIterator."""
    if node.get_type_name() == "If":
        return [node.get_function(0), node.get_function(1)]
    return [node.get_function()] if node.get_type_name() in LOOPS else []


def written_attributes(node: Any) -> dict[str, str]:
    """Return the attributes of a node, as an IR writes them."""
    return {name: _text(value) for name, value in node.get_attributes().items()}


def _slicing(entry: Any) -> tuple[Passing, None, Slicing | None]:
    if not hasattr(entry, "axis"):
        return Passing.WHOLE, None, None
    return Passing.SLICED, None, Slicing(entry.axis, entry.start, entry.end, entry.stride, entry.part_size)


_NAMES = {"Constant": "Const", "Relu": "ReLU"}
"""The types that OpenVINO writes otherwise into an IR."""


def _type(node: Any) -> str:
    """Return the type as an IR names it."""
    kind = str(node.get_type_name())
    return _NAMES.get(kind, kind)


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _tensor(key: Key) -> tuple[str, int]:
    assert isinstance(key, tuple)
    return key


def _input_name(node: openvino.Node) -> str:
    """Return the name of an input as users write it: the first name of its tensor, or else the name of the node."""
    names: set[str] = node.output(0).get_names()
    return min(names, default=str(node.get_friendly_name()))
