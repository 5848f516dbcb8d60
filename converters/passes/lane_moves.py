"""Moves in lanes: how each operator moves data with one more dimension, the last.

    Transpose(x[3, 4])  ->  Transpose(x.lanes[3, 4, 2], perm=[1, 0, 2])

With one lane per number the shape stays, and the node is repeated with other inputs. Our operations move and reduce 64-bit and
complex numbers in scatters; no other operation reduces in lanes.

    ScatterND(data, i, updates)  ->  ov_gather.ScatterND(data.lanes, i, updates.lanes, lanes="i64")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import onnx_ir
from onnx_ir import DataType, Value

from ov_gather.ops.onnx_nodes import SCATTERS, attribute
from ov_gather.ops.spec import CUSTOM_OPSET
from ov_gather.ops.table import ONNX, Along

from ..graphs import is_default
from ..lane_types import as_lanes
from ..moves import only_scatters
from .lane_nodes import Move, in_lanes, shifted, shifted_axes, unsqueezed
from .lane_pads import can_pad, pad

_NUMBERS: Mapping[DataType, str] = {
    DataType.INT64: "i64",
    DataType.UINT64: "u64",
    DataType.DOUBLE: "f64",
    DataType.COMPLEX64: "c64",
    DataType.COMPLEX128: "c128",
}


def is_move(node: onnx_ir.Node, opset: int) -> bool:
    """Return True if a node can move its values in lanes."""
    known = _MOVES.get(node.op_type) if node.domain == "" else None
    if known is None or opset < known.since or any(attr.is_ref() for attr in node.attributes.values()):
        return False
    return known.condition(node, opset)


def sources_of(node: onnx_ir.Node) -> list[int]:
    """Return the positions of the inputs whose elements a node outputs."""
    carried = (position for position in range(len(node.inputs)) if ONNX[node.op_type].carries(position))
    return [i for i in carried if node.inputs[i] is not None]


def takes_lanes(node: onnx_ir.Node) -> bool:
    """Return True if our operations can execute a scatter on lanes."""
    return is_default(node, SCATTERS) and node.inputs[0] is not None and node.inputs[0].dtype in _NUMBERS


def move(given: Move) -> Sequence[Value]:
    """Insert the equivalent of a node in lanes; return its outputs."""
    data = given.node.inputs[0]
    if takes_lanes(given.node) and not given.stock and data is not None and data.dtype is not None:
        return given.again(domain=CUSTOM_OPSET, lanes=_NUMBERS[data.dtype])
    known = _MOVES[given.node.op_type]
    return given.again() if given.kind.count == 1 and not known.always else known.move(given)


def _identity(move: Move) -> Sequence[Value]:
    output = move.node.outputs[0]
    return [move.op.Identity(*move.inputs[:1], dtype=move.kind.lane, shape=in_lanes(output.shape, move.kind))]


def _along_axis(move: Move) -> Sequence[Value]:
    return move.again(axis=shifted(attribute(move.node, "axis", 0)))


def _elements(move: Move) -> Sequence[Value]:
    axis = shifted(attribute(move.node, "axis", 0))
    if not move.stock:
        return move.again(domain=CUSTOM_OPSET, axis=axis)
    data, indices, *updates = move.inputs
    return move.again([data, _for_each_lane(move, indices), *updates], axis=axis)


def _for_each_lane(move: Move, indices: Value | None) -> Value:
    """Broadcast indices to all lanes."""
    assert indices is not None
    wide = in_lanes(indices.shape, move.kind)
    sizes = move.op.Shape(indices, shape=[None if wide is None else len(wide) - 1])
    index_type = indices.dtype or DataType.INT64
    column = unsqueezed(move.rewriter, move.node, indices, index_type)
    return move.op.Expand(column, move.longer(sizes, move.kind.count), dtype=index_type, shape=wide)


def _to_sizes(move: Move) -> Sequence[Value]:
    data, sizes = move.inputs
    assert sizes is not None
    return move.again([data, move.longer(sizes, 1 if move.node.op_type == "Tile" else move.kind.count)])


def _flatten(move: Move) -> Sequence[Value]:
    axis, shape = attribute(move.node, "axis", 1), move.node.outputs[0].shape
    known = None if shape is None else [dim for dim in shape if isinstance(dim, int)]
    sizes = known if known is not None and len(known) == 2 else [0, -1]
    flat = move.op.Flatten(*move.inputs, dtype=move.kind.lane, shape=[None, None], axis=shifted(axis))
    wide = in_lanes(shape, move.kind)
    return [move.op.Reshape(flat, move.constant([*sizes, move.kind.count]), dtype=move.kind.lane, shape=wide)]


def _transpose(move: Move) -> Sequence[Value]:
    perm = _permutation(move.node)
    assert perm is not None
    return move.again(perm=[*perm, len(perm)])


def _permutation(node: onnx_ir.Node) -> list[int] | None:
    if "perm" in node.attributes:
        return list(node.attributes["perm"].as_ints())
    data = node.inputs[0]
    return None if data is None or data.shape is None else list(range(data.shape.rank()))[::-1]


def _along_axes(position: int) -> Callable[[Move], Sequence[Value]]:
    """Return the move of an operator whose axes are an attribute, or the input at this position."""

    def along(move: Move) -> Sequence[Value]:
        if "axes" in move.node.attributes:
            return move.again(axes=[shifted(axis) for axis in move.node.attributes["axes"].as_ints()])
        axes = move.inputs[position] if position < len(move.inputs) else None
        if axes is None:
            return move.again()
        return move.again([*move.inputs[:position], shifted_axes(move, axes), *move.inputs[position + 1 :]])

    return along


def _where(move: Move) -> Sequence[Value]:
    condition, *values = move.inputs
    assert condition is not None
    return move.again([unsqueezed(move.rewriter, move.node, condition, DataType.BOOL), *values])


def _constant_of_shape(move: Move) -> Sequence[Value]:
    (sizes,) = move.inputs
    assert sizes is not None
    lanes = as_lanes(move.node.attributes["value"].as_tensor().numpy().reshape(()))
    wide = in_lanes(move.node.outputs[0].shape, move.kind)
    if move.kind.count == 1:
        tensor = onnx_ir.tensor(lanes.reshape(1))
        return [move.op.ConstantOfShape(sizes, dtype=move.kind.lane, shape=wide, value=tensor)]
    given = [move.rewriter.constant(move.node, lanes), move.longer(sizes, move.kind.count)]
    return [move.op.Expand(*given, dtype=move.kind.lane, shape=wide)]


def _keeps_type(node: onnx_ir.Node, opset: int) -> bool:
    data = node.inputs[0]
    return data is not None and data.dtype is not None and data.dtype == node.outputs[0].dtype


def _can_scatter(node: onnx_ir.Node, opset: int) -> bool:
    """Return True if a scatter only moves; OpenVINO's CPU plugin crashes for an Expand of empty indices."""
    indices = node.inputs[1]
    expands_nothing = indices is not None and indices.shape is not None and 0 in indices.shape.dims
    return only_scatters(node) and (ONNX[node.op_type].along is Along.COORDINATES or not expands_nothing)


def _has_permutation(node: onnx_ir.Node, opset: int) -> bool:
    return _permutation(node) is not None


def _has_value(node: onnx_ir.Node, opset: int) -> bool:
    return "value" in node.attributes


class _InLanes(NamedTuple):
    """How an operator moves lanes.

    Attributes:
        move: inserts the equivalent of a node.
        condition: whether it can move the lanes of a node, given the opset.
        since: the first opset; older Reshapes and others have attributes instead of the inputs that lanes extend.
        always: whether a copy of the node does not even move single lanes, which leave shapes as they are.
    """

    move: Callable[[Move], Sequence[Value]]
    condition: Callable[[onnx_ir.Node, int], bool] = lambda node, opset: True
    since: int = 7
    always: bool = False


_MOVES: Mapping[str, _InLanes] = {
    "Cast": _InLanes(_identity, _keeps_type, always=True),
    "CastLike": _InLanes(_identity, _keeps_type, always=True),
    "Concat": _InLanes(_along_axis),
    "ConstantOfShape": _InLanes(_constant_of_shape, _has_value, always=True),
    "Expand": _InLanes(_to_sizes),
    "Flatten": _InLanes(_flatten),
    "Gather": _InLanes(_along_axis, since=1),
    "GatherElements": _InLanes(_elements),
    "GatherND": _InLanes(Move.again),
    "Identity": _InLanes(_identity, since=1),
    "Pad": _InLanes(pad, can_pad, always=True),
    "Reshape": _InLanes(_to_sizes),
    "Scatter": _InLanes(_elements, _can_scatter),
    "ScatterElements": _InLanes(_elements, _can_scatter),
    "ScatterND": _InLanes(Move.again, _can_scatter),
    "Slice": _InLanes(_along_axes(3), since=1),
    "Split": _InLanes(_along_axis),
    "Squeeze": _InLanes(_along_axes(1), since=1),
    "Tile": _InLanes(_to_sizes),
    "Transpose": _InLanes(_transpose, _has_permutation, since=1),
    "Unsqueeze": _InLanes(_along_axes(1), since=1),
    "Where": _InLanes(_where),
}
