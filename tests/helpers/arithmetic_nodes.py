"""Operations on integers, booleans, fractions of powers of two, and shapes, for random index arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper

from helpers.arithmetic_builder import ANY, INTEGERS, TYPES, Arithmetic, go_together
from helpers.random_onnx import LARGEST


def binary(b: Arithmetic) -> None:
    operator = b.pick("Add", "Sub", "Mul", "Min", "Max", "Pow", "Sum")
    name = b.value(*INTEGERS, "f32")
    operands = [name, b.operand(name)]
    if operator == "Pow":
        operands[1] = b.stated(np.array(b.pick(0, 1, 2, 3), TYPES[b.kind(name)]))
        b.add(operator, operands)
        return
    b.add(operator, operands if b.chance(0.5) else operands[::-1])


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
        b.add(way, [name, by], direction=b.pick("LEFT", "RIGHT"))
        return
    name = b.value(*INTEGERS)
    b.add(way, [name] if way == "BitwiseNot" else [name, b.operand(name)])


def select(b: Arithmetic) -> None:
    name = b.value(*ANY)
    conditions = [one for one, array in b.values.items() if array.dtype == bool and go_together(array, b.values[name])]
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
        b.add("Size", [name])
        return
    shape = b.add("Shape", [name], **b.pick({}, {}, {"start": b.pick(0, 1, -1)}, {"end": b.pick(1, -1)}))
    if shape is not None and b.values[shape].size and b.chance(0.7):
        b.add("Gather", [shape, b.stated(np.array(b.pick(0, -1), np.int64))])


def count_up(b: Arithmetic) -> None:
    """A Range. One of billions of elements is left out, which onnxruntime would make."""
    name = b.value("i64", "i64", "i64", "i32", "f32", "i16", most_rank=0)
    ends = [name, b.operand(name)]
    if b.values[ends[1]].ndim == 0:
        step = b.stated(np.array(b.pick(1, 1, 2, 3, -1, -2), TYPES[b.kind(name)]))
        ends = ends if b.chance(0.6) else ends[::-1]
        if abs(float(b.values[ends[0]]) - float(b.values[ends[1]])) < LARGEST:
            b.add("Range", [*ends, step])


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


def product(b: Arithmetic) -> None:
    name = b.value("i32", "i64", "f32", least_rank=2, most_rank=2)
    other = b.stated(b.array(b.kind(name), (b.values[name].shape[1], b.pick(1, 2))))
    b.add("MatMul", [name, other])


def unique(b: Arithmetic) -> None:
    b.add("Unique", [b.value("i64", "i32", "i8", least_rank=1)], outputs=4, sorted=1)


VALUES: tuple[Callable[[Arithmetic], None], ...] = (
    *(*[binary] * 10, *[division] * 8, *[clip] * 4, *[unary] * 8, *[cast] * 10, *[of_fractions] * 3, *[compare] * 4),
    *(*[logic] * 3, *[bits] * 3, *[select] * 5, *[size] * 6, *[count_up] * 3, *[non_zero] * 2, *[extreme] * 3, *[reduce] * 4),
    *(reduce_truth, running_total, running_total, one_hot, product, unique),
)
