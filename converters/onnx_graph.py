"""An ONNX model as a graph, and what it declares to the range analysis."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import onnx_ir

from ov_gather.graph.protocol import Body, BodyEdge, Graph, Key, Node, Passing
from ov_gather.graph.symbols import Dim, InferredDim, InnerDim, InputDim, NamedDim
from ov_gather.ir.bodies import Slicing
from ov_gather.ir.element_types import STRING, ElementType, by_onnx
from ov_gather.ir.shapes import ANY, UNKNOWN, Dimension, PartialShape
from ov_gather.ops.index_table import ONNX_INDICES, OPEN_SEQUENCE
from ov_gather.ops.onnx_nodes import AHEAD, GATHERS, SCATTERS, attribute, is_branching
from ov_gather.ops.table import ONNX, Along
from ov_gather.ranges.algebra.constants import CHUNK, constant_value
from ov_gather.ranges.algebra.values import is_integer
from ov_gather.ranges.graph import Vocabulary
from ov_gather.ranges.rules.onnx import rule_of
from ov_gather.ranges.sites import Site, site_by_row

from .graphs import bodies_of, constant_of, graph_of, inputs_of, is_default, slicing_of, slicings_of, type_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CONDITIONS = {"then_branch": True, "else_branch": False}
_SITES = (*GATHERS, *SCATTERS)
_INDEXED = (*_SITES, *ONNX_INDICES)


class OnnxGraph:
    """An ONNX model as a graph. Its functions are inlined, and its shapes are inferred.

    The key of a tensor is its value; in a body that captures it, the pair of value and body.
    """

    def __init__(self, model: onnx_ir.Model) -> None:
        self._model = model
        self._nodes: dict[onnx_ir.Node, Node] = {}
        self._captured: dict[onnx_ir.Graph, list[onnx_ir.Value]] = {}
        self._tensors: dict[onnx_ir.Value, int] = {}  # a number for each that has open sizes without a name
        self._holders = {body: node for node in model.graph.all_nodes() for _, body in bodies_of(node)}
        self._numbers = {body: number for number, body in enumerate(self._holders, 1)}

    @cached_property
    def inputs(self) -> dict[str, Key]:
        """The inputs of the model by name."""
        return {str(value.name): value for value in inputs_of(self._model)}

    @property
    def input_count(self) -> int:
        """The number of inputs."""
        return len(self.inputs)

    def nodes(self, *types: str, of: Collection[str] = ()) -> Iterator[Node]:
        """Yield the nodes of these operators, or all nodes, bodies included; if `of`, of these types."""
        for node in self._model.graph.all_nodes():
            is_wanted = type_of(node) in types if types else not _is_constant(node)
            if is_wanted and (not of or str(self.type_of(node.outputs[0]) or "") in of):
                yield self.node(node)

    def nodes_in(self, body: Body | None) -> Iterator[Node]:
        """Yield the nodes of a body, or of the main graph."""
        graph = self._model.graph if body is None else body.id
        assert isinstance(graph, onnx_ir.Graph)
        return (self.node(node) for node in graph if not _is_constant(node))

    def producer(self, key: Key) -> Node | None:
        """Return the node that computes a tensor; None for inputs, constants and captured values."""
        node = None if isinstance(key, tuple) else value_of(key).producer()
        return None if node is None or _is_constant(node) else self.node(node)

    def uses(self, key: Key) -> Iterator[tuple[Node, int]]:
        """Yield the nodes that read a value, those of bodies that capture it included."""
        for node, position in value_of(key).uses():
            yield self.node(node), position

    def type_of(self, key: Key) -> ElementType | None:
        """Return the declared or inferred element type."""
        value = value_of(key)
        is_tensor = isinstance(value.type, onnx_ir.TensorType) and value.dtype is not None
        return by_onnx(value.dtype.value) if is_tensor and value.dtype is not None else None

    def shape_of(self, key: Key) -> PartialShape:
        """Return the declared or inferred shape."""
        value = value_of(key)
        tensor = constant_of(value)
        shape = self._inferred(value) if tensor is None else onnx_ir.Shape(tensor.shape.numpy())
        if shape is None:
            return UNKNOWN
        return PartialShape(tuple(Dimension.of(dim) if isinstance(dim, int) else ANY for dim in shape))

    def size_symbol(self, key: Key, axis: int) -> Dim:
        """Return the symbol of a dynamic dimension. Outside bodies, equal names mean equal sizes."""
        value = value_of(key)
        shape = self._inferred(value)
        dim = None if shape is None else shape[axis]
        if not isinstance(dim, onnx_ir.SymbolicDim) or dim.value is None:
            if value in self.inputs.values():
                return InputDim(str(value.name), axis)
            label = self.name_of(value) if value.name in self.inputs else value.name
            return InnerDim(str(label), axis, self._tensors.setdefault(value, len(self._tensors)))
        node = value.producer()
        graph = value.graph if node is None else node.graph
        number = self._numbers.get(graph, 0) if isinstance(graph, onnx_ir.Graph) else 0
        if number or dim.value not in self._sizes_of_inputs:
            return InferredDim(dim.value, number)  # each execution of a body may have another size
        return NamedDim(dim.value)

    def is_constant(self, key: Key) -> bool:
        """Return True for an initializer and what a Constant holds."""
        return constant_of(value_of(key)) is not None

    def constant(self, key: Key) -> NDArray[Any] | None:
        """Return the elements of a constant; None if there are too many, or they are no numbers of 32 bits or more."""
        tensor = constant_of(value_of(key))
        element_type = None if tensor is None else by_onnx(tensor.dtype.value)
        is_number = element_type is not None and element_type is not STRING
        if tensor is None or not is_number or tensor.dtype.bitwidth < 32 or tensor.size > CHUNK:
            return None
        return tensor.numpy()

    def name_of(self, key: Key) -> str:
        """Return the name of a tensor for messages."""
        value = value_of(key)
        if (node := value.producer()) is not None:
            return f"{node.op_type} '{node.name or value.name}'"
        return f"{'initializer' if value.is_initializer() and not value.is_graph_input() else 'input'} '{value.name}'"

    # Construction of nodes

    def node(self, node: onnx_ir.Node) -> Node:
        """Return a node of the model."""
        if node not in self._nodes:
            self._nodes[node] = self._made(node)
        return self._nodes[node]

    def _made(self, node: onnx_ir.Node) -> Node:
        found = dict(bodies_of(node)) if node.domain == "" else {}
        taken = dict.fromkeys(self._key(value, graph_of(node)) for body in found.values() for value in self._taken(body))
        return Node(
            type_of(node),
            "",
            str(node.name or node.outputs[0].name),
            (),
            [*self._inputs(node), *taken],
            list(node.outputs),
            {name: _given(attribute) for name, attribute in node.attributes.items() if not attribute.is_ref()},
            [self._body(node, body, _CONDITIONS.get(name)) for name, body in found.items()],
            self._around(node),
            handle=node,
        )

    def _key(self, value: onnx_ir.Value | None, graph: onnx_ir.Graph) -> Key | None:
        if value is None:
            return None
        node = value.producer()
        owner = value.graph if node is None else node.graph
        return value if owner is graph or owner is None else (value, graph)

    def _inputs(self, node: onnx_ir.Node) -> list[Key | None]:
        return [self._key(value, graph_of(node)) for value in node.inputs]

    def _around(self, node: onnx_ir.Node) -> Key | None:
        """Return an output of the top-level node whose body contains this node; None at the top level."""
        outermost = None
        while (holder := self._holders.get(graph_of(outermost or node))) is not None:
            outermost = holder
        return None if outermost is None else outermost.outputs[0]

    def _body(self, node: onnx_ir.Node, body: onnx_ir.Graph, condition: bool | None) -> Body:
        graph, ends = graph_of(node), [self._key(value, body) for value in body.outputs]
        entries = [BodyEdge(self._key(value, graph), (value, body)) for value in self._taken(body)]
        given, goes_on = self._inputs(node), None
        sliced, stacked = dict[int, Slicing](), dict[int, Slicing]()  # by position among inputs of the body, and outputs
        ahead, first = AHEAD.get(node.op_type, (0, 0))  # SequenceMap has a body, too
        if is_branching(node):
            states = len(node.outputs)
        elif ahead:
            states, goes_on = len(body.inputs) - ahead, next(iter(ends), None)
            stacked = dict.fromkeys(range(states, len(node.outputs)), slicing_of(0, 0))
            entries.append(BodyEdge(None, body.inputs[0], Passing.COUNT))
            entries += self._states(given[1:], body.inputs[1:], ends)
        else:
            states = len(body.inputs) - attribute(node, "num_scan_inputs", 0)
            outer = given[len(given) - len(body.inputs) :]  # after sequence_lens, in opset 8
            entries += self._states(outer[:states], body.inputs[:states], ends)
            if len(outer) == len(given):  # opset 8 slices each of several batches
                sliced = dict(enumerate(slicings_of(node, "input", len(outer) - states), states))
                stacked = dict(enumerate(slicings_of(node, "output", len(node.outputs) - states), states))
            slices = enumerate(zip(outer[states:], body.inputs[states:], strict=True), states)
            entries += [BodyEdge(key, inner, Passing.SLICED, None, sliced.get(i)) for i, (key, inner) in slices]
        exits = [
            BodyEdge(outer, inner, Passing.WHOLE if i < states else Passing.SLICED, None, stacked.get(i))
            for i, (outer, inner) in enumerate(zip(node.outputs, ends[first:], strict=False))
            if inner is not None
        ]
        return Body(body, entries, exits, condition, goes_on)

    def _states(self, outer: list[Key | None], inner: Any, ends: list[Key | None]) -> list[BodyEdge]:
        """Return the edges of carried values, which come first in the body's inputs and outputs, in the same order."""
        outer = [*outer, *[None] * (len(inner) - len(outer))]
        return [BodyEdge(key, value, Passing.CARRIED, end) for key, value, end in zip(outer, inner, ends, strict=False)]

    def _taken(self, body: onnx_ir.Graph) -> list[onnx_ir.Value]:
        """Return the values that a body, and the bodies in it, capture."""
        if body not in self._captured:
            found: dict[onnx_ir.Value, None] = {}
            for node in body:
                used = [value for value in node.inputs if value is not None]
                used += [value for _, inner in bodies_of(node) for value in self._taken(inner)]
                found.update(dict.fromkeys(value for value in used if isinstance(self._key(value, body), tuple)))
            found.update(dict.fromkeys(value for value in body.outputs if isinstance(self._key(value, body), tuple)))
            self._captured[body] = list(found)
        return self._captured[body]

    def _inferred(self, value: onnx_ir.Value) -> onnx_ir.Shape | None:
        """Return the declared or inferred shape; that of graph inputs alone if the model has a NonZero of a scalar.

        For NonZero of a scalar, ONNX infers [0, n] and runtimes return [1, n]; so inferred shapes are not reliable.
        """
        node = value.producer()
        if node is None or not self._has_scalar_non_zero:
            return value.shape
        return onnx_ir.Shape([1, None]) if _is_scalar_non_zero(node) else None

    @cached_property
    def _has_scalar_non_zero(self) -> bool:
        return any(map(_is_scalar_non_zero, self._model.graph.all_nodes()))

    @cached_property
    def _sizes_of_inputs(self) -> set[str | None]:
        shapes = (value.shape for value in inputs_of(self._model))
        return {dim.value for shape in shapes for dim in shape or () if isinstance(dim, onnx_ir.SymbolicDim)}


def _is_scalar_non_zero(node: onnx_ir.Node) -> bool:
    data = node.inputs[0] if node.op_type == "NonZero" and node.inputs else None
    return data is not None and data.shape is not None and data.shape.rank() == 0


def value_of(key: Key) -> onnx_ir.Value:
    """Return the value of a tensor."""
    value = key[0] if isinstance(key, tuple) else key
    assert isinstance(value, onnx_ir.Value)
    return value


def _is_constant(node: onnx_ir.Node) -> bool:
    return node.op_type == "Constant" and node.domain == ""


def _given(attribute: onnx_ir.Attr) -> Any:
    """Return the value of an attribute; a tensor as an abstract value, None if that has elements of less than 4 bits."""
    if attribute.type != onnx_ir.AttributeType.TENSOR:
        return attribute.value
    tensor = attribute.as_tensor()
    element_type = by_onnx(tensor.dtype.value)
    return constant_value(element_type, tensor.numpy()) if element_type is not None and element_type.bits >= 4 else None


def site_of(node: Node) -> Site | None:
    """Return the index site of a gather or scatter; None if it lacks inputs."""
    if node.type not in _SITES or len(node.inputs) < 2:
        return None
    data, indices = node.inputs[:2]
    if data is None or indices is None:
        return None
    axis = node.integer("axis") if ONNX[node.type].along is Along.AXIS else None
    return Site(node.name, node.type, 0, data, indices, axis, node.integer("batch_dims"), within=node.within)


def sites_of(node: Node) -> list[Site]:
    """Return the index sites of a node: of a gather or scatter, or of the inputs that the index table lists."""
    found = [site_by_row(node, row) for row in ONNX_INDICES.get(node.type, ())] or [site_of(node)]
    return [_in_sequence(node, site) if node.type == "SequenceAt" else site for site in found if site is not None]


def _in_sequence(node: Node, site: Site) -> Site:
    """Return the site of a SequenceAt with the length of its sequence, which the node before determines."""
    made = node.handle.inputs[0].producer()
    if made is not None and is_default(made, ("SequenceConstruct",)):
        return replace(site, size=len(made.inputs))
    if made is not None and is_default(made, ("SplitToSequence",)) and len(made.inputs) == 1:
        return replace(site, data=made.inputs[0], axis=attribute(made, "axis", 0))
    return replace(site, unknown=OPEN_SEQUENCE)


def _is_integer(graph: Graph, key: Key) -> bool:
    return is_integer(graph.type_of(key))


ONNX_OPERATORS = Vocabulary(rule_of, sites_of, lambda: _INDEXED, is_wanted=_is_integer)
"""The operators of the default domain, and what reads at an index in others."""
