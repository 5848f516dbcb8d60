"""Constant indices: negative ones become non-negative, and those out of bounds are refused.

Gather(data[5], [-1, 2])  ->  Gather(data[5], [4, 2])
"""

from __future__ import annotations

from types import EllipsisType

import numpy as np
import onnx_ir

from ov_gather.kernels.arguments import out_of_bounds, unravel
from ov_gather.ops.onnx_nodes import GATHERS, SCATTERS, attribute
from ov_gather.ops.table import ONNX, Along

from ..errors import ConstantIndexError, ConversionError, describe
from ..graphs import axis_of, constant_of, nodes_of
from .rewriter import Rewriter

# An axis of data, its size, and the part of the indices that addresses it.
Part = tuple[int, int, tuple[EllipsisType] | tuple[EllipsisType, int]]


def constant_indices(rewriter: Rewriter) -> None:
    """Rewrite in place along axes of static size. Raises ConversionError for an index out of bounds."""
    replaced: dict[object, onnx_ir.Value] = {}
    for node in nodes_of(rewriter.model, *GATHERS, *SCATTERS):
        data, indices = node.inputs[:2]
        tensor = None if indices is None else constant_of(indices)
        if tensor is None or data is None:
            continue
        array = tensor.numpy()
        _refuse_beyond_32_bits(node, array)
        if data.shape is None:
            continue
        parts = _parts(node, data.shape, array.shape)
        negative = sum(_count_negative(node, array, part) for part in parts)
        if not negative:
            continue
        what = f"{negative} negative constant {'index' if negative == 1 else 'indices'}"
        if rewriter.opset < 9:
            rewriter.report(node, f"{what} kept: Constant takes integers from opset 9 on, this is {rewriter.opset}", done=False)
            continue
        key = (node.graph, indices, tuple(parts))
        if key not in replaced:
            replaced[key] = rewriter.constant(node, _positive(array, parts))
        rewriter.replace_input(node, 1, replaced[key])
        rewriter.report(node, f"{what} made positive")


def _refuse_beyond_32_bits(node: onnx_ir.Node, array: np.ndarray) -> None:
    """Raise ConstantIndexError for an index beyond int32: no axis is that long on OpenVINO, which would truncate the index."""
    limits = np.iinfo(np.int32)
    beyond = (array < limits.min) | (array > limits.max)
    if beyond.any():
        place = unravel(int(beyond.argmax()), array.shape)
        raise ConstantIndexError(
            f"{describe(node)}: indices[{', '.join(map(str, place))}] = {array[place]} is out of bounds for every axis: "
            "it does not fit in int32, in which OpenVINO computes"
        )


def _parts(node: onnx_ir.Node, data: onnx_ir.Shape, indices: tuple[int, ...]) -> list[Part]:
    if ONNX[node.op_type].along is not Along.COORDINATES:
        axis = axis_of(node, data.rank())
        return [(axis, size, (...,))] if isinstance(size := data[axis], int) else []
    first, count = attribute(node, "batch_dims", 0), indices[-1] if indices else 0
    if first + count > data.rank():
        raise ConversionError(f"{describe(node)}: {first} batch dims and {count} coordinates exceed data of rank {data.rank()}")
    return [(first + i, size, (..., i)) for i in range(count) if isinstance(size := data[first + i], int)]


def _count_negative(node: onnx_ir.Node, array: np.ndarray, part: Part) -> int:
    axis, size, where = part
    chosen = array[where]
    if not chosen.size or (chosen.min() >= 0 and chosen.max() < size):
        return 0
    bad = (chosen < -size) | (chosen >= size)
    if bad.any():
        position = unravel(int(bad.argmax()), chosen.shape)
        raise ConstantIndexError(str(out_of_bounds(describe(node), array, (*position, *where[1:]), axis, size)))
    return int((chosen < 0).sum())


def _positive(array: np.ndarray, parts: list[Part]) -> np.ndarray:
    array = array.copy()
    for _, size, where in parts:
        chosen = array[where]
        chosen[chosen < 0] += size
    return array
