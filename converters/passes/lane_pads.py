"""Pads in lanes. OpenVINO's CPU plugin rounds the number with which it pads integers to float32.

1. Pad(x, pads, n), all lanes of n equal, exact in float32  ->  Pad(x.lanes, pads, lane of n)
2. Pad(x, pads, n), other n                                 ->  Where(Pad(ones, pads, 0), Pad(x.lanes, pads, 0), n.lanes)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir
from onnx_ir import DataType, Value

from ..graphs import constant_of
from .lane_nodes import Move, in_lanes, shifted_axes

_WITH_INPUTS = 11  # the first opset with pads as an input


def can_pad(node: onnx_ir.Node, opset: int) -> bool:
    """Return True if a Pad can be executed in lanes: the position of the lanes' dimension in its pads must be known."""
    if opset < _WITH_INPUTS:
        value = node.attributes.get("value")
        return "pads" in node.attributes and (value is None or value.as_float() == 0)
    data, pads, *_ = node.inputs
    has_axes = len(node.inputs) > 3 and node.inputs[3] is not None
    has_rank = data is not None and data.shape is not None
    return has_axes or has_rank or (pads is not None and _count(pads) is not None)


def pad(move: Move) -> Sequence[Value]:
    """Insert a Pad of lanes; return its output."""
    if "pads" in move.node.attributes:
        pads = list(move.node.attributes["pads"].as_ints())
        half = len(pads) // 2
        none = [0] * len(move.kind.dims)
        return move.again(pads=[*pads[:half], *none, *pads[half:], *none])
    data, pads_given, value, axes = (*move.inputs, None, None)[:4]
    assert pads_given is not None
    if move.kind.dims and axes is not None:
        axes = shifted_axes(move, axes)
    elif move.kind.dims:
        pads_given = _longer_pads(move, pads_given)
    lanes = _constant_lanes(move, value)
    if lanes is not None and (lanes == lanes[0]).all() and int(np.float32(lanes[0])) == lanes[0]:  # case 1
        return move.again([data, pads_given, move.rewriter.constant(move.node, lanes[:1].reshape(())), axes])
    shape = in_lanes(move.node.outputs[0].shape, move.kind)
    zero = move.rewriter.constant(move.node, np.zeros((), move.kind.lane.numpy()))
    (padded,) = move.again([data, pads_given, zero, axes])
    # Case 2: ones mark what is not padding.
    marked = move.op.Equal(data, data)
    ones = move.op.Cast(marked, to=move.kind.lane)
    (kept,) = move.again([ones, pads_given, zero, axes])
    is_kept = move.op.Cast(kept, to=DataType.BOOL)
    fill = value if lanes is None else move.rewriter.constant(move.node, lanes)
    return [move.op.Where(is_kept, padded, fill, shape=shape)]


def _count(pads: Value) -> int | None:
    """Return the number of pads, twice the rank; None if unknown."""
    tensor = constant_of(pads)
    sizes = pads.shape if tensor is None else tensor.shape
    return sizes[0] if sizes is not None and isinstance(sizes[0], int) else None


def _constant_lanes(move: Move, value: Value | None) -> np.ndarray | None:
    """Return the lanes of the number to pad with; None if it is computed."""
    tensor = None if value is None else constant_of(value)
    mode = move.node.attributes["mode"].as_string() if "mode" in move.node.attributes else "constant"
    if value is None or mode != "constant":
        return np.zeros(1, move.kind.lane.numpy())
    return None if tensor is None else tensor.numpy().reshape(-1)


def _longer_pads(move: Move, pads: Value) -> Value:
    """Return pads of all axes, with 0 added for the lanes."""
    tensor = constant_of(pads)
    if tensor is not None:
        begins, ends = np.split(tensor.numpy(), 2)
        return move.constant([*begins.tolist(), 0, *ends.tolist(), 0])
    data, count = move.node.inputs[0], _count(pads)
    assert data is not None and (data.shape is not None or count is not None)  # `can_pad` ensures it
    rank = data.shape.rank() if data.shape is not None else (count or 0) // 2
    none = move.constant([0])
    places = [move.constant([place]) for place in (0, rank, 2 * rank)]
    halves = [move.op.Slice(pads, *bounds, dtype=DataType.INT64, shape=[rank]) for bounds in (places[:2], places[1:])]
    return move.op.Concat(halves[0], none, halves[1], none, dtype=DataType.INT64, shape=[2 * rank + 2], axis=0)
