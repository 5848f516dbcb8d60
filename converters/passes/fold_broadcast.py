"""GatherElements whose indices are broadcast by Expand or Tile: a Gather, or a GatherND in batches, of what was broadcast."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir
from ov_gather.converters.graphs import axis_of, nodes_of, same
from ov_gather.converters.interval import Dim
from ov_gather.converters.passes.rewriter import Rewriter
from ov_gather.converters.passes.slice_data import I64, slice_to


@dataclass(frozen=True)
class _Fold:
    """One such node. Dims of small are those of its value with 1s in front, up to the rank of data."""

    node: onnx_ir.Node
    axis: int
    data: tuple[Dim, ...]
    indices: tuple[Dim, ...]
    small: tuple[Dim, ...]
    value: onnx_ir.Value

    @property
    def batched(self) -> bool:
        """Whether the indices differ along an axis before that of the gather."""
        return any(dim != 1 for dim in self.small[: self.axis])

    @property
    def narrower(self) -> dict[int, Dim]:
        """The dimensions that the indices take less of than data has."""
        pairs = enumerate(zip(self.data, self.indices, strict=True))
        return {i: size for i, (have, size) in pairs if i != self.axis and not same(have, size)}


def fold_broadcast(rewriter: Rewriter, *, unchecked: bool) -> None:
    """Rewrite in place. Unless `unchecked`, indices must be in bounds for sure."""
    for node in nodes_of(rewriter.model, "GatherElements"):
        fold = _candidate(node)
        if fold is None:
            continue
        reason = _why_not(rewriter, fold, unchecked)
        if reason is not None:
            rewriter.report(node, f"broadcast of the indices kept: {reason}", done=False)
            continue
        indices = node.inputs[1]
        assert indices is not None
        if fold.narrower:
            slice_to(rewriter, node, fold.narrower, indices)
        if fold.batched:
            _to_gather_nd(rewriter, fold)
        else:
            _to_gather(rewriter, fold)


def _candidate(node: onnx_ir.Node) -> _Fold | None:
    data, indices = node.inputs
    if data is None or indices is None or data.shape is None or indices.shape is None:
        return None
    rank = data.shape.rank()
    value, small = _before_broadcast(indices, rank)
    if value is indices:
        return None
    return _Fold(node, axis_of(node, rank), data.shape.dims, indices.shape.dims, small, value)


def _before_broadcast(indices: onnx_ir.Value, rank: int) -> tuple[onnx_ir.Value, tuple[Dim, ...]]:
    """What is broadcast to these indices, and its dims with 1s in front."""
    assert indices.shape is not None
    value, dims = indices, indices.shape.dims
    while True:
        node = value.producer()
        if node is None or node.domain != "" or node.op_type not in ("Expand", "Tile", "Identity"):
            return value, dims
        source = node.inputs[0]
        if source is None or source.shape is None:
            return value, dims
        smaller = (1,) * (rank - source.shape.rank()) + source.shape.dims
        if not all(small == 1 or same(small, large) for small, large in zip(smaller, dims, strict=True)):
            return value, dims
        value, dims = source, smaller


def _why_not(rewriter: Rewriter, fold: _Fold, unchecked: bool) -> str | None:
    """Why a node cannot be folded, or None."""
    axis = fold.axis
    if not same(fold.small[axis], fold.indices[axis]):
        return f"it is along axis {axis} of the gather"
    varies = [i for i, dim in enumerate(fold.small) if i != axis and dim != 1]
    after = [i for i in varies if i > axis]
    if after or (varies and axis == len(fold.data) - 1):
        return f"they differ along axis {(after or varies)[0]}, too"
    for i, size in fold.narrower.items():
        have = fold.data[i]
        if not isinstance(size, int) or not isinstance(have, int):
            return f"whether data has their size along axis {i} is open"
        if size > have:
            return f"they are larger than data along axis {i}"
    if varies and rewriter.opset < 12:
        return f"GatherND has batches from opset 12 on, this is {rewriter.opset}"
    if varies and _repeated(fold) and not all(isinstance(dim, int) and dim > 0 for dim in fold.indices[:axis]):
        # onnxruntime 1.31 takes an Expand to sizes of 0 and 1 for one that does nothing
        return f"it is along an axis of open size, or of size 0, before axis {axis}"
    found = rewriter.ranges.of(fold.value)
    if not unchecked and not (found is not None and found.indexes(fold.data[axis])):
        return "they may be out of bounds, where stock Gather and GatherND do not raise"
    return None


def _repeated(fold: _Fold) -> bool:
    """Whether the axes before that of the gather are broadcast, too."""
    axis = fold.axis
    return fold.value.shape is None or fold.value.shape.rank() < len(fold.data) or fold.small[:axis] != fold.indices[:axis]


def _to_gather(rewriter: Rewriter, fold: _Fold) -> None:
    node, value = fold.node, fold.value
    if value.shape is None or value.shape.rank() != 1:
        flat = rewriter.constant(node, [-1])
        value = rewriter.insert(node, "Reshape", [value, flat], value.dtype, [fold.small[fold.axis]])
    _become(rewriter, node, "Gather", value, axis=fold.axis)


def _to_gather_nd(rewriter: Rewriter, fold: _Fold) -> None:
    """Coordinates of one component each, int64."""
    node, value, axis = fold.node, fold.value, fold.axis
    batches = fold.indices[: axis + 1]
    if value.dtype != I64:
        value = rewriter.insert(node, "Cast", [value], I64, value.shape.dims if value.shape else (), to=I64)
    if _repeated(fold):
        ones = [1] * (len(fold.data) - axis)
        sizes = rewriter.constant(node, [*batches[:axis], *ones])
        value = rewriter.insert(node, "Expand", [value, sizes], I64, [*batches, *ones[1:]])
    if value.shape is None or value.shape.rank() != axis + 2:
        kept = rewriter.constant(node, [0] * (axis + 1) + [1])
        value = rewriter.insert(node, "Reshape", [value, kept], I64, [*batches, 1])
    _become(rewriter, node, "GatherND", value, batch_dims=axis)


def _become(rewriter: Rewriter, node: onnx_ir.Node, op_type: str, indices: onnx_ir.Value, **attributes: int) -> None:
    rewriter.report(node, f"broadcast of the indices folded into {op_type}")
    rewriter.replace_input(node, 1, indices)
    node.op_type = op_type
    node.attributes.clear()
    node.attributes.update({name: onnx_ir.AttrInt64(name, value) for name, value in attributes.items()})
