"""Whole ONNX models through OpenVINO's front end: ONNX's own cases on both targets, losses, and what is refused."""

import subprocess
import sys
import warnings
from collections import Counter

import numpy as np
import onnx
import openvino
import pytest
from onnx import TensorProto, helper, numpy_helper

import ov_gather
from ov_gather.converters import ConversionError, LossyConversionWarning, convert_model

FLOAT, DOUBLE, INT64, INT32 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.INT32
TARGETS = pytest.mark.parametrize("target", ["stock", "extension"])


def model(nodes, inputs=(("x", FLOAT, [2, 2]),), outputs=(("y", FLOAT, None),), initializers=(), opset=13):
    infos = [[helper.make_tensor_value_info(*info) for info in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "graph", *infos, initializer=[numpy_helper.from_array(*tensor) for tensor in initializers])
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("my.domain", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def node(operator, *inputs, output="y", **attributes):
    return helper.make_node(operator, inputs, [output], name="n", **attributes)


def execute(converted, *inputs):
    core = ov_gather.register(openvino.Core())
    request = core.compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    request.start_async(list(inputs))
    request.wait()
    return request.get_output_tensor(0).data.copy()


# The cases run in a process of their own, as their collection is global, and made once.
CASES = """
import numpy as np, openvino, ov_gather
from onnx.backend.test.case.node import collect_testcases
from ov_gather.converters import compile_onnx, convert_model
import warnings
warnings.simplefilter("ignore")
core = ov_gather.register(openvino.Core())
for case in collect_testcases(None):
    operators = {node.op_type for node in case.model.graph.node} if case.model else set()
    if len(operators) != 1 or not operators <= {"Gather", "GatherElements", "GatherND"}:
        continue
    for target in ("stock", "extension"):
        converted = convert_model(case.model, target=target)
        types = {operation.get_type_info().version_id for operation in converted.get_ops()}
        assert ("ov_gather" in types) == (target == "extension"), types
        request = core.compile_model(converted, "CPU").create_infer_request()
        for inputs, outputs in case.data_sets:
            request.start_async(list(inputs))
            request.wait()
            assert request.get_output_tensor(0).data.tobytes() == outputs[0].tobytes(), case.name
    compiled = compile_onnx(case.model)
    names = [given.name for given in case.model.graph.input]
    for inputs, outputs in case.data_sets:
        (output,) = compiled(dict(zip(names, inputs))).values()
        assert output.dtype == outputs[0].dtype and output.tobytes() == outputs[0].tobytes(), case.name
    print(*operators)
"""


@pytest.mark.slow
def test_cases_of_onnx_on_both_targets():
    done = subprocess.run([sys.executable, "-c", CASES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Counter(done.stdout.split()) == {"Gather": 4, "GatherElements": 3, "GatherND": 3}


@TARGETS
def test_names_stay(target, tmp_path):
    nodes = [node("Gather", "x", "i", output="rows"), node("Relu", "rows", output="b"), node("Identity", "x", output="a")]
    inputs = [("x", FLOAT, ["rows", 4]), ("i", INT64, [3])]
    outputs = [("b", FLOAT, None), ("a", FLOAT, None), ("rows", FLOAT, None)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        convert_model(model(nodes, inputs, outputs), target=target, output=tmp_path / "m.xml")
    written = ov_gather.register(openvino.Core()).read_model(tmp_path / "m.xml")
    assert [port.get_any_name() for port in written.inputs] == ["x", "i"]
    assert [port.get_any_name() for port in written.outputs] == ["b", "a", "rows"]
    assert written.get_rt_info(["ov_gather", "target"]).value == target


def test_external_data_of_each_kind(tmp_path):
    """Strings stay inside, whatever their size, as they cannot be external."""
    words = np.array([f"word {i}" for i in range(100)], object)
    nodes = [node("Gather", "words", "i", output="word"), node("Gather", "table", "i", output="row")]
    outputs = [("word", TensorProto.STRING, [3]), ("row", FLOAT, [3, 4])]
    table = np.arange(400, dtype=np.float32).reshape(100, 4)
    proto = model(nodes, [("i", INT32, [3])], outputs, [(words, "words"), (table, "table")])
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, location="weights", size_threshold=0)
    converted = convert_model(tmp_path / "m.onnx", target="extension")
    (tmp_path / "weights").unlink()
    request = ov_gather.register(openvino.Core()).compile_model(converted, "CPU").create_infer_request()
    request.start_async([np.array([99, -1, 0], np.int32)])
    request.wait()
    assert request.get_output_tensor(0).str_data.tolist() == ["word 99", "word 99", "word 0"]
    np.testing.assert_array_equal(request.get_output_tensor(1).data, table[[99, -1, 0]])


def losses(proto, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)  # of what other tests left, whenever it is collected
        convert_model(proto, **options)
    assert all(issubclass(warning.category, LossyConversionWarning) for warning in caught)
    assert all(warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


INDEX = ("i", INT64, [3])
X = ("x", FLOAT, [5, 4])


@pytest.mark.parametrize(
    ("proto", "stock", "extension"),
    [
        (model([node("Gather", "x", "i")], [X, ("i", INT32, [3])]), ["yields zeros"], []),
        (model([node("Gather", "x", "i")], [X, INDEX]), ["i64 is computed as i32", "yields zeros"], ["i64 is computed as i32"]),
        (model([node("GatherND", "x", "i")], [X, ("i", INT64, [3, 1])]), ["i64 .* input 'i'", "reads foreign"], ["i64"]),
        (model([node("GatherElements", "x", "i")], [X, ("i", INT32, [3, 4])]), [], []),
        (
            model([node("Gather", "x", "i")], [("x", DOUBLE, [5]), INDEX], [("y", DOUBLE, None)]),
            ["f64.* 'x'", "i64", "yields"],
            ["f64", "i64"],
        ),
        (
            model([node("Cast", "x", output="wide", to=INT64), node("Neg", "wide")], [X], [("y", INT64, None)]),
            ["i64 .*: node Cast 'n' .output wide.$"],
            ["i64 .*: node Cast 'n' .output wide.$"],
        ),
        (
            model(
                [node("GatherElements", "x", "i")],
                [("x", TensorProto.STRING, [5]), ("i", INT32, [3])],
                [("y", TensorProto.STRING, None)],
            ),
            ["no GatherElements of strings"],
            [],
        ),
        (
            model([node("GatherND", "x", "i")], [X, ("i", INT64, [3, "depth"])]),
            ["i64", "reads foreign", "needs the rank.*GatherND"],
            ["i64", "needs the rank.*GatherND"],
        ),
        (model([node("Relu", "x")], [("x", FLOAT, None)]), ["needs the rank.*: input 'x'"], ["needs the rank"]),
    ],
)
def test_losses(proto, stock, extension):
    for target, expected in (("stock", stock), ("extension", extension)):
        found = losses(proto, target=target)
        assert len(found) == len(expected), found
        for text, pattern in zip(found, expected, strict=True):
            with pytest.raises(AssertionError, match=pattern):
                raise AssertionError(text)
        if expected:
            with pytest.raises(ConversionError, match=expected[0]):
                convert_model(proto, target=target, strict=True)


def test_what_is_no_loss():
    """Nothing is lost in arithmetic on shapes, positions of TopK, constants that fit, and indices that come from these."""
    nodes = [
        node("Shape", "x", output="shape"),
        node("Gather", "shape", "one", output="columns"),
        node("Cast", "columns", output="as_float", to=FLOAT),
        node("TopK", "x", "one", output="best"),
        node("Gather", "table", "where", axis=0),
        node("Mul", "columns", "minus", output="negative"),
        node("Reshape", "x", "negative", output="flat"),
    ]
    nodes[3].output.append("where")
    initializers = [(np.array([1]), "one"), (np.array([-1]), "minus"), (np.zeros((4, 2), np.float32), "table")]
    outputs = [("y", FLOAT, None), ("as_float", FLOAT, None), ("best", FLOAT, None)]
    assert losses(model(nodes[:-1], [X], outputs, initializers)) == []


def test_assumed_to_be_in_bounds():
    """An index in bounds fits in 32 bits; other values of 64 bits may not."""
    proto = model([node("Gather", "x", "i")], [("x", INT64, [5]), INDEX], [("y", INT64, None)])
    (found,) = losses(proto, assume_in_bounds=True)
    assert found.endswith(": input 'x'")


def test_what_is_computed_of_gathered_elements_says_nothing_of_the_index():
    nodes = [node("Gather", "x", "i", output="rows"), node("Relu", "rows")]
    assert losses(model(nodes, [X, INDEX]), assume_in_bounds=True) == []


def test_an_index_that_also_says_where_a_slice_starts():
    """The start of a slice may be beyond 32 bits, though an index of a gather may not."""
    nodes = [node("Slice", "x", "i", "ends", output="rest"), node("Gather", "rest", "i")]
    proto = model(nodes, [("x", FLOAT, [5, 4, 3]), INDEX], initializers=[(np.array([5, 4, 3]), "ends")])
    (found,) = losses(proto, assume_in_bounds=True)
    assert found.endswith(": input 'i'")


@pytest.mark.parametrize(
    ("array", "is_lost"),
    [
        (np.array([1, 2**31], np.uint32), True),
        (np.array([1, 2**31 - 1], np.uint32), False),
        (np.array([1, 2**31]), True),
        (np.array([-(2**31), 2**31 - 1]), False),
        (np.array([0.1, 1]), True),
        (np.array([0.5, 1]), False),
        (np.array([1e-40, 1], np.float32), True),
        (np.array([-0.0, np.inf], np.float32), False),
    ],
)
def test_constants_that_the_plugin_alters(array, is_lost):
    proto = model(
        [node("Gather", "c", "i")], [("i", INT32, [3])], [("y", numpy_helper.from_array(array).data_type, None)], [(array, "c")]
    )
    assert len([text for text in losses(proto, assume_in_bounds=True) if "constant 'c'" in text]) == is_lost


def test_altered_constants_are_followed_to_the_gather():
    table = (np.array([[1e-40, 1]], np.float32), "c")
    nodes = [node("Transpose", "c", output="columns"), node("Gather", "columns", "i")]
    (found,) = losses(model(nodes, [("i", INT32, [3])], initializers=[table]), assume_in_bounds=True)
    assert found.endswith(": constant 'c'")


def test_many_ways_from_an_input_to_an_index():
    """Each of 40 stages doubles the number of ways."""
    nodes, last = [], "i"
    for stage in range(40):
        nodes += [helper.make_node("Identity", [last], [f"{side}{stage}"]) for side in "ab"]
        nodes.append(helper.make_node("Concat", [f"a{stage}", f"b{stage}"], [f"c{stage}"], axis=0))
        nodes.append(helper.make_node("Slice", [f"c{stage}", "start", "end"], [last := f"i{stage}"]))
    bounds = [(np.array([0]), "start"), (np.array([3]), "end")]
    assert losses(model([*nodes, node("Gather", "x", last)], [X, INDEX], initializers=bounds), assume_in_bounds=True) == []


def test_denormals_in_weights_are_no_loss():
    weights = np.full((4, 3), 1e-40, np.float32)
    assert losses(model([node("MatMul", "x", "w")], [X], initializers=[(weights, "w")])) == []


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        ([helper.make_node("Relu", ["z"], ["y"]), helper.make_node("Relu", ["y"], ["z"])], "topologically sorted"),
        ([node("Gather", "x")], "input size 1 not in range"),
        ([node("Gather", "x", "missing")], "missing"),
        ([node("Gather", "x", "i", mode=1)], "Unrecognized attribute: mode"),
        ([node("Gather", "x", "i", axis=2)], "node Gather 'n' .output y.*axis.*2"),
        (
            [node("GatherElements", "x", "i", axis=-3)],
            "node GatherElements 'n' .output y.*axis.*-3",
        ),
        ([node("Gather", "x", "far")], r"node Gather 'n' .output y.*\[1\] = 2 .*valid -2\.\.1"),
        ([node("Gather", "x", "x")], "indices must not be float; Gather-13 takes int32, int64"),
        ([node("GatherND", "x", "short")], "indices must not be int32; GatherND-13 takes int64"),
        (
            [
                helper.make_node("A", ["x"], ["z"], name="a", domain="my.domain"),
                helper.make_node("B", ["z"], ["y"], domain="my.domain"),
            ],
            r"no conversion for node my.domain.A 'a' .output z.; node my.domain.B '' .output y.$",
        ),
    ],
)
@TARGETS
def test_what_is_wrong_is_named(nodes, text, target):
    initializers = [(np.zeros((2, 2), np.int64), "i"), (np.array([0, 2]), "far"), (np.zeros((2, 2), np.int32), "short")]
    with pytest.raises(ConversionError, match=text):
        convert_model(model(nodes, initializers=initializers), target=target)


@TARGETS
def test_types_that_openvino_lacks(target):
    proto = model([node("Gather", "x", "i")], [("x", TensorProto.COMPLEX64, [5]), INDEX], [("y", TensorProto.COMPLEX64, None)])
    with pytest.raises(ConversionError, match=r"node Gather 'n' .output y.: OpenVINO has no element type for COMPLEX64 of 'x'"):
        convert_model(proto, target=target)
