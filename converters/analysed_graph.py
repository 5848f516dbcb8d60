"""Adapter from ONNX models to the range analysis."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import inf
from typing import Any

import onnx_ir

from ov_gather.ir.element_types import STRING, ElementType, by_onnx
from ov_gather.ops.onnx_nodes import attribute
from ov_gather.ranges.algebra.constants import CHUNK, constant_value
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.values import LARGEST_SIZE, Shape, Value, is_integer
from ov_gather.ranges.graph import Body, BodyEdge, EdgeKind, Key, Step
from ov_gather.ranges.rules.onnx import Operator, rule_of
from ov_gather.ranges.sites import Site

from .graphs import bodies_of, constant_of, graph_of, inputs_of

_LOOPS = ("Loop", "Scan")
_CONDITIONS = {"then_branch": True, "else_branch": False}
_WITH_AXIS = ("Gather", "GatherElements", "Scatter", "ScatterElements")
_SITES = (*_WITH_AXIS, "GatherND", "ScatterND")


class AnalysedGraph:
    """An ONNX model as the range analysis sees it. Its functions are inlined, and its shapes are inferred.

    The key of a tensor is its value; in a body that captures it, the pair of value and body.
    """

    def __init__(self, model: onnx_ir.Model) -> None:
        self.bounds: dict[str, tuple[int, Number]] = {}
        self.answers: dict[str, dict[Key, bool]] = {}
        self._model = model
        self._declared: dict[Key, Value] = {}
        self._steps: dict[onnx_ir.Node, Step] = {}
        self._captured: dict[onnx_ir.Graph, list[onnx_ir.Value]] = {}
        self._holders = {body: node for node in model.graph.all_nodes() for _, body in bodies_of(node)}
        self._numbers = {body: number for number, body in enumerate(self._holders, 1)}

    # Interface of the analysis

    def step_of(self, key: Key) -> Step | None:
        """Return the node that computes a tensor; None for inputs, constants and captured values."""
        node = None if isinstance(key, tuple) else _value(key).producer()
        if node is None or node.op_type == "Constant":
            return None
        if node not in self._steps:
            self._steps[node] = self._step(node)
        return self._steps[node]

    def declared(self, key: Key) -> Value:
        """Return the declared or inferred type and shape, and the elements of a constant."""
        if key not in self._declared:
            self._declared[key] = self._declare(_value(key), is_made_here=not isinstance(key, tuple))
        return self._declared[key]

    def name_of(self, key: Key) -> str:
        """Return the name of a tensor for messages."""
        node = _value(key).producer()
        return f"input '{_value(key).name}'" if node is None else f"{node.op_type} '{node.name or _value(key).name}'"

    # Interface of the proofs

    @cached_property
    def inputs(self) -> dict[str, Key]:
        """The inputs of the model by name."""
        return {str(value.name): value for value in inputs_of(self._model)}

    @property
    def input_count(self) -> int:
        """The number of inputs."""
        return len(self.inputs)

    @cached_property
    def sites(self) -> list[Site]:
        """The gathers and scatters of the model and its bodies."""
        found = (self.site(node) for node in self._model.graph.all_nodes())
        return [site for site in found if site is not None]

    def site(self, node: onnx_ir.Node) -> Site | None:
        """Return the index site of a node; None if it is no gather or scatter, or lacks inputs."""
        if node.domain != "" or node.op_type not in _SITES or len(node.inputs) < 2:
            return None
        data, indices = self._inputs(node)[:2]
        if data is None or indices is None:
            return None
        axis = attribute(node, "axis", 0) if node.op_type in _WITH_AXIS else None
        name = str(node.name or node.outputs[0].name)
        return Site(name, node.op_type, 0, data, indices, axis, attribute(node, "batch_dims", 0), within=self._around(node))

    def wanted(self, graph: onnx_ir.Graph) -> Iterator[Key]:
        """Yield the tensors of a graph to analyse: integers, operands of sites, and outputs of nodes with bodies."""
        for node in graph:
            for value in node.outputs:
                if is_integer(_element_type(value)) or bodies_of(node):
                    yield value
            if (site := self.site(node)) is not None:
                yield from site.operands

    # Implementation

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

    def _declare(self, value: onnx_ir.Value, *, is_made_here: bool) -> Value:
        element_type = _element_type(value)
        tensor = constant_of(value)
        is_number = element_type is not None and element_type is not STRING
        if tensor is not None and is_number and tensor.dtype.bitwidth >= 32 and tensor.size <= CHUNK:
            return constant_value(element_type, tensor.numpy())
        shape = self._inferred(value) if tensor is None else onnx_ir.Shape(tensor.shape.numpy())
        found = Value(element_type, self._shape(value, shape), may_be_nan=not is_integer(element_type))
        node = value.producer()
        if not is_made_here or node is None or node.domain != "" or node.op_type not in ("Shape", "Size"):
            return found
        name = f"size({self._name(value)})"
        self.bounds[name] = (0, LARGEST_SIZE)
        return Value(element_type, found.shape, Interval(0, LARGEST_SIZE, (), (Polynomial.name(name),)))

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

    def _shape(self, value: onnx_ir.Value, shape: onnx_ir.Shape | None) -> Shape | None:
        return None if shape is None else tuple(self._dim(value, axis, dim) for axis, dim in enumerate(shape))

    def _dim(self, value: onnx_ir.Value, axis: int, dim: int | onnx_ir.SymbolicDim) -> Polynomial:
        """Return the symbol of a dynamic dimension. Outside bodies, equal names mean equal sizes.

        Names that occur on no input are marked by "#": shape inference made them up, and users cannot refer to them.
        """
        if isinstance(dim, int):
            return Polynomial.constant(dim)
        node = value.producer()
        graph = value.graph if node is None else node.graph
        number = self._numbers.get(graph, 0) if isinstance(graph, onnx_ir.Graph) else 0
        name = f"dim({self._name(value)}, {axis})" if dim.value is None else f"dim({dim.value})"
        if dim.value is not None and (number or dim.value not in self._sizes_of_inputs):
            name = f"dim({dim.value}#{number})"  # each execution of a body may have another size
        self.bounds[name] = (0, inf)
        return Polynomial.name(name)

    @cached_property
    def _sizes_of_inputs(self) -> set[str | None]:
        shapes = (value.shape for value in inputs_of(self._model))
        return {dim.value for shape in shapes for dim in shape or () if isinstance(dim, onnx_ir.SymbolicDim)}

    def _name(self, value: onnx_ir.Value) -> str:
        return str(value.name) if value in self.inputs.values() else f"{value.name}#{id(value)}"

    def _step(self, node: onnx_ir.Node) -> Step:
        outputs: list[Key] = list(node.outputs)
        bodies = dict(bodies_of(node)) if node.domain == "" else {}
        name, inputs = str(node.name), self._inputs(node)
        if not bodies:
            rule = rule_of(Operator(node.op_type, _attributes(node))) if node.domain == "" else None
            return Step(name, node.op_type, inputs, outputs, rule, reads_shapes_only=node.op_type in ("Shape", "Size"))
        graph = graph_of(node)
        around = dict.fromkeys(self._key(value, graph) for body in bodies.values() for value in self._taken(body))
        found = [self._body(node, body, _CONDITIONS.get(name)) for name, body in bodies.items()]
        repeats, trips = node.op_type in _LOOPS, inputs[0] if node.op_type == "Loop" else None
        return Step(name, node.op_type, [*inputs, *around], outputs, bodies=found, repeats=repeats, trips=trips)

    def _body(self, node: onnx_ir.Node, body: onnx_ir.Graph, condition: bool | None) -> Body:
        graph, ends = graph_of(node), [self._key(value, body) for value in body.outputs]
        entries = [BodyEdge(self._key(value, graph), (value, body)) for value in self._taken(body)]
        given = self._inputs(node)
        if node.op_type == "If":
            states, first = len(node.outputs), 0
        elif node.op_type == "Loop":
            states, first = len(body.inputs) - 2, 1
            entries.append(BodyEdge(None, body.inputs[0], EdgeKind.COUNT))
            entries += self._states(given[1:], body.inputs[1:], ends)
        else:
            states, first = len(body.inputs) - attribute(node, "num_scan_inputs", 0), 0
            outer = given[len(given) - len(body.inputs) :]  # after sequence_lens, in opset 8
            entries += self._states(outer[:states], body.inputs[:states], ends)
            slices = zip(outer[states:], body.inputs[states:], strict=True)
            entries += [BodyEdge(key, inner, EdgeKind.SLICED) for key, inner in slices]
        exits = [
            BodyEdge(outer, inner, EdgeKind.AS_IT_IS if i < states else EdgeKind.SLICED)
            for i, (outer, inner) in enumerate(zip(node.outputs, ends[first:], strict=False))
            if inner is not None
        ]
        return Body(entries, exits, [*self.wanted(body)], condition)

    def _states(self, outer: list[Key | None], inner: Any, ends: list[Key | None]) -> list[BodyEdge]:
        """Return the edges of carried values, which come first in the body's inputs and outputs, in the same order."""
        outer = [*outer, *[None] * (len(inner) - len(outer))]
        return [BodyEdge(key, value, EdgeKind.STATE, end) for key, value, end in zip(outer, inner, ends, strict=False)]

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


def _is_scalar_non_zero(node: onnx_ir.Node) -> bool:
    data = node.inputs[0] if node.op_type == "NonZero" and node.inputs else None
    return data is not None and data.shape is not None and data.shape.rank() == 0


def _value(key: Key) -> onnx_ir.Value:
    value = key[0] if isinstance(key, tuple) else key
    assert isinstance(value, onnx_ir.Value)
    return value


def _element_type(value: onnx_ir.Value) -> ElementType | None:
    is_tensor = isinstance(value.type, onnx_ir.TensorType) and value.dtype is not None
    return by_onnx(value.dtype.value) if is_tensor and value.dtype is not None else None


def _attributes(node: onnx_ir.Node) -> dict[str, Any]:
    """Return the attributes of a node, tensors as Values."""
    found: dict[str, Any] = {}
    for name, given in node.attributes.items():
        if given.type == onnx_ir.AttributeType.TENSOR:
            tensor = given.as_tensor()
            element_type = by_onnx(tensor.dtype.value)
            if element_type is not None and element_type.bits >= 4:
                found[name] = constant_value(element_type, tensor.numpy())
        elif not given.is_ref():
            found[name] = given.value
    return found
