"""An index that an operator reads rows by itself goes through a Gather first, which every command knows.

RotaryEmbedding(x, cos, sin, ids)  ->  RotaryEmbedding(x, cos, sin, Gather([0, 1, ... number of rows - 1], ids))

OpenVINO 2026.4 returns other rows, or memory, for an index out of bounds of these operators; onnxruntime refuses it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir

from ov_gather.ops.onnx_nodes import attribute

from .rewriter import Rewriter


@dataclass(frozen=True)
class _Index:
    """An input that holds indices, and the axis of another input that they address.

    Attributes:
        port, data: positions of the inputs.
        axis: the axis, or the attribute that holds it.
        counts_from_end: whether negative indices are permitted.
        ignored: the attribute with a number that is no index.
        starts: whether a vector of one index is the first one of the tokens of each sequence, which OpenVINO takes for all.
    """

    port: int
    data: int
    axis: int | str = 0
    counts_from_end: bool = False
    ignored: str = ""
    starts: bool = False


_CONTRIBUTED = "com.microsoft"
_LABELS = (_Index(1, 0, 1, ignored="ignore_index"),)
_UNCHECKED: Mapping[tuple[str, str], Sequence[_Index]] = {
    ("", "RoiAlign"): (_Index(2, 0),),
    ("", "RotaryEmbedding"): (_Index(3, 1),),
    (_CONTRIBUTED, "EmbedLayerNormalization"): (_Index(0, 2), _Index(1, 4), _Index(8, 3)),
    (_CONTRIBUTED, "GatherBlockQuantized"): (_Index(1, 0, "gather_axis", counts_from_end=True),),
    (_CONTRIBUTED, "RotaryEmbedding"): (_Index(1, 2, starts=True),),
}
_REFUSED: Mapping[tuple[str, str], Sequence[_Index]] = {
    ("", "NegativeLogLikelihoodLoss"): _LABELS,
    ("", "SoftmaxCrossEntropyLoss"): _LABELS,
}
"""Operators whose indices OpenVINO checks itself: proofs need to see them, converted models do not."""
_OLDEST = 11
"""The first opset with Range, and with negative indices of Gather."""


def explicit_indices(rewriter: Rewriter, *, for_proofs: bool = False) -> None:
    """Rewrite in place; `for_proofs` shows indices that OpenVINO checks, too."""
    if rewriter.opset < _OLDEST:
        return
    found = {**_UNCHECKED, **_REFUSED} if for_proofs else _UNCHECKED
    for node in [*rewriter.model.graph.all_nodes()]:
        operator = node.domain, node.op_type
        if operator == (_CONTRIBUTED, "GatherND"):
            node.domain = ""
            rewriter.report(node, "the GatherND of ONNX instead of that of com.microsoft")
        for index in found.get(operator, ()):
            if max(index.port, index.data) < len(node.inputs):
                _make_explicit(rewriter, node, index)


def _make_explicit(rewriter: Rewriter, node: onnx_ir.Node, index: _Index) -> None:
    given, data = node.inputs[index.port], node.inputs[index.data]
    if given is None or given.dtype is None or data is None:
        return
    op, kind = rewriter.before(node), given.dtype.numpy()
    zero, one = (rewriter.constant(node, np.array(number, kind)) for number in (0, 1))
    if index.starts and given.shape is not None and given.shape.rank() == 1:
        given = _of_each_token(rewriter, node, given, zero, one)
    shape = given.shape
    axis = index.axis if isinstance(index.axis, int) else attribute(node, index.axis, 0)
    known = None if data.shape is None else data.shape[axis]
    if isinstance(known, int):
        size = rewriter.constant(node, np.array(known, kind))
    else:
        sizes = op.Gather(op.Shape(data, shape=[None]), rewriter.constant(node, np.array(axis)), axis=0, shape=[])
        size = op.Cast(sizes, to=given.dtype, shape=[])
    places = op.Range(zero, size, one, shape=[known if isinstance(known, int) else None])
    wanted, is_ignored = given, None
    if index.ignored in node.attributes:
        number = rewriter.constant(node, np.array(attribute(node, index.ignored, 0), kind))
        is_ignored = op.Equal(given, number, shape=shape)
        wanted = op.Where(is_ignored, zero, given, shape=shape)
    if not index.counts_from_end:
        outside = rewriter.constant(node, np.array(np.iinfo(np.int32).min, kind))
        wanted = op.Where(op.Less(wanted, zero, shape=shape), outside, wanted, shape=shape)
    found = op.Gather(places, wanted, axis=0, shape=shape)
    if is_ignored is not None:
        found = op.Where(is_ignored, given, found, shape=shape)
    node.replace_input_with(index.port, found)
    rewriter.report(node, f"indices of input {index.port} go through a Gather of their own, which checks them")


def _of_each_token(
    rewriter: Rewriter, node: onnx_ir.Node, first: onnx_ir.Value, zero: onnx_ir.Value, one: onnx_ir.Value
) -> onnx_ir.Value:
    """Return the indices of all tokens; their number is the last size but one of the first input."""
    op = rewriter.before(node)
    sizes = op.Shape(node.inputs[0], shape=[None])
    count = op.Gather(sizes, rewriter.constant(node, np.array(-2)), axis=0, shape=[])
    row = op.Add(first, op.Range(zero, op.Cast(count, to=first.dtype, shape=[]), one, shape=[None]), shape=[None])
    batch = op.Gather(sizes, rewriter.constant(node, [0]), axis=0, shape=[1])
    return op.Expand(
        row, op.Concat(batch, op.Reshape(count, rewriter.constant(node, [1]), shape=[1]), axis=0, shape=[2]), shape=[None, None]
    )
