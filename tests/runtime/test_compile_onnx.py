"""`compile_onnx`: exact results, errors for indices out of bounds and for wrong inputs, many threads, and the matrix."""

import re
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import onnx
import openvino
import pytest
from onnx.reference import ReferenceEvaluator
from onnxruntime import OrtValue

from helpers.cells import TYPES, results_of
from helpers.saved_models import parsed
from ov_gather.converters import ConversionError, LossyConversionWarning, compile_onnx
from tools.measurements import gathers


def gather(operator="Gather", x="[5, 4]", i="[3]", attributes=""):
    return parsed(f"(float{x} x, int64{i} i) => (float[] y) {{ [pick] y = {operator} {attributes} (x, i) }}", 13)


X = np.arange(20, dtype=np.float32).reshape(5, 4)


@pytest.mark.exhaustive
def test_a_sample_of_the_matrix():
    """The sample has a valid cell and one out of bounds of each operator and type, and each kind and form of float32."""
    chosen = {}
    for op, element_type in product(gathers.KINDS, TYPES):
        for cell in gathers.cells(op, element_type):
            chosen.setdefault((cell.op, cell.type, cell.valid), cell)
            if cell.type == "float32":
                chosen.setdefault((cell.op, cell.kind), cell)
                chosen.setdefault((cell.op, cell.form, cell.constant), cell)
    results = results_of(gathers.outcome, list(chosen.values()))
    assert [result for result in results if result.is_bad] == []
    exact = sum(result.outcome == "exact" for result in results)
    assert exact > len(results) / 4


@pytest.mark.parametrize("bad", [5, -6, 2**31, 2**32 + 1, -(2**63)])
@pytest.mark.parametrize("operator", ["Gather", "GatherElements", "GatherND"])
def test_out_of_bounds(operator, bad):
    shape = {"Gather": [3], "GatherElements": [3, 4], "GatherND": [3, 1]}[operator]
    compiled = compile_onnx(gather(operator, i=shape))
    indices = np.zeros(shape, np.int64)
    indices[1, ...] = bad
    with pytest.raises(IndexError, match=rf"\[1.*\] = {bad} "):
        compiled({"x": X, "i": indices})
    indices[1, ...] = -1
    assert compiled({"x": X, "i": indices})["y"][1].flat[-1] == 19


def test_out_of_bounds_among_sizes():
    """Gathers of shapes stay OpenVINO's own, which writes zeros, only where the index is constant."""
    compiled = compile_onnx(parsed("(float[n,m] x, int64[1] i) => (int64[1] y) { s = Shape(x) y = Gather(s, i) }", 13))
    assert compiled({"x": X, "i": np.array([-1])})["y"] == 4
    with pytest.raises(IndexError, match=r"indices\[0\] = 2 is out of bounds for axis 0 of size 2"):
        compiled({"x": X, "i": np.array([2])})


@pytest.mark.parametrize("condition", [True, False])
def test_out_of_bounds_in_a_body(condition):
    text = """(bool c, float[n,4] x, int64[3] i) => (float[3,4] y) {
        y = If (c) <then_branch = a () => (float[3,4] p) { p = Gather(x, i) },
                    else_branch = b () => (float[3,4] q) { q = Gather(x, i) }> }"""
    compiled = compile_onnx(parsed(text, 13))
    given = {"c": np.array(condition), "x": X}
    np.testing.assert_array_equal(compiled({**given, "i": np.array([1, -1, 0])})["y"], X[[1, -1, 0]])
    for bad in (5, 2**32):
        with pytest.raises(IndexError, match=f"= {bad} "):
            compiled({**given, "i": np.array([0, bad, 0])})


def test_out_of_bounds_on_one_thread(tmp_path):
    """OpenVINO's synchronous inference would say nothing there."""
    onnx.save(gather(), tmp_path / "gather.onnx")
    code = """
import numpy as np, os
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
from ov_gather.converters import compile_onnx
compiled = compile_onnx("gather.onnx")
try:
    compiled({"x": np.zeros((5, 4), np.float32), "i": np.array([0, 7, 0])})
except IndexError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert "indices[1] = 7 is out of bounds for axis 0 of size 5" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("inputs", "error", "text"),
    [
        ({"x": X}, ValueError, "the inputs are 'x', 'i', not 'x'"),
        ({"x": X, "indices": np.zeros(3, np.int64)}, ValueError, "not 'x', 'indices'"),
        ({"x": X, "i": np.zeros(3, np.int32)}, TypeError, "input 'i' must be int64, not int32"),
        ({"x": np.full((5, 4), "a"), "i": np.zeros(3, np.int64)}, TypeError, "input 'x' must be float32, not <U1"),
        ({"x": X, "i": np.zeros(4, np.int64)}, ValueError, r"input 'i' must have shape \[3\], not \[4\]"),
        ({"x": X[0], "i": np.zeros(3, np.int64)}, ValueError, r"must have shape \[5,4\], not \[4\]"),
    ],
)
def test_wrong_inputs(inputs, error, text):
    with pytest.raises(error, match=text):
        compile_onnx(gather())(inputs)


def test_integers_of_64_bits():
    """64-bit integers that are computed with are exact while they fit in 32 bits; beyond, they are refused."""
    compiled = compile_onnx(parsed("(int64[2] x, int64[3] i) => (int32[] y) { v = Gather(x, i) y = Cast<to = 6>(v) }", 13))
    inputs = {"x": np.array([-(2**31), 2**31 - 1]), "i": np.array([1, 0, -1])}
    output = compiled(inputs)["y"]
    assert (output.dtype, output.tolist()) == (np.int32, [2**31 - 1, -(2**31), 2**31 - 1])
    with pytest.raises(ValueError, match=r"x\[1\] = 2147483648 does not fit in int32"):
        compiled({**inputs, "x": np.array([0, 2**31])})


@pytest.mark.parametrize(
    "node",
    [
        "Where(choice, x, other)",
        "Compress<axis = 0>(x, choice)",
        "ReverseSequence<batch_axis = 1, time_axis = 0>(x, lengths)",
    ],
)
def test_integers_that_are_only_moved_are_no_loss(node):
    x = np.array([[2**31 - 1], [-(2**31) + 1], [2**24 + 1]])
    text = f"(int64[3,1] x) => (int64[] y) {{ y = {node} }}"
    proto = parsed(text, 13, choice=[True, False, True], lengths=[3], other=[[7]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compile_onnx(proto)({"x": x})["y"]
    (expected,) = ReferenceEvaluator(proto).run(None, {"x": x})
    assert found.tolist() == expected.tolist()


def test_what_may_exceed_32_bits_later_is_warned_of():
    with pytest.warns(LossyConversionWarning, match="i64 is computed as i32.*: input 'x', read by output 'y'"):
        compile_onnx(parsed("(int64[2] x) => (int64[2] y) { y = Mul(x, x) }", 13))


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("(uint32[2] x, uint32[2] z) => (uint32[2] y) { y = Max(x, z) }", "u32 is computed as i32, values from 2.31 on"),
        ("(uint32[2] x) => (int64[2] y) { y = Cast<to: int = 7>(x) }", "u32 is computed as i32"),
        ("(int32[2] x) => (int32 y) { y = ReduceMax<keepdims: int = 0>(x) }", "integers are rounded to float32"),
        ("(uint32[2] x, uint32[2] z) => (uint32[2] y) { y = Add(x, z) }", None),
        ("(uint8[2] x) => (int32 y) { x32 = Cast<to: int = 6>(x) y = ReduceMax<keepdims: int = 0>(x32) }", None),
        (
            "(uint8[2] x, uint8[2] z) => (uint32[2] y) { a = Cast<to: int = 12>(x) b = Cast<to: int = 12>(z) y = Max(a, b) }",
            None,
        ),
    ],
)
def test_integers_that_arithmetic_changes_are_warned_of(text, loss):
    proto = parsed(text, 13)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compile_onnx(proto)
    told = [str(warning.message) for warning in caught if issubclass(warning.category, LossyConversionWarning)]
    assert any(re.search(loss, line) for line in told) if loss else not told


@pytest.mark.parametrize("array", [np.array([3, 2**32 - 1], np.uint32), np.array([1e-42, -0.0, -1e-45], np.float32)])
def test_constants_that_the_plugin_would_alter_are_carried(array):
    kind = {"float32": "float"}.get(array.dtype.name, array.dtype.name)
    proto = parsed(f"(int64[2] i) => ({kind}[] y, {kind}[] z) {{ y = Gather (c, i) z = Identity (c) }}", 13, c=array)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = compile_onnx(proto)
    outputs = compiled({"i": np.array([1, -1])})
    assert outputs["y"].tobytes() == array[[1, -1]].tobytes()
    assert outputs["z"].tobytes() == array.tobytes()


def test_open_ranks():
    """The model is compiled for the shapes of the first call, and again for others."""
    compiled = compile_onnx(gather(x="[]", i="[]", attributes="<axis = -1>"))
    for data, indices in ((X, np.array([3, -4])), (X[0], np.array([[0]])), (X[None], np.array(2)), (X, np.array([0, 0]))):
        np.testing.assert_array_equal(compiled({"x": data, "i": indices})["y"], np.take(data, indices, -1))
    with pytest.raises(ValueError, match="scalar"):
        compiled({"x": np.float32(1), "i": np.array(0)})


@pytest.mark.parametrize("shape", [(0, 4), (5, 0)])
def test_empty_data(shape):
    compiled = compile_onnx(gather(x="[n, m]"))
    with pytest.raises(IndexError, match="size 0") if shape[0] == 0 else warnings.catch_warnings():
        assert compiled({"x": np.zeros(shape, np.float32), "i": np.zeros(3, np.int64)})["y"].shape == (3, 0)


@pytest.mark.parametrize("sizes", ["[n, m]", "[5, 0]"])
def test_an_index_is_out_of_bounds_where_the_output_is_empty(sizes):
    compiled = compile_onnx(gather(x=sizes))
    with pytest.raises(IndexError, match=r"indices\[1\] = 99 is out of bounds for axis 0 of size 5 \(valid -5..4\)"):
        compiled({"x": np.zeros((5, 0), np.float32), "i": np.array([0, 99, -1])})
    with pytest.raises(IndexError, match=r"indices\[1, 0\] = 99 is out of bounds for axis 0 of size 5 \(valid -5..4\)"):
        compile_onnx(gather("GatherND", sizes, "[2, 1]"))({"x": np.zeros((5, 0), np.float32), "i": np.array([[0], [99]])})


def test_many_threads():
    compiled = compile_onnx(gather(x="[n, 4]"))

    def call(seed):
        random = np.random.default_rng(seed)
        data, indices = random.random((100 + seed, 4), np.float32), random.integers(-100, 100, 3)
        bad = indices.copy()
        bad[seed % 3] = 100 + seed
        with pytest.raises(IndexError, match=f"= {100 + seed} "):
            compiled({"x": data, "i": bad})
        return compiled({"x": data, "i": indices})["y"], data[indices]

    with ThreadPoolExecutor(8) as pool:
        for output, expected in pool.map(call, range(100)):
            np.testing.assert_array_equal(output, expected)


def test_a_path_and_its_external_data(tmp_path):
    proto = parsed("(int64[3] i) => (float[] y) { y = Gather (table, i) }", 13, table=X)
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, location="weights", size_threshold=0)
    compiled = compile_onnx(tmp_path / "m.onnx")
    (tmp_path / "weights").unlink()
    np.testing.assert_array_equal(compiled({"i": np.array([4, 0, -2])})["y"], X[[4, 0, -2]])


def test_what_openvino_says_of_other_operations():
    compiled = compile_onnx(gather("Reshape"))
    with pytest.raises(RuntimeError):
        compiled({"x": X, "i": np.array([7, 7, 7])})


def test_the_ways_to_call_it():
    compiled = compile_onnx(gather(x="[n, 4]").SerializeToString())
    assert repr(compiled) == "<CompiledModel on CPU: (x: float[n, 4], i: int64[3]) -> (y: float[...])>"
    assert [port.name for port in compiled.inputs] == ["x", "i"]
    i = np.array([4, 0, -2])
    for outputs in (compiled({"x": X, "i": i}), compiled(X, i), compiled(X, i=i), compiled(i=i, x=X)):
        np.testing.assert_array_equal(outputs["y"], X[[4, 0, -2]])
        assert outputs[0] is outputs[-1] is outputs["y"] is outputs.to_tuple()[0]
        assert list(outputs) == ["y"]
    with pytest.raises(KeyError, match=r"there is no output 'z'; there are 'y', and positions 0\.\.0"):
        outputs["z"]
    with pytest.raises(IndexError, match="there is no output 1"):
        outputs[1]


@pytest.mark.parametrize(
    ("arrays", "named", "text"),
    [
        ((1, 2, 3), {}, "3 arrays are given, but there are 2 inputs: 'x', 'i'"),
        ((1,), {"j": 2}, "there is no input 'j'; the inputs are 'x', 'i'"),
        ((1,), {"x": 2, "i": 3}, "an array is given by position and by keyword for 'x'; the inputs are 'x', 'i'"),
        ((1,), {}, "no array is given for 'i'; the inputs are 'x', 'i'"),
        ((), {}, "no array is given for 'x', 'i'; the inputs are 'x', 'i'"),
        (({"x": 1}, 2), {}, "beside a dict of all inputs nothing else is given; the inputs are 'x', 'i'"),
    ],
)
def test_calls_that_do_not_fit(compiled_gather, arrays, named, text):
    with pytest.raises(TypeError, match=text):
        compiled_gather(*arrays, **named)


@pytest.fixture(scope="module")
def compiled_gather():
    return compile_onnx(gather())


def test_tensors_of_other_libraries_are_inputs(compiled_gather):
    i = np.array([4, 0, -2])
    tensor = OrtValue.ortvalue_from_numpy(X)
    np.testing.assert_array_equal(compiled_gather(tensor, openvino.Tensor(i))["y"], X[[4, 0, -2]])


@pytest.mark.parametrize(
    ("source", "error", "text"),
    [
        (b"no model", ConversionError, "not a valid ONNX model: "),
        (b"", ConversionError, "not a valid ONNX model: "),
        (7, TypeError, "an ONNX model is a path, bytes, or an onnx.ModelProto, not int"),
    ],
)
def test_what_is_no_onnx_model(source, error, text):
    with pytest.raises(error, match=text):
        compile_onnx(source)
