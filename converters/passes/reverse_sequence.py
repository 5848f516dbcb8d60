"""ReverseSequence becomes a GatherND: OpenVINO's CPU plugin reverses integers as float32, which rounds, and rejects strings.

ReverseSequence(data, lengths)  ->  GatherND(data, [source of t, b]), source of t = lengths[b] - 1 - t if t < lengths[b] else t
"""

from __future__ import annotations

import numpy as np
import onnx_ir
from onnx_ir import DataType, Value

from ov_gather.ops.onnx_nodes import attribute

from ..graphs import constant_of, nodes_of
from ..inexactness import is_preserved
from .rewriter import OperatorCalls, Rewriter

_OLDEST = 11  # the first opset with GatherND and Range
_KEPT = {
    *(DataType.BOOL, DataType.INT8, DataType.UINT8, DataType.INT16, DataType.UINT16),
    *(DataType.FLOAT, DataType.FLOAT16, DataType.BFLOAT16),
}
"""Types whose values float32 represents exactly."""


def reverse_sequence(rewriter: Rewriter) -> None:
    """Rewrite in place where OpenVINO would change or reject data. An invalid length becomes an index out of bounds."""
    for node in nodes_of(rewriter.model, "ReverseSequence"):
        data, lengths = node.inputs
        if data is None or lengths is None or _is_kept(data):
            continue
        if rewriter.opset < _OLDEST:
            rewriter.report(node, f"kept: GatherND came with opset {_OLDEST}, this is {rewriter.opset}", done=False)
            continue
        rewriter.report(node, "ReverseSequence replaced by a GatherND")
        rewriter.instead(node).GatherND(data, _coordinates(rewriter, node, data, lengths))


def _is_kept(data: Value) -> bool:
    tensor = constant_of(data)
    return data.dtype in _KEPT and data.shape is not None and (tensor is None or is_preserved(tensor.numpy(), constant=True))


def _coordinates(rewriter: Rewriter, node: onnx_ir.Node, data: Value, lengths: Value) -> Value:
    """Return the source of each element along the first two axes, computed in int32, which OpenVINO does not narrow."""
    time = attribute(node, "time_axis", 0)
    batch = attribute(node, "batch_axis", 1)

    def insert(
        op_type: str,
        *inputs: Value,
        dtype: DataType = DataType.INT32,
        rank: int = 2,
        last: int | None = None,
        **attributes: int,
    ) -> Value:
        shape = [None] * rank if last is None else [None, None, last]
        return rewriter.insert(node, op_type, inputs, dtype, shape, **attributes)

    op = OperatorCalls(insert)

    def numbers(*array: int) -> Value:
        return rewriter.constant(node, list(array))

    def along(axis: int, value: Value) -> Value:
        return op.Reshape(value, numbers(*((-1, 1) if axis == 0 else (1, -1))))

    def places(axis: int) -> Value:
        size = op.Gather(sizes, rewriter.constant(node, np.array(axis)), dtype=DataType.INT64, rank=0, axis=0)
        count = op.Cast(size, rank=0, to=DataType.INT32)
        return along(axis, op.Range(zero, count, one, rank=1))

    zero, one = (rewriter.constant(node, np.array(number, np.int32)) for number in (0, 1))
    sizes = op.Shape(data, dtype=DataType.INT64, rank=1)
    length = along(batch, op.Cast(lengths, rank=1, to=DataType.INT32))
    steps = places(time)
    turned = op.Sub(op.Sub(length, one), steps)
    is_turned = op.Less(steps, length, dtype=DataType.BOOL)
    is_none = op.Less(length, zero, dtype=DataType.BOOL)  # then the last step is out of bounds
    source = op.Where(op.Or(is_turned, is_none, dtype=DataType.BOOL), turned, steps)
    leading = op.Slice(sizes, numbers(0), numbers(2), dtype=DataType.INT64, rank=1)
    sequence = op.Expand(places(batch), leading)
    columns = [op.Reshape(value, numbers(0, 0, 1), last=1) for value in (source, sequence)]
    pairs = op.Concat(*(columns if time == 0 else columns[::-1]), last=2, axis=2)
    return op.Cast(pairs, dtype=DataType.INT64, last=2, to=DataType.INT64)
