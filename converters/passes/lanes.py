"""Values that the model only moves, and that OpenVINO's CPU plugin would change, are moved in lanes.

x: i64[4] -> Gather -> y: i64[2]  ->  x.lanes: i32[4, 2] -> Gather -> y.lanes: i32[2, 2]

Outputs are traced back to inputs and constants, and repeated in lanes if only moves lie between. Other consumers keep the
numbers: an input that is both moved and computed with becomes two.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import onnx_ir
from onnx_ir import DataType, Value

from ov_gather.ops.onnx_nodes import attribute, is_branching

from ..graphs import bodies_of, is_used
from ..lane_types import LANE_TYPES, LaneType, tensor_in_lanes
from ..ranges import Ranges
from .empty_constants import empty_constants
from .lane_flow import Flow, is_shape, tensor_of
from .lane_loops import LoopView, ScanValue
from .lane_moves import move, sources_of
from .lane_nodes import Move, declare, in_lanes, unsqueezed
from .rewriter import Rewriter, drop


@dataclass(frozen=True)
class LaneInterface:
    """The inputs and outputs of a model that are in lanes.

    Attributes:
        inputs: name in lanes -> name and element type of the original input.
        outputs: name in lanes -> name and element type of the original output.
        positions: position of an output in lanes -> element type of the original.
    """

    inputs: dict[str, tuple[str, DataType]] = field(default_factory=dict)
    outputs: dict[str, tuple[str, DataType]] = field(default_factory=dict)
    positions: dict[int, DataType] = field(default_factory=dict)


def travel_in_lanes(model: onnx_ir.Model, *, stock: bool) -> LaneInterface:
    """Rewrite a legalized model in place. Inputs and outputs in lanes get new names.

    Args:
        model: with inferred types and shapes.
        stock: use only operations of OpenVINO.
    """
    rewriter = Rewriter(model, Ranges(model))
    travel = _Building(rewriter, Flow(rewriter, stock), stock).build()
    empty_constants(rewriter)  # also for lanes of complex numbers
    return travel


class _Building:
    """The construction of paths in lanes beside the original ones, and the removal of originals that become unused."""

    def __init__(self, rewriter: Rewriter, flow: Flow, stock: bool) -> None:
        self._rewriter, self._flow, self._stock = rewriter, flow, stock
        self._graph, self._opset = rewriter.model.graph, rewriter.opset
        self._needed = flow.needed()
        self._names = {value: rewriter.new_name(f"{value.name}.lanes") for value in self._needed}
        self._lanes: dict[Value, Value] = {}
        self._grown: set[onnx_ir.Node] = set()
        self._travel = LaneInterface()

    def build(self) -> LaneInterface:
        if not self._needed:
            return self._travel
        for value in [value for value in self._graph.inputs if value in self._needed and tensor_of(value) is None]:
            self._add_input(value)
        for value in self._needed:
            if value not in self._lanes and (tensor := tensor_of(value)) is not None:
                self._add_constant(value, tensor)
        for value in self._flow.joining:
            if value in self._needed:
                self._add_joining(value)
        for value in (value for loop in self._flow.loops.values() for value in loop.body_sources() if value in self._needed):
            self._named(value)
        for node in self._flow.nodes:
            if node in self._flow.loops:
                self._add_parts(self._flow.loops[node])
            elif any(output in self._needed and output not in self._lanes for output in node.outputs):
                self._add_branches(node) if is_branching(node) else self._add_node(node)
        outputs = list(self._graph.outputs)
        for position, value in enumerate(outputs):
            if value in self._lanes:
                lanes = self._graph.outputs[position] = self._lanes[value]
                self._travel.outputs[str(lanes.name)] = (str(value.name), _type_of(value))
                self._travel.positions[position] = _type_of(value)
        for node in self._flow.nodes:
            if is_shape(node, self._opset) and node.inputs[0] in self._lanes:
                self._take_shape_of_lanes(node)
        for value in outputs:
            drop(value)
        for node in reversed(self._flow.nodes):
            if is_branching(node) and node.graph is not None:
                _drop_unused_outputs(node)
            elif node in self._grown:
                self._flow.loops[node].rebuild(self._flow.loops)
        for name, _ in self._travel.inputs.values():
            value = next(value for value in self._graph.inputs if value.name == name)
            if not is_used(value):
                self._graph.inputs.remove(value)
        return self._travel

    def _add_joining(self, value: Value) -> None:
        """Build the lanes of integers that fit in 32 bits: the low half and its sign extension."""
        shape, kind = value.shape, _kind_of(value)
        producer = value.producer()
        graph = producer.graph if producer is not None else value.graph
        assert isinstance(graph, onnx_ir.Graph)
        nodes = list(graph)
        at = 0 if producer is None else nodes.index(producer) + 1
        anchor = nodes[min(at, len(nodes) - 1)]
        op = self._rewriter.before(anchor)
        low = op.Cast(value, shape=shape, to=kind.lane)
        zero = self._rewriter.constant(anchor, np.array(0, np.int32))
        is_negative = op.Less(low, zero, shape=shape)
        sign = op.Cast(is_negative, shape=shape, to=kind.lane)
        high = op.Neg(sign, shape=shape)
        parts = [unsqueezed(self._rewriter, anchor, part, kind.lane) for part in (low, high)]
        self._lanes[value] = op.Concat(*parts, shape=in_lanes(shape, kind), axis=-1)
        if producer is anchor:  # it is the last node
            first = list(graph)[nodes.index(producer)]
            graph.insert_before(first, producer)

    def _add_branches(self, node: onnx_ir.Node) -> None:
        """Append lanes to the outputs of both branches of an If."""
        for output in [output for output in node.outputs if output in self._needed]:
            for _, body in bodies_of(node):
                body.outputs.append(self._lanes[body.outputs[output.index() or 0]])
            node.resize_outputs(len(node.outputs) + 1)
            self._declare(output, node.outputs[-1])

    def _add_parts(self, loop: LoopView) -> None:
        """Append lanes to the carried values and slices of a Loop or Scan."""
        for state in [state for state in loop.states if state.inner in self._needed]:
            lanes = [self._lanes[value] for value in (state.given, state.inner, state.end)]
            self._declare(state.out, loop.add_state(*lanes))
            self._grown.add(loop.node)
        for part in [part for part in loop.into if part.inner in self._needed]:
            outer, inner = self._lanes[part.outer], self._lanes[part.inner]
            loop.add_into(replace(part, outer=outer, inner=inner, axis=self._axis(part)))
            self._grown.add(loop.node)
        for part in [part for part in loop.out_of if part.outer in self._needed]:
            self._declare(part.outer, loop.add_out_of(self._lanes[part.inner], self._axis(part), part.direction))
            self._grown.add(loop.node)

    def _axis(self, part: ScanValue) -> int:
        """Convert the axis of slices to lanes."""
        return part.axis - len(_kind_of(part.outer).dims) if part.axis < 0 else part.axis

    def _declare(self, value: Value, lanes: Value) -> None:
        """Register a value as the lanes of another; set its name, type and shape."""
        lanes.name = self._names.get(value) or self._rewriter.new_name(f"{value.name}.lanes")
        declare(lanes, value, _kind_of(value))
        self._lanes[value] = lanes

    def _add_input(self, value: Value) -> None:
        lanes = self._named(value)
        self._graph.inputs.insert(self._graph.inputs.index(value), lanes)
        self._travel.inputs[str(lanes.name)] = (str(value.name), _type_of(value))

    def _named(self, value: Value) -> Value:
        """Create the value for the lanes of another."""
        lanes = Value()
        self._declare(value, lanes)
        return lanes

    def _add_constant(self, value: Value, tensor: onnx_ir.TensorProtocol) -> None:
        lanes, node = self._named(value), value.producer()
        graph = value.graph if node is None else node.graph
        assert isinstance(graph, onnx_ir.Graph)
        lanes.const_value = tensor_in_lanes(tensor, str(lanes.name))
        lanes.shape = onnx_ir.Shape(lanes.const_value.shape.numpy())
        graph.register_initializer(lanes)

    def _add_node(self, node: onnx_ir.Node) -> None:
        inputs = list(node.inputs)
        for i in sources_of(node):
            source = node.inputs[i]
            assert source is not None
            inputs[i] = self._lanes[source]
        given = Move(self._rewriter, node, inputs, _kind_of(node.outputs[0]), self._stock)
        for old, new in zip(node.outputs, move(given), strict=True):
            self._lanes[old] = new
            new.name = self._names.get(old, new.name)

    def _take_shape_of_lanes(self, node: onnx_ir.Node) -> None:
        """Read sizes from the lanes, so that the numbers become unused: Shape(x) -> Slice(Shape(x.lanes), 0, -1)."""
        value = node.inputs[0]
        assert value is not None
        lanes, rank = self._lanes[value], None if value.shape is None else value.shape.rank()
        if _kind_of(value).count == 1:
            self._rewriter.replace_input(node, 0, lanes)
            return
        op, constant = self._rewriter.before(node), self._rewriter.constant
        longer = op.Shape(lanes, shape=[None if rank is None else rank + 1])
        bounds = [constant(node, [0]), constant(node, [-1])]
        sizes = op.Slice(longer, *bounds, shape=[rank])
        if node.op_type == "Size":
            self._rewriter.instead(node).ReduceProd(sizes, keepdims=0)
        else:
            bounds = [constant(node, [attribute(node, name, default)]) for name, default in (("start", 0), ("end", 2**31 - 1))]
            self._rewriter.instead(node).Slice(sizes, *bounds)


def _drop_unused_outputs(node: onnx_ir.Node) -> None:
    """Remove the unused outputs of an If, and the nodes that only serve to compute them."""
    for position in reversed(range(len(node.outputs))):
        unused = node.outputs[position]
        if is_used(unused) or len(node.outputs) == 1:
            continue
        last = node.outputs[-1]
        old = [body.outputs[position] for _, body in bodies_of(node)]
        for _, body in bodies_of(node):
            body.outputs[position] = body.outputs[-1]
            body.outputs.pop()
        if last is not unused:
            last.replace_all_uses_with(unused, replace_graph_outputs=True)
            name, last.name = last.name, unused.name
            unused.name, unused.type, unused.shape = name, last.type, last.shape
        node.resize_outputs(len(node.outputs) - 1)
        for value in old:
            drop(value)


def _type_of(value: Value) -> DataType:
    assert value.dtype is not None
    return value.dtype


def _kind_of(value: Value) -> LaneType:
    return LANE_TYPES[_type_of(value)]
