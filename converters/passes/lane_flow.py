"""Values that can be represented in lanes: they go from inputs and constants to outputs through moves alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import onnx_ir
from onnx_ir import DataType, Value

from ov_gather.ops.onnx_nodes import is_branching
from ov_gather.system.traversal import reachable

from ..graphs import bodies_of, constant_of, inputs_of
from ..inexact_nodes import exceeds_int32
from ..inexactness import is_preserved
from ..lane_types import CHANGED, LANE_TYPES
from ..moves import OF_SHAPES
from .lane_loops import LoopView, has_parts
from .lane_moves import is_move, sources_of, takes_lanes
from .rewriter import Rewriter

_QUIET = 0x0040  # the bit that is set in quiet NaNs of bfloat16, and not in signalling ones
_COMPLEX = (DataType.COMPLEX64, DataType.COMPLEX128)


class Flow:
    """The values of a model that can be in lanes, and those that have to be.

    A computed value can join others in lanes if it is proved to fit in 32 bits, or has no elements.

    Attributes:
        nodes: nodes in model order, those of bodies before their owner.
        loops: the Loops and Scans among them.
        joining: the computed values that join.
    """

    def __init__(self, rewriter: Rewriter, stock: bool) -> None:
        self._stock = stock
        self._rewriter, self._graph, self._opset = rewriter, rewriter.model.graph, rewriter.opset
        self.nodes = list(_nodes_of(self._graph))
        self.loops = {node: LoopView(node) for node in self.nodes if has_parts(node, self._opset)}
        self._arrivals = {inner: outer for loop in self.loops.values() for inner, outer in loop.body_sources().items()}
        self.joining: set[Value] = set()
        self._gains: dict[Value, bool] = {
            value: value.dtype in CHANGED for value in inputs_of(rewriter.model) if value.dtype in LANE_TYPES
        }
        self._candidates = self._before(value for value in self._wanted() if value.dtype in LANE_TYPES)
        self._follow(self._graph)

    def _wanted(self) -> Iterator[Value]:
        """Yield the values that may have to be in lanes: model outputs, and complex numbers whose shape is read."""
        yield from self._graph.outputs
        for node in self.nodes:
            value = node.inputs[0] if is_shape(node, self._opset) else None
            if value is not None and value.dtype in _COMPLEX:
                yield value

    def _before(self, values: Iterable[Value]) -> dict[Value, None]:
        """Return the values and all values that they are moved from."""
        return dict.fromkeys(reachable(values, self._sources))

    def _sources(self, value: Value) -> list[Value]:
        """Return the values this one copies from; empty if it is computed."""
        node = value.producer()
        if node is None or value in self.joining:
            return [] if value in self.joining else self._arrivals.get(value, [])
        if node in self.loops:
            return [self.loops[node].source_of(value)]
        if is_branching(node):
            return [body.outputs[value.index() or 0] for _, body in bodies_of(node)]
        if not is_move(node, self._opset) and (self._stock or not takes_lanes(node)):
            return []
        return [source for i in sources_of(node) if (source := node.inputs[i]) is not None]

    def _follow(self, graph: onnx_ir.Graph) -> None:
        """Compute the gains of the values of a graph, in order."""
        for node in graph:
            if node in self.loops:
                self._follow_loop(self.loops[node])
            else:
                for _, body in bodies_of(node):
                    self._follow(body)
            for output in node.outputs:
                if output in self._candidates:
                    self._set(output, self._gain_of(output))

    def _follow_loop(self, loop: LoopView) -> None:
        """Compute the gains in a body up to a fixpoint: carried values start with the gains of their initial values."""
        body_sources = {inner: outer for inner, outer in loop.body_sources().items() if inner in self._candidates}
        for inner, (first, *_) in body_sources.items():
            self._gains[inner] = self.gain(first) or False
        is_settled = False
        while not is_settled:
            for value in (output for node in _nodes_of(loop.body) for output in node.outputs):
                self._gains.pop(value, None)
                self.joining.discard(value)
            self._follow(loop.body)
            found = {inner: self._gain_of(inner) for inner in body_sources if inner in self._gains}
            is_settled = all(self._gains[inner] is gain for inner, gain in found.items())
            for inner, gain in found.items():
                self._set(inner, gain)

    def _set(self, value: Value, gain: bool | None) -> None:
        self._gains.pop(value, None)
        if gain is not None:
            self._gains[value] = gain

    def _gain_of(self, value: Value) -> bool | None:
        """Return `gain` of a value moved from others; computed values among these join if necessary and possible."""
        sources, node = self._sources(value), value.producer()
        if value.dtype not in LANE_TYPES or any(source.dtype != value.dtype for source in sources):
            return None
        if node is not None and node.op_type == "ConstantOfShape" and is_move(node, self._opset):
            return _is_changed(node.attributes["value"].as_tensor())
        gains = [self.gain(source) for source in sources]
        if True in gains and None in gains:
            gains = [self._joins(source) if gain is None else gain for source, gain in zip(sources, gains, strict=True)]
        return any(gains) if gains and None not in gains else None

    def _joins(self, value: Value) -> bool | None:
        """Let a computed value join if it certainly fits in 32 bits; return its gain, False, or None if it cannot join."""
        interval = self._rewriter.ranges.of(value) if value.dtype in (DataType.INT64, DataType.UINT64) else None
        if exceeds_int32(interval) and not _is_empty(value):
            return None
        self.joining.add(value)
        self._gains[value] = False
        return False

    def gain(self, value: Value) -> bool | None:
        """Return True if lanes keep bits that OpenVINO would change, False if there are none, None if lanes are impossible."""
        if value not in self._gains and (tensor := tensor_of(value)) is not None and tensor.dtype in LANE_TYPES:
            self._gains[value] = _is_changed(tensor)
        return self._gains.get(value)

    def needed(self) -> dict[Value, None]:
        """Return the values to put in lanes: outputs with a gain, complex numbers whose shape is read, and their sources."""
        return self._before(value for value in self._wanted() if self.gain(value))


def tensor_of(value: Value) -> onnx_ir.TensorProtocol | None:
    """Return the tensor of a constant, or the default value of an input."""
    return value.const_value if value.is_graph_input() and value.is_initializer() else constant_of(value)


def _is_empty(value: Value) -> bool:
    """Return True if a 64-bit value has no elements."""
    is_number = value.dtype in (DataType.INT64, DataType.UINT64, DataType.DOUBLE)
    return is_number and value.shape is not None and 0 in value.shape.dims


def is_shape(node: onnx_ir.Node, opset: int) -> bool:
    """Return True if a node returns sizes of its input, which lanes have, too."""
    return node.domain == "" and node.op_type in OF_SHAPES and opset >= 10


def _is_changed(tensor: onnx_ir.TensorProtocol) -> bool:
    array = tensor.numpy()
    if tensor.dtype is DataType.BFLOAT16 and (np.isnan(array) & (array.view(np.uint16) & _QUIET == 0)).any():
        return True  # an Expand or a Loop would make this NaN quiet
    return tensor.dtype in _COMPLEX or not is_preserved(array, constant=True)


def _nodes_of(graph: onnx_ir.Graph) -> Iterator[onnx_ir.Node]:
    """Yield the nodes of a graph in order, those of bodies before their owner."""
    for node in list(graph):
        for _, body in bodies_of(node):
            yield from _nodes_of(body)
        yield node
