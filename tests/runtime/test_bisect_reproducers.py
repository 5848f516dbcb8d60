"""What `bisect` blames has a cause there, and the models that it writes show that; rounding is never blamed."""

import random

import numpy as np
import pytest

import ov_gather
from helpers.bisecting import again, as_ir, written
from helpers.planting import dropped, with_element
from ov_gather.crosscheck.bisect import reproducer, run
from ov_gather.ir.reader import read_ir

pytestmark = [pytest.mark.onnxruntime, pytest.mark.openvino]


def without_relu(ir):
    """The path of an IR that lacks the Relu."""
    model = read_ir(ir)
    (relu,) = model.of_type("ReLU")
    return written(ir.with_name("wrong.xml"), dropped(model, relu).model)


def with_element_changed(model, name, seed=0):
    (const,) = (layer for layer in model.of_type("Const") if layer.name == name)
    return with_element(model, const, random.Random(seed))


DROPPED = "(float[3,8] x) => (float[3,8] y) { a = Sin(x) [relu] r = Relu(a) y = Cos(r) }"
DROPPED_AT_THE_END = "(float[3,8] x) => (float[3,8] y) { a = Sin(x) [relu] y = Relu(a) }"
OUTPUTS_BOTH = "(float[3,8] x) => (float[3,8] y, float[3,8] a) { a = Sin(x) [relu] y = Relu(a) }"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("text", [DROPPED, DROPPED_AT_THE_END, OUTPUTS_BOTH])
@pytest.mark.parametrize("is_last_name", [True, False])
def test_a_value_with_two_names(tmp_path, text, is_last_name):
    """A dropped Relu leaves both names on one value, in any order: it stands for what is computed last."""
    source, ir = as_ir(tmp_path, text)
    file = without_relu(ir)
    if not is_last_name:
        for names in ("a,r", "a,y"):
            file.write_text(file.read_text().replace(f'names="{names}"', f'names="{names[::-1]}"'))
    result = ov_gather.bisect(source, file, reproducers=tmp_path / "all" / "found")
    assert result.node == "Sin 'a'"
    assert result.culprits[0].reference_node == "Relu 'relu'"
    assert again(result.reproducer).culprits


CENTRED = """(float[3,64] x) => (float[3,1] s, float[3,64] z) <int64[1] axes = {1}, float large = {1000000.0}> {
    t = Tanh(x) m = ReduceMean(t, axes) c = Sub(t, m) s = ReduceSum(c, axes) p = Mul(s, large) z = Add(t, p) }"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(4))
def test_sums_of_centred_values_are_rounding(tmp_path, seed):
    inputs = {"x": np.random.default_rng(seed).standard_normal((3, 64)).astype(np.float32)}
    result = ov_gather.bisect(*as_ir(tmp_path, CENTRED), inputs)
    assert result.passed
    assert all("off by rounding" in output.excuse for output in result.outputs if output.outcome)


WITHOUT_EFFECT = """(float[3,8] x) => (float[3,8] y) <float[1] w = {2.0}, float[1] zero = {0.0}, float[1] c = {0.5}> {
    [first] a = Mul(x, w) n = Mul(a, zero) [second] b = Sub(x, c) y = Add(n, b) }"""


def test_a_difference_that_changes_nothing_is_not_the_cause(tmp_path):
    """The first value that differs is multiplied by 0: the cause of the wrong output is further down."""
    source, ir = as_ir(tmp_path, WITHOUT_EFFECT)
    both = read_ir(ir)
    for name in ("w", "c"):
        both = with_element_changed(both, name).model
        written(tmp_path / f"{name}.xml", both)
    assert ov_gather.bisect(source, tmp_path / "w.xml").passed
    result = ov_gather.bisect(source, tmp_path / "c.xml", reproducers=tmp_path / "found")
    assert result.node == "Subtract 'second'"
    assert result.reproducer


def test_a_reproducer_that_shows_nothing_is_not_kept(tmp_path, monkeypatch):
    source, ir = as_ir(tmp_path, DROPPED)
    wrong = without_relu(ir)
    monkeypatch.setattr(run._Bisection, "_is_shown", lambda *arguments: False)
    result = ov_gather.bisect(source, wrong, reproducers=tmp_path / "found")
    (culprit,) = result.culprits
    assert (culprit.reproducer, culprit.command) == ("", "")
    assert "it does not show the fault, so that no reproducer is kept." in culprit.detail
    assert not list((tmp_path / "found").iterdir())
    without = ov_gather.bisect(source, wrong)
    assert "reproducer" not in without.culprits[0].detail


OTHER_ROW = """(float[3,64] x) => (float[2,1] s, float[3,64] z)
    <int64[1] axes = {1}, int64[2] rows = {0, 1}, float[3,1] c = {0.25, 0.5, 0.75}> {
    [wrong] a = Add(x, c) m = ReduceMean(a, axes) d = Sub(a, m) e = Gather(d, rows) s = ReduceSum(e, axes)
    z = Sin(a) }"""


def test_what_is_no_cause_of_one_output_is_one_of_the_next(tmp_path):
    """The first output is rounding, of rows without the fault. The second one has the fault."""
    source, ir = as_ir(tmp_path, OTHER_ROW)
    faults = (with_element_changed(read_ir(ir), "c", seed) for seed in range(99))
    wrong = written(tmp_path / "wrong.xml", next(each.model for each in faults if "element 2 " in each.what))
    inputs = {"x": np.random.default_rng(0).standard_normal((3, 64)).astype(np.float32)}
    result = ov_gather.bisect(source, wrong, inputs)
    assert "off by rounding" in result.outputs[0].excuse
    assert result.node == "Add 'wrong'"


LARGER = """(float[3,8] x) => (float[3,8] y) <float[1] c = {0.5}, float[1] d = {0.5}> {
    [first] a = Add(x, c) [second] b = Add(x, d) y = Max(a, b) }"""


def test_faults_that_are_a_cause_together(tmp_path):
    """The larger of two values is wrong even where one of the two is right."""
    source, ir = as_ir(tmp_path, LARGER)
    wrong = with_element_changed(with_element_changed(read_ir(ir), "c").model, "d").model
    result = ov_gather.bisect(source, written(tmp_path / "wrong.xml", wrong))
    assert result.node in ("Add 'first'", "Add 'second'")


USED_TWICE = "(float[3,8] x) => (float[3,8] y) { a = Sin(x) [relu] r = Relu(a) d = Sub(r, a) y = Cos(d) }"


def test_a_value_that_stands_for_two(tmp_path):
    """Without the Relu the model has a - a, whatever a is: no value of the reference in its place changes that."""
    source, ir = as_ir(tmp_path, USED_TWICE)
    wrong = without_relu(ir)
    for reference in (source, ir):
        result = ov_gather.bisect(reference, wrong, reproducers=tmp_path / "found")
        assert result.node == "Sin 'a'"
        assert "'relu'" in result.culprits[0].reference_node or "'r'" in result.culprits[0].reference_node
        assert result.reproducer


NEAR_ZERO = "(float[3,8] x) => (float[3,8] y) <float[1] c = {SCALE}> { a = Mul(x, c) b = Erf(a) y = Div(b, c) }"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("scale", ["0.001", "0.00001", "0.000000000001"])
def test_erf_near_zero_is_off_by_rounding(tmp_path, scale):
    """OpenVINO computes it as a difference of numbers near 1, of which little is left near 0."""
    inputs = {"x": np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)}
    result = ov_gather.bisect(*as_ir(tmp_path, NEAR_ZERO.replace("SCALE", scale)), inputs)
    assert result.passed, result.culprits
    assert any("off by rounding" in output.excuse for output in result.outputs) == (scale != "0.001")


FUSED = """(float[3,8] x, float[3,8] q) => (float[3,8] y, float[3,8] z) <float[1] c = {0.1}, float[1] large = {10000000.0}> {
    p = Mul(x, c) d = Sub(p, q) e = Mul(d, large) y = Tanh(e) z = Sin(x) }"""


def test_rounding_that_vanishes_where_a_value_is_observed(tmp_path):
    """A fused product is not rounded before a subtraction, of which nothing is left otherwise."""
    x = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)
    result = ov_gather.bisect(*as_ir(tmp_path, FUSED), {"x": x, "q": x * np.float32(0.1)})
    assert result.outputs[0].outcome
    assert result.passed, result.culprits


def test_each_size_is_halved_the_largest_first():
    made = reproducer._halved([np.arange(6).reshape(3, 2), np.arange(3)])
    assert [[array.tolist() for array in arrays] for arrays in made] == [[[[0, 1]], [0]], [[[0], [2], [4]], [0, 1, 2]]]
