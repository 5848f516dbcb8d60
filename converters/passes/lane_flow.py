"""This module finds what can travel in lanes: what comes from inputs and constants through moves alone, and goes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx_ir
from onnx_ir import DataType, Value

from ..graphs import bodies_of, constant_of, inputs_of
from ..inexactness import survives
from ..lane_types import CHANGED, LANE_TYPES
from .lane_moves import is_move, sources_of
from .lane_scatters import takes_lanes
from .rewriter import Rewriter

_COMPLEX = (DataType.COMPLEX64, DataType.COMPLEX128)


class Flow:
    """A Flow tells which values of a model can travel in lanes, and which do.

    A value that is computed otherwise can join others in lanes where it is proved to fit in 32 bits, or has no elements.
    """

    def __init__(self, rewriter: Rewriter, stock: bool) -> None:
        self._stock = stock
        self._rewriter, self._graph, self._opset = rewriter, rewriter.model.graph, rewriter.opset
        self.nodes = list(_nodes_of(self._graph))
        self.joining: set[Value] = set()
        self._gains: dict[Value, bool] = {
            value: value.dtype in CHANGED for value in inputs_of(rewriter.model) if value.dtype in LANE_TYPES
        }
        wanted = self._before(value for value in self._wanted() if value.dtype in LANE_TYPES)
        for node in self.nodes:
            if not wanted.keys().isdisjoint(node.outputs):
                self._follow(node)

    def _wanted(self) -> Iterator[Value]:
        """Yield what may have to be in lanes: outputs of the model, and complex numbers of which the shape is asked."""
        yield from self._graph.outputs
        for node in self.nodes:
            value = node.inputs[0] if is_shape(node, self._opset) else None
            if value is not None and value.dtype in _COMPLEX:
                yield value

    def _before(self, values: Iterable[Value]) -> dict[Value, None]:
        """Return values with all that moves bring there."""
        found = dict.fromkeys(values)
        for node in reversed(self.nodes):
            for source in (source for output in node.outputs if output in found for source in self._sources(node, output)):
                found[source] = None
        return found

    def _sources(self, node: onnx_ir.Node, output: Value) -> list[Value]:
        """Return the values of which one is, or parts are, the output of a node; none where the node computes."""
        if node.op_type == "If" and node.domain == "":
            return [body.outputs[output.index() or 0] for _, body in bodies_of(node)]
        positions = sources_of(node) if self._moves(node) and output not in self.joining else []
        return [value for i in positions if (value := node.inputs[i]) is not None]

    def _moves(self, node: onnx_ir.Node) -> bool:
        return is_move(node, self._opset) or (takes_lanes(node) and not self._stock)

    def _follow(self, node: onnx_ir.Node) -> None:
        for output in node.outputs:
            sources = self._sources(node, output)
            dtype = sources[0].dtype if sources else output.dtype
            if dtype not in LANE_TYPES or any(value.dtype != dtype for value in sources):
                continue
            gains = [self.gain(value) for value in sources]
            if node.op_type == "ConstantOfShape" and is_move(node, self._opset):
                gains = [_is_changed(node.attributes["value"].as_tensor())]
            if True in gains and None in gains:
                gains = [self._joins(value) if gain is None else gain for value, gain in zip(sources, gains, strict=True)]
            if gains and None not in gains:
                self._gains[output] = any(gains)

    def _joins(self, value: Value) -> bool | None:
        """Take a value that is computed, if it fits in 32 bits for sure; then tell that lanes keep nothing more of it."""
        interval = self._rewriter.ranges.of(value) if value.dtype in (DataType.INT64, DataType.UINT64) else None
        fits = interval is not None and interval.low >= -(2**31) and interval.high < 2**31
        if not fits and not _is_empty(value):
            return None
        self.joining.add(value)
        self._gains[value] = False
        return False

    def gain(self, value: Value) -> bool | None:
        """Tell whether lanes keep what would be changed; None if the value cannot travel so."""
        if value not in self._gains and (tensor := tensor_of(value)) is not None and tensor.dtype in LANE_TYPES:
            self._gains[value] = _is_changed(tensor)
        return self._gains.get(value)

    def needed(self) -> dict[Value, None]:
        """Return the values that are to travel: outputs of the model with what they come from, and what else has no numbers."""
        return self._before(value for value in self._wanted() if self.gain(value))


def tensor_of(value: Value) -> onnx_ir.TensorProtocol | None:
    """Return the tensor of a constant, or of an input that has a value of its own."""
    return value.const_value if value.is_graph_input() and value.is_initializer() else constant_of(value)


def _is_empty(value: Value) -> bool:
    """Tell whether a value of a type that is computed in 32 bits has no element."""
    is_number = value.dtype in (DataType.INT64, DataType.UINT64, DataType.DOUBLE)
    return is_number and value.shape is not None and 0 in value.shape.dims


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
