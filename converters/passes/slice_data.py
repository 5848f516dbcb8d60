"""GatherElements whose indices are smaller than data off the gather axis: OpenVINO requires equal sizes, so data is sliced.

GatherElements(data[4, 5], i[2, 5], axis=1)  ->  GatherElements(Slice(data, [START], [2], [0]), i, axis=1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir

from ov_gather.ranges.algebra.values import LARGEST_SIZE

from ..graphs import Dim, elements_of, nodes_of, same
from ..passes.rewriter import Rewriter

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
    data, indices = node.inputs[:2]
    assert data is not None and data.shape is not None and indices is not None
    axes = rewriter.constant(node, list(sizes))
    if all(isinstance(size, int) for size in sizes.values()):
        ends = rewriter.constant(node, list(sizes.values()))
    else:
        shape = rewriter.insert(node, "Shape", [indices], I64, [data.shape.rank()])
        ends = rewriter.insert(node, "Gather", [shape, axes], I64, [len(sizes)], axis=0)
    starts = rewriter.constant(node, [START] * len(sizes))
    result = [sizes.get(i, dim) for i, dim in enumerate(data.shape)]
    sliced = rewriter.insert(node, "Slice", [data, starts, ends, axes], data.dtype, result)
    rewriter.replace_input(node, 0, sliced)
