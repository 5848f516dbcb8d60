"""Random ONNX models of index arithmetic: integers, booleans, casts and shapes, constant or not, before gathers.

Constants are operands like any other, and each node is executed alone, so that nothing folds it: its results are the oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from helpers import random_moves as moves
from helpers import random_values as values
from helpers.onnx_operators import Runner, operands_of
from helpers.random_bodies import onnx_branches
from helpers.random_graphs import Operation, Value
from helpers.random_onnx import LARGEST, TYPES, OnnxBuilder

SIZE = 128  # of the table that is gathered from, which takes indices from -SIZE to SIZE - 1


@dataclass(frozen=True)
class Sample:
    """A model, arrays for its inputs, what each output and each other value must be, and the largest number before each."""

    model: onnx.ModelProto
    feed: dict[str, np.ndarray]
    expected: dict[str, np.ndarray]
    largest: dict[str, float]
    values: dict[str, np.ndarray]


class ExactBuilder(OnnxBuilder):
    """A Builder of values that fit in 32 bits, and of fractions that float32 represents."""

    opset = 21
    integers = ("i64", "i64", "i64", "i64", "i32", "i32", "i32", "u8", "i8", "i16", "u16", "u32", "u64")
    numbers = (*integers, "f32")
    moved = casts = (*integers, "boolean", "boolean", "f32")
    binaries = (*OnnxBuilder.binaries, "sum")
    unaries = (*OnnxBuilder.unaries, "identity")
    of_fractions = ("floor", "ceiling", "round", "abs", "negative", "sign", "relu")
    reductions = ("max", "min", "sum", "prod", "mean", "l1", "sum_square")
    pad_modes = ("constant", "edge")

    def example(self, kind: str, shape: Sequence[int]) -> np.ndarray:
        dtype = np.dtype(TYPES[kind])
        if dtype.kind == "b":
            return np.asarray(self.rng.integers(0, 2, shape).astype(dtype))
        if dtype.kind == "f":
            return np.asarray((self.rng.integers(-20, 21, shape) / self.pick(1, 2, 4)).astype(dtype))
        found = self.rng.integers(*((0, 8) if dtype.kind == "u" else (-7, 8)), shape).astype(dtype)
        if self.chance(0.1):
            limits = np.iinfo(np.int32 if dtype.itemsize > 4 or dtype == np.uint32 else dtype)
            least, odd = limits.min if dtype.kind == "i" else 0, 2**24 + 1 if dtype.itemsize > 2 else 1
            nasty = self.pick(least, limits.max, limits.max - 1, 100, odd)
            found = np.where(self.rng.random(shape) < 0.5, np.array(nasty, dtype), found)
        return np.asarray(found, dtype)

    def example_size(self, dim: int | str) -> int:
        return dim if isinstance(dim, int) else self.sizes[dim][0]

    def dims_of(self, array: np.ndarray) -> tuple[int, ...]:
        return array.shape

    def declared(self, output: Value) -> list[None]:
        return [None] * output.rank

    def line(self, kind: str, shape: Sequence[int]) -> Value:
        return self.constant(self.example(kind, shape), kind)

    def constant(self, elements: Any, kind: str) -> Value:
        return self.offer(super().constant(elements, kind))

    def state(self, tensor: onnx.TensorProto) -> None:
        if self.chance(0.5):
            super().state(tensor)
        else:
            self.nodes.append(helper.make_node("Constant", [], [tensor.name], name=f"{len(self.nodes)}_Constant", value=tensor))

    def value(self, *kinds: str, least_rank: int = 0, most_rank: int = 3) -> Value:
        kinds = kinds or self.moved
        kind = self.pick(*kinds) if self.chance(0.7) else kinds[0]
        found = self.fitting([kind], least_rank, most_rank)
        if not found or self.chance(0.12):
            rank = self.pick(*range(least_rank, min(most_rank, 3) + 1))
            return self.line(kind, [self.pick(1, 2, 3) for _ in range(rank)])
        return self.pick(*found[-4:]) if self.chance(0.6) else self.pick(*found)

    def operand(self, value: Value) -> Value:
        same = [v for v in self.values if v.kind == value.kind and _go_together(v.dims, value.dims)]
        if self.chance(0.55) and same:
            return self.pick(*same)
        return self.line(value.kind, value.dims[-1:] if self.chance(0.4) else ())

    def takes(self, array: np.ndarray) -> bool:
        if array.dtype.kind == "f" and not (np.isfinite(array).all() and (abs(array) < 2**24).all()):
            return False
        limits = np.iinfo(np.int32)
        is_narrow = array.dtype.kind not in "iu" or bool(((array >= limits.min) & (array <= limits.max)).all())
        return is_narrow and super().takes(array)

    def is_defined(self, node: onnx.NodeProto) -> bool:
        """Return True unless ONNX leaves the result open, or the process would end.

        A division by zero, or of the least integer by -1; a fraction beyond the type that it is cast to, as powers are;
        equal elements in a TopK; a Range of billions of elements; a mean of fractions, which may be rounded.
        """
        operands = [self.arrays[name] for name in node.input if name]
        first, second = (*operands, *[np.zeros(0)] * 2)[:2]
        attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        match node.op_type:
            case "Div" | "Mod":
                has_least = first.dtype.kind == "i" and bool((first == np.iinfo(first.dtype).min).any())
                return bool((second != 0).all()) and not (has_least and bool((second == -1).any()))
            case "Cast" if first.dtype.kind == "f" and first.size:
                to = helper.tensor_dtype_to_np_dtype(attributes["to"])
                limits = np.iinfo(to) if to.kind in "iu" else np.finfo(np.float32)
                return bool(first.min() >= limits.min and first.max() <= limits.max)
            case "Pow" if first.dtype.kind in "iu":
                return bool((abs(first.astype(np.float64)) ** second <= np.iinfo(first.dtype).max).all())
            case "TopK":
                return bool(np.all(np.diff(np.sort(first, attributes["axis"]), axis=attributes["axis"]) != 0))
            case "Range":
                return first.ndim == second.ndim == 0 and abs(float(first) - float(second)) < LARGEST
            case "ReduceMean":
                return first.dtype.kind != "f"
        return True


def _go_together(one: Sequence[int], other: Sequence[int]) -> bool:
    try:
        np.broadcast_shapes(tuple(one), tuple(other))
    except ValueError:
        return False
    return True


def power(b: ExactBuilder) -> object:
    value = b.value(*b.numbers)
    return b.add("pow", value, b.constant(b.pick(0, 1, 2, 3), value.kind))


def division(b: ExactBuilder) -> object:
    """A division or a remainder by any value, in whose place 0 is replaced."""
    value = b.value(*b.integers)
    value, by = values.in_any_order(b, value, b.operand(value))
    if (b.array(by) == 0).any():
        if b.chance(0.5):
            by = b.one("Where", b.make("convert", by, "boolean"), by, b.constant(2, by.kind))
        else:
            by = b.constant(np.where(b.array(by) == 0, b.pick(1, 2, 3), b.array(by)), by.kind)
    return b.add(b.pick("divide", "divide", "mod", "floor_mod"), value, by)


def fractions(b: ExactBuilder) -> object:
    return b.add(b.pick("multiply", "divide"), b.value("f32"), b.constant(b.pick(0.5, 2, -0.25, 4), "f32"))


def bits(b: ExactBuilder) -> object:
    operator = b.pick("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "BitShift", "BitShift")
    if operator == "BitShift":
        value = b.value("u8", "u16", "u32", "u64")
        by = b.constant(b.pick(0, 1, 2, 7), value.kind)
        return b.offer(b.one(operator, value, by, direction=b.pick("LEFT", "RIGHT")))
    value = b.value(*b.integers)
    return b.offer(b.one(operator, value, *([] if operator == "BitwiseNot" else [b.operand(value)])))


def size(b: ExactBuilder) -> object:
    value = b.pick(*b.named([one.name for one in b.inputs])) if b.chance(0.6) else b.value()
    if b.chance(0.2):
        return b.offer(b.one("Size", value))
    shape = b.one("Shape", value, **b.pick({}, {}, {"start": b.pick(0, 1, -1)}, {"end": b.pick(1, -1)}))
    if b.chance(0.3):
        return b.offer(shape)
    return b.add("gather", shape, b.constant(b.pick(0, -1), "i64"), b.constant(0, "i64"))


def count_up(b: ExactBuilder) -> object:
    value = b.value("i64", "i64", "i64", "i32", "f32", "i16", most_rank=0)
    ends = values.in_any_order(b, value, b.operand(value))
    return b.offer(b.one("Range", *ends, b.constant(b.pick(1, 1, 2, 3, -1, -2), value.kind)))


def flatten(b: ExactBuilder) -> object:
    value = b.value(*b.moved)
    return b.offer(b.one("Flatten", value, axis=b.pick(*range(value.rank + 1))))


def filled(b: ExactBuilder) -> object:
    shape = b.value("i64", least_rank=1, most_rank=1)
    if b.array(shape).size >= 4 or not ((b.array(shape) >= 0) & (b.array(shape) < 5)).all():
        return None
    number = numpy_helper.from_array(np.array([b.pick(0, 1, 3)], TYPES[b.pick(*b.moved)]))
    return b.offer(b.one("ConstantOfShape", shape, value=number))


def triangle(b: ExactBuilder) -> object:
    value = b.value("i64", "i32", "boolean", least_rank=2)
    return b.offer(b.one("Trilu", value, b.constant(b.pick(0, 1, -1), "i64"), upper=b.pick(0, 1)))


def compress(b: ExactBuilder) -> object:
    value = b.value(*b.moved, least_rank=1)
    axis = b.axis(value)
    chosen = b.line("boolean", [int(b.rng.integers(value.dims[axis] + 1))])
    return b.offer(b.one("Compress", value, chosen, axis=b.either_end(axis, value.rank)))


def moved(b: ExactBuilder) -> object:
    """A gather or a scatter of small integers by constant positions."""
    value = b.value(*b.moved, least_rank=1)
    axis = b.axis(value)
    if not value.dims[axis]:
        return None
    at = b.constant(b.rng.integers(-value.dims[axis], value.dims[axis], b.pick(1, 2)), "i64")
    if b.chance(0.5) or value.rank > 1:
        return b.add("gather", value, at, b.constant(b.either_end(axis, value.rank), "i64"))
    return b.offer(b.one("ScatterElements", value, at, b.line(value.kind, at.dims)))


OPERATIONS: list[tuple[int, Operation]] = [
    *[(10, values.binary), (2, power), (8, division), (4, values.clip), (8, values.unary), (10, values.convert), (6, size)],
    *[(3, values.unary_of_fractions), (2, fractions), (4, values.compare), (3, values.logic), (3, bits), (5, values.select)],
    *[(3, count_up), (2, values.non_zero), (2, values.extreme), (2, values.highest), (4, values.reduce)],
    *[(1, values.reduce_all), (1, values.reduce_truth), (2, values.cumulate), (1, values.one_hot), (1, values.product)],
    *[(1, values.unique), (4, moves.reshape), (2, moves.transpose), (4, moves.concat), (4, moves.slice_), (2, moves.split)],
    *[(1, flatten), (1, moves.squeeze), (2, moves.unsqueeze), (2, moves.broadcast), (2, moves.tile), (4, filled)],
    *[(2, moves.pad), (2, triangle), (2, compress), (4, moved), (2, onnx_branches)],
]


def sample(rng: np.random.Generator) -> Sample:
    """Return a model with some arithmetic, and a gather at each end of it."""
    b = ExactBuilder(rng, {name: (int(rng.integers(1, 4)),) * 2 for name in "AB"}, Runner(ExactBuilder.opset))
    for kind in ("i64", b.pick("i32", "i64", "boolean", "u8", "f32", "i8"))[: b.pick(1, 1, 2)]:
        b.parameter(kind, [b.pick("A", "B", 1, 2, 3, 3) for _ in range(b.pick(0, 1, 1, 2))])
    for _ in range(int(rng.integers(4, 20))):
        b.attempt(OPERATIONS)
    for name in _ends(b):
        b.attempt([(1, lambda b, name=name: gather(b, *b.named([name])))])
    return _finished(b)


def _ends(b: ExactBuilder) -> list[str]:
    used = {name for node in b.nodes for name in node.input}
    return [name for node in b.nodes if node.op_type != "Constant" for name in node.output if name not in used]


def gather(b: ExactBuilder, index: Value) -> object:
    """Gather from a table by what was computed, which is brought into range where it is not."""
    if index.kind not in ("i64", "i32"):
        index = b.make("convert", index, "i64")
    if not b.array(index).size:
        return None
    if b.array(index).min() < -SIZE or b.array(index).max() >= SIZE:
        index = b.make("floor_mod", index, b.constant(SIZE, index.kind))
    table, axis = b.constant(np.arange(SIZE) + 1, "f32"), b.constant(0, "i64")
    way = b.pick("gather", "gather", "gather_elements", "gather_nd")
    if way == "gather":
        return b.make(way, table, index, axis)
    if way == "gather_nd":
        return b.make(way, table, b.make("unsqueeze", index, b.longs(-1)))
    return b.make(way, table, b.make("reshape", index, b.longs(-1), False), 0)


def _finished(b: ExactBuilder) -> Sample:
    ends = [name for name in _ends(b) if "Gather" in next(node.op_type for node in b.nodes if name in node.output)]
    largest: dict[str, float] = {}
    makers = {name: node for node in b.nodes for name in node.output}
    for name, array in b.arrays.items():
        sources = [one for one in operands_of(makers[name]) if one in largest] if name in makers else []
        own = float(abs(array.astype(np.float64)).max()) if array.size else 0.0
        largest[name] = max([own, *(largest[one] for one in sources)])
    feed = {given.name: b.arrays[given.name] for given in b.inputs}
    return Sample(b.model("arithmetic", b.named(ends)), feed, {name: b.arrays[name] for name in ends}, largest, b.arrays)
