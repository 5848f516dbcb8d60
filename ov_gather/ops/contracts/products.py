"""Contracts of sums of products: MatMul, Einsum."""

from __future__ import annotations

from ov_gather.ir.shapes import Dimension, PartialShape
from ov_gather.ops.contracts.call import BadRankError, BadSizeError, BadValueError, Call, Output, UnjudgedError
from ov_gather.ops.contracts.sizes import Dims, broadcast, exactly, joined


def matmul(call: Call) -> list[Output]:
    """MatMul: rows by columns, with batches that broadcast."""
    kind = call.same_type(0, 1)
    first, second = call.dims(0), call.dims(1)
    for port, dims in enumerate((first, second)):
        if dims == ():
            raise BadRankError(f"input {port} is a scalar", "MatMul takes vectors and matrices", port)
    if first is None or second is None:
        return [(kind, PartialShape(None))]
    one = _matrix(first, call.flag("transpose_a"), 0)
    other = _matrix(second, call.flag("transpose_b"), 1)
    if one[-1].intersect(other[-2]) is None:
        raise BadSizeError(
            f"the inner sizes are {one[-1]} of {call.shapes[0]} and {other[-2]} of {call.shapes[1]}", "they are the same", 1
        )
    batch = broadcast(PartialShape(one[:-2]), PartialShape(other[:-2]))
    if batch is None or batch.dims is None:
        raise BadSizeError(f"the batches of {call.shapes[0]} and {call.shapes[1]} do not fit", "they broadcast to one shape", 1)
    rows = () if len(first) == 1 else (one[-2],)
    columns = () if len(second) == 1 else (other[-1],)
    return [(kind, PartialShape((*batch.dims, *rows, *columns)))]


def _matrix(dims: Dims, is_transposed: bool, port: int) -> Dims:
    if len(dims) == 1:
        return (exactly(1), *dims) if port == 0 else (*dims, exactly(1))
    return (*dims[:-2], dims[-1], dims[-2]) if is_transposed else dims


def einsum(call: Call) -> list[Output]:
    """Einsum: one subscript for each axis, the same size for a letter."""
    kind = call.same_type(*range(call.count))
    equation = call.attributes.get("equation", "").replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != call.count:
        raise BadValueError(f"equation='{equation[:60]}' has {len(terms)} terms", f"one for each of {call.count} inputs")
    if not arrow or "." in equation:
        raise UnjudgedError
    sizes: dict[str, Dimension] = {}
    for port, term in enumerate(terms):
        dims = call.dims(port)
        if not (term.isalpha() and term.isascii()) and term:
            raise BadValueError(f"equation='{equation[:60]}' has a term '{term[:20]}'", "a term has letters")
        if dims is None:
            raise UnjudgedError
        if len(dims) != len(term):
            raise BadRankError(f"input {port} has rank {len(dims)}, '{term}' {len(term)}", "one letter for each axis", port)
        for letter, dim in zip(term, dims, strict=True):
            both = joined(sizes.get(letter, dim), dim)
            if both is None:
                raise BadSizeError(f"{letter} has size {sizes[letter]} and {dim}", "a letter has one size", port)
            sizes[letter] = both
    if len(set(right)) < len(right) or any(letter not in sizes for letter in right):
        raise BadValueError(f"equation='{equation[:60]}' has an output '{right}'", "letters of the inputs, each once")
    return [(kind, PartialShape(tuple(sizes[letter] for letter in right)))]
