"""What `--verify` and `check` say of an ONNX model that they can make up no inputs for."""

import html
import json
import re
import subprocess
import sys
from datetime import date

import numpy as np
import onnx
import pytest

from helpers.saved_models import saved
from ov_gather import read_ir
from ov_gather.runtimes.base import OnnxFile, RefusedError
from ov_gather.runtimes.isolated import IsolatedRuntime

pytestmark = [pytest.mark.onnxruntime, pytest.mark.openvino]


@pytest.fixture
def seven(tmp_path):
    """A model that needs seven numbers, but declares any number of them."""
    return saved(tmp_path / "m.onnx", "(float[n] x) => (float[7] y) { y = Reshape (x, shape) }", shape=[7])


def test_it_is_not_verified_and_nothing_failed(cli, tmp_path, seven, given):
    done = cli("convert", seven, "-o", tmp_path / "m.xml", "--verify", code=2)
    (line,) = done.stderr.splitlines()
    assert f"{seven}: not verified: onnxruntime accepts none of the inputs that were made up (inputs of x [6]: " in line
    assert line.endswith("give --input")
    assert "FAILED" not in done.stdout + done.stderr
    assert not (tmp_path / "m.xml").exists()
    cli("convert", seven, "-o", tmp_path / "m.xml", "--verify", *given(x=np.arange(7, dtype=np.float32)), code=0)


def test_check_says_so_and_goes_on(cli, tmp_path, seven, samples):
    done = cli("check", seven, samples / "valid" / "gather_8_open_sizes.xml", "--cases", "1", code=2)
    assert "not verified: onnxruntime accepts none of the inputs that were made up" in done.stdout
    assert "FAILED" not in done.stdout
    assert "gather_8_open_sizes.xml" in done.stdout


def test_the_page_tells_what_was_run_and_what_the_conversion_loses(cli, tmp_path):
    saved(tmp_path / "m.onnx", "(int64[7] x) => (int64[7] y) { y = Abs (x) }")
    done = cli("check", tmp_path / "m.onnx", "--report", tmp_path / "page.html", code=0)
    loss = "i64 is computed as i32, values beyond wrap around: input 'x', read by node Abs '' (output y)"
    assert f"warning: {loss}" in done.stderr
    page = (tmp_path / "page.html").read_text()
    assert "Passed" in page
    assert f"ov-gather check {tmp_path}/m.onnx --report {tmp_path}/page.html" in page
    assert f"not as ONNX says: {loss}" in html.unescape(page)
    assert str(date.today().year) in page


@pytest.fixture
def rounded(tmp_path, given):
    """The CPU plugin rounds the integers of this ReduceMax: a model to verify, and options for its inputs."""
    saved(tmp_path / "m.onnx", "(int32[4] x) => (int32 y) { p = Abs(x) [largest] t = ReduceMax<keepdims = 0>(p) y = Neg(t) }")
    inputs = given(x=np.int32([1, 2**24 + 1, -3, 4]))
    return [tmp_path / "m.onnx", "-o", tmp_path / "m.xml", "--verify", *inputs]


def test_a_difference_is_followed_to_its_first_node(cli, tmp_path, rounded):
    done = cli("convert", *rounded, code=1)
    assert f"{tmp_path}/m.xml differs from {tmp_path}/m.onnx at ReduceMax 'largest'" in done.stdout.splitlines()
    assert "Executed alone on the values of the reference, it shows the fault." in done.stdout


def test_no_bisect(cli, refusal, rounded):
    done = cli("convert", *rounded, "--no-bisect", code=1)
    assert "FAILED" in done.stdout
    assert "differs from" not in done.stdout
    told = refusal("convert", *(word for word in rounded[:3]), "--no-bisect", "--force")
    assert "--input, --no-bisect, --atol and --rtol are for --verify" in told


def test_an_index_that_only_onnxruntime_refuses_is_found(cli, tmp_path, given):
    text = "(float[3] x, int64[2] i) => (float[2] y) { n = Neg(i) [look_up] t = Gather(x, n) y = Neg(t) }"
    saved(tmp_path / "m.onnx", text)
    inputs = given(x=np.float32([1, 2, 3]), i=[-1, -5])
    done = cli("convert", tmp_path / "m.onnx", "-o", tmp_path / "m.xml", "--verify", *inputs, code=1)
    assert "differs from" in done.stdout
    assert "at Gather 'look_up'" in done.stdout
    assert "index 5 of Gather 'look_up' is out of bounds (valid -3..2)" in done.stdout
    assert "ONNXRuntimeError" not in done.stdout


OUT_OF_BOUNDS = {
    "Gather": ("(float[3] x, int64[2] i) => (float[2] y) { [n] y = Gather(x, i) }", "index 9 of Gather 'n'"),
    "GatherND": ("(float[3] x, int64[2, 1] i) => (float[2] y) { [n] y = GatherND(x, i) }", "index 9 of GatherND 'n'"),
    "GatherElements": (
        "(float[3] x, int64[2] i) => (float[2] y) { [n] y = GatherElements(x, i) }",
        "an index of GatherElements 'n'",
    ),
    "ScatterElements": (
        "(float[3] x, int64[2] i, float[2] u) => (float[3] y) { [n] y = ScatterElements(x, i, u) }",
        "index 9 of ScatterElements 'n'",
    ),
    "ScatterND": (
        "(float[3] x, int64[2, 1] i, float[2] u) => (float[3] y) { [n] y = ScatterND(x, i, u) }",
        "index 9 of ScatterND 'n'",
    ),
}


@pytest.mark.parametrize("operator", OUT_OF_BOUNDS)
def test_an_index_that_onnxruntime_refuses_is_named_in_our_words(operator, tmp_path):
    text, said = OUT_OF_BOUNDS[operator]
    runtime = IsolatedRuntime("onnxruntime")
    path = saved(tmp_path / "m.onnx", text)
    arrays = {"x": np.ones(3, np.float32), "i": np.full(2, 9), "u": np.ones(2, np.float32)}
    shapes = [value.type.tensor_type.shape.dim for value in onnx.load(path).graph.input]
    names = [value.name for value in onnx.load(path).graph.input]
    feed = [arrays[name].reshape([dim.dim_value for dim in shape]) for name, shape in zip(names, shapes, strict=True)]
    error = runtime.run(OnnxFile(path), feed)
    runtime.stop()
    assert isinstance(error, RefusedError)
    assert f"{said} is out of bounds" in str(error)


def test_inputs_that_both_runtimes_refuse(cli, tmp_path, given):
    """Nothing is known of the model then: nothing is written, and nothing FAILED."""
    saved(tmp_path / "m.onnx", "(float[a] x, float[b] y) => (float[c] z) { z = Add(x, y) }")
    inputs = given(x=np.ones(3, np.float32), y=np.ones(4, np.float32))
    done = cli("convert", tmp_path / "m.onnx", "-o", tmp_path / "m.xml", "--verify", *inputs, code=2)
    assert "FAILED" not in done.stdout
    assert "not verified: neither runtime accepts inputs of x [3], y [4]" in done.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.onnx", "x.npy", "y.npy"]


def test_an_operator_that_onnxruntime_lacks(cli, tmp_path):
    """No input would help: the IR is written, and said to be unverified."""
    saved(tmp_path / "m.onnx", "(double[3] x) => (double[3] y) { y = Acosh(x) }")
    done = cli("convert", tmp_path / "m.onnx", "-o", tmp_path / "m.xml", "--verify", code=2)
    assert f"{tmp_path}/m.onnx: not verified: onnxruntime does not execute the original: " in done.stderr
    assert f"{tmp_path}/m.xml: " in done.stdout
    assert {"m.xml", "m.bin"} <= {file.name for file in tmp_path.iterdir()}


@pytest.fixture
def products(tmp_path):
    """A model with outputs that are computed, and one that is moved."""
    text = """(float[8, 64] x, float[64, 16] w) => (float[8, 16] m, float[8, 16] s, float[64, 8] t) {
        m = MatMul(x, w) s = Softmax(m) t = Transpose<perm = [1, 0]>(x) }"""
    return saved(tmp_path / "m.onnx", text)


def test_tolerances(cli, tmp_path, products):
    """A difference passes within a tolerance, fails beyond one, and is counted apart from the same bits."""
    verify = ["convert", products, "-o", tmp_path / "m.xml", "--verify", "--force"]
    done = cli(*verify, "--atol", "1", "--rtol", "s=1e-3", code=0)
    assert "passed (within atol 1, rtol 0.001)" in done.stdout
    assert re.search(r"passed: 3 \(same bits: \d, within tolerance: \d\)", done.stdout)
    assert " ULP, SNR " in done.stdout
    strict = cli(*verify, "--atol", "1e-2", "--atol", "s=0", "--no-bisect", code=1)
    lines = [line for line in strict.stdout.splitlines() if "openvino: " in line]
    assert ["FAILED" in line for line in lines] == [False, True, False]


def test_a_tolerance_of_no_output(refusal, tmp_path, products, samples):
    told = refusal("convert", products, "-o", tmp_path / "m.xml", "--verify", "--atol", "nope=1")
    assert "a tolerance is given for 'nope', but the outputs are m, s, t" in told
    assert not (tmp_path / "m.xml").exists()
    assert "but the outputs are m, s, t" in refusal("check", products, "--rtol", "nope=1")
    assert "--atol and --rtol are for --verify" in refusal("convert", products, "-o", tmp_path / "m.xml", "--atol", "1")


@pytest.mark.parametrize("bound", ["-1", "nan", "inf", "much", "m=", "=1"])
def test_a_bound_that_is_none(refusal, tmp_path, products, bound):
    told = refusal("convert", products, "-o", tmp_path / "m.xml", "--verify", "--atol", bound)
    assert f"--atol': {bound}: " in told


def test_check_of_onnx_models_has_the_numbers(cli, products):
    done = cli("check", products, "--atol", "1", "--atol", "s=2", "--format", "json", code=0)
    outputs = {output["name"]: output["comparison"] for output in json.loads(done.stdout)["outputs"]}
    assert outputs["s"]["tolerance"] == {"atol": 2, "rtol": 0, "is_named": True}
    assert outputs["t"]["tolerance"] == {"atol": 1, "rtol": 0, "is_named": False}
    assert outputs["t"]["deviation"] | {"size": 0} == {
        "size": 0,
        "differing": 0,
        "not_finite": 0,
        "max_abs": 0,
        "max_rel": 0,
        "max_ulp": 0,
        "snr": None,
    }
    assert 0 < outputs["s"]["deviation"]["max_abs"] < 1e-3
    assert outputs["s"]["deviation"]["snr"] > 60


def test_several_models_share_tolerances(cli, tmp_path, products):
    other = saved(tmp_path / "n.onnx", "(float[8] x) => (float[8] m) { m = Exp(x) }")
    done = cli("convert", products, other, "-o", tmp_path / "irs", "--verify", "--atol", "m=1", "--rtol", "0.5", code=0)
    assert "passed (within atol 1, rtol 0.5)" in done.stdout


INTERRUPTED = """
import os, signal, time
from ov_gather.cli import main
from ov_gather.crosscheck.bisect import run

def searching(*arguments, progress, **options):
    progress("run 7: 9 values may be the first")
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(30)

run.bisect = searching
main()
"""


def test_an_interrupted_search_leaves_the_model(tmp_path, rounded):
    command = [sys.executable, "-c", INTERRUPTED, "convert", *map(str, rounded)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 130
    assert "FAILED" in done.stdout
    searching, stopped = done.stderr.splitlines()[-2:]
    assert searching.startswith(f"{tmp_path}/m.xml: searching for the first node that differs")
    assert stopped == f"{tmp_path}/m.xml: the search was stopped at run 7: 9 values may be the first; the model is written"
    assert read_ir(tmp_path / "m.xml").layers
