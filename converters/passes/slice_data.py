"""Slices of GatherElements' data.

1. Indices that are smaller than data off the gather axis: OpenVINO requires equal sizes, so data is sliced (`slice_data`).
   GatherElements(data[4, 5], i[2, 5], axis=1)  ->  GatherElements(Slice(data, [START], [2], [0]), i, axis=1)
2. Slices that start at the first element, which OpenVINO would remove (`keep_slices`).
   GatherElements(Slice(data, [0], ends, axes), i)  ->  GatherElements(Slice(data, [START], ends, axes), i)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx_ir

from ov_gather.ranges.algebra.values import LARGEST_SIZE

from ..graphs import Dim, elements_of, is_default, nodes_of, same, viewed
from .rewriter import Rewriter

I64 = onnx_ir.DataType.INT64
# Start of a Slice at the first element: the longest axis before the end, clamped. OpenVINO removes a Slice that starts at 0
# in front of GatherElements, although it changes the shape and the meaning of negative indices.
START = -LARGEST_SIZE


def slice_data(rewriter: Rewriter) -> None:
    """Rewrite in place where indices are smaller or may be; a dimension that turns out equal is kept whole."""
    for node in nodes_of(rewriter.model, "GatherElements"):
        elements = elements_of(node)
        if elements is None:
            rewriter.report(node, "data not sliced to the indices: the rank of one is open", done=False)
            continue
        smaller = narrower(*elements)
        if not smaller:
            continue
        slice_to(rewriter, node, smaller)
        sizes = ", ".join(
            f"{size if isinstance(size, int) else 'that of indices'} along axis {i}" for i, size in smaller.items()
        )
        rewriter.report(node, f"data sliced to {sizes}")


def narrower(data: Sequence[Dim], indices: Sequence[Dim], axis: int) -> dict[int, Dim]:
    """Return the sizes of indices that data may not have, by axis, except along that of the gather."""
    pairs = enumerate(zip(data, indices, strict=True))
    return {i: size for i, (have, size) in pairs if i != axis and not same(have, size)}


def slice_to(rewriter: Rewriter, node: onnx_ir.Node, sizes: Mapping[int, Dim]) -> None:
    """Slice the data of a node to these sizes, by axis; dynamic sizes are read from its indices."""
    op = rewriter.before(node)
    data, indices = node.inputs[:2]
    assert data is not None and data.shape is not None and indices is not None
    axes = rewriter.constant(node, list(sizes))
    if all(isinstance(size, int) for size in sizes.values()):
        ends = rewriter.constant(node, list(sizes.values()))
    else:
        shape = op.Shape(indices, shape=[data.shape.rank()])
        ends = op.Gather(shape, axes, shape=[len(sizes)], axis=0)
    starts = rewriter.constant(node, [START] * len(sizes))
    result = [sizes.get(i, dim) for i, dim in enumerate(data.shape)]
    sliced = op.Slice(data, starts, ends, axes, shape=result)
    rewriter.replace_input(node, 0, sliced)


def keep_slices(rewriter: Rewriter) -> None:
    """Rewrite in place: START is the same element, counted from the end."""
    for node in nodes_of(rewriter.model, "GatherElements"):
        part = None if node.inputs[0] is None else viewed(node.inputs[0]).producer()
        if part is None or not is_default(part, ("Slice",)) or len(part.inputs) < 4:
            continue
        starts, steps = part.inputs[1], part.inputs[4] if len(part.inputs) > 4 else None
        if starts is None or starts.shape is None or not _is_all(rewriter, starts, 0):
            continue
        count = starts.shape[0]
        if isinstance(count, int) and starts.dtype is not None and (steps is None or _is_all(rewriter, steps, 1)):
            rewriter.replace_input(part, 1, rewriter.constant(part, np.full(count, START, starts.dtype.numpy())))
            rewriter.report(node, "slice of data counted from the end, as OpenVINO removes one that starts at 0")


def _is_all(rewriter: Rewriter, value: onnx_ir.Value, number: int) -> bool:
    found = rewriter.ranges.of(value)
    return found is not None and found.low == found.high == number
