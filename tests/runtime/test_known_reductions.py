"""Arithmetic that OpenVINO fuses with a reduction of integers is reported if, and only if, it is not what NumPy computes."""

import time
from itertools import product

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

from helpers.known_patterns import constant
from ov_gather import validate

ARITHMETIC = {
    "add": (op.add, np.add),
    "subtract": (op.subtract, np.subtract),
    "multiply": (op.multiply, np.multiply),
    "divide": (op.divide, np.floor_divide),
    "maximum": (op.maximum, np.maximum),
    "mod": (op.mod, np.mod),
}
SHAPES = ([5], [4, 3], [1, 2, 3], [4, 2, 3], [2, 3, 4, 2])


@pytest.mark.sampled(7)
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_arithmetic_after_reductions(shape, dtype, each_agrees):
    x = (np.arange(np.prod(shape)) * 7 % 11 + 8).astype(dtype).reshape(shape)
    cases = {}
    for axis, name, is_first in product(range(len(shape)), ARITHMETIC, (False, True)):
        data, number = op.parameter(shape, dtype), op.constant(dtype(200 if is_first else 3))
        largest = op.reduce_max(data, constant(axis), keep_dims=axis % 2 == 0)
        build, compute = ARITHMETIC[name]
        if dtype is np.float32 and name == "divide":
            compute = np.divide
        top, fixed = x.max(axis, keepdims=axis % 2 == 0), dtype(200 if is_first else 3)
        if name == "divide" and dtype is np.int32 and not is_first and not (top % 3 == 2).any():
            continue  # no quotient is rounded up
        operands, numbers = ((number, largest), (fixed, top)) if is_first else ((largest, number), (top, fixed))
        cases[f"{name} of axis {axis}, {is_first}"] = [build(*operands)], [data], [x], [compute(*numbers)]
    each_agrees(cases)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_neutral_operands_of_reductions(name, each_agrees):
    """OpenVINO removes arithmetic with a neutral constant, unless that has other elements, too."""
    x, (build, compute), cases = np.arange(24, dtype=np.int32).reshape(4, 2, 3) + 1, ARITHMETIC[name], {}
    neutral = int(name in ("multiply", "divide"))
    for numbers, is_first in product((neutral, [neutral, neutral], [neutral, neutral + 2]), (False, True)):
        fixed = np.array(numbers, np.int32).reshape(-1, 1) if isinstance(numbers, list) else np.int32(numbers)
        data = op.parameter(x.shape, np.int32)
        largest, top = op.reduce_max(data, constant(2), keep_dims=True), x.max(2, keepdims=True)
        operands, values = (largest, op.constant(fixed)), (top, fixed)
        if is_first:
            operands, values = operands[::-1], values[::-1]
        cases[f"{numbers} {is_first}"] = [build(*operands)], [data], [x], [compute(*values)]
    each_agrees(cases)


@pytest.mark.parametrize("shape", [(2, 2, 5), (2, 3, 5), (3, 2, 5), (4, 2, 5), (2, 33, 4), (8, 7, 3)])
def test_slices_of_reductions(shape, each_agrees):
    """Of a reduction of the last axis, as many slices are right as the other axis has elements."""
    x, cases = np.arange(np.prod(shape), dtype=np.int32).reshape(shape), {}
    for axes, keeps in product([(1,), (2,), (-1,), (1, 2)], (False, True)):
        data = op.parameter(shape, np.int32)
        outputs = [op.subtract(op.reduce_max(data, constant(*axes), keeps), op.constant(np.int32(3)))]
        cases[f"{axes} {keeps}"] = outputs, [data], [x], [x.max(axes, keepdims=keeps) - 3]
    each_agrees(cases)


@pytest.mark.parametrize("sizes", [[-1, 2, 5], [4, -1, 5], [4, 2, -1], [-1, -1, -1]], ids=str)
def test_slices_of_reductions_of_open_sizes(sizes, agrees):
    x, data = np.arange(40, dtype=np.int32).reshape(4, 2, 5), op.parameter(sizes, np.int32)
    agrees([op.subtract(op.reduce_max(data, constant(2)), op.constant(np.int32(3)))], [data], [x], [x.max(2) - 3])


def test_reductions_of_constants_and_sizes(agrees):
    """They are computed while the model is compiled."""
    x, data = np.zeros((3, 5), np.float32), op.parameter([3, 5], np.float32)
    sizes = op.reduce_prod(op.shape_of(data), constant(0), True)
    three = op.reduce_max(op.constant(np.arange(24).reshape(4, 2, 3)), constant(1), False)
    outputs = [op.divide(sizes, constant(4)), op.divide(constant(100), sizes), op.add(three, op.constant(3)), op.exp(data)]
    expected = [np.array([3]), np.array([6]), np.arange(24).reshape(4, 2, 3).max(1) + 3, np.ones((3, 5))]
    agrees(outputs, [data], [x], expected)


STEPS = {
    "none": (lambda value: value, lambda top: top),
    "convert": (lambda value: op.convert(value, value.get_element_type()), lambda top: top),
    "to 64 bits": (lambda value: op.convert(op.convert(value, "i64"), value.get_element_type()), lambda top: top),
    "to 32 bits": (lambda value: op.convert(value, "i32"), lambda top: top.astype(np.int32)),
    "to fractions": (lambda value: op.convert(op.convert(value, "f32"), value.get_element_type()), lambda top: top),
    "convert like": (
        lambda value: op.convert_like(value, op.constant(np.ones(1, value.get_element_type().to_dtype()))),
        lambda top: top,
    ),
    "absolute": (op.abs, abs),
    "positive": (op.relu, lambda top: top),
    "clamp": (lambda value: op.clamp(value, 0, 100), lambda top: top),
    "twice": (lambda value: op.concat([value, value], 0), lambda top: np.concatenate([top, top])),
    "alone": (lambda value: op.concat([value], 0), lambda top: top),
    "times one": (lambda value: op.multiply(value, like(value, 1)), lambda top: top),
    "one times": (lambda value: op.multiply(like(value, 1), value), lambda top: top),
    "plus nothing": (lambda value: op.add(value, like(value, 0)), lambda top: top),
    "minus nothing": (lambda value: op.subtract(value, like(value, 0)), lambda top: top),
    "by one": (lambda value: op.divide(value, like(value, 1)), lambda top: top),
    "plus two": (lambda value: op.add(value, like(value, 2)), lambda top: top + 2),
    "matrix": (lambda value: op.reshape(value, constant(4, 3), False), lambda top: top[:, 0]),
    "squeeze": (lambda value: op.squeeze(value, constant(1)), lambda top: top[:, 0]),
    "there and back": (
        lambda value: op.reshape(op.reshape(value, constant(12), False), constant(4, 1, 3), False),
        lambda top: top,
    ),
    "squeeze and unsqueeze": (
        lambda value: op.unsqueeze(op.squeeze(value, constant(1)), constant(1)),
        lambda top: top,
    ),
    "same shape": (lambda value: op.reshape(value, constant(4, 1, 3), False), lambda top: top),
    "transpose": (lambda value: op.transpose(value, constant(1, 2, 0)), lambda top: top.transpose(1, 2, 0)),
    "same order": (lambda value: op.transpose(value, constant(0, 1, 2)), lambda top: top),
    "gather": (lambda value: op.gather(value, constant(2, 0), op.constant(2)), lambda top: top[:, :, [2, 0]]),
    "roll": (lambda value: op.roll(value, constant(1), constant(2)), lambda top: np.roll(top, 1, 2)),
    "broadcast": (lambda value: op.broadcast(value, constant(4, 2, 3)), lambda top: np.repeat(top, 2, 1)),
    "tile": (lambda value: op.tile(value, constant(1, 2, 1)), lambda top: np.repeat(top, 2, 1)),
    "once": (lambda value: op.tile(value, constant(1, 1, 1)), lambda top: top),
    "no width": (
        lambda value: op.pad(value, constant(0, 0, 0), constant(0, 0, 0), "constant", like(value, 0)),
        lambda top: top,
    ),
    "maximum": (lambda value: op.maximum(value, like(value, 0)), lambda top: top),
    "slice": (lambda value: op.slice(value, constant(1), constant(3), constant(1), constant(0)), lambda top: top[1:3]),
}


def like(value, number):
    return op.constant(value.get_element_type().to_dtype().type(number))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize("dtype", [np.int32, np.uint16])
def test_steps_between_a_reduction_and_arithmetic(dtype, is_read, each_agrees):
    x, cases = np.arange(1, 25).reshape(4, 2, 3).astype(dtype), {}
    for step, is_add, is_first in product(STEPS, (False, True), (False, True)):
        data, (build_step, compute_step) = op.parameter([4, 2, 3], dtype), STEPS[step]
        between, top = build_step(op.reduce_max(data, constant(1), keep_dims=True)), compute_step(x.max(1, keepdims=True))
        others, read = ([between], [top]) if is_read else ([], [])
        build, compute, number = (op.add, np.add, 1) if is_add else (op.divide, np.floor_divide, 5)
        number *= 100 if is_first else 1
        operands, numbers = (between, like(between, number)), (top, dtype(number))
        if is_first:
            operands, numbers = operands[::-1], numbers[::-1]
        cases[f"{step} {is_add} {is_first}"] = [build(*operands), *others], [data], [x], [compute(*numbers), *read]
    each_agrees(cases)


FORMS = {
    "of another type": lambda t: op.convert(op.constant(np.array(5, np.int8)), ov.Type(t)),
    "like another": lambda t: op.convert_like(op.constant(np.array(5, np.int8)), op.constant(np.array(1, t))),
    "sum": lambda t: op.add(op.constant(np.array(2, t)), op.constant(np.array(3, t))),
    "vector": lambda t: op.unsqueeze(op.constant(np.array(5, t)), op.constant(0)),
    "element": lambda t: op.gather(op.constant(np.array([4, 5], t)), op.constant(1), op.constant(0)),
    "channels": lambda t: op.broadcast(op.constant(np.array(5, t)), constant(1, 1, 3)),
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_constants_that_are_computed_beside_a_reduction(dtype, form, agrees):
    x, fixed = (np.arange(24).reshape(4, 2, 3) * 7 % 11 + 8).astype(dtype), FORMS[form](dtype)
    data = op.parameter([4, 2, 3], dtype)
    largest, top = op.reduce_max(data, constant(1), keep_dims=True), x.max(1, keepdims=True)
    for operands, numbers in (((largest, fixed), (top, dtype(5))), ((fixed, largest), (dtype(5), top))):
        agrees([op.divide(*operands)], [data], [x], [np.floor_divide(*numbers)])
        agrees([op.add(*operands)], [data], [x], [np.add(*numbers)])


@pytest.mark.parametrize("rows", [2, -1])
@pytest.mark.parametrize("of_rank", [False, True])
def test_a_shape_that_is_folded_is_no_second_reader(of_rank, rows, agrees):
    x = np.array([[1, 2, 3], [8, 4, 5]], np.uint8)
    data = op.parameter([rows, 3], np.uint8)
    largest = op.reduce_max(data, constant(1))
    sizes, expected = op.shape_of(largest), np.array([2])
    if of_rank:
        sizes, expected = op.shape_of(sizes), np.array([1])
    agrees([op.subtract(like(largest, 100), largest), sizes], [data], [x], [100 - x.max(1), expected])


@pytest.mark.parametrize("made", [np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint8])
@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.int32, np.uint8])
def test_a_constant_minus_a_reduction_of_another_type(dtype, made, agrees):
    x = np.array([[1, 2, 3], [8, 4, 5]], dtype)
    data = op.parameter([2, 3], dtype)
    largest = op.convert(op.reduce_max(data, constant(1)), made)
    agrees([op.subtract(like(largest, 100), largest)], [data], [x], [100 - x.max(1).astype(made)])


def test_validation_takes_linear_time(tmp_path):
    value = data = op.parameter([4, 2, 3], np.int32)
    value = op.reduce_max(value, constant(1), keep_dims=True)
    for _ in range(2000):
        value = op.add(value, like(value, 0))
    ov.save_model(ov.Model([value], [data], "m"), tmp_path / "m.xml")
    start = time.process_time()
    validate(tmp_path / "m.xml")
    assert time.process_time() - start < 40  # 5 s; 2 minutes with quadratic time


@pytest.mark.parametrize("shape", [[1, 1], [4, 1], [1, 3], [4, 3]])
@pytest.mark.parametrize("is_read", [False, True])
def test_operands_of_reductions(shape, is_read, agrees):
    """A constant of one element, or of one a channel, is fused with a reduction that nothing else reads."""
    x = (np.arange(12) * 7 % 11 + 8).astype(np.int32).reshape(4, 3)
    data, reduced = op.parameter([4, 3], np.int32), np.full(shape, 200, np.int32)
    for axis in (0, 1):
        largest = op.reduce_max(data, constant(axis), keep_dims=True)
        top = x.max(axis, keepdims=True)
        outputs, expected = [op.divide(op.constant(reduced), largest)], [reduced // top]
        agrees([*outputs, *([largest] if is_read else [])], [data], [x], [*expected, *([top] if is_read else [])])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.uint64])
def test_constant_minus_a_reduction_of_bytes(dtype, each_agrees):
    x, cases = np.array([[1, 2, 3], [4, 5, 6]], dtype), {}
    for numbers, axis, is_read in product([100, [[100]], [[100, 101, 102]], [[100, 101, 102]] * 2], (0, 1), (False, True)):
        data, fixed = op.parameter([2, 3], dtype), np.array(numbers, dtype)
        largest, top = op.reduce_max(data, constant(axis), keep_dims=True), x.max(axis, keepdims=True)
        outputs, expected = [op.subtract(op.constant(fixed), largest)], [fixed - top]
        others, read = ([largest], [top]) if is_read else ([], [])
        cases[f"{numbers} {axis} {is_read}"] = [*outputs, *others], [data], [x], [*expected, *read]
    each_agrees(cases)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("to", ["i32", "i64", "same"])
def test_constant_minus_a_reduction_of_bytes_in_another_type(to, dtype, agrees):
    x = np.array([[1, 2, 3], [4, 5, 6]], dtype)
    data = op.parameter([2, 3], dtype)
    largest = op.reduce_max(data, constant(1), keep_dims=True)
    largest = op.convert(largest, to) if to != "same" else op.abs(largest)
    expected = like(largest, 100).data - x.max(1, keepdims=True).astype(largest.get_element_type().to_dtype())
    agrees([op.subtract(like(largest, 100), largest)], [data], [x], [expected])
