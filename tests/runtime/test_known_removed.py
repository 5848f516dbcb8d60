"""Faults behind layers that OpenVINO removes: they change nothing, or undo the one before."""

import numpy as np
import pytest
from openvino import opset13 as op
from openvino import opset16

from helpers.known_patterns import constant


def _one(value, number):
    return op.constant(value.get_element_type().to_dtype().type(number))


LAYERS = {
    "plus 0": lambda value: op.add(value, _one(value, 0)),
    "0 plus": lambda value: op.add(_one(value, 0), value),
    "minus 0": lambda value: op.subtract(value, _one(value, 0)),
    "times 1": lambda value: op.multiply(value, _one(value, 1)),
    "1 times": lambda value: op.multiply(_one(value, 1), value),
    "Reshape": lambda value: op.reshape(value, constant(-1), False),
    "Slice": lambda value: op.slice(value, constant(0), constant(9), constant(1)),
    "Transpose": lambda value: op.transpose(value, constant(0)),
    "Concat": lambda value: op.concat([value], 0),
    "Split": lambda value: op.split(value, op.constant(0), 1),
    "Broadcast": lambda value: op.broadcast(value, op.shape_of(value)),
    "Pad": lambda value: op.pad(value, constant(0), constant(0), "edge"),
    "Tile": lambda value: op.tile(value, constant(1)),
    "two signs": lambda value: op.negative(op.negative(value)),
    "two views": lambda value: op.squeeze(op.unsqueeze(value, constant(0)), constant(0)),
    "Select": lambda value: op.select(op.constant(np.array(True)), value, _one(value, 0)),
    "Select the other": lambda value: op.select(op.constant(np.array([False])), _one(value, 0), value),
    "Identity": lambda value: opset16.identity(value),
    # These stay.
    "reversed": lambda value: op.slice(value, constant(-1), constant(-9), constant(-1)),
    "moved": lambda value: op.pad(op.pad(value, constant(1), constant(0), "constant"), constant(0), constant(-1), "constant"),
    "minus": lambda value: op.negative(value),
    "plus 1": lambda value: op.add(value, _one(value, 1)),
}
IN_NUMPY = {
    "reversed": lambda x: x[::-1],
    "moved": lambda x: np.concatenate([x[:1] * 0, x[:-1]]),
    "minus": lambda x: -x,
    "plus 1": lambda x: x + x.dtype.type(1),
}


def in_numpy(name, x):
    return IN_NUMPY.get(name, lambda x: x)(x)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("readers", ["one", "two", "result"])
def test_convert_of_another_output(name, readers, agrees):
    x, data = np.float32([5, 0, 0, 7]), op.parameter([4], np.float32)
    half = LAYERS[name](op.split(data, op.constant(0), 2).output(1))
    expected = in_numpy(name, x[2:])
    others = {"one": [], "two": [op.exp(half)], "result": [half]}[readers]
    values = {"one": [], "two": [np.exp(expected)], "result": [expected]}[readers]
    agrees([op.convert(half, "boolean"), *others], [data], [x], [expected.astype(bool), *values])


@pytest.mark.parametrize("name", sorted(LAYERS.keys() - {"Reshape", "Split"}))
def test_open_shapes(name, agrees):
    """Whether some are removed depends on what OpenVINO knows of their shapes."""
    x, data = np.float32([5, 0, 0, 7]), op.parameter([-1], np.float32)
    half = LAYERS[name](op.split(data, op.constant(0), 2).output(1))
    agrees([op.convert(half, "boolean")], [data], [x], [in_numpy(name, x[2:]).astype(bool)])


@pytest.mark.sampled(13)
@pytest.mark.parametrize("readers", ["one", "two", "result", "size"])
@pytest.mark.parametrize("orders", [[(1, 0)], [(1, 0), (1, 0)], [(1, 2, 0), (2, 0, 1)], [(1, 2, 0)], [(1, 2, 0), (1, 2, 0)]])
def test_convert_of_another_output_behind_transpositions(orders, readers, agrees):
    x = np.arange(16, dtype=np.float32).reshape(2, 4, 2)[(..., 0) if len(orders[0]) == 2 else ...] % 3
    data = op.parameter(x.shape, np.float32)
    half, expected = op.split(data, op.constant(0), 2).output(1), np.split(x, 2)[1]
    for order in orders:
        half, expected = op.transpose(half, constant(*order)), expected.transpose(order)
    others = {"one": [], "two": [op.exp(half)], "result": [half], "size": [op.shape_of(half)]}[readers]
    values = {"one": [], "two": [np.exp(expected)], "result": [expected], "size": [np.array(expected.shape)]}[readers]
    agrees([op.convert(half, "boolean"), *others], [data], [x], [expected.astype(bool), *values])


@pytest.mark.sampled(21)
@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("is_read", [False, True])
def test_non_zero_of_converted_numbers(name, is_read, agrees):
    x, data = np.float32([0, 0.5, -0.5, 2]), op.parameter([4], np.float32)
    whole = LAYERS[name](op.convert(data, "i32"))
    expected = in_numpy(name, x.astype(np.int32))
    others = [op.add(whole, whole)] if is_read else []
    values = [2 * expected] if is_read else []
    agrees([op.non_zero(whole), *others], [data], [x], [np.array(np.nonzero(expected)), *values], ["OVG712"])


@pytest.mark.sampled(19)
@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("is_read", [False, True])
def test_abs_of_constants(name, is_read, agrees):
    x, data, given = np.float32([1, 2]), op.parameter([2], np.float32), np.float32([-3, 4])
    value = LAYERS[name](op.constant(given))
    expected = in_numpy(name, given)
    others = [op.multiply(data, value)] if is_read else []
    agrees([op.add(data, op.abs(value)), *others], [data], [x], [x + np.abs(expected), *([x * expected] if is_read else [])])
