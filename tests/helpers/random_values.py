"""Operations on the numbers of random graphs: arithmetic, comparisons, conversions, sums, positions."""

from __future__ import annotations

import numpy as np

from helpers.random_graphs import INTEGERS, Builder, Operation, Value
from helpers.random_onnx import OnnxBuilder
from helpers.random_openvino import OpenvinoBuilder

COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


def in_any_order(b: Builder, *operands: Value) -> tuple[Value, ...]:
    return operands if b.chance(0.6) else operands[::-1]


def binary(b: Builder) -> object:
    value = b.value(*b.numbers)
    return b.add(b.pick(*b.binaries), *in_any_order(b, value, b.operand(value)))


def division(b: Builder) -> object:
    """A division or a remainder. The process ends of a division by zero, and of the least integer by -1: that is rare here."""
    value = b.value(*b.integers, *INTEGERS, "f32")
    divisor = b.constant(b.pick(1, 2, 3, 7, 100, -2, -3), value.kind)
    if value.kind in INTEGERS and b.chance(0.4):
        divisor = b.as_kind(b.count(), value.kind)
        divisor = b.make("maximum", divisor, b.constant(b.pick(1, 2), value.kind)) if b.chance(0.93) else divisor
    return b.add(b.pick("divide", "mod", "floor_mod"), value, divisor)


def clamp(b: Builder) -> object:
    value = b.value(*b.numbers)
    bounds = sorted([b.pick(0, 0.0, -1, -2.5, 0.9, float(b.rng.integers(-9, 3))), b.pick(3, 0.95, 2.7, 6, 100, 2**24, np.inf)])
    return b.add("clamp", value, *map(float, bounds))


def clip(b: OnnxBuilder) -> object:
    """A Clip with one bound or both, of which the upper one may be computed."""
    value = b.value(*b.numbers)
    low, high = (b.constant(b.pick(*some), value.kind) for some in ((0, 0, 1, -2), (2, 3, 5, 100)))
    scalars = [v for v in b.values if v.kind == value.kind and v.rank == 0]
    bounds = b.pick((low, high), (low, high), (None, high), (low,), (low, b.pick(high, *scalars)))
    return b.offer(b.one("Clip", value, *bounds))


def unary(b: Builder) -> object:
    return b.add(b.pick(*b.unaries), b.value(*b.numbers))


def unary_of_fractions(b: Builder) -> object:
    value, name = b.value("f32"), b.pick(*b.of_fractions)
    if name == "softmax":
        return b.add(name, value, b.axis(value)) if value.rank else value
    return b.add(name, value, *([b.pick("half_to_even", "half_away_from_zero")] if name == "round" else []))


def scaled(b: Builder) -> object:
    """A fraction from 0 to 1 becomes a position: floor(sigmoid(x) * n)."""
    value = b.value("f32")
    times = b.as_kind(b.count(), "f32") if b.chance(0.5) else b.constant(b.pick(3, 7.5, 2**25, 3e9), "f32")
    product = b.make("multiply", b.make(b.pick("sigmoid", "tanh", "abs"), value), times)
    rounding = b.pick(["floor"], ["ceiling"], ["round", "half_to_even"], [])
    product = b.make(rounding[0], product, *rounding[1:]) if rounding else product
    return b.add("convert", product, b.pick(*INTEGERS, "u8"))


def compare(b: Builder) -> object:
    value = b.value(*b.numbers)
    return b.add(b.pick(*COMPARISONS), value, b.operand(value))


def logic(b: Builder) -> object:
    value, name = b.value("boolean"), b.pick("logical_and", "logical_or", "logical_xor", "logical_not")
    return b.add(name, value, *([] if name == "logical_not" else [b.operand(value)]))


def tested(b: Builder) -> object:
    return b.add(b.pick("is_nan", "is_inf", "is_finite"), b.value("f32"))


def select(b: Builder) -> object:
    value = b.value(*b.numbers)
    conditions = [v for v in b.values if v.kind == "boolean" and v.dims in ((), value.dims)]
    is_new = not conditions or b.chance(0.5)
    condition = b.make(b.pick(*COMPARISONS), value, b.operand(value)) if is_new else b.pick(*conditions)
    return b.add("select", condition, *in_any_order(b, value, b.operand(value)))


def convert(b: Builder) -> object:
    return b.add("convert", b.value(*b.moved, "i8"), b.pick(*b.casts))


def size(b: Builder) -> object:
    """A size, or what models compute of sizes."""
    count = b.count()
    if b.chance(0.6):
        name, other = b.pick("add", "subtract", "multiply", "divide", "maximum", "minimum", "floor_mod"), b.pick(1, 2, 3, -1)
        by = b.constant(abs(other) if name in ("divide", "floor_mod") else other, count.kind)
        by = b.as_kind(b.count(), count.kind) if b.chance(0.3) and name in ("add", "minimum", "maximum") else by
        count = b.make(name, count, by)
        if name not in ("multiply", "add"):
            b.counts.append(count)
    return b.offer(count)


def shape(b: Builder) -> object:
    return b.add("shape_of", b.value(least_rank=1), b.pick(*INTEGERS))


def counting(b: Builder) -> object:
    """A Range of sizes and small numbers."""
    kind = b.pick(*INTEGERS)
    size = b.as_kind(b.count(), kind)
    start, stop, step = b.constant(b.pick(0, 0, 0, 1, -2), kind), size, b.constant(b.pick(1, 1, 1, 2, 3), kind)
    if b.chance(0.2):
        start, stop = b.make("subtract", size, b.constant(1, kind)), b.constant(-1, kind)
        step = b.constant(b.pick(-1, -2), kind)
    if b.chance(0.1):
        start, stop, step = (b.as_kind(x, "f32") for x in (start, stop, step))
        step = b.make("multiply", step, b.constant(b.pick(0.5, 0.3, 1.0), "f32"))
    return b.add("range", start, stop, step, b.pick(kind, *INTEGERS))


def non_zero(b: Builder) -> object:
    places = b.make("non_zero", b.value("boolean", *b.numbers, least_rank=1), b.pick(*INTEGERS), dims=())
    return b.offer(places) if b.chance(0.7) else b.add("transpose", places, b.longs(1, 0), dims=places.dims[::-1])


def highest(b: Builder) -> object:
    value = b.value("f32", "f32", "i32", "i64", least_rank=1)
    values, places = top(b, value, b.axis(value), b.pick(*INTEGERS))
    return [b.offer(values), b.offer(Value(places.handle, places.kind, values.dims))]


def top(b: Builder, value: Value, axis: int, kind: str) -> list[Value]:
    """Find the values and the places of the greatest or least, as many as a number says, or the size of the axis."""
    k = b.constant(b.pick(1, 1, 2, 3), "i64")
    if b.chance(0.2):
        k = b.make("minimum", b.size_of(value, axis, kind), b.constant(b.pick(1, 2, 4), kind))
    ways = b.pick("max", "min"), b.pick("value", "index", "none"), kind
    dims = [*value.dims[:axis], 0, *value.dims[axis + 1 :]]
    return b.outputs("topk", value, k, b.either_end(axis, value.rank), *ways, dims=dims)


def extreme(b: OnnxBuilder) -> object:
    value = b.value("f32", "i64", "i32", "i8", "u8", least_rank=1)
    return b.offer(place_of_extreme(b, value, b.axis(value)))


def place_of_extreme(b: OnnxBuilder, value: Value, axis: int) -> Value:
    ways = {"keepdims": b.pick(0, 1), "select_last_index": b.pick(0, 1)}
    return b.one(b.pick("ArgMax", "ArgMin"), value, axis=b.either_end(axis, value.rank), **ways)


def reduce(b: Builder) -> Value:
    return reduced(b, b.value(*b.numbers, least_rank=1), f"reduce_{b.pick(*b.reductions)}")


def reduce_truth(b: Builder) -> Value:
    return reduced(b, b.value("boolean", least_rank=1), b.pick("reduce_logical_and", "reduce_logical_or"))


def reduced(b: Builder, value: Value, name: str) -> Value:
    axes = sorted({b.axis(value) for _ in range(b.pick(1, 1, 2))})
    keep = b.chance(0.5)
    left = [1 if axis in axes else dim for axis, dim in enumerate(value.dims) if keep or axis not in axes]
    return b.add(name, value, b.longs(*(b.either_end(axis, value.rank) for axis in axes)), keep, dims=left)


def reduce_all(b: OnnxBuilder) -> object:
    operator = b.pick("ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd", "ReduceL1", "ReduceSumSquare")
    return b.offer(b.one(operator, b.value(*b.numbers, least_rank=1), keepdims=b.pick(0, 1)))


def count_true(b: Builder) -> Value:
    """How many are true, before each place or along an axis: sums of a mask."""
    mask = b.value("boolean", *b.integers, least_rank=1)
    mask = mask if mask.kind == "boolean" else b.make("not_equal", mask, b.constant(0, mask.kind))
    numbers = b.as_kind(mask, b.pick(*INTEGERS, "f32"))
    return reduced(b, numbers, "reduce_sum") if b.chance(0.5) else summed(b, numbers)


def cumulate(b: Builder) -> Value:
    return summed(b, b.value(*INTEGERS, "f32", least_rank=1))


def summed(b: Builder, value: Value) -> Value:
    axis = b.constant(b.either_end(b.axis(value), value.rank), b.pick(*INTEGERS))
    return b.add("cum_sum", value, axis, b.chance(0.4), b.chance(0.4))


def one_hot(b: Builder) -> object:
    value, kind = b.integer(most_rank=2), b.pick(*INTEGERS, "boolean")
    on, off = b.constant(1 if kind == "boolean" else b.pick(1, 5, -3), kind), b.constant(0, kind)
    depth = b.constant(b.pick(1, 3, 6), "i64") if b.chance(0.7) else b.as_kind(b.count(), "i64")
    axis = b.pick(-1, -1, 0)
    return b.add("one_hot", value, depth, on, off, axis, dims=value.dims if axis else ())


def found(b: Builder) -> Value:
    """The bucket of each value among bounds, or its place in a sorted row."""
    source = b.value("f32", *INTEGERS, least_rank=1, most_rank=1)
    table = b.constant(sorted(int(n) for n in b.rng.integers(-5, 6, b.pick(0, 1, 3, 6))), source.kind)
    if b.chance(0.5):
        return b.add("bucketize", source, table, b.pick(*INTEGERS), b.chance(0.5), dims=source.dims)
    other = [v for v in b.values if v.kind == source.kind and v.rank == 1]
    return b.add("search_sorted", b.pick(*other) if b.chance(0.3) else table, source, b.chance(0.5), dims=source.dims)


def unique(b: Builder) -> object:
    """Sorted ones, because the plugin leaves some outputs of others unset where others are not used."""
    kinds = b.pick(*INTEGERS), b.pick(*INTEGERS)
    return [b.offer(one) for one in b.outputs("unique", b.value(*INTEGERS, "f32", least_rank=1), None, True, *kinds, dims=())]


def unsorted(b: OnnxBuilder) -> object:
    return [b.offer(one) for one in b.node("Unique", [b.value("i64", "f32", least_rank=1)], 4, sorted=0)]


def product(b: Builder) -> object:
    """A MatMul or Einsum of small values."""
    value = b.value("f32", "f32", *INTEGERS, least_rank=1, most_rank=3)
    width, wanted = value.dims[-1], int(b.rng.integers(1, 5))
    if not isinstance(width, int):
        return b.add("einsum", [value, value], "...a,...b->...ab", dims=(*value.dims, value.dims[-1]))
    weights, dims = b.constant(b.rng.integers(-4, 5, (width, wanted)), value.kind), (*value.dims[:-1], wanted)
    if b.chance(0.4):
        return b.add("einsum", [value, weights], "...a,ab->...b", dims=dims)
    return b.add("matmul", value, weights, False, False, dims=dims)


def random_numbers(b: Builder) -> object:
    kind = b.pick("f32", *INTEGERS)
    low, high = b.pick((0, 1), (0, 5), (-3, 4), (-(2**30), 2**30 - 1))
    greatest = b.as_kind(b.count(), kind) if b.chance(0.3) else b.constant(high, kind)
    size = b.make("unsqueeze", b.count(), b.longs(0)) if b.chance(0.5) else b.longs(2, 3)
    return b.add("random_uniform", size, b.constant(low if b.chance(0.7) else 0, kind), greatest, kind, 7, 11)


def number_anew(b: Builder) -> object:
    """A constant of any shape, empty ones included."""
    return b.offer(b.line(b.pick(*b.numbers), [b.pick(0, 1, 2, 3, 4, 5) for _ in range(b.pick(0, 1, 1, 2))]))


def chosen_kind(b: Builder) -> object:
    """An integer that fits into the type that it is converted to, and maybe back."""
    value = b.value("f32", *INTEGERS)
    inside = b.make("clamp", value, float(b.pick(-3, 0)), float(b.pick(2, 5, 100)))
    return b.add("convert", b.make("convert", inside, b.pick("u8", "i8", "i32")), b.pick(*INTEGERS))


COMMON: list[tuple[int, Operation]] = [
    *[(12, binary), (6, division), (4, unary), (4, unary_of_fractions), (3, scaled), (6, compare), (4, logic), (1, tested)],
    *[(6, select), (8, convert), (4, size), (2, shape), (5, counting), (4, non_zero), (6, highest), (6, reduce)],
    *[(1, reduce_truth), (3, count_true), (3, cumulate), (3, one_hot), (1, unique), (2, product), (2, number_anew)],
    *[(4, chosen_kind)],
]
VALUES: dict[type[Builder], list[tuple[int, Operation]]] = {
    OpenvinoBuilder: [*COMMON, (6, clamp), (4, found), (2, random_numbers)],
    OnnxBuilder: [
        *[*COMMON, (2, clamp), (6, clip), (7, extreme), (4, unsorted), (1, reduce_all)],
        *[(5, unary_of_fractions), (5, one_hot), (3, unique)],
    ],
}
