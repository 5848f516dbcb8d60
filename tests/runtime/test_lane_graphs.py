"""Lanes in graphs with branches, and where numbers that are computed join them."""

from __future__ import annotations

import numpy as np
import onnx_ir
import pytest
from onnx import TensorProto, helper, parser

from helpers.lane_models import exactly, model, values
from ov_gather.converters import LossyConversionWarning, compile_onnx
from ov_gather.converters.passes.lane_moves import is_move
from ov_gather.converters.passes.lane_pads import can_pad

BOOL = TensorProto.BOOL


def branching(then, other, outputs=("y",)):
    """An If of two bodies, each of nodes that yield outputs of int64."""
    infos = [helper.make_tensor_value_info(name, TensorProto.INT64, None) for name in outputs]
    bodies = {f"{name}_branch": helper.make_graph(nodes, name, [], infos) for name, nodes in (("then", then), ("else", other))}
    return helper.make_node("If", ["c"], list(outputs), **bodies)


INPUTS = {"c": (BOOL, []), "x": ("int64", ["n"]), "i": ("int64", ["k"])}
PICKED = helper.make_node("Gather", ["x", "i"], ["y"])


@pytest.mark.parametrize("condition", [True, False])
def test_branches_that_both_move(condition):
    node = branching([PICKED], [helper.make_node("Slice", ["x", "[1]", "[3]"], ["y"])])
    constants = {"[1]": np.array([1]), "[3]": np.array([3])}
    compiled = exactly(model([node], INPUTS, {"y": ("int64", None)}, constants))
    x = values("int64", 5)
    found = compiled({"c": np.array(condition), "x": x, "i": np.array([0, -1, 2])})["y"]
    assert found.tolist() == (x[[0, -1, 2]] if condition else x[1:3]).tolist()
    if condition:
        with pytest.raises(IndexError, match=r"indices\[1\] = 5 is out of bounds for axis 0 of size 5"):
            compiled({"c": np.array(condition), "x": x, "i": np.array([0, 5])})


def test_what_comes_out_of_branches_is_moved_on():
    node = branching([PICKED], [helper.make_node("Identity", ["x"], ["y"])])
    nodes = [node, helper.make_node("Reshape", ["y", "[-1,1]"], ["z"])]
    compiled = exactly(model(nodes, INPUTS, {"z": ("int64", None)}, {"[-1,1]": np.array([-1, 1])}))
    x = values("int64", 3)
    assert compiled({"c": np.array(False), "x": x, "i": np.array([0])})["z"].tolist() == x[:, None].tolist()


def test_branches_that_disagree():
    """Lanes end before them: the numbers must fit in 32 bits, and the loss is named."""
    node = branching([PICKED], [helper.make_node("Mul", ["x", "x"], ["y"])])
    with pytest.warns(LossyConversionWarning, match="i64 is computed as i32.*: input 'x'"):
        compiled = compile_onnx(model([node], INPUTS, {"y": ("int64", None)}))
    given = {"c": np.array(True), "x": np.array([1, -5, 3]), "i": np.array([1])}
    assert compiled(given)["y"].tolist() == [-5]
    assert compiled({**given, "c": np.array(False)})["y"].tolist() == [1, 25, 9]
    with pytest.raises(ValueError, match=r"x\[0\] = 1099511627776 does not fit in int32"):
        compiled({**given, "x": np.array([2**40, 0, 0])})


def test_one_output_of_branches_moves_and_another_computes():
    double = helper.make_node("Add", ["s", "s"], ["z"])
    node = branching([PICKED, double], [helper.make_node("Identity", ["x"], ["y"]), double], ("y", "z"))
    inputs = {**INPUTS, "s": ("int64", [2])}
    with pytest.warns(LossyConversionWarning, match="input 's'"):
        compiled = compile_onnx(model([node], inputs, {"z": ("int64", None), "y": ("int64", None)}))
    x = values("int64", 3)
    found = compiled({"c": np.array(True), "x": x, "i": np.array([-1]), "s": np.array([3, 4])})
    assert (found["y"].tolist(), found["z"].tolist()) == ([x[-1]], [6, 8])


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_numbers_that_fit_join_lanes(dtype):
    """Sizes, and integers of 32 bits, are computed and then moved beside keys of 64 bits."""
    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes = [
        helper.make_node("Shape", ["small"], ["size"]),
        helper.make_node("Cast", ["size"], ["wide_size"], to=number),
        helper.make_node("Cast", ["small"], ["wide"], to=number),
        helper.make_node("Concat", ["x", "wide_size", "wide"], ["y"], axis=0),
    ]
    x, small = values(dtype, 3), np.array([5, 2, 7], np.uint16) if dtype == "uint64" else np.array([-5, 2, -7], np.int32)
    inputs = {"x": (dtype, ["n"]), "small": (small.dtype, ["m"])}
    found = exactly(model(nodes, inputs, {"y": (dtype, None)}))({"x": x, "small": small})["y"]
    assert found.tolist() == [*x.tolist(), 3, *small.tolist()]


@pytest.mark.parametrize(("limit", "number"), [("Max", 5), ("Min", -5)])
def test_numbers_beyond_32_bits_join_no_lanes(limit, number):
    """What stands beside them is not in lanes either: the loss is named, and an input beyond 32 bits refused."""
    nodes = [
        helper.make_node("Cast", ["small"], ["wide"], to=TensorProto.INT64),
        helper.make_node(limit, ["wide", "zero"], ["half"]),
        helper.make_node("Mul", ["half", "factor"], ["product"]),
        helper.make_node("Concat", ["x", "product"], ["y"], axis=0),
    ]
    inputs = {"x": ("int64", ["n"]), "small": ("int32", ["m"])}
    with pytest.warns(LossyConversionWarning, match="i64 is computed as i32.*: node Mul"):
        compiled = compile_onnx(model(nodes, inputs, {"y": ("int64", None)}, {"factor": np.array(2), "zero": np.array(0)}))
    assert compiled({"x": np.array([7]), "small": np.array([number], np.int32)})["y"].tolist() == [7, 2 * number]
    with pytest.raises(ValueError, match=r"x\[0\] = 1099511627776 does not fit in int32"):
        compiled({"x": np.array([2**40]), "small": np.array([number], np.int32)})


def test_constants_of_a_shape():
    nodes = [
        helper.make_node(
            "ConstantOfShape", ["sizes"], ["fill"], value=helper.make_tensor("", TensorProto.INT64, [1], [-(2**40)])
        ),
        helper.make_node("Concat", ["fill", "x"], ["y"], axis=1),
    ]
    proto = model(nodes, {"sizes": ("int64", [2]), "x": ("int64", ["n", "m"])}, {"y": ("int64", None)})
    x = values("int64", (2, 3))
    found = exactly(proto)({"sizes": np.array([2, 1]), "x": x})["y"]
    assert found.tolist() == np.concatenate([np.full((2, 1), -(2**40)), x], 1).tolist()


def test_zeros_of_a_shape_are_no_lanes():
    nodes = [helper.make_node("ConstantOfShape", ["sizes"], ["fill"]), helper.make_node("Concat", ["fill", "x"], ["y"], axis=0)]
    proto = model(nodes, {"sizes": ("int64", [1]), "x": ("float32", ["n"])}, {"y": ("float32", None)})
    assert exactly(proto)({"sizes": np.array([2]), "x": np.array([3], np.float32)})["y"].tolist() == [0, 0, 3]


@pytest.mark.parametrize("value", [-np.pi, -1, 2**24 + 1, np.float16(-0.1)], ids=str)
def test_padding_by_a_number(value):
    nodes = [helper.make_node("Pad", ["x", "pads", "value"], ["y"])]
    constants = {"pads": np.array([0, 1, 1, 0]), "value": np.array(value)}
    dtype = constants["value"].dtype
    x = values(dtype, (2, 3))
    found = exactly(model(nodes, {"x": (dtype, ["n", "m"])}, {"y": (dtype, None)}, constants))({"x": x})["y"]
    assert found.tobytes() == np.pad(x, [(0, 1), (1, 0)], constant_values=value).tobytes()


@pytest.mark.parametrize(
    ("x", "nodes", "opset", "can"),
    [
        ("double[n] x", "y = Pad <paddings = [1, 0]> (x)", 1, False),
        ("double[n] x", "y = Pad <pads = [1, 0]> (x)", 10, True),
        ("double[n] x", "y = Pad <pads = [1, 0], value = 1.5> (x)", 10, False),
        ("double[n] x, int64[k] p", "y = Pad (x, p)", 18, True),
        ("double[] x, int64[2] p", "y = Pad (x, p)", 18, True),
        ("double[] x, int64[k] p", "y = Pad (x, p)", 18, False),
        ("double[] x, int64[k] p, int64[m] a", "y = Pad (x, p, , a)", 18, True),
    ],
)
def test_lanes_are_padded_where_it_is_known_which_pads_are_theirs(x, nodes, opset, can):
    text = f'<ir_version: 10, opset_import: ["" : {opset}]> g ({x}) => (double[] y) {{ {nodes} }}'
    (node,) = onnx_ir.from_proto(parser.parse_model(text)).graph
    assert can_pad(node, opset) == can


@pytest.mark.parametrize(
    ("operator", "indices", "can"),
    [
        ("ScatterElements", "int64[2, 2]", True),
        ("ScatterElements", "int64[]", True),
        ("ScatterElements", "int64[0, 2]", False),  # OpenVINO's CPU plugin dies of an Expand of them
        ('ScatterElements <reduction = "add">', "int64[2, 2]", False),
        ("ScatterND", "int64[0, 1]", True),
    ],
)
def test_scatters_that_only_move(operator, indices, can):
    text = f"g (int64[n, m] x, {indices} i, int64[] u) => (int64[n, m] y) {{ y = {operator} (x, i, u) }}"
    (node,) = onnx_ir.from_proto(parser.parse_model(f'<ir_version: 10, opset_import: ["" : 18]> {text}')).graph
    assert is_move(node, 18) == can


PADS = {"pads": np.array([1, 0])}


def padding(value, dtype):
    """A Pad of a vector by a number, which is constant or an input."""
    inputs = {"x": (dtype, ["n"])} | ({} if value is not None else {"value": (dtype, [])})
    constants = PADS if value is None else {**PADS, "value": np.array(value, dtype)}
    return model([helper.make_node("Pad", ["x", "pads", "value"], ["y"])], inputs, {"y": (dtype, None)}, constants)


def test_padding_by_an_integer_that_float32_has_not():
    with pytest.warns(LossyConversionWarning, match=r"rounds 16777217, to pad with, to float32: node Pad '' \(output y\)"):
        compile_onnx(padding(2**24 + 1, np.int32))
    found = exactly(padding(2**24, np.int32))({"x": np.array([5], np.int32)})["y"]
    assert found.tolist() == [2**24, 5]


def test_padding_by_a_number_that_is_not_known():
    """Any number is right in lanes, but the CPU plugin itself would take 0."""
    with pytest.warns(LossyConversionWarning, match=r"pads with 0 instead of a number that the model computes: node Pad"):
        compile_onnx(padding(None, np.float32))
    found = exactly(padding(None, np.int64))({"x": np.array([2**50]), "value": np.array(-(2**40))})["y"]
    assert found.tolist() == [-(2**40), 2**50]


def test_a_computed_number_to_pad_with_that_is_known():
    """OpenVINO folds what is computed from constants before it pads."""
    nodes = [helper.make_node("Neg", ["seven"], ["value"]), helper.make_node("Pad", ["x", "pads", "value"], ["y"])]
    constants = {**PADS, "seven": np.float32(7)}
    proto = model(nodes, {"x": ("float32", ["n"])}, {"y": ("float32", None)}, constants)
    assert exactly(proto)({"x": np.array([1], np.float32)})["y"].tolist() == [-7, 1]
