"""This module tells what moves in lanes are made of: nodes that do the same as others to data with one more dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir
from onnx_ir import DataType, Value

from ..graphs import Dim, constant_of
from ..lane_types import LaneType
from .rewriter import Rewriter


@dataclass(frozen=True)
class Move:
    """A node that moves values, which are to travel in lanes.

    Attributes:
        inputs: those of the node; sources are given in lanes.
        stock: whether only operations of OpenVINO may be used.
    """

    rewriter: Rewriter
    node: onnx_ir.Node
    inputs: Sequence[Value | None]
    kind: LaneType
    stock: bool

    def insert(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        dtype: DataType,
        shape: Sequence[Dim | None] | None,
        **attributes: object,
    ) -> Value:
        """Insert a node of one output before this one."""
        return self.rewriter.insert(self.node, op_type, inputs, dtype, shape, **attributes)

    def again(
        self, inputs: Sequence[Value | None] | None = None, *, domain: str = "", **attributes: int | list[int] | str
    ) -> Sequence[Value]:
        """Do the same as the node in lanes, but with these inputs and attributes."""
        given = dict(self.node.attributes)
        given.update({attr.name: attr for attr in onnx_ir.convenience.convert_attributes(attributes)})
        outputs = [(self.kind.lane, in_lanes(output.shape, self.kind)) for output in self.node.outputs]
        taken = list(self.inputs if inputs is None else inputs)
        while taken[-1] is None:
            taken.pop()
        return self.rewriter.copy(self.node, taken, outputs, given.values(), domain)

    def constant(self, numbers: Sequence[int]) -> Value:
        """Return a new constant of int64."""
        return self.rewriter.constant(self.node, list(numbers))

    def longer(self, sizes: Value, last: int) -> Value:
        """Return a vector of sizes with one more at the end."""
        tensor = constant_of(sizes)
        if tensor is not None:
            return self.constant([*tensor.numpy().ravel().tolist(), last])
        length = None if sizes.shape is None or not isinstance(sizes.shape[0], int) else sizes.shape[0] + 1
        return self.insert("Concat", [sizes, self.constant([last])], DataType.INT64, [length], axis=0)


def in_lanes(shape: onnx_ir.Shape | None, kind: LaneType) -> list[Dim] | None:
    """Return the shape that values of this shape have in lanes."""
    return None if shape is None else [*shape.dims, *kind.dims]


def unsqueezed(rewriter: Rewriter, before: onnx_ir.Node, value: Value, dtype: DataType) -> Value:
    """Give a value one more dimension, of 1, at the end."""
    shape = None if value.shape is None else [*value.shape.dims, 1]
    if rewriter.opset < 13:
        return rewriter.insert(before, "Unsqueeze", [value], dtype, shape, axes=[-1])
    return rewriter.insert(before, "Unsqueeze", [value, rewriter.constant(before, [-1])], dtype, shape)


def shifted(axis: int) -> int:
    """Return the axis in lanes of an axis that may count from the end."""
    return axis if axis >= 0 else axis - 1


def shifted_axes(move: Move, axes: Value) -> Value:
    """Return an input of axes in lanes, as `shifted` does; they may be computed."""
    tensor = constant_of(axes)
    if tensor is not None:
        return move.constant([shifted(int(axis)) for axis in tensor.numpy().ravel()])
    dtype, dims = axes.dtype or DataType.INT64, None if axes.shape is None else axes.shape.dims
    is_negative = move.insert(
        "Less", [axes, move.rewriter.constant(move.node, np.zeros(1, dtype.numpy()))], DataType.BOOL, dims
    )
    return move.insert("Sub", [axes, move.insert("Cast", [is_negative], dtype, dims, to=dtype)], dtype, dims)
