"""Shape inference for operations on images and signals, whose first axes are batch and channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ov_gather.ranges.algebra.values import Shape, Value, product
from ov_gather.ranges.rules.call import Operands


def convolution(call: Operands, filter_axes: int) -> Sequence[Value]:
    """Infer the shape of a convolution: the batch, and a channel per filter, counted by the first `filter_axes` axes."""
    batch, channels = call.shape(0, 1)[0], product(call.shape(1, filter_axes)[:filter_axes])
    return [_with_first(call.outputs[0], (batch, channels))]


def pool(call: Operands) -> Sequence[Value]:
    """Infer the shapes of pooling, which keeps batch and channels in each output."""
    first = call.shape(0)[:2]
    return [_with_first(output, first) for output in call.outputs]


def resize(call: Operands, axes: int, sizes: int | None) -> Sequence[Value]:
    """Infer the shape of a resized image, which keeps the axes that are not selected.

    The operand at position `axes` selects axes, all if it is absent; the operand at position `sizes` holds their new sizes.
    """
    dims, declared = list(call.shape(0)), call.outputs[0]
    rank, wanted = len(dims), None if sizes is None else call.dims(sizes)
    chosen = list(range(rank)) if call.value(axes) is None else call.integers(axes)
    if declared.shape is None or chosen is None or len(declared.shape) != rank:
        return [declared]
    for i, axis in enumerate(chosen):
        if -rank <= axis < rank:
            dims[axis] = declared.shape[axis] if wanted is None or len(wanted) != len(chosen) else wanted[i]
    return [replace(declared, shape=tuple(dims))]


def sample(call: Operands) -> Sequence[Value]:
    """Infer the shape of GridSample: batch and channels of the image, and a pixel for each point of the grid."""
    return [replace(call.outputs[0], shape=(*call.shape(0, 1)[:2], *call.shape(1, 1)[1:-1]))]


def _with_first(declared: Value, first: Shape) -> Value:
    """Replace the first dimensions of the declared shape."""
    if declared.shape is None or len(declared.shape) < len(first):
        return declared
    return replace(declared, shape=(*first, *declared.shape[len(first) :]))
