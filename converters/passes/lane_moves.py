"""Moves in lanes: how each operator moves data with one more dimension, the last.

    Transpose(x[3, 4])  ->  Transpose(x.lanes[3, 4, 2], perm=[1, 0, 2])

With one lane per number the shape stays, and the node is repeated with other inputs. Our operations move and reduce 64-bit and
complex numbers in scatters; no other operation reduces in lanes.

    ScatterND(data, i, updates)  ->  ov_gather.ScatterND(data.lanes, i, updates.lanes, lanes="i64")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import onnx_ir
from onnx_ir import DataType, Value

from ov_gather.ops.onnx_nodes import SCATTERS, attribute
from ov_gather.ops.spec import CUSTOM_OPSET
from ov_gather.ops.table import ONNX

from ..graphs import is_default
from ..lane_types import as_lanes
from ..moves import only_scatters
from .lane_nodes import Move, in_lanes, shifted, shifted_axes, unsqueezed
from .lane_pads import can_pad, pad

_OLDEST = 7  # older Reshapes and others have attributes instead of the inputs that lanes extend
_NUMBERS: Mapping[DataType, str] = {
    DataType.INT64: "i64",
    DataType.UINT64: "u64",
    DataType.DOUBLE: "f64",
    DataType.COMPLEX64: "c64",
    DataType.COMPLEX128: "c128",
}
_SAME_FROM_FIRST = ("Gather", "Identity", "Slice", "Squeeze", "Transpose", "Unsqueeze")


def is_move(node: onnx_ir.Node, opset: int) -> bool:
    """Return True if a node can move its values in lanes."""
    if node.domain != "" or node.op_type not in _MOVES or any(attr.is_ref() for attr in node.attributes.values()):
        return False
    if opset < _OLDEST and node.op_type not in _SAME_FROM_FIRST:
        return False
    condition = _CONDITIONS.get(node.op_type)
    return condition is None or condition(node, opset)


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
    if given.kind.count == 1 and given.node.op_type not in ("Cast", "CastLike", "ConstantOfShape", "Pad"):
        return given.again()
    return _MOVES[given.node.op_type](given)


def _identity(move: Move) -> Sequence[Value]:
    output = move.node.outputs[0]
    return [move.op.Identity(*move.inputs[:1], dtype=move.kind.lane, shape=in_lanes(output.shape, move.kind))]


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


_MOVES: Mapping[str, Callable[[Move], Sequence[Value]]] = {
    **dict.fromkeys(("Concat", "Gather", "Split"), lambda move: move.again(axis=shifted(attribute(move.node, "axis", 0)))),
    **dict.fromkeys(("Cast", "CastLike", "Identity"), _identity),
    **dict.fromkeys(("GatherND", "ScatterND"), Move.again),
    **dict.fromkeys(("Expand", "Reshape", "Tile"), _to_sizes),
    **dict.fromkeys(("Squeeze", "Unsqueeze"), _along_axes(1)),
    "ConstantOfShape": _constant_of_shape,
    "Flatten": _flatten,
    **dict.fromkeys(("GatherElements", "Scatter", "ScatterElements"), _elements),
    "Pad": pad,
    "Slice": _along_axes(3),
    "Transpose": _transpose,
    "Where": _where,
}


def _keeps_type(node: onnx_ir.Node, opset: int) -> bool:
    data = node.inputs[0]
    return data is not None and data.dtype is not None and data.dtype == node.outputs[0].dtype


def _can_scatter(node: onnx_ir.Node, opset: int) -> bool:
    """Return True if a scatter only moves; OpenVINO's CPU plugin crashes for an Expand of empty indices."""
    indices = node.inputs[1]
    expands_nothing = indices is not None and indices.shape is not None and 0 in indices.shape.dims
    return only_scatters(node) and (node.op_type == "ScatterND" or not expands_nothing)


_CONDITIONS: Mapping[str, Callable[[onnx_ir.Node, int], bool]] = {
    "ConstantOfShape": lambda node, opset: "value" in node.attributes,
    "Cast": _keeps_type,
    "CastLike": _keeps_type,
    "Pad": can_pad,
    **dict.fromkeys(SCATTERS, _can_scatter),
    "Transpose": lambda node, opset: _permutation(node) is not None,
}
