"""Gathers and scatters without elements.

1. A Gather without elements in data or indices, at which the CPU plugin crashes, becomes its empty result.
   Gather(data[3, 0], i[2])  ->  Cast(ConstantOfShape([2, 0]))
   Gather(data[?], i[0])     ->  Slice(data, 0, 0), as the shape may be static for the plugin
   Flatten(x[0, 3], 0)       ->  Cast(ConstantOfShape([1, 0])), as OpenVINO's Reshape takes the 0 for another size
   Flatten(x[?, ?, 2], 2)    ->  Reshape<allowzero = 1>(x, [n * m, 2]), as one of the sizes n and m may be 0
2. A scatter without updates returns its data. OpenVINO loses constants without elements, and crashes for some.
   ScatterND(data, i[0, 2], updates[0])  ->  Identity(data)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import onnx_ir

from ov_gather.ops.onnx_nodes import SCATTERS, attribute
from ov_gather.ops.table import ONNX, Along

from ..errors import ConstantIndexError, describe
from ..graphs import axis_of, nodes_of
from .rewriter import Rewriter

_WITH_SLICE = 10  # the first opset whose Slice has its bounds as inputs
_WITH_ALLOWZERO = 14  # the first opset whose Reshape may make a size of 0


def empty_gathers(rewriter: Rewriter) -> None:
    """Rewrite in place Gathers of static shapes. Raises ConversionError if there are indices of an empty axis."""
    for node in nodes_of(rewriter.model, "Gather"):
        data, indices = (_sizes(value) for value in node.inputs[:2])
        if data is None and indices == (0,) and slice_nothing(rewriter, node, node.inputs[0]):
            continue
        if data is None or indices is None or all(prod(shape) for shape in (data, indices)):
            continue
        axis = axis_of(node, len(data))
        shape = (*data[:axis], *indices, *data[axis + 1 :])
        if prod(shape):
            raise ConstantIndexError(
                f"{describe(node)}: no index is valid for axis {axis} of size 0, and there are {prod(indices)} of them"
            )
        dtype = None if node.inputs[0] is None else node.inputs[0].dtype
        if dtype is None or dtype == onnx_ir.DataType.STRING or rewriter.opset < 9:
            what = "strings" if dtype == onnx_ir.DataType.STRING else f"opset {rewriter.opset} or of unknown type"
            rewriter.report(node, f"empty gather of {what} kept: OpenVINO's CPU plugin dies of it", done=False)
            continue
        _become_empty(rewriter, node, shape, dtype)


def empty_flattened(rewriter: Rewriter) -> None:
    """Rewrite in place Flattens of static shapes without elements, and those of open ones that may have none."""
    for node in nodes_of(rewriter.model, "Flatten"):
        data = node.inputs[0]
        sizes, dtype = _sizes(data), None if data is None else data.dtype
        axis = int(attribute(node, "axis", 1))
        if sizes is None and data is not None and data.shape is not None:
            _flatten_to_sizes(rewriter, node, data.shape.dims, axis % len(data.shape) if axis < 0 else axis)
        if sizes is None or 0 not in sizes or dtype in (None, onnx_ir.DataType.STRING) or rewriter.opset < 9:
            continue
        _become_empty(rewriter, node, (prod(sizes[:axis]), prod(sizes[axis:])), dtype)


def _flatten_to_sizes(rewriter: Rewriter, node: onnx_ir.Node, dims: Sequence[int | onnx_ir.SymbolicDim], axis: int) -> None:
    """Turn a Flatten of an open shape into a Reshape to both sizes, if OpenVINO would take a 0 for another size."""
    if not 2 <= axis <= len(dims) or rewriter.opset < _WITH_ALLOWZERO:
        return
    op = rewriter.before(node)
    shape, sizes = op.Shape(node.inputs[0], shape=[None]), []
    for part in (range(axis), range(axis, len(dims))):
        known = [dim for dim in (dims[at] for at in part) if isinstance(dim, int)]
        size = rewriter.constant(node, [prod(known)])
        for at in (at for at in part if not isinstance(dims[at], int)):
            size = op.Mul(size, op.Gather(shape, rewriter.constant(node, [at]), axis=0, shape=[1]), shape=[1])
        sizes.append(size)
    rewriter.instead(node).Reshape(node.inputs[0], op.Concat(*sizes, axis=0, shape=[2]), allowzero=1)
    rewriter.report(node, "a Reshape to its sizes, one of which may be 0")


def _become_empty(rewriter: Rewriter, node: onnx_ir.Node, shape: tuple[int, ...], dtype: onnx_ir.DataType | None) -> None:
    """Turn a node into an empty tensor of a shape."""
    rewriter.report(node, f"replaced by the empty tensor of shape {list(shape)} that it gives")
    sizes = rewriter.constant(node, list(shape))
    empty = rewriter.before(node).ConstantOfShape(sizes, dtype=onnx_ir.DataType.FLOAT, shape=shape)
    rewriter.instead(node).Cast(empty, to=dtype)


def tuples_of_nothing(rewriter: Rewriter) -> None:
    """Rewrite in place: a tuple without coordinates addresses all of data, or all of its batch."""
    for node in nodes_of(rewriter.model, "GatherND"):
        data, tuples, batch = node.inputs[0], _sizes(node.inputs[1]), attribute(node, "batch_dims", 0)
        if data is None or not tuples or tuples[-1] or batch not in (0, len(tuples) - 1):
            continue
        if batch:
            rewriter.instead(node).Identity(data)
            rewriter.report(node, "its data, as tuples without coordinates address all of it")
            continue
        op = rewriter.before(node)
        sizes = op.Concat(rewriter.constant(node, list(tuples[:-1])), op.Shape(data, shape=[None]), shape=[None], axis=0)
        rewriter.instead(node).Expand(data, sizes)
        rewriter.report(node, "its data, repeated, as tuples without coordinates address all of it")


def slice_nothing(rewriter: Rewriter, node: onnx_ir.Node, data: onnx_ir.Value | None) -> bool:
    """Turn a node into an empty Slice of data along its attribute `axis`; return False for opsets before 10, which lack it."""
    if rewriter.opset < _WITH_SLICE:
        return False
    none, axis = rewriter.constant(node, [0]), rewriter.constant(node, [attribute(node, "axis", 0)])
    rewriter.instead(node).Slice(data, none, none, axis)
    rewriter.report(node, "replaced by a Slice of nothing, as nothing is chosen")
    return True


def _sizes(value: onnx_ir.Value | None) -> tuple[int, ...] | None:
    """Return the shape of a value; None if it is not static."""
    return None if value is None or value.shape is None or not value.shape.is_static() else value.shape.numpy()


def empty_scatters(rewriter: Rewriter) -> None:
    """Rewrite in place scatters whose indices have no elements for every input."""
    for node in nodes_of(rewriter.model, *SCATTERS):
        if _is_empty(node):
            rewriter.instead(node).Identity(*node.inputs[:1])
            rewriter.report(node, "scatter without updates replaced by its data")


def _is_empty(node: onnx_ir.Node) -> bool:
    """Return True if a node has no updates. Tuples without coordinates address all of data, and do have updates."""
    data, indices = node.inputs[:2]
    if data is None or indices is None or indices.shape is None:
        return False
    if data.dtype == onnx_ir.DataType.STRING:  # the plugin crashes for strings that are only passed on
        return False
    return 0 in (indices.shape.dims[:-1] if ONNX[node.op_type].along is Along.COORDINATES else indices.shape.dims)
