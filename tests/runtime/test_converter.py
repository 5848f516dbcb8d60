"""ONNX nodes to IR layers, without OpenVINO."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from ov_gather import validate
from ov_gather.converters import ConversionError, convert_node
from ov_gather.ir.constants import constant
from ov_gather.ir.element_types import ELEMENT_TYPES
from ov_gather.ir.writer import to_bytes
from ov_gather.runtimes.kernel import KernelRuntime
from ov_gather.runtimes.openvino import OpenVINORuntime

FLOAT, INT32, INT64 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64


def gather(**attributes):
    return helper.make_node("GatherElements", ["data", "indices"], ["output"], name="gather", **attributes)


def scatter(**attributes):
    return helper.make_node("ScatterElements", ["data", "indices", "updates"], ["output"], name="scatter", **attributes)


def test_axis_defaults_to_0():
    layer = convert_node(gather(), [[3, 4], [2, 4]], [FLOAT, INT64]).layers[2]
    assert (layer.name, layer.type, layer.version, layer.attributes) == ("gather", "GatherElements", "opset6", {"axis": "0"})
    assert layer.outputs[0].dims == (2, 4)
    assert layer.outputs[0].attributes == {"names": "output"}


@pytest.mark.parametrize(
    ("shapes", "dims"),
    [
        (([3, "n"], [None, 4]), (-1, 4)),
        ((["n", "m"], ["n", "m"]), (-1, -1)),
        (([3, 7], None), (-1, 7)),
        ((None, [3, 7]), (3, 7)),
    ],
)
def test_open_dimensions(shapes, dims):
    converted = convert_node(gather(), shapes, [FLOAT, INT32])
    assert converted.layers[2].outputs[0].dims == dims


@pytest.mark.parametrize("row", [row for row in ELEMENT_TYPES if row.onnx], ids=str)
def test_every_type_of_the_ir(row):
    converted = convert_node(gather(axis=-1), [[2, 3], [2, 5]], [row.onnx, INT64])
    assert converted.layers[2].outputs[0].element_type is row
    errors = [finding for finding in validate(to_bytes(converted)[0]) if finding.severity.value == "error"]
    assert errors == []


@pytest.mark.parametrize(
    ("op", "attributes", "layer", "given"),
    [
        ("ScatterElements", {"axis": 1}, ("ScatterElementsUpdate", "opset12"), {}),
        ("ScatterElements", {"reduction": "mul"}, ("ScatterElementsUpdate", "opset12"), {"reduction": "prod"}),
        ("ScatterND", {"reduction": "add"}, ("ScatterNDUpdate", "opset15"), {"reduction": "sum"}),
        ("ScatterND", {}, ("ScatterNDUpdate", "opset15"), {}),
    ],
)
def test_scatters(op, attributes, layer, given, rng):
    node = helper.make_node(op, ["data", "indices", "updates"], ["output"], name="scatter", **attributes)
    shapes = [[3, 4], [5, 1], [5, 4]] if op == "ScatterND" else [[3, 4], [2, 3], [2, 3]]
    converted = convert_node(node, shapes, [FLOAT, INT64, FLOAT])
    (found,) = [each for each in converted.layers if each.name == "scatter"]
    assert (found.type, found.version, found.attributes) == (*layer, given)
    assert found.outputs[0].dims == (3, 4)
    inputs = [np.ones((3, 4), np.float32), rng.integers(-3, 3, shapes[1]), rng.random(shapes[2], np.float32)]
    right = ReferenceEvaluator(node).run(None, dict(zip(node.input, inputs, strict=True)))
    assert np.array_equal(executed(converted, *inputs), right[0])


@pytest.mark.parametrize(
    ("node", "shapes", "types", "text"),
    [
        (gather(), [[3], [3]], [TensorProto.COMPLEX64, INT64], "no element type for COMPLEX64"),
        (gather(), [[3], [3]], [FLOAT, FLOAT], "indices must be i32 or i64, not f32"),
        (gather(axis=2), [[3, 3], [3, 3]], [FLOAT, INT64], r"axis=2 is out of range \(-2 to 1\)"),
        (gather(), [[3, 3], [3]], [FLOAT, INT64], "rank 2, indices .3. has rank 1"),
        (gather(), [[3, 3], [2, 2]], [FLOAT, INT64], "equal dimensions, unlike ONNX"),
        (scatter(), [[3], [2], [2]], [FLOAT, INT64, INT32], "updates have element type i32, data has f32; they must"),
        (scatter(), [[3], [2], [3]], [FLOAT, INT64, FLOAT], r"updates \[3\]"),
        (scatter(reduction="sum"), [[3], [2], [2]], [FLOAT, INT64, FLOAT], "must be one of none, add, mul, .* not 'sum'"),
        (gather(mode=1), [[3], [3]], [FLOAT, INT64], "Unrecognized attribute: mode"),
        (gather(), [[3]], [FLOAT], "1 shapes and 1 types for 2 inputs"),
        (helper.make_node("Relu", ["x"], ["y"], name="act"), [[3]], [FLOAT], "node Relu 'act' .output y.: this operator"),
        (helper.make_node("GatherElements", ["a"], ["y"]), [[3]], [FLOAT], "has input size 1 not in range"),
        (helper.make_node("Identity", ["a"], ["y"], domain="my.domain"), [[3]], [FLOAT], "node my.domain.Identity"),
    ],
)
def test_what_cannot_be_converted(node, shapes, types, text):
    with pytest.raises(ConversionError, match=text):
        convert_node(node, shapes, types)


@pytest.mark.parametrize(
    ("attribute", "value", "expected"),
    [
        ("value_int", 3, np.array(3, np.int64)),
        ("value_ints", [1, 2], np.array([1, 2], np.int64)),
        ("value_float", 0.5, np.array(0.5, np.float32)),
        ("value_floats", [0.5], np.array([0.5], np.float32)),
        ("value_string", "é", np.array("é", object)),
        ("value_strings", ["a", "b"], np.array(["a", "b"], object)),
    ],
)
def test_constant_nodes(attribute, value, expected):
    converted = convert_node(helper.make_node("Constant", [], ["y"], **{attribute: value}), [], [])
    array = constant(converted, converted.layers[0])
    assert (array.dtype, array.shape, array.tolist()) == (expected.dtype, expected.shape, expected.tolist())


@pytest.mark.parametrize("dim", [-2, 2**63, True])
def test_impossible_dimensions(dim):
    with pytest.raises(ConversionError, match="is not a dimension: 0 to 2"):
        convert_node(gather(), [[dim], [3]], [FLOAT, INT64])


def test_numpy_integers_are_dimensions():
    assert convert_node(gather(), [[np.int64(3)], [np.int64(2)]], [FLOAT, INT64]).layers[2].inputs[0].dims == (3,)


def test_gather_takes_its_axis_from_a_const():
    node = helper.make_node("Gather", ["data", "indices"], ["output"], name="pick", axis=-1)
    converted = convert_node(node, [[2, 5], [3]], [FLOAT, INT64])
    layer = next(layer for layer in converted.layers if layer.type == "Gather")
    assert (layer.name, layer.version, layer.outputs[0].dims) == ("pick", "opset8", (2, 3))
    data = np.arange(10, dtype=np.float32).reshape(2, 5)
    np.testing.assert_array_equal(executed(converted, data, np.array([4, 0, -1])), data[:, [4, 0, -1]])


def test_gather_nd():
    node = helper.make_node("GatherND", ["data", "indices"], ["output"], batch_dims=1)
    converted = convert_node(node, [[2, 3, 4], [2, 1]], [FLOAT, INT64])
    data = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.testing.assert_array_equal(executed(converted, data, np.array([[2], [-3]])), data[[0, 1], [2, 0]])


def executed(model, *inputs, runtime=KernelRuntime):
    started = runtime()
    started.activate(model)
    return started.execute(inputs)[0]


@pytest.mark.parametrize(
    ("node", "inputs", "expected"),
    [
        (
            helper.make_node("Slice", ["data", "starts", "ends", "axes"], ["output"]),
            (np.arange(12).reshape(3, 4), np.array([1, 0]), np.array([3, 2]), np.array([1, 0])),
            np.arange(12).reshape(3, 4)[:2, 1:3],
        ),
        (
            helper.make_node("Slice", ["data", "starts", "ends", "", "steps"], ["output"]),
            (np.arange(5), np.array([4]), np.array([0]), None, np.array([-2])),
            np.array([4, 2]),
        ),
        (helper.make_node("Cast", ["data"], ["output"], to=FLOAT), (np.arange(3),), np.arange(3, dtype=np.float32)),
    ],
    ids=["slice", "slice without axes", "cast"],
)
@pytest.mark.parametrize("is_static", [True, False])
def test_what_legalizing_adds(node, inputs, expected, is_static):
    """OpenVINO executes what legalizing adds, as our kernel has no such operations."""
    shapes = [None if array is None else array.shape if is_static else [None] * array.ndim for array in inputs]
    if not is_static and node.op_type == "Slice":
        shapes[1] = inputs[1].shape  # there must be as many steps as starts
    converted = convert_node(node, shapes, [INT64] * len(inputs))
    found = executed(converted, *(array for array in inputs if array is not None), runtime=OpenVINORuntime)
    np.testing.assert_array_equal(found, expected)


def test_unsqueeze():
    """OpenVINO reads Unsqueeze and infers what is declared; its CPU plugin needs axes that are constant."""
    node = helper.make_node("Unsqueeze", ["data", "axes"], ["output"])
    read = OpenVINORuntime().read(convert_node(node, [[3], [2]], [FLOAT, INT64]))
    assert [layer.get_type_name() for layer in read.get_ops()] == ["Parameter", "Parameter", "Result", "Unsqueeze"]
    read.reshape({"data": [3], "axes": [2]})
    assert read.output("output").get_partial_shape().rank.is_dynamic
