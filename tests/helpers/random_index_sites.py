"""The gathers and scatters of random models, and idioms that compute their indices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from openvino import Output, opset1, opset3, opset4, opset5, opset7
from openvino import opset16 as ops

from helpers.random_index_moves import as_line
from helpers.random_indices import INTEGERS, Builder, Dim, Operation, Value, constant

Idiom = Callable[[Builder, Value, int, str], Value]
"""From data, an axis of it and an element type to indices of any shape."""


def data(b: Builder, least_rank: int = 1) -> Value:
    """What is gathered from: a value, a new Parameter or a table."""
    if b.chance(0.25):
        dims = [b.dim() for _ in range(int(b.rng.integers(least_rank, 4)))]
        return b.parameter(b.pick("f32", *INTEGERS), dims)
    if b.chance(0.2) and least_rank < 3:
        shape = (b.pick(1, 3, 5, 10, 70), b.pick(1, 2, 3))[: b.pick(*range(least_rank, 3))]
        return b.known(constant(b.rng.integers(-3, 9, shape), b.pick("f32", *INTEGERS)))
    return b.value(*INTEGERS, "f32", least_rank=least_rank)


def _size(b: Builder, value: Value, axis: int, kind: str) -> Output:
    """The size of an axis: read from the shape, or as a number where it is known."""
    dim = value.dims[axis]
    return constant(dim, kind) if isinstance(dim, int) and b.chance(0.5) else b.size_of(value, axis, kind).output


def any_value(b: Builder, value: Value, axis: int, kind: str) -> Value:
    return b.as_kind(b.integers(most_rank=2), kind)


def given(b: Builder, value: Value, axis: int, kind: str) -> Value:
    return b.parameter(kind, [b.dim() for _ in range(b.pick(0, 1, 1, 2))])


def clamped(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """Bounded by the size of the axis, or by numbers."""
    index, dim = any_value(b, value, axis, kind), value.dims[axis]
    if isinstance(dim, int) and b.chance(0.4):
        return b.known(ops.clamp(index.output, float(b.pick(0, -dim)), float(dim - b.pick(1, 1, 1, 0))), index.dims)
    last = ops.subtract(_size(b, value, axis, kind), constant(b.pick(1, 1, 1, 2, 0), kind))
    inside = ops.maximum(index.output, constant(b.pick(0, 0, -1), kind))
    if b.chance(0.5):
        return b.known(ops.minimum(inside, last), index.dims)
    return b.known(ops.maximum(ops.minimum(index.output, last), constant(0, kind)), index.dims)


def wrapped(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """The remainder of a division by the size of the axis. Of large integers the plugin computes it in float32."""
    index = any_value(b, value, axis, kind)
    size = _size(b, value, axis, kind)
    if not isinstance(value.dims[axis], int) and b.chance(0.9):
        size = ops.maximum(size, constant(1, kind)).output(0)
    dividend = ops.clamp(index.output, -1000.0, 1000.0) if b.chance(0.6) else index.output
    return b.known(b.pick(ops.floor_mod, ops.floor_mod, ops.mod)(dividend, size), index.dims)


def counted(b: Builder, value: Value, axis: int, kind: str) -> Value:
    size = _size(b, value, axis, kind)
    line = b.known(ops.range(constant(0, kind), size, constant(b.pick(1, 1, 2), kind), kind))
    if b.chance(0.3):  # from the end
        return b.known(ops.subtract(ops.subtract(size, constant(b.pick(1, 1, 0), kind)), line.output), line.dims)
    return line


def affine(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """2 i + 1 for i up to half of the size."""
    half = ops.divide(_size(b, value, axis, kind), constant(2, kind))
    line = b.known(ops.range(constant(0, kind), half, constant(1, kind), kind))
    twice = ops.multiply(line.output, constant(2, kind))
    return b.known(ops.add(twice, constant(b.pick(0, 1, 1, 2), kind)), line.dims)


def highest(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """Where the greatest elements along the axis are."""
    k = constant(b.pick(1, 1, 2, 3), "i64")
    node = ops.topk(value.output, k, axis, b.pick("max", "min"), b.pick("value", "none", "index"), kind)
    return b.known(node.output(1), [*value.dims[:axis], 0, *value.dims[axis + 1 :]])


def true_places(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """One row of NonZero of a mask that has the size of the axis."""
    number = constant(b.pick(0, 1), value.kind)
    places = ops.non_zero(b.pick(ops.greater, ops.equal, ops.not_equal)(value.output, number), kind)
    return b.known(ops.gather(places, constant(b.pick(axis, axis, 0), "i64"), constant(0, "i64")))


def last_true(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """How many are true, less one: the last token of each row."""
    mask = b.value("boolean", *INTEGERS, least_rank=1)
    numbers = ops.convert(ops.not_equal(mask.output, constant(0, mask.kind)), kind)
    along = constant([b.axis(mask)], "i64")
    total = (
        ops.reduce_sum(numbers, along, False)
        if b.chance(0.5)
        else ops.cum_sum(numbers, along.get_node() and constant(0, "i64"))
    )
    return b.known(ops.subtract(total, constant(1, kind)))


def random_places(b: Builder, value: Value, axis: int, kind: str) -> Value:
    size = _size(b, value, axis, kind)
    return b.known(ops.random_uniform(constant([b.pick(1, 3)], "i64"), constant(0, kind), size, kind, 3, 5))


def from_fraction(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """floor(sigmoid(x) * n), which reaches n where sigmoid rounds to 1; maybe clamped; NaN becomes anything."""
    source = b.value("f32", most_rank=2)
    size = ops.convert(_size(b, value, axis, kind), "f32")
    product = ops.floor(ops.multiply(b.pick(ops.sigmoid, ops.sigmoid, ops.abs)(source.output), size))
    if b.chance(0.5):
        product = ops.minimum(product, ops.subtract(size, constant(1.0, "f32")))
    return b.known(ops.convert(product, kind), source.dims)


def found_places(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """The bucket of each value among bounds, or its place in a sorted row."""
    source = b.value("f32", *INTEGERS, least_rank=1, most_rank=1)
    table = constant(sorted(int(n) for n in b.rng.integers(-5, 6, b.pick(1, 3, 6))), source.kind)
    node = ops.bucketize(source.output, table, kind) if b.chance(0.5) else ops.search_sorted(table, source.output)
    return b.as_kind(b.known(node, source.dims), kind)


def chosen(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """One index or the other, by a condition."""
    one = _idiom(b, value, axis, kind)
    other = constant(b.pick(0, -1, 1), kind)
    return b.known(ops.select(ops.less(one.output, constant(b.pick(0, 3), kind)), other, one.output), one.dims)


def shifted(b: Builder, value: Value, axis: int, kind: str) -> Value:
    one = _idiom(b, value, axis, kind)
    by = constant(b.pick(-1, 1, 2, 2**31 - 1), kind)
    return b.known(b.pick(ops.add, ops.subtract, ops.multiply)(one.output, by), one.dims)


def wrapped_by_hand(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """Negative indices made positive, as exporters do: select(i < 0, i + n, i)."""
    one = _idiom(b, value, axis, kind)
    more = ops.add(one.output, _size(b, value, axis, kind))
    return b.known(ops.select(ops.less(one.output, constant(0, kind)), more, one.output), one.dims)


def nested(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """Indices that are gathered themselves, from a row of indices."""
    row = as_line(b, _idiom(b, value, axis, kind))
    places = _idiom(b, row, 0, kind)
    b.sites += 1
    return b.known(ops.gather(row.output, places.output, constant(0, "i64")), places.dims)


def fixed(b: Builder, value: Value, axis: int, kind: str) -> Value:
    dim = value.dims[axis]
    size = dim if isinstance(dim, int) else 3
    return b.known(constant(b.rng.integers(-size - (size < 2), size + 1, b.pick(0, 1, 2, 3)), kind))


IDIOMS: list[tuple[int, Idiom]] = [
    *[(6, any_value), (4, given), (6, clamped), (5, wrapped), (4, counted), (3, affine), (5, highest), (4, true_places)],
    *[(2, last_true), (2, random_places), (3, from_fraction), (2, found_places), (2, chosen), (2, shifted), (2, nested)],
    *[(2, wrapped_by_hand), (1, fixed)],
]


def _idiom(b: Builder, value: Value, axis: int, kind: str) -> Value:
    weights, idioms = zip(*IDIOMS, strict=True)
    idiom = idioms[int(b.rng.choice(len(idioms), p=np.array(weights) / sum(weights)))]
    return idiom(b, value, axis, kind)


def gather(b: Builder) -> object:
    value = data(b)
    axis = b.axis(value)
    index = _idiom(b, value, axis, b.pick(*INTEGERS))
    at = constant(b.either_end(axis, value.rank), "i64")
    b.sites += 1
    make = b.pick(ops.gather, ops.gather, ops.gather, opset7.gather, opset1.gather)
    return b.add(make(value.output, index.output, at), (*value.dims[:axis], *index.dims, *value.dims[axis + 1 :]))


def gather_in_batches(b: Builder) -> object:
    value = data(b, 2)
    axis = int(b.rng.integers(1, value.rank))
    index = _idiom(b, value, axis, b.pick(*INTEGERS))
    if index.rank == 0 or index.dims[0] != value.dims[0]:
        index = _repeated(b, as_line(b, index), value, 1, 2)
    b.sites += 1
    batch_dims = b.pick(1, 1 - index.rank)
    return b.add(b.pick(ops.gather, opset7.gather)(value.output, index.output, constant(axis, "i64"), batch_dims))


def _repeated(b: Builder, line: Value, value: Value, axis: int, rank: int) -> Value:
    """A line along an axis, repeated to the size of a value along all others."""
    sizes, dims = [], list[Dim]()
    for other in range(rank):
        source = (line, 0) if other == axis else (value, other)
        sizes.append(ops.unsqueeze(b.size_of(*source, "i64").output, constant(0, "i64")))
        dims.append(source[0].dims[source[1]])
    shape = ops.concat(sizes, 0)
    placed = ops.reshape(line.output, constant([-1 if other == axis else 1 for other in range(rank)], "i64"), False)
    return b.known(ops.broadcast(placed, shape, broadcast_spec=b.pick("NUMPY", "BIDIRECTIONAL")), dims)


def _whole_index(b: Builder, value: Value, axis: int) -> Value:
    """Indices of the rank of a value, as GatherElements wants them."""
    index = _idiom(b, value, axis, b.pick(*INTEGERS))
    same = index.rank == value.rank
    if same and all(index.dims[i] == value.dims[i] for i in range(value.rank) if i != axis):
        return index
    return _repeated(b, as_line(b, index), value, axis, value.rank)


def gather_elements(b: Builder) -> object:
    value = data(b)
    axis = b.axis(value)
    index = _whole_index(b, value, axis)
    b.sites += 1
    return b.add(ops.gather_elements(value.output, index.output, b.either_end(axis, value.rank)), index.dims)


def _coordinates(b: Builder, value: Value, first: int = 0) -> Value:
    """Tuples of coordinates of a value: places of true elements, or indices side by side."""
    kind = b.pick(*INTEGERS)
    if b.chance(0.35):
        number = constant(b.pick(0, 1), value.kind)
        places = ops.non_zero(b.pick(ops.greater, ops.not_equal)(value.output, number), kind)
        return b.known(ops.transpose(places, constant([1, 0], "i64")))
    tuples = [v for v in b.values if v.kind in INTEGERS and v.rank == 2 and isinstance(v.dims[-1], int)]
    if b.chance(0.25) and any(v.dims[-1] <= value.rank for v in tuples):
        return b.pick(*[v for v in tuples if v.dims[-1] <= value.rank])
    one = _idiom(b, value, first, kind)
    parts = [one]
    for axis in range(first + 1, min(value.rank, first + b.pick(1, 2, 3))):
        other = _idiom(b, value, axis, kind)
        if other.dims != one.dims:
            inside = ops.minimum(ops.relu(one.output), ops.subtract(_size(b, value, axis, kind), constant(1, kind)))
            other = b.known(inside, one.dims)
        parts.append(other)
    lines = [ops.unsqueeze(part.output, constant(-1, "i64")) for part in parts]
    return b.known(ops.concat(lines, -1), one.dims)


def gather_nd(b: Builder) -> object:
    value = data(b)
    index = _coordinates(b, value)
    b.sites += 1
    return b.add(b.pick(ops.gather_nd, ops.gather_nd, opset5.gather_nd)(value.output, index.output))


def gather_nd_in_batches(b: Builder) -> object:
    value = data(b, 2)
    index = _idiom(b, value, 1, b.pick(*INTEGERS))
    table = _repeated(b, as_line(b, index), value, 1, 2)
    b.sites += 1
    return b.add(ops.gather_nd(value.output, ops.unsqueeze(table.output, constant(-1, "i64")), 1))


def _updates(b: Builder, value: Value, shape: object) -> Output:
    """Numbers of data's type in a computed shape."""
    return ops.broadcast(constant(b.pick(0, 1, -1, 7, 2**31 - 1), value.kind), shape).output(0)


def scatter_update(b: Builder) -> object:
    value = data(b)
    axis = b.axis(value)
    index = as_line(b, _idiom(b, value, axis, b.pick(*INTEGERS)))
    sizes = [b.size_of(*((index, 0) if i == axis else (value, i)), "i64") for i in range(value.rank)]
    shape = ops.concat([ops.unsqueeze(size.output, constant(0, "i64")) for size in sizes], 0)
    b.sites += 1
    return b.add(ops.scatter_update(value.output, index.output, _updates(b, value, shape), constant(axis, "i64")), value.dims)


def scatter_elements(b: Builder) -> object:
    value = data(b)
    axis = b.axis(value)
    index = _whole_index(b, value, axis)
    updates = _updates(b, value, ops.shape_of(index.output, "i64"))
    b.sites += 1
    at = constant(b.either_end(axis, value.rank), "i64")
    if b.chance(0.3):
        return b.add(opset3.scatter_elements_update(value.output, index.output, updates, at), value.dims)
    reduction = b.pick("none", "sum", "prod", "min", "max", "mean")
    return b.add(ops.scatter_elements_update(value.output, index.output, updates, at, reduction, b.chance(0.5)), value.dims)


def scatter_nd(b: Builder) -> object:
    value = data(b)
    index = _coordinates(b, value)
    if not isinstance(index.dims[-1], int):
        return None
    parts = [ops.unsqueeze(b.size_of(index, i, "i64").output, constant(0, "i64")) for i in range(index.rank - 1)]
    parts += [ops.unsqueeze(b.size_of(value, i, "i64").output, constant(0, "i64")) for i in range(index.dims[-1], value.rank)]
    shape = ops.concat(parts, 0) if parts else constant(np.zeros(0, np.int64), "i64")
    updates = _updates(b, value, shape)
    b.sites += 1
    if b.chance(0.4):
        return b.add(opset4.scatter_nd_update(value.output, index.output, updates), value.dims)
    reduction = b.pick("none", "sum", "sub", "prod", "min", "max")
    return b.add(ops.scatter_nd_update(value.output, index.output, updates, reduction), value.dims)


SITES: list[tuple[int, Operation]] = [
    *[(10, gather), (3, gather_in_batches), (6, gather_elements), (5, gather_nd), (2, gather_nd_in_batches)],
    *[(2, scatter_update), (3, scatter_elements), (3, scatter_nd)],
]
