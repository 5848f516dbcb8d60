"""Operations on the numbers of random models: arithmetic, comparisons, conversions, sums, positions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from openvino import opset16 as ops

from helpers.random_indices import INTEGERS, NASTY, NASTY_FRACTIONS, SMALL_INTEGERS, Builder, Operation, Value, constant

NUMBERS = (*INTEGERS, *INTEGERS, *SMALL_INTEGERS, "f32")
BINARY = (ops.add, ops.subtract, ops.multiply, ops.minimum, ops.maximum, ops.squared_difference)
DIVISIONS = (ops.divide, ops.mod, ops.floor_mod)
COMPARISONS = (ops.equal, ops.not_equal, ops.less, ops.less_equal, ops.greater, ops.greater_equal)


def number(b: Builder, kind: str) -> float:
    """A number for a constant: mostly a small one."""
    if kind == "f32":
        return b.pick(*NASTY_FRACTIONS) if b.chance(0.3) else round(float(b.rng.normal(0, 4)), 2)
    return b.pick(*NASTY) if b.chance(0.2) else int(b.rng.integers(-9, 10))


def operand(b: Builder, value: Value) -> object:
    """An operand of the same type that is broadcast to a value: a constant, a size, or a value of the same dimensions."""
    same = [v for v in b.values if v.kind == value.kind and v.dims == value.dims and v != value]
    way = b.pick("number", "number", "line", "size", "same", "same")
    if way == "same" and same:
        return b.pick(*same).output
    if way == "size" and value.kind in INTEGERS:
        return b.as_kind(b.count(), value.kind).output
    last = value.dims[-1] if value.rank else "?"
    if way == "line" and isinstance(last, int):
        return constant([number(b, value.kind) for _ in range(last)], value.kind)
    return constant(number(b, value.kind), value.kind)


def binary(b: Builder) -> object:
    value = b.value(*NUMBERS)
    operands = [value.output, operand(b, value)]
    return b.add(b.pick(*BINARY)(*(operands if b.chance(0.7) else operands[::-1])), value.dims)


def division(b: Builder) -> object:
    """A division or a remainder. The process ends of a division by zero, and of the least integer by -1: that is rare here."""
    value = b.value(*INTEGERS, *INTEGERS, "f32")
    by = b.pick(1, 2, 3, 7, 100, -2, -3)
    divisor = constant(by, value.kind)
    if value.kind in INTEGERS and b.chance(0.4):
        divisor = b.as_kind(b.count(), value.kind).output
        divisor = ops.maximum(divisor, constant(b.pick(1, 2), value.kind)) if b.chance(0.93) else divisor
    return b.add(b.pick(*DIVISIONS)(value.output, divisor), value.dims)


def clamp(b: Builder) -> object:
    value = b.value(*NUMBERS)
    bounds = sorted([b.pick(0, 0.0, -1, -2.5, 0.9, float(b.rng.integers(-9, 3))), b.pick(3, 0.95, 2.7, 6, 100, 2**24, np.inf)])
    return b.add(ops.clamp(value.output, *map(float, bounds)), value.dims)


def unary(b: Builder) -> object:
    value = b.value(*NUMBERS)
    work = b.pick(ops.abs, ops.negative, ops.sign, ops.relu)
    return b.add(work(value.output), value.dims)


def unary_of_fractions(b: Builder) -> object:
    value = b.value("f32")
    work = b.pick(
        *(ops.floor, ops.ceiling, ops.sqrt, ops.sigmoid, ops.tanh, ops.exp, ops.sin),
        lambda x: ops.round(x, b.pick("half_to_even", "half_away_from_zero")),
        lambda x: ops.softmax(x, b.axis(value)) if value.rank else x,
    )
    return b.add(work(value.output), value.dims)


def scaled(b: Builder) -> object:
    """A fraction from 0 to 1 becomes a position: floor(sigmoid(x) * n)."""
    value = b.value("f32")
    times = b.as_kind(b.count(), "f32").output if b.chance(0.5) else constant(b.pick(3, 7.5, 2**25, 3e9), "f32")
    product = ops.multiply(b.pick(ops.sigmoid, ops.tanh, ops.abs)(value.output), times)
    rounded = b.pick(ops.floor, ops.ceiling, lambda x: ops.round(x, "half_to_even"), lambda x: x)(product)
    return b.add(ops.convert(rounded, b.pick(*INTEGERS, "u8")), value.dims)


def compare(b: Builder) -> object:
    value = b.value(*NUMBERS)
    return b.add(b.pick(*COMPARISONS)(value.output, operand(b, value)), value.dims)


def logic(b: Builder) -> object:
    value = b.value("boolean")
    work = b.pick(ops.logical_and, ops.logical_or, ops.logical_xor, ops.logical_not)
    return b.add(work(value.output) if work is ops.logical_not else work(value.output, operand(b, value)), value.dims)


def tested(b: Builder) -> object:
    value = b.value("f32")
    return b.add(b.pick(ops.is_nan, ops.is_inf, ops.is_finite)(value.output), value.dims)


def select(b: Builder) -> object:
    value = b.value(*NUMBERS)
    condition = b.pick(*COMPARISONS)(value.output, operand(b, value))
    operands = [value.output, operand(b, value)]
    return b.add(ops.select(condition, *(operands if b.chance(0.5) else operands[::-1])), value.dims)


def convert(b: Builder) -> object:
    value = b.value()
    kind = b.pick("i32", "i64", "f32", "boolean", "u8", "i8", "i64", "i32")
    return b.add(ops.convert(value.output, kind), value.dims)


def size(b: Builder) -> object:
    """A size, or what models compute of sizes."""
    count = b.count()
    if b.chance(0.6):
        kind, other = count.kind, b.pick(1, 2, 3, -1)
        work = b.pick(ops.add, ops.subtract, ops.multiply, ops.divide, ops.maximum, ops.minimum, ops.floor_mod)
        by = constant(abs(other) if work in (ops.divide, ops.floor_mod) else other, kind)
        by = b.as_kind(b.count(), kind).output if b.chance(0.3) and work in (ops.add, ops.minimum, ops.maximum) else by
        count = b.known(work(count.output, by))
        if work is not ops.multiply and work is not ops.add:
            b.counts.append(count)
    return b.add(count.output)


def shape(b: Builder) -> object:
    value = b.value(least_rank=1)
    return b.add(ops.shape_of(value.output, b.pick(*INTEGERS)))


def counting(b: Builder) -> object:
    """A Range of sizes and small numbers."""
    kind = b.pick(*INTEGERS)
    size = b.as_kind(b.count(), kind).output
    start, stop, step = constant(b.pick(0, 0, 0, 1, -2), kind), size, constant(b.pick(1, 1, 1, 2, 3), kind)
    if b.chance(0.2):
        start, stop, step = ops.subtract(size, constant(1, kind)), constant(-1, kind), constant(b.pick(-1, -2), kind)
    if b.chance(0.1):
        start, stop, step = (b.as_kind(b.known(x), "f32").output for x in (start, stop, step))
        step = ops.multiply(step, constant(b.pick(0.5, 0.3, 1.0), "f32"))
    return b.add(ops.range(start, stop, step, b.pick(kind, *INTEGERS)))


def non_zero(b: Builder) -> object:
    value = b.value("boolean", *NUMBERS, least_rank=1)
    return b.add(ops.non_zero(value.output, b.pick(*INTEGERS)))


def highest(b: Builder) -> object:
    """Values or places of the greatest or least, as TopK finds them."""
    value = b.value("f32", "f32", "i32", "i64", least_rank=1)
    axis = b.axis(value)
    kind = b.pick(*INTEGERS)
    k = constant(b.pick(1, 1, 2, 3), kind)
    if b.chance(0.25):
        k = ops.minimum(b.size_of(value, axis, kind).output, constant(b.pick(1, 2, 4), kind))
    node = ops.topk(
        value.output,
        k,
        b.either_end(axis, value.rank),
        b.pick("max", "min"),
        b.pick("value", "index", "none"),
        b.pick(*INTEGERS),
    )
    dims = [*value.dims[:axis], "", *value.dims[axis + 1 :]]
    dims[axis] = b.known(node.output(0)).dims[axis]
    b.add(node.output(0), dims)
    return b.add(node.output(1), dims)


def reduce(b: Builder) -> object:
    value = b.value(*NUMBERS, least_rank=1)
    works = [ops.reduce_max, ops.reduce_min, ops.reduce_sum, ops.reduce_prod, ops.reduce_mean, ops.reduce_l1, ops.reduce_sum]
    return reduced(b, value, b.pick(*works))


def reduce_truth(b: Builder) -> object:
    return reduced(b, b.value("boolean", least_rank=1), b.pick(ops.reduce_logical_and, ops.reduce_logical_or))


def reduced(b: Builder, value: Value, work: Callable[..., object]) -> object:
    axes = sorted({b.axis(value) for _ in range(b.pick(1, 1, 2))})
    keep = b.chance(0.5)
    left = [1 if axis in axes else dim for axis, dim in enumerate(value.dims) if keep or axis not in axes]
    return b.add(work(value.output, constant([b.either_end(axis, value.rank) for axis in axes], "i64"), keep), left)


def count_true(b: Builder) -> object:
    """How many are true, before each place or along an axis: sums of a mask."""
    mask = b.value("boolean", least_rank=1)
    numbers = b.as_kind(mask, b.pick(*INTEGERS, "f32"))
    if b.chance(0.5):
        return reduced(b, numbers, ops.reduce_sum)
    return summed(b, numbers)


def cumulate(b: Builder) -> object:
    return summed(b, b.value(*INTEGERS, "f32", least_rank=1))


def summed(b: Builder, value: Value) -> object:
    axis = constant(b.either_end(b.axis(value), value.rank), "i64")
    return b.add(ops.cum_sum(value.output, axis, b.chance(0.4), b.chance(0.3)), value.dims)


def one_hot(b: Builder) -> object:
    value = b.integers(most_rank=2)
    kind = b.pick(*INTEGERS, "boolean")
    on, off = constant(1 if kind == "boolean" else b.pick(1, 5, -3), kind), constant(0, kind)
    depth = constant(b.pick(1, 3, 6), "i64") if b.chance(0.7) else b.as_kind(b.count(), "i64").output
    return b.add(ops.one_hot(value.output, depth, on, off, -1), value.dims)


def bucket(b: Builder) -> object:
    value = b.value("f32", *INTEGERS)
    bounds = constant(sorted(int(n) for n in b.rng.integers(-5, 6, b.pick(0, 1, 3, 6))), value.kind)
    return b.add(ops.bucketize(value.output, bounds, b.pick(*INTEGERS), b.chance(0.5)), value.dims)


def searched(b: Builder) -> object:
    value = b.value("f32", *INTEGERS, least_rank=1, most_rank=1)
    other = [v for v in b.values if v.kind == value.kind and v.rank == 1]
    table = constant(sorted(int(n) for n in b.rng.integers(-5, 6, b.pick(1, 3, 6))), value.kind)
    return b.add(ops.search_sorted(b.pick(*other).output if b.chance(0.3) else table, value.output, b.chance(0.5)), value.dims)


def unique(b: Builder) -> object:
    """Unsorted ones are left out, because the plugin leaves some outputs unset where others are not used."""
    node = ops.unique(b.value(*INTEGERS, "f32", least_rank=1).output, None, True, b.pick(*INTEGERS), b.pick(*INTEGERS))
    return [b.add(output) for output in node.outputs()]


def product(b: Builder) -> object:
    """A MatMul or Einsum of small values."""
    value = b.value("f32", "f32", *INTEGERS, least_rank=1, most_rank=3)
    width, wanted = value.dims[-1], int(b.rng.integers(1, 5))
    if not isinstance(width, int):
        return b.add(ops.einsum([value.output, value.output], "...a,...b->...ab"), (*value.dims, value.dims[-1]))
    weights = constant(b.rng.integers(-4, 5, (width, wanted)), value.kind)
    if b.chance(0.4):
        return b.add(ops.einsum([value.output, weights], "...a,ab->...b"), (*value.dims[:-1], wanted))
    return b.add(ops.matmul(value.output, weights, False, False), (*value.dims[:-1], wanted))


def random_numbers(b: Builder) -> object:
    kind = b.pick("f32", *INTEGERS)
    low, high = b.pick((0, 1), (0, 5), (-3, 4), (-(2**30), 2**30 - 1))
    high_one = b.as_kind(b.count(), kind).output if b.chance(0.3) else constant(high, kind)
    size = b.known(ops.unsqueeze(b.count().output, constant(0, "i64"))) if b.chance(0.5) else b.known(constant([2, 3], "i64"))
    low_one = constant(low, kind) if b.chance(0.7) else constant(0, kind)
    return b.add(ops.random_uniform(size.output, low_one, high_one, kind, 7, 11))


def number_anew(b: Builder) -> object:
    """A constant of any shape, empty ones included."""
    kind = b.pick(*NUMBERS)
    shape = [b.pick(0, 1, 2, 3, 4, 5) for _ in range(b.pick(0, 1, 1, 2))]
    return b.add(constant(np.reshape([number(b, kind) for _ in range(int(np.prod(shape)))], shape), kind))


def chosen_kind(b: Builder) -> object:
    """An integer that fits into the type that it is converted to, and maybe back."""
    value = b.value("f32", *INTEGERS)
    inside = ops.clamp(value.output, float(b.pick(-3, 0)), float(b.pick(2, 5, 100)))
    return b.add(ops.convert(ops.convert(inside, b.pick("u8", "i8", "i32")), b.pick(*INTEGERS)), value.dims)


VALUES: list[tuple[int, Operation]] = [
    *[(12, binary), (6, division), (6, clamp), (4, unary), (4, unary_of_fractions), (3, scaled), (6, compare), (2, logic)],
    *[(1, tested), (6, select), (8, convert), (4, size), (2, shape), (5, counting), (4, non_zero), (6, highest), (6, reduce)],
    *[(1, reduce_truth), (3, count_true), (3, cumulate), (3, one_hot), (2, bucket), (2, searched), (1, unique), (2, product)],
    *[(2, random_numbers), (2, number_anew), (4, chosen_kind)],
]
