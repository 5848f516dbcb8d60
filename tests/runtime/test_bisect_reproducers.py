"""What `bisect` blames has a cause there, and the models that it writes show that; rounding is never blamed."""

import random
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import openvino as ov
import pytest

import ov_gather
from helpers.planting import dropped, with_element
from ov_gather.crosscheck.bisect import reproducer, run
from ov_gather.ir.reader import read_ir
from ov_gather.ir.writer import write_ir

pytestmark = [pytest.mark.onnxruntime, pytest.mark.openvino]


def converted(folder, text):
    onnx.save(onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["": 18]> {text}'), folder / "m.onnx")
    ov.save_model(ov.Core().read_model(folder / "m.onnx"), folder / "m.xml", compress_to_fp16=False)
    return folder / "m.onnx", read_ir(folder / "m.xml")


def layer_of(model, kind):
    (layer,) = (layer for layer in model.layers if layer.type == kind)
    return layer


DROPPED = "g (float[3,8] x) => (float[3,8] y) { a = Sin(x) [relu] r = Relu(a) y = Cos(r) }"
DROPPED_AT_THE_END = "g (float[3,8] x) => (float[3,8] y) { a = Sin(x) [relu] y = Relu(a) }"
OUTPUTS_BOTH = "g (float[3,8] x) => (float[3,8] y, float[3,8] a) { a = Sin(x) [relu] y = Relu(a) }"


@pytest.mark.parametrize("text", [DROPPED, DROPPED_AT_THE_END, OUTPUTS_BOTH])
@pytest.mark.parametrize("is_last_name", [True, False])
def test_a_value_with_two_names(tmp_path, text, is_last_name):
    """A dropped Relu leaves both names on one value, in any order: it stands for what is computed last."""
    source, model = converted(tmp_path, text)
    wrong = dropped(model, layer_of(model, "ReLU")).model
    write_ir(wrong, tmp_path / "wrong.xml")
    if not is_last_name:
        file = tmp_path / "wrong.xml"
        for names in ("a,r", "a,y"):
            file.write_text(file.read_text().replace(f'names="{names}"', f'names="{names[::-1]}"'))
    result = ov_gather.bisect(source, tmp_path / "wrong.xml", reproducers=tmp_path / "all" / "found")
    assert result.node == "Sin 'a'"
    assert result.culprits[0].reference_node == "Relu 'relu'"
    folder = Path(result.reproducer)
    with np.load(folder / "inputs.npz") as file:
        again = ov_gather.bisect(folder / "reference.onnx", folder / "model.xml", dict(file))
    assert again.culprits


CENTRED = """g (float[3,64] x) => (float[3,1] s, float[3,64] z) <int64[1] axes = {1}, float large = {1000000.0}> {
    t = Tanh(x) m = ReduceMean(t, axes) c = Sub(t, m) s = ReduceSum(c, axes) p = Mul(s, large) z = Add(t, p) }"""


@pytest.mark.parametrize("seed", range(4))
def test_sums_of_centred_values_are_rounding(tmp_path, seed):
    source, _ = converted(tmp_path, CENTRED)
    inputs = {"x": np.random.default_rng(seed).standard_normal((3, 64)).astype(np.float32)}
    result = ov_gather.bisect(source, tmp_path / "m.xml", inputs)
    assert result.passed
    assert all("off by rounding" in output.excuse for output in result.outputs if output.outcome)


WITHOUT_EFFECT = """g (float[3,8] x) => (float[3,8] y) <float[1] w = {2.0}, float[1] zero = {0.0}, float[1] c = {0.5}> {
    [first] a = Mul(x, w) n = Mul(a, zero) [second] b = Sub(x, c) y = Add(n, b) }"""


def test_a_difference_that_changes_nothing_is_not_the_cause(tmp_path):
    """The first value that differs is multiplied by 0: the cause of the wrong output is further down."""
    source, model = converted(tmp_path, WITHOUT_EFFECT)
    both = model
    for name in ("w", "c"):
        (const,) = (layer for layer in both.of_type("Const") if layer.name == name)
        both = with_element(both, const, random.Random(0)).model
        write_ir(both, tmp_path / f"{name}.xml")
    assert ov_gather.bisect(source, tmp_path / "w.xml").passed
    result = ov_gather.bisect(source, tmp_path / "c.xml", reproducers=tmp_path / "found")
    assert result.node == "Subtract 'second'"
    assert result.reproducer


def test_a_reproducer_that_shows_nothing_is_not_kept(tmp_path, monkeypatch):
    source, model = converted(tmp_path, DROPPED)
    write_ir(dropped(model, layer_of(model, "ReLU")).model, tmp_path / "wrong.xml")
    monkeypatch.setattr(run._Bisection, "_is_shown", lambda *arguments: False)
    result = ov_gather.bisect(source, tmp_path / "wrong.xml", reproducers=tmp_path / "found")
    (culprit,) = result.culprits
    assert (culprit.reproducer, culprit.command) == ("", "")
    assert "it does not show the fault, so that no reproducer is kept." in culprit.detail
    assert not list((tmp_path / "found").iterdir())
    without = ov_gather.bisect(source, tmp_path / "wrong.xml")
    assert "reproducer" not in without.culprits[0].detail


OTHER_ROW = """g (float[3,64] x) => (float[2,1] s, float[3,64] z)
    <int64[1] axes = {1}, int64[2] rows = {0, 1}, float[3,1] c = {0.25, 0.5, 0.75}> {
    [wrong] a = Add(x, c) m = ReduceMean(a, axes) d = Sub(a, m) e = Gather(d, rows) s = ReduceSum(e, axes)
    z = Sin(a) }"""


def test_what_is_no_cause_of_one_output_is_one_of_the_next(tmp_path):
    """The first output is rounding, of rows without the fault. The second one has the fault."""
    source, model = converted(tmp_path, OTHER_ROW)
    (constant,) = (layer for layer in model.layers if layer.name == "c")
    faults = (with_element(model, constant, random.Random(seed)) for seed in range(99))
    write_ir(next(each.model for each in faults if "element 2 " in each.what), tmp_path / "wrong.xml")
    inputs = {"x": np.random.default_rng(0).standard_normal((3, 64)).astype(np.float32)}
    result = ov_gather.bisect(source, tmp_path / "wrong.xml", inputs)
    assert "off by rounding" in result.outputs[0].excuse
    assert result.node == "Add 'wrong'"


LARGER = """g (float[3,8] x) => (float[3,8] y) <float[1] c = {0.5}, float[1] d = {0.5}> {
    [first] a = Add(x, c) [second] b = Add(x, d) y = Max(a, b) }"""


def test_faults_that_are_a_cause_together(tmp_path):
    """The larger of two values is wrong even where one of the two is right."""
    source, model = converted(tmp_path, LARGER)
    for name in "cd":
        (constant,) = (layer for layer in model.layers if layer.name == name)
        model = with_element(model, constant, random.Random(0)).model
    write_ir(model, tmp_path / "wrong.xml")
    result = ov_gather.bisect(source, tmp_path / "wrong.xml")
    assert result.node in ("Add 'first'", "Add 'second'")


USED_TWICE = "g (float[3,8] x) => (float[3,8] y) { a = Sin(x) [relu] r = Relu(a) d = Sub(r, a) y = Cos(d) }"


def test_a_value_that_stands_for_two(tmp_path):
    """Without the Relu the model has a - a, whatever a is: no value of the reference in its place changes that."""
    source, model = converted(tmp_path, USED_TWICE)
    write_ir(dropped(model, layer_of(model, "ReLU")).model, tmp_path / "wrong.xml")
    for reference in (source, tmp_path / "m.xml"):
        result = ov_gather.bisect(reference, tmp_path / "wrong.xml", reproducers=tmp_path / "found")
        assert result.node == "Sin 'a'"
        assert "'relu'" in result.culprits[0].reference_node or "'r'" in result.culprits[0].reference_node
        assert result.reproducer


NEAR_ZERO = "g (float[3,8] x) => (float[3,8] y) <float[1] c = {SCALE}> { a = Mul(x, c) b = Erf(a) y = Div(b, c) }"


@pytest.mark.parametrize("scale", ["0.001", "0.00001", "0.000000000001"])
def test_erf_near_zero_is_off_by_rounding(tmp_path, scale):
    """OpenVINO computes it as a difference of numbers near 1, of which little is left near 0."""
    source, _ = converted(tmp_path, NEAR_ZERO.replace("SCALE", scale))
    inputs = {"x": np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)}
    result = ov_gather.bisect(source, tmp_path / "m.xml", inputs)
    assert result.passed, result.culprits
    assert any("off by rounding" in output.excuse for output in result.outputs) == (scale != "0.001")


FUSED = """g (float[3,8] x, float[3,8] q) => (float[3,8] y, float[3,8] z) <float[1] c = {0.1}, float[1] large = {10000000.0}> {
    p = Mul(x, c) d = Sub(p, q) e = Mul(d, large) y = Tanh(e) z = Sin(x) }"""


def test_rounding_that_vanishes_where_a_value_is_observed(tmp_path):
    """A fused product is not rounded before a subtraction, of which nothing is left otherwise."""
    source, _ = converted(tmp_path, FUSED)
    x = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)
    result = ov_gather.bisect(source, tmp_path / "m.xml", {"x": x, "q": x * np.float32(0.1)})
    assert result.outputs[0].outcome
    assert result.passed, result.culprits


def test_each_size_is_halved_the_largest_first():
    made = reproducer._halved([np.arange(6).reshape(3, 2), np.arange(3)])
    assert [[array.tolist() for array in arrays] for arrays in made] == [[[[0, 1]], [0]], [[[0], [2], [4]], [0, 1, 2]]]
