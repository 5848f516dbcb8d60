"""ONNX nodes to IR layers, without OpenVINO."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from ov_gather.converters import ConversionError, convert_node
from ov_gather.converters.models import to_ir

from ov_gather import validate
from ov_gather.ir.element_types import ELEMENT_TYPES
from ov_gather.ir.weights import constant
from ov_gather.ir.writer import to_bytes
from ov_gather.runtimes.kernel import KernelRuntime

FLOAT, INT32, INT64 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64


def model(nodes, inputs, outputs, initializers=(), opset=13, **graph):
    infos = [[helper.make_tensor_value_info(*info) for info in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "graph", *infos, initializer=list(initializers), **graph)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def gather(**attributes):
    return helper.make_node("GatherElements", ["data", "indices"], ["output"], name="gather", **attributes)


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
    ("node", "shapes", "types", "text"),
    [
        (gather(), [[3], [3]], [TensorProto.COMPLEX64, INT64], "no element type for COMPLEX64"),
        (gather(), [[3], [3]], [FLOAT, FLOAT], "indices must be int32 or int64, not f32"),
        (gather(axis=2), [[3, 3], [3, 3]], [FLOAT, INT64], r"axis=2 is out of range \(-2 to 1\)"),
        (gather(), [[3, 3], [3]], [FLOAT, INT64], "rank 2, indices .3. has rank 1"),
        (gather(), [[3, 3], [2, 2]], [FLOAT, INT64], "equal dimensions, unlike ONNX"),
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


def test_model_of_gathers_constants_and_identities():
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    nodes = [
        helper.make_node("Identity", ["ids"], ["same_ids"]),
        helper.make_node("GatherElements", ["table", "same_ids"], ["picked"], name="pick"),
        helper.make_node("Constant", [], ["last"], value=helper.make_tensor("v", INT32, [1, 3], [-1, 0, 1])),
        helper.make_node("GatherElements", ["picked", "last"], ["rows"], axis=0),
        helper.make_node("Identity", ["rows"], ["output"]),
    ]
    initializers = [numpy_helper.from_array(table, "table")]
    onnx_model = model(nodes, [("ids", INT64, [2, 3])], [("output", FLOAT, [1, 3]), ("picked", FLOAT, [2, 3])], initializers)
    converted = to_ir(onnx_model)
    assert [layer.type for layer in converted.layers if layer.type not in ("Parameter", "Const", "Result")] == [
        "GatherElements"
    ] * 2
    runtime = KernelRuntime()
    runtime.activate(converted)
    output, picked = runtime.execute([np.array([[3, 0, 1], [0, 2, -1]])])
    np.testing.assert_array_equal(picked, [[9, 1, 5], [0, 7, 11]])
    np.testing.assert_array_equal(output, [[0, 1, 11]])


@pytest.mark.parametrize(
    "array",
    [
        np.array([1.5, -0.0], np.float16),
        np.array([2**62], np.int64),
        np.array([[True, False]]),
        np.array(["ä", ""], object),
        np.zeros((0, 2), np.float64),
        np.array(7, np.uint8),
        np.array([1, 2, 3], ml_dtypes.bfloat16),
        np.array([1, -8, 7], ml_dtypes.int4),
    ],
    ids=lambda array: str(array.dtype),
)
def test_initializers_keep_their_value(array):
    tensor = numpy_helper.from_array(array, "value")
    converted = to_ir(model([], [], [("value", tensor.data_type, list(array.shape))], [tensor]))
    value = constant(converted, converted.layers[0])
    assert value.dtype == array.dtype
    assert value.shape == array.shape
    assert value.tolist() == array.tolist()


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


def test_values_that_are_not_tensors():
    sequence = helper.make_tensor_sequence_value_info("x", FLOAT, [2])
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [sequence], [sequence])
    graph.output[0].name = "y"
    with pytest.raises(ConversionError, match=r"input 'x': Sequence.* is not a tensor"):
        to_ir(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)]))


@pytest.mark.parametrize("dim", [-2, 2**63, True])
def test_impossible_dimensions(dim):
    with pytest.raises(ConversionError, match="is not a dimension: 0 to 2"):
        convert_node(gather(), [[dim], [3]], [FLOAT, INT64])


def test_numpy_integers_are_dimensions():
    assert convert_node(gather(), [[np.int64(3)], [np.int64(2)]], [FLOAT, INT64]).layers[2].inputs[0].dims == (3,)


def test_inputs_of_open_rank():
    inputs = [helper.make_tensor_value_info(name, kind, None) for name, kind in (("data", FLOAT), ("indices", INT64))]
    graph = helper.make_graph([gather()], "g", inputs, [helper.make_tensor_value_info("output", FLOAT, None)])
    converted = to_ir(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))
    assert converted.layers[0].attributes["shape"] == "..."


def test_broken_tensors():
    short = onnx.TensorProto(name="value", data_type=FLOAT, dims=[3], raw_data=b"\0" * 4)
    empty = onnx.TensorProto(name="value", data_type=FLOAT, dims=[3])
    latin = helper.make_tensor("value", TensorProto.STRING, [1], [b"\xff"])
    for tensor, text in ((short, "too small"), (empty, "one and only one value"), (latin, "cannot be read: 'utf-8'")):
        with pytest.raises(ConversionError, match=text):
            to_ir(model([], [], [("value", tensor.data_type, list(tensor.dims))], [tensor]))


def test_an_old_opset_has_no_gather_elements():
    old = model([gather()], [("data", FLOAT, [3]), ("indices", INT64, [3])], [("output", FLOAT, [3])], opset=10)
    with pytest.raises(
        ConversionError, match="not a valid ONNX model: No Op registered for GatherElements with domain_version of 10"
    ):
        to_ir(old)
