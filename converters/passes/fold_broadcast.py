"""GatherElements of broadcast indices becomes a Gather, or a batched GatherND, of the indices before the broadcast.

1. GatherElements(data, Expand(i[1, k, 1]), axis=1)  ->  Gather(data, Reshape(i, [-1]), axis=1)
2. GatherElements(data, Expand(i[b, k, 1]), axis=1)  ->  GatherND(data, i, batch_dims=1)

Expand may also be Tile, or a chain of these. Data that is larger than the indices is sliced to them.
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir

from ov_gather.divergences import low_precision
from ov_gather.ops.table import EITHER, OpKind
from ov_gather.system.traversal import reachable

from ..graphs import Dim, elements_of, nodes_of, operands_of, same
from .rewriter import Rewriter
from .slice_data import I64, narrower, slice_to


@dataclass(frozen=True)
class BroadcastFold:
    """A candidate: `small` is the shape of `value`, the indices before the broadcast, with 1s added up to the rank of data."""

    node: onnx_ir.Node
    axis: int
    data: tuple[Dim, ...]
    indices: tuple[Dim, ...]
    small: tuple[Dim, ...]
    value: onnx_ir.Value
    rank: int  # of value

    @property
    def varies(self) -> list[int]:
        """Axes other than that of the gather along which the indices differ."""
        return [i for i, dim in enumerate(self.small) if i != self.axis and dim != 1]

    @property
    def narrower(self) -> dict[int, Dim]:
        """Sizes to which data must be sliced, by axis."""
        return narrower(self.data, self.indices, self.axis)

    @property
    def repeated(self) -> bool:
        """True if axes before that of the gather are broadcast, too."""
        return self.rank < len(self.data) or self.small[: self.axis] != self.indices[: self.axis]


def fold_broadcast(rewriter: Rewriter, *, unchecked: bool, stock: bool) -> None:
    """Rewrite in place. Indices must be proved to be in bounds unless `unchecked`. `stock`: for OpenVINO's Gather, not ours."""
    in_8_bits = stock and _is_quantised(rewriter.model)
    for node in nodes_of(rewriter.model, "GatherElements"):
        fold = _candidate(node)
        if fold is None:
            continue
        reason = _why_not(rewriter, fold, unchecked, in_8_bits)
        if reason is not None:
            rewriter.report(node, f"broadcast of the indices kept: {reason}", done=False)
            continue
        if fold.narrower:
            slice_to(rewriter, node, fold.narrower)
        if fold.varies:
            _to_gather_nd(rewriter, fold)  # case 2
        else:
            _to_gather(rewriter, fold)  # case 1


def _candidate(node: onnx_ir.Node) -> BroadcastFold | None:
    elements, value = elements_of(node), node.inputs[1]
    if elements is None or value is None:
        return None
    data, indices, axis = elements
    small, rank = indices, len(indices)
    while (broadcast := _source(value)) is not None:
        source, dims = broadcast
        padded = (1,) * (len(small) - len(dims)) + dims
        if not all(one == 1 or same(one, other) for one, other in zip(padded, small, strict=True)):
            break
        value, small, rank = source, padded, len(dims)
    return None if small == indices else BroadcastFold(node, axis, data, indices, small, value, rank)


def _source(value: onnx_ir.Value) -> tuple[onnx_ir.Value, tuple[Dim, ...]] | None:
    """Return the operand of a broadcast, and its dims; None if the value is no broadcast, or the rank is unknown."""
    node = value.producer()
    if node is None or node.domain != "" or node.op_type not in ("Expand", "Tile", "Identity"):
        return None
    source = node.inputs[0]
    return None if source is None or source.shape is None else (source, source.shape.dims)


def _why_not(rewriter: Rewriter, fold: BroadcastFold, unchecked: bool, in_8_bits: bool) -> str | None:
    """Return the reason against folding; None if there is none."""
    axis = fold.axis
    if not same(fold.small[axis], fold.indices[axis]):
        return f"it is along axis {axis} of the gather"
    varies = fold.varies
    if varies and (varies[-1] > axis or axis == len(fold.data) - 1):
        return f"they differ along axis {varies[-1]}, too"
    for i, size in fold.narrower.items():
        have = fold.data[i]
        if not isinstance(size, int) or not isinstance(have, int):
            return f"whether data has their size along axis {i} is open"
        if size > have:
            return f"they are larger than data along axis {i}"
    data = fold.node.inputs[0]
    if data is not None and data.dtype == onnx_ir.DataType.STRING:
        return "onnxruntime 1.31's Gather copies the first string of each block only"
    if in_8_bits and not varies and data is not None and _is_low_precision(data):
        return low_precision.REASON
    if varies and rewriter.opset < 12:
        return f"GatherND has batches from opset 12 on, this is {rewriter.opset}"
    if varies and fold.repeated and not all(isinstance(dim, int) and dim > 0 for dim in fold.indices[:axis]):
        # onnxruntime 1.31 treats an Expand to sizes of 0 and 1 as a no-op
        return f"it is along an axis of open size, or of size 0, before axis {axis}"
    if not unchecked and not (data is not None and rewriter.ranges.are_indices(fold.value, data, axis)):
        return "they may be out of bounds, where stock Gather and GatherND do not raise"
    return None


def _to_gather(rewriter: Rewriter, fold: BroadcastFold) -> None:
    node, value = fold.node, fold.value
    if fold.rank != 1:
        flat = rewriter.constant(node, [-1])
        value = rewriter.before(node).Reshape(value, flat, shape=[fold.small[fold.axis]])
    rewriter.report(node, "broadcast of the indices folded into Gather")
    rewriter.instead(node).Gather(node.inputs[0], value, axis=fold.axis)


def _to_gather_nd(rewriter: Rewriter, fold: BroadcastFold) -> None:
    """Apply case 2, with int64 tuples of one coordinate."""
    node, value, axis = fold.node, fold.value, fold.axis
    op = rewriter.before(node)
    batches = fold.indices[: axis + 1]
    if value.dtype != I64:
        value = op.Cast(value, shape=fold.small[len(fold.small) - fold.rank :], to=I64)
    if fold.repeated:
        ones = [1] * (len(fold.data) - axis)
        sizes = rewriter.constant(node, [*batches[:axis], *ones])
        value = op.Expand(value, sizes, dtype=I64, shape=[*batches, *ones[1:]])
    if len(fold.data) != axis + 2:
        kept = rewriter.constant(node, [0] * (axis + 1) + [1])
        value = op.Reshape(value, kept, dtype=I64, shape=[*batches, 1])
    rewriter.report(node, "broadcast of the indices folded into GatherND")
    rewriter.instead(node).GatherND(node.inputs[0], value, batch_dims=axis)


_NARROW = (onnx_ir.DataType.INT8, onnx_ir.DataType.UINT8, onnx_ir.DataType.INT4, onnx_ir.DataType.UINT4)


def _is_quantised(model: onnx_ir.Model) -> bool:
    """Return True if OpenVINO will run its low-precision passes: it converts QuantizeLinear to FakeQuantize."""
    return any(map(_quantises, model.graph.all_nodes()))


def _quantises(node: onnx_ir.Node) -> bool:
    """Return True for a QuantizeLinear, and for a FakeQuantize of OpenVINO's domain."""
    return EITHER[node.op_type].kind is OpKind.QUANTIZATION


def _is_low_precision(value: onnx_ir.Value) -> bool:
    """Return True if a value of a quantised model may be computed in 8 bits: a quantisation or dequantisation precedes it."""

    def before(value: onnx_ir.Value) -> list[onnx_ir.Value]:
        given = [] if is_stopped(value) else operands_of(value)
        return [one for one in given if one.dtype is None or not one.dtype.is_integer()]

    def is_stopped(value: onnx_ir.Value) -> bool:
        node = value.producer()
        return node is None or node.op_type in low_precision.STOPS

    def is_quantising(value: onnx_ir.Value) -> bool:
        node = value.producer()
        return (node is not None and _quantises(node)) or any(given.dtype in _NARROW for given in operands_of(value))

    return any(is_quantising(found) and not is_stopped(found) for found in reachable([value], before))
