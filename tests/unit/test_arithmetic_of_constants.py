"""What is folded of constants is what onnxruntime computes, node by node."""

import numpy as np
import onnx_ir
import pytest

from helpers.random_arithmetic import ExactBuilder, sample
from helpers.seeds import seeds
from ov_gather.converters.arithmetic import LARGEST, evaluate

OPSET = ExactBuilder.opset


@pytest.mark.sampled(19)
@pytest.mark.parametrize("seed", seeds(40))
def test_nodes_as_onnxruntime(seed):
    made = sample(np.random.default_rng(seed))
    values = made.values
    for node in onnx_ir.from_proto(made.model).graph:
        found = evaluate(node, [None if value is None else values[value.name] for value in node.inputs], OPSET)
        for value, array in zip(node.outputs, found or (), strict=found is not None):
            np.testing.assert_array_equal(array, values[value.name], strict=True, err_msg=f"{node.op_type} {value.name}")


def node_of(op_type, operands, **attributes):
    inputs = [onnx_ir.Value(name=f"x{position}") for position in range(len(operands))]
    return onnx_ir.node(op_type, inputs, attributes), [np.array(operand) for operand in operands]


UNDEFINED = {
    "a division by zero": ("Div", [[1, 2], [3, 0]], {}),
    "a remainder by zero": ("Mod", [[1, 2], [3, 0]], {}),
    "the least integer by -1": ("Div", [[-(2**63)], [-1]], {}),
    "a fraction beyond the type": ("Cast", [[3e9]], {"to": 6}),
    "NaN as an integer": ("Cast", [[np.nan]], {"to": 6}),
    "a negative power": ("Pow", [[2], [-1]], {}),
    "a power of a fraction": ("Pow", [[4], [0.5]], {}),
    "shapes that do not go together": ("Add", [[1, 2], [1, 2, 3]], {}),
    "too many elements": ("Range", [0, LARGEST + 1, 1], {}),
    "a Range without end": ("Range", [0, 2**62, 1], {}),
    "a step of 0": ("Range", [0, 5, 0], {}),
    "random numbers": ("Bernoulli", [[0.5]], {}),
    "text": ("Identity", [["a"]], {}),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_what_is_not_folded(name):
    op_type, operands, attributes = UNDEFINED[name]
    assert evaluate(*node_of(op_type, operands, **attributes), OPSET) is None


def test_powers_of_integers():
    assert evaluate(*node_of("Pow", [[2, -3], [3, 2]]), OPSET)[0].tolist() == [8, 9]


def test_division_of_64_bits_is_exact():
    node, operands = node_of("Div", [[2**62 + 1, -(2**62) - 1], [3, 3]])
    assert evaluate(node, operands, OPSET)[0].tolist() == [(2**62 + 1) // 3, -((2**62 + 1) // 3)]
