"""Moves of elements, and Ifs, for random index arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper

from helpers.arithmetic_builder import ANY, TYPES, Arithmetic


def reshape(b: Arithmetic) -> None:
    name = b.value(*ANY)
    shape = b.values[name].shape
    ways = [[-1], [1, -1], [-1, 1], [0] * len(shape), [*[0] * (len(shape) - 1), -1] if shape else [1]]
    b.add("Reshape", [name, b.longs(*b.pick(*ways))])


def transpose(b: Arithmetic) -> None:
    name = b.value(*ANY, least_rank=2)
    b.add("Transpose", [name], perm=[int(axis) for axis in b.rng.permutation(b.values[name].ndim)])


def concatenate(b: Arithmetic) -> None:
    name = b.value(*ANY, least_rank=1)
    axis = b.axis(name) % b.values[name].ndim
    shape = b.values[name].shape
    same = [
        one
        for one, array in b.values.items()
        if array.dtype == b.values[name].dtype
        and array.ndim == len(shape)
        and array.shape[:axis] + array.shape[axis + 1 :] == shape[:axis] + shape[axis + 1 :]
    ]
    b.add("Concat", [name, *(b.pick(*same) for _ in range(b.pick(1, 2)))], axis=axis)


def cut(b: Arithmetic) -> None:
    name = b.value(*ANY, least_rank=1)
    step = b.pick(1, 1, 2, -1, -2)
    ends = (b.pick(0, 0, 1, -2, -1), b.pick(1, 2, -1, 2**31 - 1, 2**62)) if step > 0 else (-1, b.pick(0, -3, -(2**62)))
    b.add("Slice", [name, b.longs(ends[0]), b.longs(ends[1]), b.longs(b.axis(name)), b.longs(step)])


def split(b: Arithmetic) -> None:
    name = b.value(*ANY, least_rank=1)
    axis = b.axis(name)
    if b.values[name].shape[axis] == 2:
        b.add("Split", [name], outputs=2, axis=axis, num_outputs=2)
    elif b.values[name].shape[axis] == 3:
        b.add("Split", [name, b.longs(*b.pick([1, 2], [3, 0], [2, 1]))], outputs=2, axis=axis)


def dims(b: Arithmetic) -> None:
    name = b.value(*ANY)
    rank = b.values[name].ndim
    way = b.pick("Squeeze", "Unsqueeze", "Unsqueeze", "Flatten")
    if way == "Squeeze":
        ones = [axis for axis, length in enumerate(b.values[name].shape) if length == 1]
        if ones:
            b.add(way, [name, b.longs(b.pick(*ones))])
        return
    if way == "Flatten":
        b.add(way, [name], axis=b.pick(*range(rank + 1)))
        return
    b.add(way, [name, b.longs(b.pick(0, -1))])


def expand(b: Arithmetic) -> None:
    name, like = b.value(*ANY), b.value(*ANY)
    shape = b.add("Shape", [like]) if b.chance(0.5) else b.longs(*b.pick([2, 1], [1], [3], [2, 1, 1]))
    if shape is not None:
        b.add("Expand", [name, shape])


def tile(b: Arithmetic) -> None:
    name = b.value(*ANY, least_rank=1)
    b.add("Tile", [name, b.longs(*(b.pick(1, 2, 3) for _ in b.values[name].shape))])


def filled(b: Arithmetic) -> None:
    kind = TYPES[b.pick(*ANY)]
    shape = b.value("i64", least_rank=1, most_rank=1)
    if b.values[shape].size < 4 and (b.values[shape] >= 0).all() and (b.values[shape] < 5).all():
        value = onnx.numpy_helper.from_array(np.array([b.pick(0, 1, 3)], kind))
        b.add("ConstantOfShape", [shape], value=value)


def pad(b: Arithmetic) -> None:
    name = b.value("i64", "i32", "u8", "i8", "boolean", least_rank=1)
    pads = b.longs(*(b.pick(0, 1, 2) for _ in range(2 * b.values[name].ndim)))
    value = [b.stated(b.array(b.kind(name), ()))] if b.chance(0.6) else []
    b.add("Pad", [name, pads, *value], mode="constant" if value else b.pick("constant", "edge"))


def triangle(b: Arithmetic) -> None:
    name = b.value("i64", "i32", "boolean", least_rank=2)
    b.add("Trilu", [name, b.stated(np.array(b.pick(0, 1, -1), np.int64))], upper=b.pick(0, 1))


def compress(b: Arithmetic) -> None:
    name = b.value(*ANY, least_rank=1)
    axis = b.axis(name)
    chosen = b.array("boolean", (int(b.rng.integers(b.values[name].shape[axis] + 1)),))
    b.add("Compress", [name, b.stated(chosen)], axis=axis)


def moved(b: Arithmetic) -> None:
    """A gather or a scatter of small integers by constant positions."""
    name = b.value(*ANY, least_rank=1)
    axis = b.axis(name)
    length = b.values[name].shape[axis]
    if not length:
        return
    at = b.stated(b.rng.integers(-length, length, (b.pick(1, 2),)))
    if b.chance(0.5):
        b.add("Gather", [name, at], axis=axis)
        return
    if b.values[name].ndim == 1:
        updates = b.stated(b.array(b.kind(name), b.values[at].shape))
        b.add("ScatterElements", [name, at, updates])


def branches(b: Arithmetic) -> None:
    """An If whose branches hold arithmetic on constants and on a value around."""
    name = b.value("i64", "i32")
    kind = helper.np_dtype_to_tensor_dtype(b.values[name].dtype)
    conditions = [one for one, array in b.values.items() if array.dtype == bool and array.ndim == 0]
    condition = b.pick(*conditions) if conditions and b.chance(0.7) else b.stated(np.array(b.chance(0.5)))
    bodies = []
    for mark in "te":
        numbers = [onnx.numpy_helper.from_array(b.array(b.kind(name), ()), f"{name}_{len(b.nodes)}{mark}{i}") for i in range(2)]
        if not onnx.numpy_helper.to_array(numbers[1]).all():
            return
        made = [f"{name}_{len(b.nodes)}{mark}{i}" for i in (2, 3, 4)]
        way = b.pick("Add", "Sub", "Max", "Min")
        nodes = [
            helper.make_node(b.pick("Div", "Sub", "Add"), [one.name for one in numbers], [made[0]], name=made[0]),
            helper.make_node("Abs", [made[0]], [made[1]], name=made[1]),
            helper.make_node(way, [name, made[b.pick(0, 1)]], [made[2]], name=made[2]),
        ]
        output = helper.make_tensor_value_info(made[2], kind, [None] * b.values[name].ndim)
        bodies.append(helper.make_graph(nodes, mark, [], [output], numbers))
    b.add("If", [condition], then_branch=bodies[0], else_branch=bodies[1])


MOVES: tuple[Callable[[Arithmetic], None], ...] = (
    *(reshape, reshape, transpose, concatenate, concatenate, cut, cut, split, dims, dims, expand, tile, filled, filled, pad),
    *(triangle, compress, moved, moved, branches),
)
