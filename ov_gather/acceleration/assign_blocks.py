"""Scatters whose constant indices name a block become a Concat of the updates and the data around them.

1. before: ScatterElementsUpdate or ScatterNDUpdate(data [8, 4], rows 2..4, updates [3, 4])
   after:  Concat(data[0:2], updates, data[5:8], axis 0)
2. A chain of such scatters, as exporters unroll a loop over time: each Concat reads the original pieces.
3. A block cut out of several axes: nested Concats, one per axis.
4. The same Transpose before data and updates: it moves behind the Concat.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.acceleration.axis_sizes import takes_tuples
from ov_gather.acceleration.changes import Tracker
from ov_gather.acceleration.costs import too_small
from ov_gather.acceleration.graph import (
    FOLDED_AT_COMPILE,
    ancestors,
    constant,
    identity,
    is_constant_foldable,
    is_ours,
    is_scatter,
    readers,
    replace_node,
    walk,
)
from ov_gather.acceleration.operators import op_of
from ov_gather.acceleration.quantised import is_quantised
from ov_gather.acceleration.rounding import is_computed
from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.graph.openvino import bodies
from ov_gather.ops.table import OpKind

_TYPES = ("boolean", "i8", "u8", "i32", "i64", "f16", "bf16", "f32")


@dataclass(frozen=True, slots=True)
class _Piece:
    """Positions `start` to `stop` of the axis, copied from `source` at `offset`."""

    source: Output
    offset: int
    start: int
    stop: int

    def between(self, start: int, stop: int) -> list[_Piece]:
        """Clip the piece to a range; return it in a list, which is empty if they do not overlap."""
        first, last = max(start, self.start), min(stop, self.stop)
        return [_Piece(self.source, self.offset + first - self.start, first, last)] if first < last else []

    def alone(self, axis: int) -> Output:
        """Return the piece as a tensor: a Slice of `source`, or `source` if the piece covers it."""
        if self.stop - self.start == self.source.get_shape()[axis]:
            return self.source
        ends = (ops.constant(np.array([end])) for end in (self.offset, self.offset + self.stop - self.start, 1, axis))
        return ops.slice(self.source, *ends).output(0)


def assign_blocks(model: Model, tracker: Tracker) -> None:
    """Rewrite blocks that are cut out of one axis (1, 2), and large blocks that are cut out of several (3)."""
    quantised = is_quantised(model)
    known: dict[tuple[int, int], tuple[int, list[_Piece]]] = {}
    for scatter in [node for _, node in walk(model) if is_scatter(node) and not is_ours(node)]:
        block = None if tracker.leaves(scatter) else block_of(scatter)
        if block is None:
            continue
        if reason := _why_not(scatter, block, quantised):
            tracker.kept(scatter, reason)
            continue
        data, updates, order = _operands(scatter, block)
        if order is None and _may_be_overwritten(scatter, block):
            tracker.kept(scatter, "OpenVINO may write over a Concat that several operations read")
            continue
        block = block if order is None else block.moved(order)
        earlier = data.get_node()
        if len(block.cut) == 1:  # cases 1 and 2
            (axis,) = block.cut
            along, pieces = known.get(identity(data), (axis, []))
            left = _overwritten(pieces, block, axis) if along == axis else []
            gone = {identity(piece.source) for piece in pieces} - {identity(piece.source) for piece in left}
            if not left or any(_may_raise(piece.source) for piece in pieces if identity(piece.source) in gone):
                left = _overwritten([_Piece(data, 0, 0, block.whole[axis])], block, axis)
            written = _Piece(updates, 0, block.starts[axis], block.starts[axis] + block.sizes[axis])
            pieces = sorted([*left, written], key=lambda piece: piece.start)
            joined = ops.concat([piece.alone(axis) for piece in pieces], axis)
            known[identity(joined.output(0))] = axis, pieces
        else:
            joined = _around(data, updates, block, block.cut)
        whole = joined if order is None else ops.transpose(joined, ops.constant(np.array(order)))
        rounds = scatter.get_element_type().is_real() and (is_computed(data) or is_computed(updates))
        replace_node(scatter, whole)
        tracker.done(scatter, "Concat with what is around the block", whole, rounds=rounds)
        if identity(data) in known:
            tracker.joined(earlier, whole)


def _overwritten(pieces: list[_Piece], block: Block, axis: int) -> list[_Piece]:
    """Return the parts of the pieces outside the block."""
    start, stop = block.starts[axis], block.starts[axis] + block.sizes[axis]
    return [part for ends in ((0, start), (stop, block.whole[axis])) for piece in pieces for part in piece.between(*ends)]


def _may_raise(value: Output) -> bool:
    """Return True if computing a value may raise for an index out of bounds. It must then stay, even if nothing reads it."""
    return any(op_of(node).kind in (OpKind.GATHER, OpKind.SCATTER) or bodies(node) for node in ancestors([value]))


def _why_not(scatter: Node, block: Block, quantised: bool) -> str:
    """Return the reason to leave a scatter of a block as it is; empty to rewrite it."""
    data, updates, kind = scatter.input_value(0), scatter.input_value(2), scatter.get_element_type()
    if is_constant_foldable([data, updates]):
        return FOLDED_AT_COMPILE
    if kind.get_type_name() not in _TYPES:
        return f"of {kind.get_type_name()} not all bits are known to stay the same"
    if quantised and kind.is_real():
        return "OpenVINO would compute a Concat in 8 bits"
    if not block.cut:
        return "it overwrites everything"
    if updates.get_partial_shape().is_dynamic or prod(updates.get_shape()) != prod(block.sizes):
        return "the shape of the updates is open"
    return "too small to gain" if len(block.cut) > 1 and too_small(updates) else ""


def _may_be_overwritten(scatter: Node, block: Block) -> bool:
    """Return True if a Concat in place of a scatter could be overwritten before its last reader has read it.

    OpenVINO 2026.4.1 places the inputs of a Concat in its memory if all dimensions before the axis are 1. Operations that run
    in place, such as Abs, then write their output there, although the Concat is still read.
    """
    return len(readers(scatter)) > 1 and prod(block.whole[: block.cut[0]]) == 1


def _operands(scatter: Node, block: Block) -> tuple[Output, Output, list[int] | None]:
    """Return data, updates and None; if the same Transpose precedes both (case 4), its inputs and its order."""
    data, updates = scatter.input_value(0), scatter.input_value(2)
    if tuple(updates.get_shape()) != block.sizes:
        return data, ops.reshape(updates, ops.constant(np.array(block.sizes)), special_zero=False).output(0), None
    nodes = data.get_node(), updates.get_node()
    if all(node.get_type_name() == "Transpose" for node in nodes):
        first, second = (constant(node.input_value(1)) for node in nodes)
        if first is not None and second is not None and first.size and first.tolist() == second.tolist():
            return nodes[0].input_value(0), nodes[1].input_value(0), [int(axis) for axis in first]
    return data, updates, None


def _around(data: Output, updates: Output, block: Block, cut: list[int]) -> Node:
    """Put data around the updates, one nested Concat per axis in `cut` (case 3)."""
    axis, *inner = cut
    start, stop, size = block.starts[axis], block.starts[axis] + block.sizes[axis], block.whole[axis]
    before, between, after = (
        _Piece(data, first, first, last) if first < last else None for first, last in ((0, start), (start, stop), (stop, size))
    )
    assert between is not None
    middle = _around(between.alone(axis), updates, block, inner).output(0) if inner else updates
    parts = [before and before.alone(axis), middle, after and after.alone(axis)]
    return ops.concat([part for part in parts if part is not None], axis)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a tensor of shape `whole`: elements `starts[i]` to `starts[i] + sizes[i]` of each axis i."""

    whole: tuple[int, ...]
    starts: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def cut(self) -> list[int]:
        """The axes that the block covers only in part."""
        return [axis for axis, size in enumerate(self.whole) if self.sizes[axis] < size]

    def moved(self, order: list[int]) -> Block:
        """Return this block in coordinates of the input of a Transpose by `order`."""
        source = [order.index(axis) for axis in range(len(order))]
        whole, starts, sizes = (tuple(one[i] for i in source) for one in (self.whole, self.starts, self.sizes))
        return Block(whole, starts, sizes)


def block_of(scatter: Node) -> Block | None:
    """Return the block that a scatter overwrites; None if there is none, indices are not constant, or a shape is dynamic."""
    shape, elements = scatter.get_input_partial_shape(0), constant(scatter.input_value(1))
    if shape.is_dynamic or elements is None or not elements.size or scatter.get_attributes().get("reduction", "none") != "none":
        return None
    whole = tuple(shape.to_shape())
    if takes_tuples(scatter):
        return _of_tuples(whole, elements)
    axis = constant(scatter.input_value(3))
    return None if axis is None else _along(whole, elements, int(axis.item()) % len(whole))


def _of_tuples(whole: tuple[int, ...], tuples: NDArray[Any]) -> Block | None:
    length = tuples.shape[-1]
    tuples = tuples.reshape(-1, length).astype(np.int64)
    from_start = _from_start(tuples, np.array(whole[:length]))
    if from_start is None or not length:
        return None
    starts = from_start.min(0)
    sizes = from_start.max(0) + 1 - starts
    if sizes.prod() != len(tuples) or not np.array_equal(np.indices(sizes).reshape(length, -1).T + starts, from_start):
        return None
    rest = whole[length:]
    return Block(whole, (*starts.tolist(), *(0 for _ in rest)), (*sizes.tolist(), *rest))


def _along(whole: tuple[int, ...], indices: NDArray[Any], axis: int) -> Block | None:
    from_start = _from_start(indices.astype(np.int64), np.array(whole[axis]))
    if from_start is None:
        return None
    line = np.moveaxis(from_start, axis, -1)
    start = int(line.flat[0])
    if not (line == np.arange(start, start + indices.shape[axis])).all():
        return None
    starts = tuple(start if i == axis else 0 for i in range(len(whole)))
    return Block(whole, starts, indices.shape)


def _from_start(indices: NDArray[Any], sizes: NDArray[Any]) -> NDArray[Any] | None:
    """Convert negative indices to positions from the start; return None if an index is out of bounds."""
    if ((indices < -sizes) | (indices >= sizes)).any():
        return None
    return np.asarray(np.where(indices < 0, indices + sizes, indices))
