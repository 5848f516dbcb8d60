"""This module tells how each operator that moves values moves them in lanes: for data with one more dimension, the last.

With one lane a number the shape stays, and a node does the same as before to other inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir
from onnx_ir import DataType, Value

from ov_gather.ops.meanings import ONNX, carries
from ov_gather.ops.onnx_nodes import SCATTERS, attribute
from ov_gather.ops.spec import CUSTOM_OPSET

from ..graphs import Dim, constant_of
from ..inexactness import only_scatters
from ..lane_types import LaneType, as_lanes
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


def is_move(node: onnx_ir.Node, opset: int) -> bool:
    """Tell whether the values of a node can be moved in lanes."""
    if node.domain != "" or node.op_type not in _MOVES or any(attr.is_ref() for attr in node.attributes.values()):
        return False
    condition = _CONDITIONS.get(node.op_type)
    return condition is None or condition(node, opset)


def sources_of(node: onnx_ir.Node) -> list[int]:
    """Return the positions of the inputs whose elements come out of a node."""
    carried = (0, 2) if node.op_type in SCATTERS else (i for i in range(len(node.inputs)) if carries(ONNX, node.op_type, i))
    return [i for i in carried if node.inputs[i] is not None]


def move(given: Move) -> Sequence[Value]:
    """Insert what does the same as a node in lanes; return its outputs."""
    if given.kind.count == 1 and given.node.op_type not in ("Cast", "CastLike", "ConstantOfShape", "Pad"):
        return given.again()
    return _MOVES[given.node.op_type](given)


def _same(move: Move) -> Sequence[Value]:
    return move.again()


def _identity(move: Move) -> Sequence[Value]:
    output = move.node.outputs[0]
    return [move.insert("Identity", move.inputs[:1], move.kind.lane, in_lanes(output.shape, move.kind))]


def _shifted(axis: int) -> int:
    return axis if axis >= 0 else axis - 1


def _along_axis(move: Move) -> Sequence[Value]:
    return move.again(axis=_shifted(attribute(move.node, "axis", 0)))


def _elements(move: Move) -> Sequence[Value]:
    axis = _shifted(attribute(move.node, "axis", 0))
    if not move.stock:
        return move.again(domain=CUSTOM_OPSET, axis=axis)
    data, indices = move.inputs
    return move.again([data, _for_each_lane(move, indices)], axis=axis)


def _scattered_elements(move: Move) -> Sequence[Value]:
    data, indices, updates = move.inputs
    return move.again([data, _for_each_lane(move, indices), updates], axis=_shifted(attribute(move.node, "axis", 0)))


def _for_each_lane(move: Move, indices: Value | None) -> Value:
    """Repeat indices for every lane."""
    assert indices is not None
    wide = in_lanes(indices.shape, move.kind)
    sizes = move.insert("Shape", [indices], DataType.INT64, [None if wide is None else len(wide) - 1])
    index_type = indices.dtype or DataType.INT64
    column = unsqueezed(move.rewriter, move.node, indices, index_type)
    return move.insert("Expand", [column, move.longer(sizes, move.kind.count)], index_type, wide)


def unsqueezed(rewriter: Rewriter, before: onnx_ir.Node, value: Value, dtype: DataType) -> Value:
    """Give a value one more dimension, of 1, at the end."""
    shape = None if value.shape is None else [*value.shape.dims, 1]
    if rewriter.opset < 13:
        return rewriter.insert(before, "Unsqueeze", [value], dtype, shape, axes=[-1])
    return rewriter.insert(before, "Unsqueeze", [value, rewriter.constant(before, [-1])], dtype, shape)


def _compress(move: Move) -> Sequence[Value]:
    if "axis" in move.node.attributes:
        return _along_axis(move)
    data, condition = move.inputs
    flat = move.insert("Reshape", [data, move.constant([-1, move.kind.count])], move.kind.lane, [None, move.kind.count])
    return move.again([flat, condition], axis=0)


def _to_sizes(move: Move) -> Sequence[Value]:
    data, sizes = move.inputs
    assert sizes is not None
    return move.again([data, move.longer(sizes, move.kind.count)])


def _tile(move: Move) -> Sequence[Value]:
    data, repeats = move.inputs
    assert repeats is not None
    return move.again([data, move.longer(repeats, 1)])


def _flatten(move: Move) -> Sequence[Value]:
    axis, shape = attribute(move.node, "axis", 1), move.node.outputs[0].shape
    known = None if shape is None else [dim for dim in shape if isinstance(dim, int)]
    sizes = known if known is not None and len(known) == 2 else [0, -1]
    flat = move.insert("Flatten", move.inputs, move.kind.lane, [None, None], axis=_shifted(axis))
    wide = in_lanes(shape, move.kind)
    return [move.insert("Reshape", [flat, move.constant([*sizes, move.kind.count])], move.kind.lane, wide)]


def _transpose(move: Move) -> Sequence[Value]:
    perm = _permutation(move.node)
    assert perm is not None
    return move.again(perm=[*perm, len(perm)])


def _permutation(node: onnx_ir.Node) -> list[int] | None:
    if "perm" in node.attributes:
        return list(node.attributes["perm"].as_ints())
    data = node.inputs[0]
    return None if data is None or data.shape is None else list(range(data.shape.rank()))[::-1]


def _axes(node: onnx_ir.Node, position: int) -> list[int] | None:
    """Return the axes that an attribute or an input names; None where no one does."""
    if "axes" in node.attributes:
        return list(node.attributes["axes"].as_ints())
    value = node.inputs[position] if position < len(node.inputs) else None
    tensor = None if value is None else constant_of(value)
    return None if tensor is None else [int(axis) for axis in tensor.numpy().ravel()]


def _has_known_axes(position: int) -> Callable[[onnx_ir.Node, int], bool]:
    """Make the condition that axes, if they are an input, are constant."""

    def condition(node: onnx_ir.Node, opset: int) -> bool:
        return _axes(node, position) is not None or position >= len(node.inputs) or node.inputs[position] is None

    return condition


def _along_axes(position: int) -> Callable[[Move], Sequence[Value]]:
    """Make the move of an operator whose axes are an attribute, or the input at this position."""

    def along(move: Move) -> Sequence[Value]:
        axes = _axes(move.node, position)
        if axes is None or min(axes, default=0) >= 0:
            return move.again()
        axes = [_shifted(axis) for axis in axes]
        if "axes" in move.node.attributes:
            return move.again(axes=axes)
        return move.again([*move.inputs[:position], move.constant(axes), *move.inputs[position + 1 :]])

    return along


def _where(move: Move) -> Sequence[Value]:
    condition, *values = move.inputs
    assert condition is not None
    return move.again([unsqueezed(move.rewriter, move.node, condition, DataType.BOOL), *values])


def _constant_of_shape(move: Move) -> Sequence[Value]:
    (sizes,) = move.inputs
    assert sizes is not None
    lanes = as_lanes(move.node.attributes["value"].as_tensor().numpy().reshape(()))
    if move.kind.count == 1:
        tensor = onnx_ir.tensor(lanes.reshape(1))
        return [
            move.insert(
                "ConstantOfShape", [sizes], move.kind.lane, in_lanes(move.node.outputs[0].shape, move.kind), value=tensor
            )
        ]
    wide = in_lanes(move.node.outputs[0].shape, move.kind)
    given = [move.rewriter.constant(move.node, lanes), move.longer(sizes, move.kind.count)]
    return [move.insert("Expand", given, move.kind.lane, wide)]


def _pad(move: Move) -> Sequence[Value]:
    data, pads, value, axes = (*move.inputs, None, None)[:4]
    assert pads is not None
    if move.kind.dims and axes is not None:
        axes = move.constant([_shifted(axis) for axis in _axes(move.node, 3) or ()])
    elif move.kind.dims:
        constant_pads = constant_of(pads)
        assert constant_pads is not None  # because such a Pad is no move otherwise
        begins, ends = np.split(np.asarray(constant_pads.numpy()), 2)
        pads = move.constant([*begins.tolist(), 0, *ends.tolist(), 0])
    tensor = None if value is None else constant_of(value)
    lanes = np.zeros(1, move.kind.lane.numpy()) if tensor is None else tensor.numpy().reshape(-1)
    if (lanes == lanes[0]).all() and int(np.float32(lanes[0])) == lanes[0]:  # the CPU plugin rounds it to float32
        return move.again([data, pads, move.rewriter.constant(move.node, lanes[:1].reshape(())), axes])
    shape = in_lanes(move.node.outputs[0].shape, move.kind)
    zero = move.rewriter.constant(move.node, np.zeros((), lanes.dtype))
    (padded,) = move.again([data, pads, zero, axes])
    # What is not padding is marked by ones, padded by zeros.
    marked = move.insert("Equal", [data, data], DataType.BOOL, None)
    ones = move.insert("Cast", [marked], move.kind.lane, None, to=move.kind.lane)
    (kept,) = move.again([ones, pads, zero, axes])
    is_kept = move.insert("Cast", [kept], DataType.BOOL, None, to=DataType.BOOL)
    fill = move.rewriter.constant(move.node, lanes)
    return [move.insert("Where", [is_kept, padded, fill], move.kind.lane, shape)]


def _can_pad(node: onnx_ir.Node, opset: int) -> bool:
    if opset < 11:  # the pads are an attribute
        return False
    pads, value = node.inputs[1], node.inputs[2] if len(node.inputs) > 2 else None
    is_known = pads is not None and constant_of(pads) is not None and (value is None or constant_of(value) is not None)
    return is_known and _has_known_axes(3)(node, opset)


_MOVES: Mapping[str, Callable[[Move], Sequence[Value]]] = {
    **dict.fromkeys(("Concat", "Gather", "Split"), _along_axis),
    **dict.fromkeys(("Cast", "CastLike", "Identity"), _identity),
    **dict.fromkeys(("GatherND", "ScatterND"), _same),
    **dict.fromkeys(("Expand", "Reshape"), _to_sizes),
    **dict.fromkeys(("Squeeze", "Unsqueeze"), _along_axes(1)),
    "Compress": _compress,
    "ConstantOfShape": _constant_of_shape,
    "Flatten": _flatten,
    "GatherElements": _elements,
    **dict.fromkeys(("Scatter", "ScatterElements"), _scattered_elements),
    "Pad": _pad,
    "Slice": _along_axes(3),
    "Tile": _tile,
    "Transpose": _transpose,
    "Where": _where,
}


def _keeps_type(node: onnx_ir.Node, opset: int) -> bool:
    data = node.inputs[0]
    return data is not None and data.dtype is not None and data.dtype == node.outputs[0].dtype


def _can_scatter(node: onnx_ir.Node, opset: int) -> bool:
    """Tell whether a scatter only moves. OpenVINO's CPU plugin dies of an Expand of indices of which there are none."""
    indices = node.inputs[1]
    expands_nothing = indices is not None and indices.shape is not None and 0 in indices.shape.dims
    return only_scatters(node) and (node.op_type == "ScatterND" or not expands_nothing)


_CONDITIONS: Mapping[str, Callable[[onnx_ir.Node, int], bool]] = {
    "ConstantOfShape": lambda node, opset: "value" in node.attributes,
    "Cast": _keeps_type,
    "CastLike": _keeps_type,
    "Pad": _can_pad,
    **dict.fromkeys(SCATTERS, _can_scatter),
    "Slice": _has_known_axes(3),
    "Squeeze": _has_known_axes(1),
    "Transpose": lambda node, opset: _permutation(node) is not None,
    "Unsqueeze": _has_known_axes(1),
}
