"""Whole ONNX models through OpenVINO's front end: ONNX's own cases on both targets, losses, and what is refused."""

import re
import subprocess
import sys
import warnings
from collections import Counter

import numpy as np
import onnx
import onnxruntime
import openvino
import pytest
from onnx import helper

import ov_gather
from helpers.saved_models import parsed
from ov_gather.converters import ConversionError, LossyConversionWarning, convert_model
from ov_gather.crosscheck.models.verify import verify_conversion
from ov_gather.runtimes.session import Session

TARGETS = pytest.mark.parametrize("target", ["stock", "extension"])


def model(text, **constants):
    proto = parsed(text, 13, **constants)
    proto.opset_import.append(helper.make_opsetid("my.domain", 1))
    return proto


# The cases run in a process of their own, as their collection is global, and made once.
CASES = """
import numpy as np, openvino, ov_gather
from onnx.backend.test.case.node import collect_testcases
from ov_gather.converters import compile_onnx, convert_model
from ov_gather.runtimes.session import Session
import onnx.helper, warnings
warnings.simplefilter("ignore")
KERNELS = {
    "Gather": ov_gather.gather,
    "GatherElements": ov_gather.gather_elements,
    "GatherND": ov_gather.gather_nd,
    "ScatterElements": ov_gather.scatter_elements,
}
core = ov_gather.register(openvino.Core())
for case in collect_testcases(None):
    operators = {node.op_type for node in case.model.graph.node} if case.model else set()
    if len(operators) != 1 or not operators <= KERNELS.keys():
        continue
    (node,) = case.model.graph.node
    attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
    attributes |= {"reduction": attributes["reduction"].decode()} if "reduction" in attributes else {}
    for inputs, (expected,) in case.data_sets:
        output = KERNELS[node.op_type](*inputs, **attributes)
        assert output.dtype == expected.dtype and output.tobytes() == expected.tobytes(), case.name
    print(node.op_type)
    if node.op_type == "ScatterElements":
        continue
    for target in ("stock", "extension"):
        converted = convert_model(case.model, target=target)
        types = {operation.get_type_info().version_id for operation in converted.get_ops()}
        assert ("ov_gather" in types) == (target == "extension"), types
        session = Session(core, converted)
        for inputs, outputs in case.data_sets:
            assert session(inputs)[0].tobytes() == outputs[0].tobytes(), case.name
    compiled = compile_onnx(case.model)
    names = [given.name for given in case.model.graph.input]
    for inputs, outputs in case.data_sets:
        (output,) = compiled(dict(zip(names, inputs))).values()
        assert output.dtype == outputs[0].dtype and output.tobytes() == outputs[0].tobytes(), case.name
"""


@pytest.mark.exhaustive
def test_cases_of_onnx_on_our_kernels_and_both_targets():
    done = subprocess.run([sys.executable, "-c", CASES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Counter(done.stdout.split()) == {"Gather": 4, "GatherElements": 3, "GatherND": 3, "ScatterElements": 7}


@TARGETS
def test_names_stay(target, tmp_path):
    text = """(float[rows, 4] x, int64[3] i) => (float[] b, float[] a, float[] rows) {
        rows = Gather (x, i) b = Relu (rows) a = Identity (x) }"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        convert_model(model(text), target=target, output=tmp_path / "m.xml")
    written = ov_gather.register(openvino.Core()).read_model(tmp_path / "m.xml")
    assert [port.get_any_name() for port in written.inputs] == ["x", "i"]
    assert [port.get_any_name() for port in written.outputs] == ["b", "a", "rows"]
    assert written.get_rt_info(["ov_gather", "target"]).value == target


def test_external_data_of_each_kind(tmp_path):
    """Strings stay inside, whatever their size, as they cannot be external."""
    words = np.array([f"word {i}" for i in range(100)], object)
    table = np.arange(400, dtype=np.float32).reshape(100, 4)
    text = "(int32[3] i) => (string[3] word, float[3, 4] row) { word = Gather (words, i) row = Gather (table, i) }"
    proto = model(text, words=words, table=table)
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, location="weights", size_threshold=0)
    converted = convert_model(tmp_path / "m.onnx", target="extension")
    (tmp_path / "weights").unlink()
    found = Session(openvino.Core(), converted)([np.array([99, -1, 0], np.int32)])
    assert found[0].tolist() == ["word 99", "word 99", "word 0"]
    np.testing.assert_array_equal(found[1], table[[99, -1, 0]])


def external(tensor, path):
    """Move the data of a tensor to a file, as `onnx.save(..., convert_attribute=True)` does for graphs only."""
    path.write_bytes(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=path.name)


CONSTANT = "table = Constant <value = float[2] {1, 2}> () row = Gather (table, i)"
CONSTANTS = [
    f"(int32[3] i) => (float[3] row) {{ {CONSTANT} }}",
    f"(int32[3] i) => (float[3] y) {{ y = my.domain.F (i) }} "
    f'<domain: "my.domain", opset_import: ["" : 13]> F (i) => (row) {{ {CONSTANT} }}',
]


@pytest.mark.filterwarnings("ignore::ov_gather.converters.LossyConversionWarning")
@pytest.mark.parametrize("text", CONSTANTS, ids=["graph", "function"])
def test_external_data_of_a_constant(tmp_path, text):
    proto = model(text)
    node = [*proto.graph.node, *(node for function in proto.functions for node in function.node)][-2]
    tensor = node.attribute[0].t
    tensor.CopyFrom(onnx.numpy_helper.from_array(np.float32([1, 2])))
    external(tensor, tmp_path / "w.bin")
    onnx.save(proto, tmp_path / "m.onnx")
    converted = convert_model(tmp_path / "m.onnx", output=tmp_path / "m.xml")
    (found,) = Session(openvino.Core(), converted)([np.array([1, 0, -1], np.int32)])
    assert found.tolist() == [2, 1, 2]
    verified = verify_conversion(tmp_path / "m.onnx", tmp_path / "m.xml")
    assert verified.passed and len(verified.layers) == 1
    with pytest.raises(ConversionError, match=r"w\.bin would overwrite a part of the model"):
        convert_model(tmp_path / "m.onnx", output=tmp_path / "w.xml")


def losses(proto, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)  # of what other tests left, whenever it is collected
        convert_model(proto, **options)
    assert all(issubclass(warning.category, LossyConversionWarning) for warning in caught)
    assert all(warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    ("text", "stock", "extension"),
    [
        ("(float[5, 4] x, int32[3] i) => (float[] y) { y = Gather (x, i) }", ["yields zeros"], []),
        (
            "(float[5, 4] x, int64[3] i) => (float[] y) { y = Gather (x, i) }",
            ["yields zeros"],
            [],
        ),
        (
            "(float[5, 4] x, int64[3, 1] i) => (float[] y) { y = GatherND (x, i) }",
            ["reads foreign"],
            [],
        ),
        ("(float[5, 4] x, int32[3, 4] i) => (float[] y) { y = GatherElements (x, i) }", [], []),
        ("(double[5] x, int64[3] i) => (double[] y) { y = Gather (x, i) }", ["f64.* 'x'", "yields"], ["f64"]),
        (
            "(float[5, 4] x) => (int64[] y) { [n] wide = Cast <to = 7> (x) y = Neg (wide) }",
            ["i64 .*: node Cast 'n' .output wide., read by node Neg"],
            ["i64 .*: node Cast 'n' .output wide., read by node Neg"],
        ),
        ("(string[5] x, int32[3] i) => (string[] y) { y = GatherElements (x, i) }", ["no GatherElements of strings"], []),
        (
            "(float[5, 4] x, int64[3, depth] i) => (float[] y) { y = GatherND (x, i) }",
            ["reads foreign", "needs the rank.*GatherND"],
            ["needs the rank.*GatherND"],
        ),
        ("(float[] x) => (float[] y) { y = Relu (x) }", ["needs the rank.*: input 'x'"], ["needs the rank"]),
    ],
)
def test_losses(text, stock, extension):
    proto = model(text)
    for target, expected in (("stock", stock), ("extension", extension)):
        found = losses(proto, target=target)
        assert len(found) == len(expected), found
        for loss, pattern in zip(found, expected, strict=True):
            assert re.search(pattern, loss), loss
        if expected:
            with pytest.raises(ConversionError, match=expected[0]):
                convert_model(proto, target=target, strict=True)


def test_what_is_no_loss():
    """Nothing is lost in arithmetic on shapes, positions of TopK, constants that fit, and indices that come from these."""
    text = """(float[5, 4] x) => (float[] y, float[] as_float, float[] best) {
        shape = Shape (x) columns = Gather (shape, one) as_float = Cast <to = 1> (columns) best, where = TopK (x, one)
        y = Gather <axis = 0> (table, where) negative = Mul (columns, minus) }"""
    assert losses(model(text, one=[1], minus=[-1], table=np.zeros((4, 2), np.float32))) == []


@pytest.mark.onnxruntime
@pytest.mark.parametrize(
    ("kind", "nodes"),
    [
        ("float", "y = Cast <to = 1> (m)"),
        ("float", "u = Unsqueeze (m, axes) y = Cast <to = 1> (u)"),
        ("float16", "u = Unsqueeze (m, axes) e = Expand (u, sizes) y = Cast <to = 10> (e)"),
        ("bool", "y = Cast <to = 9> (m)"),
        ("bool", "u = Unsqueeze (m, axes) t = Transpose <perm = [3, 1, 2, 0]> (u) y = Cast <to = 9> (t)"),
    ],
)
@pytest.mark.parametrize("shape", ["2,3", "a,b"])
def test_a_mask_of_64_bits_is_cast_exactly(shape, kind, nodes):
    """A strict conversion takes a model with token ids and an attention mask."""
    inputs = f"float[9,4] table, int64[{shape}] ids, int64[{shape}] m"
    text = f"({inputs}) => (float[] rows, {kind}[] y) {{ rows = Gather (table, ids) {nodes} }}"
    proto = model(text, axes=[1, 2], sizes=[2, 5, 1, 3])
    converted = convert_model(proto, strict=True, assume_in_bounds=True)
    feed = {"table": np.zeros((9, 4), np.float32), "ids": np.array([[1, 2, 3], [4, 5, 6]])}
    feed["m"] = np.array([[2**33, 0, 1], [1, 2**40, 2**32]]) if kind != "float16" else np.array([[1, 0, 1], [2**32, 1, 0]])
    expected = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feed)[1]
    names = [port.get_any_name() for port in converted.inputs]
    np.testing.assert_array_equal(Session(openvino.Core(), converted)([feed[name] for name in names])[1], expected)


@pytest.mark.onnxruntime
@pytest.mark.parametrize(
    ("opset", "text", "x"),
    [
        (
            13,
            "(float[4,2] x) => (float[4] y) { y = ReduceL1 <axes = [1], keepdims = 0> (x) }",
            [[-4, 3], [-1, 6], [2, -2], [5, 1]],
        ),
        (17, "(float[4,2] x) => (float[4,1] y) { y = ReduceL1 <axes = [-1]> (x) }", [[-4, 3], [-1, 6], [2, -2], [5, 1]]),
        (11, "(float[2,2,2] x) => (float[2,2,2] y) { y = Softmax (x) }", [[[1, 2], [3, 4]], [[0, 5], [0, 0]]]),
        (12, "(float[2,2,2] x) => (float[2,2,2] y) { y = Softmax <axis = -3> (x) }", [[[1, 2], [3, 4]], [[0, 5], [0, 0]]]),
        (12, "(float[a,b,c] x) => (float[p,q,r] y) { y = Softmax <axis = 0> (x) }", [[[1, 2], [3, 4]], [[0, 5], [0, 0]]]),
        (12, "(float[2,2,1] x) => (float[2,2,1] y) { y = Softmax <axis = 1> (x) }", [[[1], [3]], [[0], [5]]]),
        (12, "(float[1,2,2] x) => (float[1,2,2] y) { y = Softmax <axis = 0> (x) }", [[[1, 2], [3, 5]]]),
        (13, "(float[2,2,2] x) => (float[2,2,2] y) { y = Softmax <axis = 1> (x) }", [[[1, 2], [3, 4]], [[0, 5], [0, 0]]]),
        (18, "(bool[2] x) => (bool[1] y) { p, q = Split <num_outputs = 2> (x) y = Cast <to = 9> (q) }", [True, False]),
        (18, "(bool[n] x) => (bool[m] y) { p, q = Split <num_outputs = 2> (x) y = Cast <to = 9> (q) }", [True, False]),
        (18, "(float[1] x) => (float[p] y) { y = Unique <sorted = 0> (x) }", [2]),
        (18, "(float[2] x) => (int64[m] y) { v = ArgMin <keepdims = 0> (x) a, y = Unique <sorted = 0> (v) }", [2, 1]),
        (18, "(float[4] x) => (int64[m] y) { a, b, c, y = Unique <sorted = 0> (x) }", [2, 1, 2, 0]),
        (18, "(int64[1] x) => (int64[m] y) { u = Unique <sorted = 0> (few) y = Add (u, x) }", [0]),
        (18, "(float[1,a] x) => (float[p,q] y) { y = Expand (x, no_rows) }", [[1, 2, 3, 4]]),
        (14, "(float[2,1,2] x) => (float[p,q,r] y) { e = Expand (x, nothing) y = Trilu (e) }", [[[1, 2]], [[3, 4]]]),
    ],
)
def test_forms_that_an_adversary_found(opset, text, x):
    proto = parsed(text, opset, few=[5, 9, 2, 5], no_rows=[0, 4], nothing=[2, 0, 2])
    array = np.array(x, {"f": np.float32, "b": bool, "i": np.int64}[text[1]])
    expected = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"]).run(
        None, {"x": array}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LossyConversionWarning)
        (found,) = Session(openvino.Core(), convert_model(proto))([array])
    assert (found.dtype, found.shape) == (expected[0].dtype, expected[0].shape)
    np.testing.assert_allclose(found, expected[0], rtol=1e-6)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("(int64[5] x, int64[3] i) => (int64[] y) { y = Gather (x, i) }", "input 'x', read by output 'y'"),
        ("(float[5, 4] x, int64[3] i) => (float[] y) { rows = Gather (x, i) y = Relu (rows) }", ""),
        (
            "(float[5, 4, 3] x, int64[3] i) => (float[] y) { rest = Slice (x, i, ends) y = Gather (rest, i) }",
            "input 'i', read by node Slice '' (output rest)",
        ),
        ("(int32[3] i) => (float[] y) { columns = Transpose (c) y = Gather (columns, i) }", "constant 'c'"),
    ],
    ids=["other values", "what is computed of elements", "a start of a slice, too", "a constant on its way to the gather"],
)
def test_assumed_to_be_in_bounds(text, place):
    """An index in bounds fits in 32 bits; other values of 64 bits may not, such as the start of a slice."""
    found = losses(model(text, ends=[5, 4, 3], c=np.float32([[1e-40, 1]])), assume_in_bounds=True)
    assert [loss.rpartition(": ")[2] for loss in found] == [place] * bool(place)


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
    kind = {"float64": "double", "float32": "float"}.get(array.dtype.name, array.dtype.name)
    proto = model(f"(int32[3] i) => ({kind}[] y) {{ y = Gather (c, i) }}", c=array)
    assert len([text for text in losses(proto, assume_in_bounds=True) if "constant 'c'" in text]) == is_lost


def test_many_ways_from_an_input_to_an_index():
    """Each of 40 stages doubles the number of ways."""
    nodes, last = "", "i"
    for stage in range(40):
        nodes += f"a{stage} = Identity ({last}) b{stage} = Identity ({last}) c{stage} = Concat <axis = 0> (a{stage}, b{stage}) "
        nodes += f"{(last := f'i{stage}')} = Slice (c{stage}, start, end) "
    text = f"(float[5, 4] x, int64[3] i) => (float[] y) {{ {nodes} y = Gather (x, {last}) }}"
    assert losses(model(text, start=[0], end=[3]), assume_in_bounds=True) == []


def test_denormals_in_weights_are_no_loss():
    weights = np.full((4, 3), 1e-40, np.float32)
    assert losses(model("(float[5, 4] x) => (float[] y) { y = MatMul (x, w) }", w=weights)) == []


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        ("y = Relu (z) z = Relu (y)", "topologically sorted"),
        ("[n] y = Gather (x)", "input size 1 not in range"),
        ("[n] y = Gather (x, missing)", "missing"),
        ("[n] y = Gather <mode = 1> (x, i)", "Unrecognized attribute: mode"),
        ("[n] y = Gather <axis = 2> (x, i)", "node Gather 'n' .output y.*axis.*2"),
        ("[n] y = GatherElements <axis = -3> (x, i)", "node GatherElements 'n' .output y.*axis.*-3"),
        ("[n] y = Gather (x, far)", r"node Gather 'n' .output y.*\[1\] = 2 .*valid -2\.\.1"),
        ("[n] y = Gather (x, x)", "indices must not be float; Gather-13 takes int32, int64"),
        ("[n] y = GatherND (x, short)", "indices must not be int16; GatherND-13 takes int64"),
        (
            "[a] z = my.domain.A (x) y = my.domain.B (z)",
            r"no conversion for node my.domain.A 'a' .output z.; node my.domain.B '' .output y.: name the library",
        ),
    ],
)
@TARGETS
def test_what_is_wrong_is_named(nodes, text, target):
    constants = {"i": np.zeros((2, 2), np.int64), "far": [0, 2], "short": np.zeros((2, 2), np.int16)}
    with pytest.raises(ConversionError, match=text):
        convert_model(model(f"(float[2, 2] x) => (float[] y) {{ {nodes} }}", **constants), target=target)


@TARGETS
def test_types_that_openvino_lacks(target):
    proto = model("(complex64[5] x, int64[3] i) => (complex64[] y) { [n] y = Gather (x, i) }")
    with pytest.raises(ConversionError, match=r"node Gather 'n' .output y.: OpenVINO has no element type for COMPLEX64 of 'x'"):
        convert_model(proto, target=target)
