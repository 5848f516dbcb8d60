"""Shape inference for matrix products, attention and Einsum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import Shape, Value
from ov_gather.ranges.rules.call import Operands
from ov_gather.ranges.rules.elementwise import broadcast_shape


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
