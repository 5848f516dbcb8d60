"""Checks of indices before operators that are no gathers, but read at an index and do not raise for one out of bounds.

RotaryEmbedding(x, cos [6, 4], sin, i)  ->  RotaryEmbedding(x, cos, sin, Gather([0, 1, .., 5], i))

1. Negative indices that do not count from the end are out of bounds: Gather([0, .., 5], Where(i < 0, 6, i)).
2. A length may equal the size of the axis: Gather([0, .., 6], i).
3. The axis has an open size: Gather(Range(0, Gather(Shape(cos), 0), 1), i).
"""

from __future__ import annotations

import numpy as np
import onnx_ir

from ov_gather.kernels.arguments import unravel
from ov_gather.ranges.sites import Site

from ..errors import ConstantIndexError, describe
from ..graphs import constant_of
from ..moves import INDEX_CHECK
from ..onnx_graph import value_of
from .rewriter import Rewriter

_OLDEST = 9
"""The first opset with integers in Less, and with Where."""
_OLDEST_IF_OPEN = 11
"""The first opset with Range, and with indices of Gather that count from the end."""


def index_checks(rewriter: Rewriter, *, stock: bool) -> None:
    """Rewrite in place, unless for `stock`. Raises ConversionError for a constant index out of bounds."""
    for node in list(onnx_ir.traversal.RecursiveGraphIterator(rewriter.model.graph)):
        for site in rewriter.ranges.unproved(node):
            data, indices = value_of(site.data), value_of(site.indices)
            size = _static_size(site, data)
            _refuse_constant(node, site, indices, size)
            if stock or not site.outside or not site.can_be_checked:
                continue
            oldest = _OLDEST_IF_OPEN if size is None or site.counts_from_end else _OLDEST
            if rewriter.opset < oldest:
                rewriter.report(node, f"indices not checked: opset {oldest} is needed, this is {rewriter.opset}", done=False)
                continue
            rewriter.replace_input(node, site.port, _checked(rewriter, node, site, indices, data, size))
            rewriter.report(node, f"the indices '{indices.name}' are checked before it")


def _static_size(site: Site, data: onnx_ir.Value) -> int | None:
    """Return the number of values from 0 on that are in bounds; None if it is open."""
    if site.size is not None:
        return site.size
    assert isinstance(site.axis, int)  # as the index table says
    dim = data.shape[site.axis] if data.shape is not None and -len(data.shape) <= site.axis < len(data.shape) else None
    return dim + site.spare if isinstance(dim, int) else None


def _refuse_constant(node: onnx_ir.Node, site: Site, indices: onnx_ir.Value, size: int | None) -> None:
    tensor = constant_of(indices)
    if tensor is None or size is None or not site.can_be_checked:
        return
    array, lowest = tensor.numpy(), -size if site.counts_from_end else 0
    wrong = (array < lowest) | (array >= size)
    if wrong.any():
        place = unravel(int(wrong.argmax()), array.shape)
        raise ConstantIndexError(
            f"{describe(node)}: '{indices.name}'[{', '.join(map(str, place))}] = {array[place]} is out of bounds "
            f"(valid {lowest}..{size - 1})"
        )


def _checked(
    rewriter: Rewriter, node: onnx_ir.Node, site: Site, indices: onnx_ir.Value, data: onnx_ir.Value, size: int | None
) -> onnx_ir.Value:
    """Return the indices behind a Gather of all positions, which raises for one out of bounds."""
    op, kind, name = rewriter.before(node), indices.dtype, indices.name
    assert kind is not None  # shape inference has found it, as the model is valid

    def number(value: int) -> onnx_ir.Value:
        return rewriter.constant(node, np.array(value, kind.numpy()))

    if size is None:
        dim = op.Gather(op.Shape(data, shape=[None]), rewriter.constant(node, np.array(site.axis)), shape=[], axis=0)
        end = op.Add(op.Cast(dim, shape=[], to=kind), number(site.spare), shape=[])
        positions = op.Range(number(0), end, number(1), shape=[None])
    else:
        end, positions = number(size), rewriter.constant(node, np.arange(size, dtype=kind.numpy()))
    if not site.counts_from_end:
        is_below = op.Less(indices, number(0), shape=indices.shape)
        _producer(is_below).meta[INDEX_CHECK] = True
        indices = op.Where(is_below, end, indices, dtype=kind, shape=indices.shape)
    checked = op.Gather(positions, indices, shape=indices.shape, axis=0)
    _producer(checked).name = rewriter.new_name(f"{node.name or node.outputs[0].name}/{name}")  # which errors contain
    return checked


def _producer(value: onnx_ir.Value) -> onnx_ir.Node:
    node = value.producer()
    assert node is not None
    return node
