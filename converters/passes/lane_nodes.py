"""Nodes in lanes: copies of nodes, for data with one more dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir
from onnx_ir import DataType, Value

from ..graphs import Dim, Inputs, constant_of, graph_of
from ..lane_types import LaneType
from .rewriter import OperatorCalls, Rewriter


@dataclass(frozen=True)
class Move:
    """A node to repeat in lanes: `inputs` has lanes for the values that it moves; `stock` excludes our operations."""

    rewriter: Rewriter
    node: onnx_ir.Node
    inputs: Inputs
    kind: LaneType
    stock: bool

    @property
    def op(self) -> OperatorCalls[Value]:
        """Operators that are inserted before the node."""
        return self.rewriter.before(self.node)

    def again(self, inputs: Inputs | None = None, *, domain: str = "", **attributes: int | list[int] | str) -> Sequence[Value]:
        """Insert a copy of the node for lanes, with these inputs and attributes; return its outputs."""
        node, rewriter, taken = self.node, self.rewriter, list(self.inputs if inputs is None else inputs)
        while taken[-1] is None:
            taken.pop()
        if domain:
            rewriter.model.opset_imports.setdefault(domain, 1)
        changed = {attr.name: attr for attr in onnx_ir.convenience.convert_attributes(attributes)}
        given = {**node.attributes, **changed}
        name = rewriter.new_name(f"{node.name or node.outputs[0].name}.lanes")
        copy = onnx_ir.Node(domain, node.op_type, taken, given.values(), num_outputs=len(node.outputs), name=name)
        for i, (output, lanes) in enumerate(zip(node.outputs, copy.outputs, strict=True)):
            lanes.name = rewriter.new_name(f"{name}_{i}")
            declare(lanes, output, self.kind)
        graph_of(node).insert_before(node, copy)
        return copy.outputs

    def constant(self, numbers: Sequence[int]) -> Value:
        """Insert an int64 Constant; return its output."""
        return self.rewriter.constant(self.node, list(numbers))

    def longer(self, sizes: Value, last: int) -> Value:
        """Append a number to a vector of sizes."""
        tensor = constant_of(sizes)
        if tensor is not None:
            return self.constant([*tensor.numpy().ravel().tolist(), last])
        length = None if sizes.shape is None or not isinstance(sizes.shape[0], int) else sizes.shape[0] + 1
        return self.op.Concat(sizes, self.constant([last]), shape=[length], axis=0)


def in_lanes(shape: onnx_ir.Shape | None, kind: LaneType) -> list[Dim] | None:
    """Return the shape in lanes for a shape of numbers."""
    return None if shape is None else [*shape.dims, *kind.dims]


def declare(lanes: Value, value: Value, kind: LaneType) -> None:
    """Set the type and shape of the lanes of a value."""
    shape = in_lanes(value.shape, kind)
    lanes.type, lanes.shape = onnx_ir.TensorType(kind.lane), None if shape is None else onnx_ir.Shape(shape)


def unsqueezed(rewriter: Rewriter, before: onnx_ir.Node, value: Value, dtype: DataType) -> Value:
    """Append a dimension of 1 to a value."""
    op = rewriter.before(before)
    shape = None if value.shape is None else [*value.shape.dims, 1]
    if rewriter.opset < 13:
        return op.Unsqueeze(value, dtype=dtype, shape=shape, axes=[-1])
    return op.Unsqueeze(value, rewriter.constant(before, [-1]), dtype=dtype, shape=shape)


def shifted(axis: int) -> int:
    """Convert an axis to lanes: negative ones skip the dimension of the lanes."""
    return axis if axis >= 0 else axis - 1


def shifted_axes(move: Move, axes: Value) -> Value:
    """Convert an input of axes to lanes, as `shifted` does; the axes may be computed."""
    tensor = constant_of(axes)
    if tensor is not None:
        return move.constant([shifted(int(axis)) for axis in tensor.numpy().ravel()])
    dtype, shape = axes.dtype or DataType.INT64, axes.shape
    is_negative = move.op.Less(
        axes, move.rewriter.constant(move.node, np.zeros(1, dtype.numpy())), dtype=DataType.BOOL, shape=shape
    )
    return move.op.Sub(axes, move.op.Cast(is_negative, shape=shape, to=dtype), dtype=dtype, shape=shape)
