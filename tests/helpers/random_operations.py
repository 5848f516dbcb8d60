"""Stock operations that stand around the gathers of a random model: each from a value, or two, of floating-point numbers.

A smooth one makes of a small error a small error. Values stay moderate, so that none becomes infinite or NaN.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from openvino import Output
from openvino import opset13 as ops

Unary = Callable[[np.random.Generator, Output], Output]


def integers(*values: int) -> Output:
    return ops.constant(np.array(values, np.int64)).output(0)


def number(value: float) -> Output:
    return ops.constant(np.float32(value)).output(0)


def sizes_of(value: Output) -> list[int]:
    return list(value.get_shape())


def some_axis(rng: np.random.Generator, value: Output) -> int:
    return int(rng.integers(len(sizes_of(value))))


def weights(rng: np.random.Generator, *shape: int) -> Output:
    return ops.constant(rng.standard_normal(shape, np.float32)).output(0)


def _elementwise(make: Callable[[Output], object]) -> Unary:
    return lambda rng, value: make(value).output(0)  # type: ignore[attr-defined]


def _with_constant(make: Callable[[Output, Output], object]) -> Unary:
    """The second operand is a constant number, a line, or a value for each element of the last dimension."""

    def build(rng: np.random.Generator, value: Output) -> Output:
        shape = [(), (1,), sizes_of(value)[-1:], [1] * (len(sizes_of(value)) - 1) + sizes_of(value)[-1:]][int(rng.integers(4))]
        return make(value, weights(rng, *shape)).output(0)  # type: ignore[attr-defined]

    return build


def matmul(rng: np.random.Generator, value: Output) -> Output:
    width, wanted, turned = sizes_of(value)[-1], int(rng.integers(1, 9)), bool(rng.integers(2))
    shape = (wanted, width) if turned else (width, wanted)
    scaled = ops.constant(rng.standard_normal(shape, np.float32) / np.float32(np.sqrt(width)))
    return ops.matmul(value, scaled, False, turned).output(0)


def _square(rng: np.random.Generator, value: Output) -> Output:
    """A MatMul of a value and itself, over its last dimension."""
    if len(sizes_of(value)) < 2:
        return value
    product = ops.matmul(value, ops.tanh(value), False, True)
    return ops.multiply(product, number(1 / sizes_of(value)[-1])).output(0)


def _flat(rng: np.random.Generator, value: Output) -> Output:
    """Reshape all dimensions but the first to one, or add one."""
    return ops.reshape(value, integers(0, -1) if len(sizes_of(value)) > 1 else integers(-1, 1), True).output(0)


def _with_one_more(rng: np.random.Generator, value: Output) -> Output:
    rank = len(sizes_of(value))
    return ops.unsqueeze(value, integers(int(rng.integers(rank + 1)))).output(0) if rank < 4 else value


def _without_ones(rng: np.random.Generator, value: Output) -> Output:
    ones = [i for i, size in enumerate(sizes_of(value)) if size == 1]
    return ops.squeeze(value, integers(ones[0])).output(0) if ones and len(sizes_of(value)) > 1 else value


def _reduced(make: Callable[..., object]) -> Unary:
    def build(rng: np.random.Generator, value: Output) -> Output:
        keep = len(sizes_of(value)) == 1 or bool(rng.integers(2))
        return make(value, integers(some_axis(rng, value)), keep_dims=keep).output(0)  # type: ignore[attr-defined]

    return build


def _along(make: Callable[[Output, int], object]) -> Unary:
    return lambda rng, value: make(value, some_axis(rng, value)).output(0)  # type: ignore[attr-defined]


def _start_of(rng: np.random.Generator, value: Output) -> Output:
    """OpenVINO removes a Slice right before GatherElements, also where that changes shapes or what negative indices mean."""
    axis = some_axis(rng, value)
    stop = int(rng.integers(1, sizes_of(value)[axis] + 1))
    return ops.tanh(ops.slice(value, integers(0), integers(stop), integers(1), integers(axis))).output(0)


def _every_second(rng: np.random.Generator, value: Output) -> Output:
    axis = some_axis(rng, value)
    return ops.slice(value, integers(0), integers(2**31 - 1), integers(2), integers(axis)).output(0)


def _padded(rng: np.random.Generator, value: Output) -> Output:
    rank = len(sizes_of(value))
    before, after = (integers(*rng.integers(0, 2, rank).tolist()) for _ in range(2))
    return ops.pad(value, before, after, "constant", number(0.5)).output(0)


def _in_half(rng: np.random.Generator, value: Output) -> Output:
    """OpenVINO's Convert of a few f32 to f16 writes behind its output."""
    return ops.convert(ops.convert(value, "bf16"), "f32").output(0)


def _normalized(rng: np.random.Generator, value: Output) -> Output:
    """LayerNorm as exporters write it in small operations."""
    axis = integers(-1)
    centred = ops.subtract(value, ops.reduce_mean(value, axis, keep_dims=True))
    variance = ops.reduce_mean(ops.multiply(centred, centred), axis, keep_dims=True)
    return ops.divide(centred, ops.sqrt(ops.add(variance, number(0.1)))).output(0)


def _as_hot(rng: np.random.Generator, value: Output) -> Output:
    places = ops.convert(ops.multiply(ops.sigmoid(value), number(3)), "i64")
    return ops.one_hot(places, ops.constant(4), number(1), number(0), -1).output(0) if len(sizes_of(value)) < 4 else value


def _scattered(rng: np.random.Generator, value: Output) -> Output:
    axis = some_axis(rng, value)
    where = ops.constant(np.zeros([1] * len(sizes_of(value)), np.int64))
    return ops.scatter_elements_update(value, where, weights(rng, *[1] * len(sizes_of(value))), ops.constant(axis)).output(0)


SMOOTH: tuple[Unary, ...] = (
    *map(_elementwise, (ops.relu, ops.abs, ops.negative, ops.tanh, ops.sigmoid, ops.erf, ops.softplus, ops.mish, ops.hswish)),
    *map(_elementwise, (ops.sin, ops.cos, ops.atan, ops.hsigmoid, lambda value: ops.gelu(value, "erf"), ops.softsign)),
    _elementwise(lambda value: ops.swish(value)),
    _elementwise(lambda value: ops.clamp(value, -1.5, 2.0)),
    _elementwise(lambda value: ops.elu(value, 0.7)),
    _elementwise(lambda value: ops.exp(ops.clamp(value, -4.0, 2.0))),
    _elementwise(lambda value: ops.log(ops.add(ops.abs(value), number(1)))),
    _elementwise(lambda value: ops.sqrt(ops.add(ops.abs(value), number(1)))),
    _elementwise(lambda value: ops.normalize_l2(value, integers(-1), 1.0, "add")),
    _elementwise(lambda value: ops.mvn(value, integers(-1), True, 0.1, "inside_sqrt")),
    *map(_with_constant, (ops.add, ops.subtract, ops.multiply, ops.maximum, ops.minimum, ops.squared_difference, ops.prelu)),
    _with_constant(lambda value, other: ops.divide(value, ops.add(ops.abs(other), number(1)))),
    *[matmul] * 6,
    *[_square] * 2,
    *[lambda rng, value: ops.transpose(value, integers(*rng.permutation(len(sizes_of(value))).tolist())).output(0)] * 2,
    *(_flat, _with_one_more, _without_ones, _start_of, _every_second, _padded, _in_half, _normalized),
    lambda rng, value: ops.tile(value, integers(*rng.integers(1, 3, len(sizes_of(value))).tolist())).output(0),
    lambda rng, value: ops.concat([value, ops.relu(value)], some_axis(rng, value)).output(0),
    *map(_reduced, (ops.reduce_sum, ops.reduce_mean, ops.reduce_max, ops.reduce_min, ops.reduce_l2)),
    *map(_along, (ops.softmax, ops.softmax, ops.log_softmax)),
    lambda rng, value: ops.cum_sum(value, ops.constant(some_axis(rng, value))).output(0),
)
ROUGH: tuple[Unary, ...] = (
    *map(_elementwise, (ops.floor, ops.ceiling, ops.sign, lambda value: ops.round(value, "half_to_even"))),
    lambda rng, value: ops.convert(ops.convert(ops.multiply(value, number(4)), "i32"), "f32").output(0),
    lambda rng, value: ops.select(ops.greater(value, number(0)), value, ops.exp(ops.minimum(value, number(0)))).output(0),
    lambda rng, value: ops.topk(value, ops.constant(1), some_axis(rng, value), "max", "value").output(0),
    *(_as_hot, _scattered),
    _with_constant(lambda value, other: ops.floor_mod(value, ops.add(ops.abs(other), number(1)))),
)
BINARY = (ops.add, ops.subtract, ops.multiply, ops.maximum, ops.minimum, ops.squared_difference)
"""Operations of two values that have the same shape, or can be broadcast."""
