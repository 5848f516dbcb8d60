"""Values that OpenVINO's CPU plugin would change, and that the model only moves, travel in lanes.

What a model gives out is followed back to inputs and constants. If nothing but moves lies between, the way is built once more,
in lanes. What else needs the numbers finds them as before: an input that is moved and computed with becomes two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import onnx_ir
from onnx_ir import DataType, Value

from ov_gather.ops.onnx_nodes import attribute

from ..graphs import bodies_of, constant_of, inputs_of
from ..inexactness import survives
from ..lane_types import LANE_TYPES, LaneType, tensor_in_lanes
from ..ranges import Ranges
from .lane_moves import Move, in_lanes, is_move, move, sources_of
from .rewriter import Rewriter, drop

_COMPLEX = (DataType.COMPLEX64, DataType.COMPLEX128)
_OLDEST = 9  # the first opset in which a Constant may be of integers


@dataclass(frozen=True)
class Travel:
    """A Travel says which inputs and outputs of a model are in lanes.

    Attributes:
        inputs: by name of an input in lanes, the name and the type of the input whose numbers it takes.
        outputs: by name of an output in lanes, the name and the type of the output that it stands for.
        positions: by position of an output in lanes, the type of its numbers.
    """

    inputs: dict[str, tuple[str, DataType]] = field(default_factory=dict)
    outputs: dict[str, tuple[str, DataType]] = field(default_factory=dict)
    positions: dict[int, DataType] = field(default_factory=dict)


def travel_in_lanes(model: onnx_ir.Model, *, stock: bool) -> Travel:
    """Rewrite a legalized model in place. Inputs and outputs that are in lanes get names of their own.

    Args:
        model: whose types and shapes are inferred.
        stock: use only operations of OpenVINO.
    """
    rewriter = Rewriter(model, Ranges(model))
    if rewriter.opset < _OLDEST:
        return Travel()
    flow = _Flow(rewriter)
    needed = flow.needed()
    if not needed:
        return Travel()
    return _Building(rewriter, flow, stock).build(needed)


class _Flow:
    """What can travel in lanes: a value of such a type that comes from inputs and constants through moves alone."""

    def __init__(self, rewriter: Rewriter) -> None:
        self._graph, self._opset = rewriter.model.graph, rewriter.opset
        self.nodes = list(_nodes_of(self._graph))
        self._gains: dict[Value, bool] = {value: True for value in inputs_of(rewriter.model) if value.dtype in LANE_TYPES}
        for node in self.nodes:
            self._follow(node)

    def _follow(self, node: onnx_ir.Node) -> None:
        if not is_move(node, self._opset):
            return
        sources = [value for i in sources_of(node) if (value := node.inputs[i]) is not None]
        dtype = sources[0].dtype if sources else node.outputs[0].dtype
        if dtype not in LANE_TYPES or any(value.dtype != dtype for value in sources):
            return
        gains = [self.gain(value) for value in sources]
        if node.op_type == "ConstantOfShape":
            gains = [_is_changed(node.attributes["value"].as_tensor())]
        if None not in gains:
            for output in node.outputs:
                self._gains[output] = any(gains)

    def gain(self, value: Value) -> bool | None:
        """Tell whether lanes keep what would be changed; None if the value cannot travel so."""
        if value not in self._gains and (tensor := tensor_of(value)) is not None and tensor.dtype in LANE_TYPES:
            self._gains[value] = _is_changed(tensor)
        return self._gains.get(value)

    def needed(self) -> set[Value]:
        """Return the values that are to travel: outputs of the model with what they come from, and what else has no numbers."""
        needed = {value for value in self._graph.outputs if self.gain(value)}
        for node in self.nodes:
            if (
                is_shape(node, self._opset)
                and (value := node.inputs[0]) is not None
                and value.dtype in _COMPLEX
                and self.gain(value)
            ):
                needed.add(value)
        for node in reversed(self.nodes):
            if not needed.isdisjoint(node.outputs) and tensor_of(node.outputs[0]) is None:
                needed.update(value for i in sources_of(node) if (value := node.inputs[i]) is not None)
        return needed


class _Building:
    """Builds the ways in lanes beside those of the numbers, and removes of these what nothing needs any more."""

    def __init__(self, rewriter: Rewriter, flow: _Flow, stock: bool) -> None:
        self._rewriter, self._nodes, self._stock = rewriter, flow.nodes, stock
        self._graph, self._opset = rewriter.model.graph, rewriter.opset
        self._lanes: dict[Value, Value] = {}
        self._travel = Travel()

    def build(self, needed: set[Value]) -> Travel:
        for value in [value for value in self._graph.inputs if value in needed and tensor_of(value) is None]:
            self._add_input(value)
        for value in needed:
            if value not in self._lanes and (tensor := tensor_of(value)) is not None:
                self._add_constant(value, tensor)
        for node in self._nodes:
            if not needed.isdisjoint(node.outputs) and node.outputs[0] not in self._lanes:
                self._add_node(node)
        outputs = list(self._graph.outputs)
        for position, value in enumerate(outputs):
            if value in self._lanes:
                lanes = self._graph.outputs[position] = self._lanes[value]
                self._travel.outputs[str(lanes.name)] = (str(value.name), _type_of(value))
                self._travel.positions[position] = _type_of(value)
        for node in self._nodes:
            if is_shape(node, self._opset) and node.inputs[0] in self._lanes:
                self._take_shape_of_lanes(node)
        for value in outputs:
            drop(value)
        return self._travel

    def _add_input(self, value: Value) -> None:
        lanes = self._named(value)
        self._graph.inputs.insert(self._graph.inputs.index(value), lanes)
        self._travel.inputs[str(lanes.name)] = (str(value.name), _type_of(value))

    def _named(self, value: Value) -> Value:
        """Make the value that stands for another in lanes, and has a like name."""
        kind, shape = _kind_of(value), in_lanes(value.shape, _kind_of(value))
        lanes = Value(
            name=self._rewriter.new_name(f"{value.name}.lanes"),
            shape=None if shape is None else onnx_ir.Shape(shape),
            type=onnx_ir.TensorType(kind.lane),
        )
        self._lanes[value] = lanes
        return lanes

    def _add_constant(self, value: Value, tensor: onnx_ir.TensorProtocol) -> None:
        lanes, node = self._named(value), value.producer()
        graph = value.graph if node is None else node.graph
        assert isinstance(graph, onnx_ir.Graph)
        lanes.const_value = tensor_in_lanes(tensor, str(lanes.name))
        lanes.shape = onnx_ir.Shape(lanes.const_value.shape)
        graph.register_initializer(lanes)

    def _add_node(self, node: onnx_ir.Node) -> None:
        inputs = list(node.inputs)
        for i in sources_of(node):
            source = node.inputs[i]
            assert source is not None
            inputs[i] = self._lanes[source]
        made = move(Move(self._rewriter, node, inputs, _kind_of(node.outputs[0]), self._stock))
        for old, new in zip(node.outputs, made, strict=True):
            self._lanes[old] = new
            new.name = self._rewriter.new_name(f"{old.name}.lanes")

    def _take_shape_of_lanes(self, node: onnx_ir.Node) -> None:
        """Let a Shape or Size read the value in lanes, so that the numbers are not needed for it."""
        value = node.inputs[0]
        assert value is not None
        lanes, rank = self._lanes[value], None if value.shape is None else value.shape.rank()
        if _kind_of(value).count == 1:
            self._rewriter.replace_input(node, 0, lanes)
            return
        start, end = attribute(node, "start", 0), attribute(node, "end", 2**31 - 1)
        insert, constant = self._rewriter.insert, self._rewriter.constant
        longer = insert(node, "Shape", [lanes], DataType.INT64, [None if rank is None else rank + 1])
        bounds = [constant(node, [0]), constant(node, [-1])]
        sizes = insert(node, "Slice", [longer, *bounds], DataType.INT64, [rank])
        inputs = [sizes] if node.op_type == "Size" else [sizes, constant(node, [start]), constant(node, [end])]
        node.op_type = "ReduceProd" if node.op_type == "Size" else "Slice"
        node.attributes.clear()
        if node.op_type == "ReduceProd":
            node.attributes.add(onnx_ir.AttrInt64("keepdims", 0))
        node.resize_inputs(len(inputs))
        for i, given in enumerate(inputs):
            node.replace_input_with(i, given)
        drop(value)


def tensor_of(value: Value) -> onnx_ir.TensorProtocol | None:
    """Return the tensor of a constant, or of an input that has a value of its own."""
    return value.const_value if value.is_graph_input() and value.is_initializer() else constant_of(value)


def is_shape(node: onnx_ir.Node, opset: int) -> bool:
    """Tell whether a node yields sizes of its input, which can be told from lanes."""
    return node.domain == "" and node.op_type in ("Shape", "Size") and opset >= 10


def _is_changed(tensor: onnx_ir.TensorProtocol) -> bool:
    return tensor.dtype in _COMPLEX or not survives(tensor.numpy(), constant=True)


def _nodes_of(graph: onnx_ir.Graph) -> Iterator[onnx_ir.Node]:
    """Yield the nodes of a graph in their order, those of bodies before the node that has these."""
    for node in list(graph):
        for _, body in bodies_of(node):
            yield from _nodes_of(body)
        yield node


def _type_of(value: Value) -> DataType:
    assert value.dtype is not None
    return value.dtype


def _kind_of(value: Value) -> LaneType:
    return LANE_TYPES[_type_of(value)]
