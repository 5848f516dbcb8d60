"""Contracts of sums of products: MatMul, Einsum, attention; and of inverses."""

from __future__ import annotations

from ov_gather.ir.element_types import BOOLEAN, I32, I64, REALS
from ov_gather.ir.shapes import UNKNOWN, Dimension, PartialShape
from ov_gather.ops.contracts.call import (
    BadCountError,
    BadRankError,
    BadSizeError,
    BadValueError,
    Call,
    Output,
    UnjudgedError,
)
from ov_gather.ops.contracts.sizes import Dims, NamedSizes, broadcast, exactly, joined


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


def attention(call: Call) -> list[Output]:
    """ScaledDotProductAttention: queries [..., L, E], keys [..., S, E], values [..., S, V], a mask, a scale, a sink."""
    kind = call.same_type(0, 1, 2)
    call.takes(0, REALS, "the query")
    is_masked = not call.flag("causal")
    if is_masked:
        call.takes(3, (BOOLEAN, *REALS), "the mask")
    if is_masked and call.kind(3) is not BOOLEAN:
        call.same_type(0, 3)
    call.same_type(0, 4, 5)
    query, key, value = (_of_matrices(call, port) for port in range(3))
    if query is None or key is None or value is None:
        raise UnjudgedError
    inner, places = query[-1].intersect(key[-1]), key[-2].intersect(value[-2])
    if inner is None:
        raise BadSizeError(f"a key has {key[-1]} numbers, a query {query[-1]}", "they are the same", 1)
    if places is None:
        raise BadSizeError(f"there are {value[-2]} values for {key[-2]} keys", "one for each key", 2)
    batch = _batch(call, PartialShape(query[:-2]), key, 1)
    batch = _batch(call, batch, value, 2)
    mask = call.dims(3)
    if mask and is_masked:
        if len(mask) < 2 or not (_repeats(mask[-1], places) and _repeats(mask[-2], query[-2])):
            raise BadSizeError(f"the mask is {call.shapes[3]}", f"it broadcasts to {query[-2]} queries by {places} keys", 3)
        batch = _batch(call, batch, mask, 3)
    scale = call.dims(4)
    if scale and (len(scale) > 1 or 1 not in scale[0]):
        raise BadSizeError(f"the scale is {call.shapes[4]}", "one number", 4)
    sink, rows = call.dims(5), (*(batch.dims or ()), query[-2], exactly(1))
    if sink is not None and len(sink) != len(query):
        raise BadRankError(f"the sink has rank {len(sink)}", f"the query has {len(query)}", 5)
    if sink is not None and not all(map(_repeats, sink[::-1], rows[::-1])):
        raise BadSizeError(f"the sink is {call.shapes[5]}", f"it broadcasts to {PartialShape(rows)}", 5)
    return [(kind, PartialShape((*rows[:-1], value[-1])))]


def _of_matrices(call: Call, port: int) -> Dims | None:
    dims = call.dims(port)
    if dims is not None and len(dims) < 3:
        raise BadRankError(f"input {port} has rank {len(dims)}", f"{call.type} takes 3 or more", port)
    return dims


def _repeats(dim: Dimension, other: Dimension) -> bool:
    """Return True if the dimension may be that of the other, or 1."""
    return 1 in dim or dim.intersect(other) is not None


def _batch(call: Call, batch: PartialShape, dims: Dims, port: int) -> PartialShape:
    both = broadcast(batch, PartialShape(dims[:-2]))
    if both is None:
        raise BadSizeError(f"input {port} is {call.shapes[port]} for batches of {batch}", "they broadcast to one shape", port)
    return both


def grouped_matmul(call: Call) -> list[Output]:
    """GroupedMatMul: [groups, rows, inner], or rows whose groups end at offsets, by [groups, columns, inner]."""
    kind = call.same_type(0, 1)
    call.takes(2, (I32, I64), "offsets")
    call.has_rank(0, "the first matrix", 2, 3)
    sizes, rank = NamedSizes(), call.rank(0)
    groups = ("groups",) if rank == 3 else ()
    sizes.fit(call, 1, "the second matrix", "groups", "columns", "inner")
    if rank is None:
        return [(kind, UNKNOWN)]
    if rank == 2 and call.count < 3:
        raise BadCountError("the layer has 2 inputs", "offsets are the third, unless the first matrix has rank 3")
    sizes.fit(call, 0, "the first matrix", *groups, "rows", "inner")
    if rank == 2:
        sizes.fit(call, 2, "offsets", "groups")
    return [(kind, PartialShape(tuple(sizes[name] for name in (*groups, "rows", "columns"))))]


def inverse(call: Call) -> list[Output]:
    """Inverse: of square matrices."""
    call.takes(0, REALS, "the input")
    dims = call.dims(0)
    if dims is None:
        return [(call.kind(0), call.shapes[0])]
    if len(dims) < 2:
        raise BadRankError(f"the input has rank {len(dims)}", "2 or more", 0)
    if dims[-1].intersect(dims[-2]) is None:
        raise BadSizeError(f"a matrix has {dims[-2]} rows and {dims[-1]} columns", "as many rows as columns", 0)
    return [(call.kind(0), call.shapes[0])]
