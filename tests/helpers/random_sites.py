"""The gathers and scatters of random graphs, and idioms that compute their indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from openvino import opset1, opset3, opset4, opset5, opset7

from helpers.random_graphs import INTEGERS, Builder, Operation, Value
from helpers.random_guarded import GUARDED, any_value, kept_boxes, last_of, size_as
from helpers.random_moves import as_line, repeated
from helpers.random_onnx import OnnxBuilder
from helpers.random_openvino import OpenvinoBuilder
from helpers.random_values import count_true, found, place_of_extreme, top

Idiom = Callable[[Any, Value, int, str], Value]
"""From data, an axis of it and an element type to indices of any shape."""


def data(b: Builder, least_rank: int = 1) -> Value:
    """Choose what is gathered from: a value, a new input or a table."""
    if b.chance(0.25):
        dims = [b.dim() for _ in range(int(b.rng.integers(least_rank, 4)))]
        return b.parameter(b.pick("f32", *INTEGERS), dims)
    if b.chance(0.2) and least_rank < 3:
        shape = (b.pick(1, 3, 5, 10, 70), b.pick(1, 2, 3))[: b.pick(*range(least_rank, 3))]
        return b.constant(b.rng.integers(-3, 9, shape), b.pick("f32", *INTEGERS))
    return b.value(*INTEGERS, "f32", least_rank=least_rank)


def given(b: Builder, value: Value, axis: int, kind: str) -> Value:
    return b.parameter(kind, [b.dim() for _ in range(b.pick(0, 1, 1, 2))])


def clamped(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """Bounded by the size of the axis, or by numbers."""
    index, dim = any_value(b, value, axis, kind), value.dims[axis]
    if isinstance(dim, int) and b.chance(0.4):
        return b.make("clamp", index, float(b.pick(0, -dim)), float(dim - b.pick(1, 1, 1, 0)))
    last = last_of(b, value, axis, kind, 1, 1, 1, 2, 0)
    if b.chance(0.2):
        return b.make("maximum", b.make("minimum", index, last), b.make("negative", size_as(b, value, axis, kind)))
    if b.chance(0.5):
        return b.make("minimum", b.make("maximum", index, b.constant(b.pick(0, 0, -1), kind)), last)
    return b.make("maximum", b.make("minimum", index, last), b.constant(0, kind))


def clipped(b: OnnxBuilder, value: Value, axis: int, kind: str) -> Value:
    """Clip between 0, or the size below it, and the last position."""
    index, last = any_value(b, value, axis, kind), last_of(b, value, axis, kind)
    first = b.make("negative", size_as(b, value, axis, kind)) if b.chance(0.4) else b.constant(0, kind)
    return b.one("Clip", index, first, last)


def wrapped(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """The remainder of a division by the size of the axis. Of large integers the plugin computes it in float32."""
    index, size = any_value(b, value, axis, kind), size_as(b, value, axis, kind)
    if not isinstance(value.dims[axis], int) and b.chance(0.9):
        size = b.make("maximum", size, b.constant(1, kind))
    dividend = b.make("clamp", index, -1000.0, 1000.0) if b.chance(0.6) else index
    return b.make(b.pick("floor_mod", "floor_mod", "mod"), dividend, size)


def counted(b: Builder, value: Value, axis: int, kind: str) -> Value:
    size = size_as(b, value, axis, kind)
    line = b.make("range", b.constant(0, kind), size, b.constant(b.pick(1, 1, 2), kind), kind)
    if b.chance(0.3):  # from the end
        return b.make("subtract", b.make("subtract", size, b.constant(b.pick(1, 1, 0), kind)), line)
    return line


def affine(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """2 i + 1 for i up to half of the size."""
    half = b.make("divide", size_as(b, value, axis, kind), b.constant(2, kind))
    line = b.make("range", b.constant(0, kind), half, b.constant(1, kind), kind)
    return b.make("add", b.make("multiply", line, b.constant(2, kind)), b.constant(b.pick(0, 1, 1, 2), kind))


def highest(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """Where the greatest elements along the axis are."""
    return top(b, value, axis, kind)[1]


def extreme(b: OnnxBuilder, value: Value, axis: int, kind: str) -> Value:
    return b.as_kind(place_of_extreme(b, value, axis), kind)


def true_places(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """One row of NonZero of a mask that has the size of the axis."""
    mask = b.make(b.pick("greater", "equal", "not_equal"), value, b.constant(b.pick(0, 1), value.kind))
    row = b.constant(b.pick(axis, axis, 0), "i64") if b.chance(0.8) else b.longs(axis)
    return b.make("gather", b.make("non_zero", mask, kind, dims=()), row, b.constant(0, "i64"), dims=())


def last_true(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """How many are true, less one: the last token of each row."""
    return b.make("subtract", b.as_kind(count_true(b), kind), b.constant(1, kind))


def random_places(b: Builder, value: Value, axis: int, kind: str) -> Value:
    size = size_as(b, value, axis, kind)
    return b.make("random_uniform", b.longs(b.pick(1, 3)), b.constant(0, kind), size, kind, 3, 5)


def from_fraction(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """floor(sigmoid(x) * n), which reaches n where sigmoid rounds to 1; maybe clamped; NaN becomes anything."""
    source = b.value("f32", most_rank=2)
    size = b.make("convert", size_as(b, value, axis, kind), "f32")
    product = b.make("floor", b.make("multiply", b.make(b.pick("sigmoid", "sigmoid", "abs"), source), size))
    if b.chance(0.5):
        product = b.make("minimum", product, b.make("subtract", size, b.constant(1.0, "f32")))
    return b.make("convert", product, kind)


def found_places(b: Builder, value: Value, axis: int, kind: str) -> Value:
    return b.as_kind(found(b), kind)


def chosen(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """One index or the other, by a condition."""
    one = idiom(b, value, axis, kind)
    other = b.constant(b.pick(0, -1, 1), kind)
    return b.make("select", b.make("less", one, b.constant(b.pick(0, 3), kind)), other, one, dims=one.dims)


def shifted(b: Builder, value: Value, axis: int, kind: str) -> Value:
    by = b.constant(b.pick(-1, 1, 2, 2**31 - 1), kind)
    return b.make(b.pick("add", "subtract", "multiply"), idiom(b, value, axis, kind), by)


def wrapped_by_hand(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """Negative indices made positive, as exporters do: select(i < 0, i + n, i)."""
    one = idiom(b, value, axis, kind)
    more = b.make("add", one, size_as(b, value, axis, kind))
    return b.make("select", b.make("less", one, b.constant(0, kind)), more, one)


def nested(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """Indices that are gathered themselves, from a row of indices."""
    row = as_line(b, idiom(b, value, axis, kind))
    places = idiom(b, row, 0, kind)
    b.sites += 1
    return b.make("gather", row, places, b.constant(0, "i64"), dims=places.dims)


def fixed(b: Builder, value: Value, axis: int, kind: str) -> Value:
    dim = value.dims[axis]
    size = dim if isinstance(dim, int) else 3
    return b.constant(b.rng.integers(-size - (size < 2), size + 1, b.pick(0, 1, 2, 3)), kind)


COMMON_IDIOMS: list[tuple[int, Idiom]] = [
    *[(6, any_value), (4, given), (6, clamped), (5, wrapped), (4, counted), (3, affine), (5, highest), (4, true_places)],
    *[(2, last_true), (3, from_fraction), (2, chosen), (2, shifted), (2, nested), (2, wrapped_by_hand), (1, fixed)],
    *GUARDED,
]
IDIOMS: dict[type[Builder], list[tuple[int, Idiom]]] = {
    OpenvinoBuilder: [*COMMON_IDIOMS, *GUARDED, (2, random_places), (2, found_places), (2, kept_boxes)],
    OnnxBuilder: [*COMMON_IDIOMS, (4, clipped), (3, extreme)],
}


def idiom(b: Builder, value: Value, axis: int, kind: str) -> Value:
    return b.weighted(IDIOMS[type(b)])(b, value, axis, kind)


def index_of(b: Builder, value: Value, axis: int) -> Value:
    return idiom(b, value, axis, b.pick(*INTEGERS))


def site(b: Builder, name: str, *operands: Any, **options: Any) -> object:
    b.sites += 1
    return b.add(name, *operands, **options)


def gather(b: Builder) -> object:
    value = data(b)
    axis = b.axis(value)
    index = index_of(b, value, axis)
    at = b.constant(b.either_end(axis, value.rank), "i64")
    dims = (*value.dims[:axis], *index.dims, *value.dims[axis + 1 :])
    return site(b, "gather", value, index, at, dims=dims, opset=b.pick(None, None, None, opset7, opset1))


def gather_in_batches(b: Builder) -> object:
    value = data(b, 2)
    axis = int(b.rng.integers(1, value.rank))
    index = index_of(b, value, axis)
    if index.rank == 0 or index.dims[0] != value.dims[0]:
        index = repeated(b, as_line(b, index), value, 1, 2)
    more = b.constant(axis, "i64"), b.pick(1, 1 - index.rank)
    return site(b, "gather", value, index, *more, dims=(), opset=b.pick(None, opset7))


def whole_index(b: Builder, value: Value, axis: int) -> Value:
    """Compute indices of the rank of a value, as GatherElements wants them."""
    index = index_of(b, value, axis)
    same = index.rank == value.rank
    if same and all(index.dims[i] == value.dims[i] for i in range(value.rank) if i != axis):
        return index
    return repeated(b, as_line(b, index), value, axis, value.rank)


def gather_elements(b: Builder) -> object:
    value = data(b)
    axis = b.axis(value)
    index = whole_index(b, value, axis)
    return site(b, "gather_elements", value, index, b.either_end(axis, value.rank), dims=index.dims)


def coordinates(b: Builder, value: Value, first: int = 0) -> Value:
    """Compute tuples of coordinates of a value: places of true elements, or indices side by side."""
    kind = b.pick(*INTEGERS)
    if b.chance(0.35):
        mask = b.make(b.pick("greater", "not_equal"), value, b.constant(b.pick(0, 1), value.kind))
        return b.make("transpose", b.make("non_zero", mask, kind, dims=()), b.longs(1, 0), dims=())
    tuples = [v for v in b.values if v.kind in INTEGERS and v.rank == 2 and (b.width(v) or value.rank + 1) <= value.rank]
    if b.chance(0.25) and tuples:
        return b.pick(*tuples)
    one = idiom(b, value, first, kind)
    parts = [one]
    for axis in range(first + 1, min(value.rank, first + b.pick(1, 2, 3))):
        other = idiom(b, value, axis, kind)
        if other.dims != one.dims:
            other = b.make("minimum", b.make("relu", one), last_of(b, value, axis, kind))
        parts.append(other)
    return b.make("concat", [b.make("unsqueeze", part, b.longs(-1)) for part in parts], -1, dims=one.dims)


def gather_nd(b: Builder) -> object:
    value = data(b)
    index = coordinates(b, value)
    return site(b, "gather_nd", value, index, dims=(), opset=b.pick(None, None, opset5))


def gather_nd_in_batches(b: Builder) -> object:
    value = data(b, 2)
    table = repeated(b, as_line(b, index_of(b, value, 1)), value, 1, 2)
    return site(b, "gather_nd", value, b.make("unsqueeze", table, b.longs(-1)), 1, dims=())


def updates_of(b: Builder, value: Value, shape: Value) -> Value:
    """Return numbers of data's type in a computed shape."""
    return b.make("broadcast", b.constant(b.pick(0, 1, -1, 7, 2**31 - 1), value.kind), shape, dims=())


def scatter_update(b: Builder) -> object:
    value = data(b)
    axis = b.axis(value)
    index = as_line(b, index_of(b, value, axis))
    shape = b.vector([b.size_of(*((index, 0) if i == axis else (value, i)), "i64") for i in range(value.rank)])
    operands = index, updates_of(b, value, shape), b.constant(axis, "i64")
    return site(b, "scatter_update", value, *operands, dims=value.dims)


def scatter_elements(b: Builder) -> object:
    value = data(b)
    axis = b.axis(value)
    index = whole_index(b, value, axis)
    operands = index, updates_of(b, value, b.make("shape_of", index, "i64")), b.constant(b.either_end(axis, value.rank), "i64")
    if b.chance(0.3):
        return site(b, "scatter_elements_update", value, *operands, dims=value.dims, opset=opset3)
    ways = b.pick(*b.scatters), b.chance(0.5)
    return site(b, "scatter_elements_update", value, *operands, *ways, dims=value.dims)


def scatter_nd(b: Builder) -> object:
    value = data(b)
    index = coordinates(b, value)
    width = b.width(index)
    if width is None:
        return None
    sizes = [b.size_of(index, i, "i64") for i in range(index.rank - 1)]
    sizes += [b.size_of(value, i, "i64") for i in range(width, value.rank)]
    operands = index, updates_of(b, value, b.vector(sizes) if sizes else b.longs())
    if b.chance(0.4):
        return site(b, "scatter_nd_update", value, *operands, dims=value.dims, opset=opset4)
    return site(b, "scatter_nd_update", value, *operands, b.pick(*b.tuple_scatters), dims=value.dims)


COMMON: list[tuple[int, Operation]] = [
    *[(10, gather), (6, gather_elements), (5, gather_nd), (3, scatter_elements), (3, scatter_nd)],
]
SITES: dict[type[Builder], list[tuple[int, Operation]]] = {
    OpenvinoBuilder: [*COMMON, (3, gather_in_batches), (2, gather_nd_in_batches), (2, scatter_update)],
    OnnxBuilder: COMMON,
}
