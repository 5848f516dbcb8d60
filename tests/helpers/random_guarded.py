"""Indices of random graphs that the model itself keeps in range, and what exporters write for sizes and positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers.random_graphs import INTEGERS, Builder, Value
from helpers.random_openvino import OpenvinoBuilder


def size_as(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """Return the size of an axis: read from the shape, or as a number where it is known."""
    dim = value.dims[axis]
    return b.constant(dim, kind) if isinstance(dim, int) and b.chance(0.5) else b.size_of(value, axis, kind)


def last_of(b: Builder, value: Value, axis: int, kind: str, *less: int) -> Value:
    return b.make("subtract", size_as(b, value, axis, kind), b.constant(b.pick(*(less or (1,))), kind))


def any_value(b: Builder, value: Value, axis: int, kind: str) -> Value:
    return b.as_kind(b.integer(most_rank=2), kind)


def in_range(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """where(0 <= i < n, i, 0), or the same by negations; maybe computed on from i."""
    index, size = any_value(b, value, axis, kind), size_as(b, value, axis, kind)
    zero = b.constant(b.pick(0, 0, 0, -1), kind)
    chosen = b.pick(index, index, b.make("add", index, b.constant(b.pick(1, -1), kind)), b.make("abs", index))
    if b.chance(0.5):
        inside = b.make("greater_equal", index, zero), b.make("less", index, size)
        both = b.make(b.pick("logical_and", conjunction(b)), *b.pick(inside, inside[::-1]))
        return b.make("select", both, chosen, b.constant(0, kind), dims=chosen.dims)
    outside = b.make("less", index, zero), b.make("greater_equal", index, size)
    either = b.make("logical_or", *outside)
    if b.chance(0.5):
        return b.make("select", b.make("logical_not", either), chosen, b.constant(0, kind), dims=chosen.dims)
    return b.make("select", either, b.constant(0, kind), chosen, dims=chosen.dims)


def conjunction(b: Builder) -> str:
    return "bitwise_and" if isinstance(b, OpenvinoBuilder) else "logical_and"


def unless_equal(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """A number that stands for nothing, such as -1 or -100, becomes 0."""
    index = b.make("clamp", any_value(b, value, axis, kind), float(b.pick(-1, -100)), 5.0)
    missing = b.constant(b.pick(-1, -100, 5), kind)
    if b.chance(0.5):
        return b.make("select", b.make("equal", index, missing), b.constant(0, kind), index, dims=index.dims)
    return b.make("select", b.make("not_equal", index, missing), index, b.constant(0, kind), dims=index.dims)


def masked(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """The lower bits."""
    index, mask = any_value(b, value, axis, kind), b.constant(b.pick(1, 3, 63, 2**31 - 1, -1), kind)
    return b.make(b.pick("bitwise_and", "bitwise_and", "bitwise_or", "bitwise_xor"), *b.pick((index, mask), (mask, index)))


def reserved(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """min(max(i, 0), n - 1) of an i that is computed in float32, or converted from it; the plugin may store the maximum."""
    index, last = any_value(b, value, axis, kind), last_of(b, value, axis, kind)
    way = b.pick("relu", "floor_mod", "divide", "convert", "multiply", "none")
    if way == "relu":
        index = b.make("relu", index)
    elif way == "convert":
        fraction = b.value("f32", most_rank=2)
        index = b.make("convert", b.make("multiply", fraction, b.constant(b.pick(1.0, 7.5, 1e9), "f32")), kind)
    elif way != "none":
        index = b.make(way, index, b.constant(b.pick(1, 3, 2**31 - 1), kind))
    first = b.make("maximum", *b.pick((index, b.constant(0, kind)), (b.constant(0, kind), index)))
    if b.chance(0.4):
        b.offer(first)
    return b.make("minimum", *b.pick((first, last), (last, first)))


def pixel(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """A fraction, which may be NaN, is clamped to the positions of an axis before it becomes an integer."""
    fraction, dim = b.value("f32", most_rank=2), value.dims[axis]
    fraction = b.make("floor", b.make("multiply", fraction, b.constant(b.pick(1.0, 5.0), "f32")))
    if isinstance(dim, int) and b.chance(0.4):
        return b.make("convert", b.make("clamp", fraction, 0.0, float(dim - 1)), kind)
    last, zero = b.make("convert", last_of(b, value, axis, kind), "f32"), b.constant(0.0, "f32")
    if b.chance(0.2):
        last = b.make("subtract", b.make("convert", size_as(b, value, axis, kind), "f32"), b.constant(1.0, "f32"))
    found = b.make("maximum", *b.pick((fraction, zero), (fraction, zero), (zero, fraction)))
    if b.chance(0.3):
        b.offer(found)
    return b.make("convert", b.make("minimum", *b.pick((found, last), (found, last), (last, found))), kind)


def windows(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """The starts of windows of a length, or the positions in them: s * i + w for i up to (n - w) / s."""
    width, step = b.pick(1, 2, 3, 4), b.pick(1, 2, 3)
    count = b.make("divide", last_of(b, value, axis, kind, width), b.constant(step, kind))
    count = b.make("add", b.make("floor", count) if b.chance(0.3) else count, b.constant(b.pick(1, 1, 1, 2), kind))
    line = b.make("range", b.constant(0, kind), count, b.constant(1, kind), kind)
    start = b.make("multiply", line, b.constant(step, kind))
    return b.make("add", start, b.constant(b.pick(0, width - 1, width), kind))


def of_pairs(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """Which row holds each of the positions in `n * k`, or in the sorted elements of as many."""
    times = b.pick(2, 3)
    size = b.make("multiply", size_as(b, value, axis, kind), b.constant(times, kind))
    line = b.make("range", b.constant(0, kind), size, b.constant(1, kind), kind)
    return b.make("divide", line, b.constant(b.pick(times, times, 2), kind))


def inverse(b: Builder, value: Value, axis: int, kind: str) -> Value:
    """The number of each element among the distinct ones."""
    found = b.outputs("unique", b.value(*INTEGERS, "f32", least_rank=1), None, True, kind, kind, dims=())
    if b.chance(0.4):
        b.sites += 1
        b.add("gather", found[0], found[2], b.constant(0, "i64"), dims=())
    return b.as_kind(b.pick(found[2], found[2], found[1]), kind)


def kept_boxes(b: Any, value: Value, axis: int, kind: str) -> Value:
    """The last column of what NonMaxSuppression keeps."""
    number = b.pick(2, 3, 5)
    corners = b.rng.random((1, number, 4)) * 4
    boxes = b.constant(corners.astype(np.float32), "f32")
    scores = b.parameter("f32", [1, b.pick(1, 2), number])
    most = b.constant(b.pick(1, 5), "i64")
    limits = b.constant(b.pick(0.3, 0.9), "f32"), b.constant(0.0, "f32")
    found = b.make("non_max_suppression", boxes, scores, most, *limits, dims=())
    return b.as_kind(b.make("gather", found, b.constant(b.pick(2, 2, 1, 0), "i64"), b.constant(1, "i64"), dims=()), kind)


GUARDED = [
    *[(3, in_range), (2, unless_equal), (2, masked), (4, reserved), (4, pixel), (3, windows), (3, of_pairs), (2, inverse)],
]
