"""Shape inference for operations on images and signals, whose first axes are batch and channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import Shape, Value
from ov_gather.ranges.rules.call import Operands


def convolution(call: Operands, filter_axes: int) -> Sequence[Value]:
    """Infer the shape of a convolution: the batch, and a channel per filter, counted by the first `filter_axes` axes."""
    data, filters = call.value(0), call.value(1)
    if data is None or filters is None or not data.shape or filters.shape is None or len(filters.shape) < filter_axes:
        return list(call.outputs)
    channels = Polynomial.constant(1)
    for dim in filters.shape[:filter_axes]:
        channels = channels * dim
    return [_with_first(call.outputs[0], (data.shape[0], channels))]


def pool(call: Operands) -> Sequence[Value]:
    """Infer the shapes of pooling, which keeps batch and channels in each output."""
    data = call.value(0)
    if data is None or not data.shape:
        return list(call.outputs)
    return [_with_first(output, data.shape[:2]) for output in call.outputs]


def resize(call: Operands, axes: int, sizes: int | None) -> Sequence[Value]:
    """Infer the shape of a resized image, which keeps the axes that are not selected.

    The operand at position `axes` selects axes, all if it is absent; the operand at position `sizes` holds their new sizes.
    """
    data, declared = call.value(0), call.outputs[0]
    chosen = list(range(data.rank or 0)) if data is not None and call.value(axes) is None else call.integers(axes)
    if data is None or data.shape is None or declared.shape is None or chosen is None or declared.rank != data.rank:
        return [declared]
    wanted = None if sizes is None else call.dims(sizes)
    dims, rank = list(data.shape), len(data.shape)
    for i, axis in enumerate(chosen):
        if -rank <= axis < rank:
            dims[axis] = declared.shape[axis] if wanted is None or len(wanted) != len(chosen) else wanted[i]
    return [replace(declared, shape=tuple(dims))]


def sample(call: Operands) -> Sequence[Value]:
    """Infer the shape of GridSample: batch and channels of the image, and a pixel for each point of the grid."""
    image, grid = call.value(0), call.value(1)
    if image is None or grid is None or not image.shape or not grid.shape:
        return list(call.outputs)
    return [replace(call.outputs[0], shape=(*image.shape[:2], *grid.shape[1:-1]))]


def _with_first(declared: Value, first: Shape) -> Value:
    """Replace the first dimensions of the declared shape."""
    if declared.shape is None or len(declared.shape) < len(first):
        return declared
    return replace(declared, shape=(*first, *declared.shape[len(first) :]))
