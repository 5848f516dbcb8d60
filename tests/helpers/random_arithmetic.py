"""Random ONNX models of index arithmetic: integers, booleans, casts and shapes, constant or not, before gathers.

Each node is executed as soon as it is made, alone and by onnxruntime, so that nothing folds it: its results are the oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper

from helpers.onnx_operators import Runner
from helpers.random_indices import Dim, Given
from helpers.random_onnx import Builder

OPSET = 21
TYPES = {
    **{"i64": "int64", "i32": "int32", "boolean": "bool", "f32": "float32"},
    **{"u8": "uint8", "i8": "int8", "i16": "int16", "u16": "uint16", "u32": "uint32", "u64": "uint64"},
}
INTEGERS = ("i64", "i64", "i64", "i64", "i32", "i32", "i32", "u8", "i8", "i16", "u16", "u32", "u64")
ANY = (*INTEGERS, "boolean", "boolean", "f32")
SIZE = 128  # of the table that is gathered from, which takes indices from -SIZE to SIZE - 1
LARGEST = 64


@dataclass(frozen=True)
class Sample:
    """A model, arrays for its inputs, what each output must be, and the largest number on the way."""

    model: onnx.ModelProto
    feed: dict[str, np.ndarray]
    expected: dict[str, np.ndarray]
    largest: float


class Arithmetic(Builder):
    """A Builder whose constants are operands like any other, and whose values all fit in 32 bits."""

    def kind(self, name: str) -> str:
        return next(kind for kind, dtype in TYPES.items() if dtype == str(self.values[name].dtype))

    def array(self, kind: str, shape: tuple[int, ...]) -> np.ndarray:
        dtype = np.dtype(TYPES[kind])
        if dtype.kind == "b":
            return self.rng.integers(0, 2, shape).astype(dtype)
        if dtype.kind == "f":
            return (self.rng.integers(-20, 21, shape) / self.pick(1, 2, 4)).astype(dtype)
        low, high = (0, 8) if dtype.kind == "u" else (-7, 8)
        found = self.rng.integers(low, high, shape).astype(dtype)
        if self.chance(0.1):
            limits = np.iinfo(np.int32 if dtype.itemsize > 4 or dtype == np.uint32 else dtype)
            nasty = [limits.min if dtype.kind == "i" else 0, limits.max, limits.max - 1, 100, 2**24 + 1 if dtype.itemsize > 2 else 1]
            found = np.where(self.rng.random(shape) < 0.5, np.array(self.pick(*nasty), dtype), found)
        return np.asarray(found, dtype)

    def given(self, kind: str, dims: list[Dim]) -> str:
        shape = tuple(dim if isinstance(dim, int) else self.sizes[dim][0] for dim in dims)
        name = f"x{len(self.inputs)}"
        self.inputs.append(Given(name, kind, tuple(dims)))
        self.values[name] = self.array(kind, shape)
        return name

    def stated(self, array: np.ndarray) -> str:
        """A constant: an initializer or, as often, a Constant node."""
        name = f"c{len(self.constants) + len(self.nodes)}"
        tensor = onnx.numpy_helper.from_array(array, name)
        if self.chance(0.5):
            self.constants.append(tensor)
        else:
            self.nodes.append(helper.make_node("Constant", [], [name], name=f"{len(self.nodes)}_Constant", value=tensor))
        self.values[name] = array
        self.fixed.add(name)
        return name

    def longs(self, *numbers: int) -> str:
        return self.stated(np.array(numbers, np.int64))

    def add(self, operator, operands, outputs=1, **attributes):
        made = super().add(operator, operands, outputs, **attributes)
        if made is None:
            return None
        if not all(map(_is_sound, (self.values[name] for name in self.nodes[-1].output))):
            for name in self.nodes.pop().output:
                del self.values[name]
            return None
        return made

    def value(self, *kinds: str, least_rank: int = 0, most_rank: int = 3) -> str:
        types = [TYPES[kind] for kind in (self.pick(*kinds) if self.chance(0.7) else kinds[0],)]
        found = [
            name
            for name, array in self.values.items()
            if str(array.dtype) in types and least_rank <= array.ndim <= most_rank
        ]
        if not found or self.chance(0.12):
            kind = next(kind for kind, dtype in TYPES.items() if dtype == types[0])
            rank = self.pick(*range(least_rank, most_rank + 1))
            return self.stated(self.array(kind, tuple(self.pick(1, 2, 3) for _ in range(rank))))
        return self.pick(*found[-4:]) if self.chance(0.6) else self.pick(*found)

    def operand(self, name: str) -> str:
        """An operand of the same type that is broadcast together with a value."""
        array = self.values[name]
        same = [one for one, other in self.values.items() if other.dtype == array.dtype and _go_together(array, other)]
        if self.chance(0.55):
            return self.pick(*same)
        shape = array.shape[-1:] if self.chance(0.4) else ()
        return self.stated(self.array(self.kind(name), shape))


def _is_sound(array: np.ndarray) -> bool:
    if array.dtype.kind == "f":
        return bool(np.isfinite(array).all() and (abs(array) < 2**24).all())
    limits = np.iinfo(np.int32)
    return array.dtype.kind not in "iu" or bool(((array >= limits.min) & (array <= limits.max)).all())


def _go_together(one: np.ndarray, other: np.ndarray) -> bool:
    try:
        np.broadcast_shapes(one.shape, other.shape)
    except ValueError:
        return False
    return True


def binary(b: Arithmetic) -> None:
    operator = b.pick("Add", "Sub", "Mul", "Min", "Max", "Pow", "Sum")
    name = b.value(*INTEGERS, "f32")
    operands = [name, b.operand(name)]
    if operator == "Pow":
        operands[1] = b.stated(np.array(b.pick(0, 1, 2, 3), TYPES[b.kind(name)]))
        return void(b.add(operator, operands))
    b.add(operator, operands if b.chance(0.5) else operands[::-1])


def void(_: object) -> None: ...


def division(b: Arithmetic) -> None:
    """A division or a remainder; by 0, or the least integer by -1, the process ends, which is left out."""
    name = b.value(*INTEGERS)
    by = b.operand(name)
    if b.chance(0.3):
        name, by = by, name
    if (b.values[by] == 0).any():
        nonzero = b.values[by].copy()
        nonzero[nonzero == 0] = b.pick(1, 2, 3)
        if b.chance(0.5):
            by = b.add("Where", [b.add("Cast", [by], to=TensorProto.BOOL), by, b.stated(np.array(2, nonzero.dtype))]) or ""
        else:
            by = b.stated(nonzero)
    if not by or ((b.values[by] == -1).any() and _has_least(b.values[name])):
        return
    operator = b.pick("Div", "Div", "Mod")
    b.add(operator, [name, by], **({"fmod": b.pick(0, 1)} if operator == "Mod" else {}))


def _has_least(array: np.ndarray) -> bool:
    return array.dtype.kind == "i" and bool((array == np.iinfo(array.dtype).min).any())


def clip(b: Arithmetic) -> None:
    name = b.value(*INTEGERS, "f32")
    kind = TYPES[b.kind(name)]
    ends = [b.stated(np.array(b.pick(*some), kind)) for some in ((0, 0, 1, 2), (3, 3, 5, 100))]
    scalars = [one for one, array in b.values.items() if array.ndim == 0 and array.dtype == b.values[name].dtype]
    b.add("Clip", [name, *b.pick(ends, ends, ["", ends[1]], ends[:1], [ends[0], b.pick(*scalars)])])


def unary(b: Arithmetic) -> None:
    b.add(b.pick("Abs", "Neg", "Sign", "Abs", "Relu", "Identity"), [b.value(*INTEGERS)])


def of_fractions(b: Arithmetic) -> None:
    name = b.value("f32")
    way = b.pick("Floor", "Ceil", "Round", "Mul", "Div", "Abs", "Neg", "Sign", "Relu")
    by = [b.stated(np.array(b.pick(0.5, 2, -0.25, 4), np.float32))] if way in ("Mul", "Div") else []
    b.add(way, [name, *by])


def compare(b: Arithmetic) -> None:
    name = b.value(*INTEGERS, "f32", "boolean")
    way = b.pick("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
    b.add("Equal" if b.kind(name) == "boolean" else way, [name, b.operand(name)])


def logic(b: Arithmetic) -> None:
    name, way = b.value("boolean"), b.pick("And", "Or", "Xor", "Not")
    b.add(way, [name] if way == "Not" else [name, b.operand(name)])


def bits(b: Arithmetic) -> None:
    way = b.pick("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "BitShift", "BitShift")
    if way == "BitShift":
        name = b.value("u8", "u16", "u32", "u64")
        by = b.stated(np.array(b.pick(0, 1, 2, 7), b.values[name].dtype))
        return void(b.add(way, [name, by], direction=b.pick("LEFT", "RIGHT")))
    name = b.value(*INTEGERS)
    b.add(way, [name] if way == "BitwiseNot" else [name, b.operand(name)])


def select(b: Arithmetic) -> None:
    name = b.value(*ANY)
    conditions = [one for one, array in b.values.items() if array.dtype == bool and _go_together(array, b.values[name])]
    condition = b.pick(*conditions) if conditions and b.chance(0.7) else b.stated(np.array(b.chance(0.5)))
    operands = [name, b.operand(name)]
    b.add("Where", [condition, *(operands if b.chance(0.5) else operands[::-1])])


def cast(b: Arithmetic) -> None:
    """A Cast that ONNX gives a meaning: a fraction fits in the new type, and an integer may wrap around."""
    name = b.value(*ANY)
    to = TYPES[b.pick(*ANY)]
    array = b.values[name]
    if array.dtype.kind == "f" and np.dtype(to).kind in "iu":
        limits = np.iinfo(to)
        if array.size and (array.min() < limits.min or array.max() > limits.max):
            return
    b.add("Cast", [name], to=helper.np_dtype_to_tensor_dtype(np.dtype(to)))


def size(b: Arithmetic) -> None:
    name = b.value(*ANY, least_rank=0)
    if b.inputs and b.chance(0.6):
        name = b.pick(*b.inputs).name
    if b.chance(0.2):
        return void(b.add("Size", [name]))
    shape = b.add("Shape", [name], **b.pick({}, {}, {"start": b.pick(0, 1, -1)}, {"end": b.pick(1, -1)}))
    if shape is not None and b.values[shape].size and b.chance(0.7):
        b.add("Gather", [shape, b.stated(np.array(b.pick(0, -1), np.int64))])


def count_up(b: Arithmetic) -> None:
    name = b.value("i64", "i64", "i64", "i32", "f32", "i16", most_rank=0)
    ends = [name, b.operand(name)]
    if b.values[ends[1]].ndim == 0:
        step = b.stated(np.array(b.pick(1, 1, 2, 3, -1, -2), TYPES[b.kind(name)]))
        b.add("Range", [*(ends if b.chance(0.6) else ends[::-1]), step])


def non_zero(b: Arithmetic) -> None:
    b.add("NonZero", [b.value(*ANY, least_rank=1)])


def _unique_along(array: np.ndarray, axis: int) -> bool:
    ordered = np.sort(array, axis)
    return bool(np.all(np.diff(ordered, axis=axis) != 0))


def extreme(b: Arithmetic) -> None:
    name = b.value("f32", "i64", "i32", "i8", "u8", least_rank=1)
    axis = b.axis(name)
    if b.chance(0.5):
        b.add(b.pick("ArgMax", "ArgMin"), [name], axis=axis, keepdims=b.pick(0, 1), select_last_index=b.pick(0, 1))
    elif _unique_along(b.values[name], axis):  # ties are broken otherwise
        b.add("TopK", [name, b.longs(b.pick(1, 1, 2))], outputs=2, axis=axis, largest=b.pick(0, 1))


def reduce(b: Arithmetic) -> None:
    name = b.value("i64", "i32", "i32", "i8", "u8", "f32", least_rank=1)
    way = b.pick("ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd", "ReduceMean", "ReduceL1", "ReduceSumSquare")
    if b.kind(name) == "f32" and way == "ReduceMean":
        return
    axes = [b.longs(b.axis(name))] if b.chance(0.8) else []
    b.add(way, [name, *axes], keepdims=b.pick(0, 1))


def reduce_truth(b: Arithmetic) -> None:
    name = b.value("boolean", least_rank=1)
    b.add(b.pick("ReduceMax", "ReduceMin"), [name, b.longs(b.axis(name))], keepdims=b.pick(0, 1))


def running_total(b: Arithmetic) -> None:
    name = b.value("i64", "i32", "f32", least_rank=1)
    axis = b.stated(np.array(b.axis(name), b.pick(np.int64, np.int32)))
    b.add("CumSum", [name, axis], exclusive=b.pick(0, 1), reverse=b.pick(0, 1))


def one_hot(b: Arithmetic) -> None:
    name = b.value("i64", "i32", most_rank=2)
    depth = b.stated(np.array(b.pick(1, 3, 5), b.pick(np.int64, np.int32)))
    kind = TYPES[b.pick("i64", "i32", "boolean", "f32", "u8")]
    b.add("OneHot", [name, depth, b.stated(np.array([0, 1]).astype(kind))], axis=b.pick(0, -1))


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
        return void(ones and b.add(way, [name, b.longs(b.pick(*ones))]))
    if way == "Flatten":
        return void(b.add(way, [name], axis=b.pick(*range(rank + 1))))
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


def product(b: Arithmetic) -> None:
    name = b.value("i32", "i64", "f32", least_rank=2, most_rank=2)
    other = b.stated(b.array(b.kind(name), (b.values[name].shape[1], b.pick(1, 2))))
    b.add("MatMul", [name, other])


def unique(b: Arithmetic) -> None:
    b.add("Unique", [b.value("i64", "i32", "i8", least_rank=1)], outputs=4, sorted=1)


def moved(b: Arithmetic) -> None:
    """A gather or a scatter of small integers by constant positions."""
    name = b.value(*ANY, least_rank=1)
    axis = b.axis(name)
    length = b.values[name].shape[axis]
    if not length:
        return
    at = b.stated(b.rng.integers(-length, length, (b.pick(1, 2),)))
    if b.chance(0.5):
        return void(b.add("Gather", [name, at], axis=axis))
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


OPERATIONS: tuple[Callable[[Arithmetic], None], ...] = (
    *[binary] * 10,
    *[division] * 8,
    *[clip] * 4,
    *[unary] * 8,
    *[cast] * 10,
    *[of_fractions] * 3,
    *[compare] * 4,
    *[logic] * 3,
    *[bits] * 3,
    *[select] * 5,
    *[size] * 6,
    *[count_up] * 3,
    *[non_zero] * 2,
    *[extreme] * 3,
    *[reduce] * 4,
    *(reduce_truth, running_total, running_total, one_hot, reshape, reshape, transpose, concatenate, concatenate, cut, cut),
    *(split, dims, dims, expand, tile, filled, filled, pad, triangle, compress, product, unique, moved, moved, branches),
)


def sample(rng: np.random.Generator) -> Sample:
    """A model with some arithmetic, and a gather at each end of it."""
    sizes = {name: (int(rng.integers(1, 4)),) * 2 for name in "AB"}
    b = Arithmetic(rng, Runner(OPSET), sizes)
    for kind in ("i64", b.pick("i32", "i64", "boolean", "u8", "f32", "i8"))[: b.pick(1, 1, 2)]:
        b.given(kind, [b.pick("A", "B", 1, 2, 3, 3) for _ in range(b.pick(0, 1, 1, 2))])
    for _ in range(int(rng.integers(3, 15))):
        b.pick(*OPERATIONS)(b)
    used = {name for node in b.nodes for name in node.input}
    for name in [name for node in list(b.nodes) if node.op_type != "Constant" for name in node.output if name not in used]:
        gather(b, name)
    return _finished(b)


def gather(b: Arithmetic, name: str) -> None:
    """Gather from a table by what was computed, which is brought into range where it is not."""
    index: str | None = name
    if b.values[name].dtype not in (np.int64, np.int32):
        index = b.add("Cast", [name], to=TensorProto.INT64)
    if index is None or not b.values[index].size:
        return
    if b.values[index].min() < -SIZE or b.values[index].max() >= SIZE:
        index = b.add("Mod", [index, b.stated(np.array(SIZE, b.values[index].dtype))])
    if index is None:
        return
    table = b.stated(np.arange(SIZE, dtype=np.float32) + 1)
    way = b.pick("Gather", "Gather", "GatherElements", "GatherND")
    if way == "GatherElements":
        index = b.add("Reshape", [index, b.longs(-1)])
    if way == "GatherND":
        index = b.add("Unsqueeze", [index, b.longs(-1)])
        index = index and b.add("Cast", [index], to=TensorProto.INT64)
    if index:
        b.add(way, [table, index])


def _finished(b: Arithmetic) -> Sample:
    used = {name for node in b.nodes for name in node.input}
    ends = [name for node in b.nodes if node.op_type.startswith("Gather") for name in node.output if name not in used]
    inputs = [
        helper.make_tensor_value_info(given.name, helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[given.kind])), given.dims)
        for given in b.inputs
    ]
    outputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(b.values[name].dtype), [None] * b.values[name].ndim) for name in ends
    ]
    graph = helper.make_graph(b.nodes, "arithmetic", inputs, outputs, b.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    largest = max((float(abs(array.astype(np.float64)).max()) for array in b.values.values() if array.size), default=0.0)
    feed = {given.name: b.values[given.name] for given in b.inputs}
    return Sample(model, feed, {name: b.values[name] for name in ends}, largest)
