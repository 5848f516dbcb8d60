"""Findings beside OpenVINO itself: none on what it writes, what it infers with `--infer`, and what OVG706 warns of."""

import os
import re
import shutil
import signal

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.body_models import written
from helpers.inside_openvino import compiled, infer
from helpers.openvino_models import made_of, number
from helpers.paths import SAMPLES
from helpers.saved_models import saved
from helpers.written_models import MODELS, model_of
from ov_gather import cross_check, validate
from ov_gather.rules import inference
from ov_gather.rules.findings import Severity
from ov_gather.system import worker


@pytest.mark.parametrize("save", [ov.serialize, ov.save_model], ids=["as it is", "f16"])
@pytest.mark.parametrize("build", MODELS, ids=lambda build: build.__name__)
def test_models(build, save, tmp_path):
    save(model_of(build), tmp_path / "model.xml")
    assert complaints(tmp_path / "model.xml") == []


OF_ONNX = {
    "loop": """(float[2,3] data, int32[2,3] indices, int64 n) => (float[2,3] last, float[k,2,3] every) {
        last, every = Loop (n, , data) <body = b (int64 i, bool go, float[2,3] inner)
            => (bool on, float[2,3] total, float[2,3] all) {
            on = Identity(go) rows = GatherElements<axis = 1>(inner, indices) number = Cast<to = 1>(i)
            total = Add(rows, number) all = Identity(total) }> }""",
    "scan": """(float[3] first, float[4,3] rows) => (float[3] last, float[4,3] all) {
        last, all = Scan (first, rows) <num_scan_inputs = 1, body = b (float[3] before, float[3] row)
            => (float[3] after, float[3] copy) { after = Add(before, row) copy = Identity(after) }> }""",
    "branches": """(bool condition, float[n,3] data) => (float[n,3] out) {
        out = If (condition) <then_branch = a () => (float[n,3] p) { p = Relu(data) },
                              else_branch = b () => (float[n,3] q) { q = Neg(data) }> }""",
    "constant branches": """(bool condition) => (float[2] out) {
        out = If (condition) <then_branch = a () => (float[2] p) { p = Constant<value_floats = [1.0, 2.0]>() },
                              else_branch = b () => (float[2] q) { q = Constant<value_floats = [3.0, 4.0]>() }> }""",
}


@pytest.mark.parametrize("name", OF_ONNX)
def test_models_from_onnx(name, tmp_path):
    source = saved(tmp_path / "model.onnx", OF_ONNX[name], 17)
    for compress in (False, True):
        ov.save_model(ov.convert_model(source), tmp_path / "model.xml", compress_to_fp16=compress)
        assert complaints(tmp_path / "model.xml") == []


def test_a_state_takes_the_type_of_its_initial_value(tmp_path):
    info = ov.op.util.VariableInfo()
    info.variable_id, info.data_type, info.data_shape = "state", ov.Type.dynamic, ov.PartialShape("...")
    state = ov.op.util.Variable(info)
    data = ops.parameter([1, 3], np.float32)
    total = ops.add(ops.read_value(data, state), data)
    ov.save_model(ov.Model([ops.result(total)], [ops.assign(total, state)], [data], "m"), tmp_path / "model.xml")
    assert complaints(tmp_path / "model.xml") == []


def complaints(path):
    return [finding for finding in validate(path) if finding.severity is not Severity.NOTE]


@pytest.fixture
def sum_of_rows(tmp_path):
    """An IR whose ReduceSum drops a dimension."""
    ov.serialize(made_of(lambda data: ops.reduce_sum(data, number([1]), name="total"), data="f32[2,3]"), tmp_path / "sum.xml")
    return tmp_path / "sum.xml"


def drift(path):
    """Return what only OpenVINO tells, if nobody asks what contracts tell."""
    return [finding for finding in validate(path, infer=True, ignore=["OVG304", "OVG403"]) if finding.rule == "OVG407"]


def test_what_openvino_writes_does_not_drift(sum_of_rows, samples):
    assert validate(sum_of_rows, infer=True) == []
    for path in (samples / "valid").glob("*.xml"):
        assert validate(path, infer=True) == []


def test_a_dimension_too_many(sum_of_rows):
    text = sum_of_rows.read_text()
    one = "<dim>2</dim>\n				</port>"
    assert text.count(one) == 2  # one finding for the output of ReduceSum, one for the input of Result
    sum_of_rows.write_text(text.replace(one, "<dim>2</dim>\n					<dim>1</dim>\n				</port>"))
    (finding,) = drift(sum_of_rows)
    assert finding.message == "declares FP32 of dims [2, 1], but OpenVINO infers f32 of [2]"
    assert (finding.location.layer_name, finding.location.layer_type, finding.location.port) == ("total", "ReduceSum", 2)


def test_another_type(sum_of_rows):
    one = 'precision="FP32"'
    before, output, after = sum_of_rows.read_text().rsplit(one, 2)  # one finding for ReduceSum, one for Result
    sum_of_rows.write_text('precision="FP16"'.join([before, output, after]))
    assert [finding.message for finding in drift(sum_of_rows)] == ["declares FP16 of dims [2], but OpenVINO infers f32 of [2]"]


def test_in_the_body_of_a_loop(samples, tmp_path):
    for file in (samples / "valid").glob("loop.*"):
        shutil.copy(file, tmp_path)
    outside, body = (tmp_path / "loop.xml").read_text().split("<body>")
    operation = re.search(r'name="([^"]*)" type="(?!Parameter|Const|Result)', body)
    output = body.index("<output>", operation.end())
    broken = body[:output] + body[output:].replace('precision="FP32"', 'precision="FP64"', 1)
    (tmp_path / "loop.xml").write_text(f"{outside}<body>{broken}")
    (finding,) = [
        finding for finding in validate(tmp_path / "loop.xml", infer=True, ignore=["OVG3"]) if finding.rule == "OVG407"
    ]
    assert finding.location.layer_name == operation[1]
    assert finding.location.subgraph_path[-1] == "body"


def test_a_model_that_openvino_refuses(sum_of_rows):
    text = sum_of_rows.read_text()
    sum_of_rows.write_text(text.replace('type="ReduceSum" version="opset1"', 'type="Own" version="mine"'))
    (finding,) = drift(sum_of_rows)
    assert finding.message.startswith("OpenVINO refuses the model: ")
    assert (finding.location.layer_name, finding.location.layer_type) == ("total", "Own")


@pytest.fixture
def fatal(tmp_path):
    """An IR that divides OpenVINO by zero in its third layer, for whoever ignores OVG125."""
    xml, _ = written("backward_iterator")
    assert xml.count(b'part_size="2"') == 2
    (tmp_path / "fatal.xml").write_bytes(xml.replace(b'part_size="2"', b'part_size="0"', 1))
    return tmp_path / "fatal.xml"


@pytest.mark.parametrize("read", [str, lambda path: path.read_bytes()], ids=["file", "bytes"])
def test_a_model_that_kills_openvino(fatal, sum_of_rows, read):
    (finding,) = validate(read(fatal), infer=True, ignore=["OVG125", "OVG7"])
    assert (finding.rule, finding.message) == ("OVG407", "OpenVINO crashes: SIGFPE, when it reads the model")
    assert (finding.location.layer_type, finding.location.layer_id) == ("TensorIterator", 2)
    assert validate(sum_of_rows, infer=True) == []  # another process reads what follows


def test_a_model_that_kills_openvino_among_others(cli, fatal, sum_of_rows):
    shutil.copy(fatal, fatal.with_name("a.xml"))
    run = cli("validate", fatal.parent, "--infer", "--ignore", "OVG125")
    assert run.returncode == 1
    assert run.stdout.count("OpenVINO crashes: SIGFPE") == 2
    assert "sum.xml" not in run.stdout


def test_a_model_at_which_openvino_hangs(sum_of_rows, monkeypatch):
    assert validate(sum_of_rows, infer=True) == []
    os.kill(inference._workers[()]._process.pid, signal.SIGSTOP)
    with monkeypatch.context() as patch:
        patch.setattr(worker, "TIME_LIMIT", 0.1)
        (finding,) = validate(sum_of_rows, infer=True)
    assert finding.message.startswith("OpenVINO hangs: no answer within ")
    assert validate(sum_of_rows, infer=True) == []


def test_a_cycle_is_no_end_for_whoever_ignores_it(samples):
    circle = samples / "invalid" / "OVG111" / "circle.xml"
    weights = circle.with_suffix(".bin").read_bytes()
    (finding,) = validate(circle.read_bytes(), weights=weights, infer=True, ignore=["OVG111"])
    assert finding.rule == "OVG407" and "the graph has a cycle" in finding.message


def test_only_what_is_sound_is_given_to_openvino(samples):
    assert drift(samples / "invalid" / "OVG103" / "two_edges.xml") == []


def test_command_line(cli, samples):
    assert cli("validate", samples / "valid", "--infer").returncode == 0


SAMPLE = SAMPLES / "invalid" / "OVG706" / "first_rows.xml"
DATA = np.arange(15, dtype=np.float32).reshape(5, 3)


@pytest.mark.parametrize(("start", "rules", "row"), [(0, ["OVG706"], 4), (1, [], 3), (-(2**31) + 1, [], 3)])
def test_a_slice_from_the_start_is_removed(tmp_path, start, rules, row):
    xml = SAMPLE.read_text().replace(
        'offset="0"', 'offset="24"', 1
    )  # the start gets a constant of its own, apart from the axis
    binary = SAMPLE.with_suffix(".bin").read_bytes() + np.int64(start).tobytes()
    path = tmp_path / "model.xml"
    path.write_text(xml)
    path.with_suffix(".bin").write_bytes(binary)

    assert [finding.rule for finding in validate(path, ignore=["OVG403"])] == rules  # the ports are those of a slice from 0
    output = infer(compiled(ov.Core(), ov.Core().read_model(xml.encode(), binary)), DATA, np.full((2, 3), -1))
    np.testing.assert_array_equal(output, [DATA[row]] * 2)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_an_axis_may_have_any_integer_type(dtype, tmp_path):
    """The specifications say "any supported integer types", and OpenVINO executes them."""
    axis, updates = number(1, dtype), np.float32([[7, 8], [9, 5]])
    data, indices = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([[2, 0], [1, 0]])
    scattered = data.copy()
    np.put_along_axis(scattered, indices, updates, 1)
    layers = {
        "gather": (lambda x, i: ops.gather(x, i, axis), data[:, indices]),
        "scatter": (lambda x, i: ops.scatter_elements_update(x, i, number(updates, np.float32), axis), scattered),
    }
    for name, (make, expected) in layers.items():
        path = tmp_path / f"{name}.xml"
        ov.save_model(made_of(make, x="f32[2,3]", i="i64[2,2]"), path, compress_to_fp16=False)
        result = infer(compiled(ov.Core(), ov.Core().read_model(path)), data, indices)
        np.testing.assert_array_equal(result, expected)
        assert complaints(path) == []
        assert cross_check(path).passed


def test_an_open_rank_is_told_from_a_scalar(tmp_path):
    """Neither has dims in an IR. The plugin takes scalars, and no Parameter of open rank."""

    def last(x):
        size = ops.squeeze(ops.strided_slice(ops.shape_of(x), number([1]), number([2]), number([1]), [0], [0]), number(0))
        return ops.gather(x, ops.subtract(size, number(1)), number(1))

    def picked(x, i):
        return ops.gather(x, ops.add(i, number(1)), number(0))

    for name, make, inputs, rules in (
        ("scalar", last, {"x": "f32[?,?]"}, []),
        ("open", picked, {"x": "f32[?,?]", "i": "i64[...]"}, ["OVG703"]),
        ("given", picked, {"x": "f32[?,?]", "i": "i64[]"}, []),
    ):
        ov.serialize(made_of(make, **inputs), tmp_path / f"{name}.xml")
        assert [finding.rule for finding in validate(tmp_path / f"{name}.xml")] == rules
        if not rules:
            ov.Core().compile_model(tmp_path / f"{name}.xml", "CPU")
        else:
            with pytest.raises(RuntimeError, match="dynamic rank"):
                ov.Core().compile_model(tmp_path / f"{name}.xml", "CPU")
