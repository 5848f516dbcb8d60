"""Shape inference for matrix products, attention, Einsum, and operations on images and signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from ov_gather.graph.symbols import InnerDim
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import Shape, Value, product
from ov_gather.ranges.rules.call import Operands
from ov_gather.ranges.rules.elementwise import broadcast_shape
from ov_gather.ranges.rules.windows import Windows


def matrix_product(call: Operands, transposed: tuple[bool, bool]) -> Sequence[Value]:
    """Infer the shape of MatMul on the last two axes, either operand possibly transposed; a vector is a row or a column."""
    declared = call.outputs[0]
    one, other = (_stored(call.shape(position, 1), swap) for position, swap in enumerate(transposed))
    rows, columns = one[-2:-1], other[-1:] if len(other) > 1 else ()
    batch: Shape | None = ()
    if len(one) > 2 or len(other) > 2:
        rank = len(rows) + len(columns)
        batch_declared = None if declared.shape is None else declared.shape[: len(declared.shape) - rank]
        batch = broadcast_shape([one[:-2], other[:-2]], batch_declared)
    return [declared if batch is None else replace(declared, shape=(*batch, *rows, *columns))]


def attention(call: Operands) -> Sequence[Value]:
    """Infer the shape of scaled dot-product attention: for each query, a vector as long as the values."""
    return [replace(call.outputs[0], shape=(*call.shape(0, 1)[:-1], call.shape(2, 1)[-1]))]


def einsum(call: Operands, equation: str) -> Sequence[Value]:
    """Infer the shape of Einsum from an equation such as "bij,bjk->bik"; with an ellipsis it is the declared shape."""
    given, arrow, wanted = equation.replace(" ", "").partition("->")
    words, declared = given.split(","), call.outputs[0]
    if not arrow or "." in given or len(words) != len(call.inputs):
        return [declared]
    dims: dict[str, set[Polynomial]] = {}
    for position, word in enumerate(words):
        if len(call.shape(position)) != len(word):
            return [declared]
        for letter, dim in zip(word, call.shape(position), strict=True):
            dims.setdefault(letter, set()).add(dim)
    if declared.shape is None or len(declared.shape) != len(wanted):
        return [declared]
    found = (dims.get(letter, set()) for letter in wanted)
    shape = tuple(next(iter(one)) if len(one) == 1 else told for one, told in zip(found, declared.shape, strict=True))
    return [replace(declared, shape=shape)]


def _stored(shape: Shape, is_transposed: bool) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2]) if is_transposed and len(shape) > 1 else shape


def convolution(call: Operands, filter_axes: int, moved: Windows | None) -> Sequence[Value]:
    """Infer the shape of a convolution: batch, a channel per filter (counted by the first `filter_axes` axes), windows."""
    filters = call.shape(1, filter_axes)
    first = (call.shape(0, 1)[0], product(filters[:filter_axes]))
    return [_of_windows(call, call.outputs[0], first, filters[filter_axes + 1 :], moved)]


def pool(call: Operands, moved: Windows | None) -> Sequence[Value]:
    """Infer the shapes of pooling, which keeps batch and channels in each output."""
    kernel = () if moved is None else tuple(map(Polynomial.constant, moved.kernel))
    return [_of_windows(call, output, call.shape(0)[:2], kernel, moved) for output in call.outputs]


def _of_windows(call: Operands, declared: Value, first: Shape, kernel: Shape, moved: Windows | None) -> Value:
    """Return an output with these first dimensions, and the number of windows of this kernel along each spatial axis.

    If that is unknown, it is at least 1: an axis that is shorter than a window is an error. Ports of an IR do not say so.
    """
    found, dims = _with_first(declared, first), call.shape(0)[2:]
    if found.shape is None or moved is None or not len(kernel) == len(dims) == len(moved.strides) == len(found.shape) - 2:
        return found
    numbers = [moved.number(call.algebra, axis, *pair) for axis, pair in enumerate(zip(dims, kernel, strict=True))]
    for number, told in zip(numbers, found.shape[2:], strict=True):
        if number is None and any(isinstance(symbol, InnerDim) for symbol in told.symbols):
            call.algebra.sizes.narrow(told, inf, 1)
    spatial = (told if number is None else number for number, told in zip(numbers, found.shape[2:], strict=True))
    return replace(found, shape=(*found.shape[:2], *spatial))


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
