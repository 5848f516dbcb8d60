"""`ov-gather bisect` as a user runs it."""

import json
import shlex

import numpy as np
import openvino as ov
import pytest

from helpers.planting import swapped
from helpers.saved_models import saved
from ov_gather.ir.reader import read_ir
from ov_gather.ir.writer import write_ir

pytestmark = [pytest.mark.onnxruntime, pytest.mark.openvino]

NODES = "[node_a] a = Tanh(x) [node_b] b = Neg(z) [node_c] c = Sub(a, b) [node_d] d = Tanh(c) [node_y] y = Neg(d)"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """An ONNX model, the IR that it became, and the same with the operands of the Sub swapped."""
    folder = tmp_path_factory.mktemp("models")
    saved(folder / "m.onnx", f"(float[4, 8] x, float[4, 8] z) => (float[4, 8] y) {{ {NODES} }}")
    ov.save_model(ov.Core().read_model(folder / "m.onnx"), folder / "m.xml", compress_to_fp16=False)
    ir = read_ir(folder / "m.xml")
    (layer,) = ir.of_type("Subtract")
    write_ir(swapped(ir, layer).model, folder / "wrong.xml")
    return folder


def test_they_part(cli, models, tmp_path):
    page, folder = tmp_path / "page.html", tmp_path / "out"
    done = cli("bisect", models / "m.onnx", models / "wrong.xml", "-o", folder, "--report", page, code=1)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == f"{models}/wrong.xml differs from {models}/m.onnx at Subtract 'node_c'"
    assert any(line.split()[:3] == ["Subtract", "'node_c'", "in"] for line in lines)
    assert any("out" in line.split() and "32 of 32 differ" in line for line in lines)
    (command,) = (line.partition(": ")[2] for line in lines if line.startswith("  run it with: "))
    again = cli(*shlex.split(command)[1:], "-o", tmp_path / "again")
    assert again.returncode == 1
    assert "at Subtract 'node_c'" in again.stdout
    assert sorted(path.name for path in (folder / "c").iterdir()) == ["inputs.npz", "model.bin", "model.xml", "reference.onnx"]
    text = page.read_text()
    assert "Subtract 'node_c'" in text
    assert "an operand of Subtract 'node_c' comes from Tanh 'node_a'" in text
    assert text.count('class="node passed"') == 2, "both operands of the Subtract are equal in the models"


def test_they_are_equal_and_nothing_is_written(cli, models, tmp_path):
    done = cli("bisect", models / "m.onnx", models / "m.xml", "-o", tmp_path / "out", code=0)
    assert done.stdout.startswith(f"{models}/m.xml computes what {models}/m.onnx does\n")
    assert not (tmp_path / "out").exists()


def test_json(cli, models, tmp_path):
    arrays = {name: np.full((4, 8), value, np.float32) for name, value in (("x", 1), ("z", 2))}
    np.savez(tmp_path / "inputs.npz", **arrays)
    given = ["--input", tmp_path / "inputs.npz", "-o", tmp_path / "out", "--format", "json"]
    done = cli("bisect", models / "m.xml", models / "wrong.xml", *given, code=1)
    told = json.loads(done.stdout)
    assert told["passed"] is False
    assert told["node"] == "Subtract 'node_c'"
    assert told["culprits"][0]["output"]["difference"]["count"] == 32
    assert told["culprits"][0]["output"]["deviation"]["max_abs"] == pytest.approx(2 * (2 + np.tanh(1)), rel=1e-6)
    assert told["seed"] is None


@pytest.mark.exhaustive
def test_tolerances(cli, models, tmp_path):
    """A wide one lets everything pass; a strict one finds the first value beyond it, and the reproducer has it, too."""
    wide = cli("bisect", models / "m.onnx", models / "wrong.xml", "-o", tmp_path / "out", "--atol", "10", code=0)
    assert "output 'y' is equal within atol 10, rtol 0: max abs " in wide.stdout
    assert "outputs: 1, equal: 1 (same bits: 0)" in wide.stdout
    named = cli("bisect", models / "m.onnx", models / "wrong.xml", "-o", tmp_path / "out", "--atol", "y=10", code=0)
    assert "is equal within atol 10, rtol 0" in named.stdout
    strict = ["--rtol", "1e-12", "--format", "json"]
    done = cli("bisect", models / "m.onnx", models / "m.xml", "-o", tmp_path / "out", *strict, code=1)
    told = json.loads(done.stdout)
    (output,) = told["outputs"]
    assert output["tolerance"] == {"atol": 0, "rtol": 1e-12, "is_named": False}
    assert output["deviation"]["max_ulp"] >= 1
    (culprit,) = told["culprits"]
    assert culprit["output"]["deviation"]["max_abs"] < 1e-5
    assert culprit["command"].endswith("--atol 0 --rtol 1e-12")
    assert "outputs are y" in refusal_of(cli, models, "--atol", "nope=1")


def refusal_of(cli, models, *options):
    return cli("bisect", models / "m.onnx", models / "m.xml", *options, code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["m.xml", "m.onnx"], "this is an ONNX model; `ov-gather bisect` takes an OpenVINO IR (.xml)"),
        (["m.bin", "m.xml"], "m.bin: this is a file of constants; `ov-gather bisect` takes an ONNX model (.onnx) or"),
        (["m.onnx", "m.xml", "--memory", "much"], "much is no size; write such as 500MB or 2GB"),
        (["m.onnx", "m.xml", "--input", "x.npy"], "write NAME=FILE.npy, or FILE.npz with all inputs by name"),
    ],
)
def test_bad_arguments(refusal, models, arguments, message):
    told = refusal(
        "bisect", *(models / word if "." in word and "/" not in word and i < 2 else word for i, word in enumerate(arguments))
    )
    assert message in " ".join(told.split())


def test_other_inputs(refusal, models, tmp_path):
    saved(tmp_path / "other.onnx", "(float[4] p) => (float[4] y) { y = Neg(p) }")
    told = refusal("bisect", tmp_path / "other.onnx", models / "m.xml")
    assert "the inputs of the models differ: the reference has p, the model x, z" in told


def test_two_inputs_of_one_name(refusal, copied, tmp_path):
    changes = [('name="data"', 'name="T"'), ('name="indices"', 'name="T"')]
    one, other = copied("valid/spec_layer", stem="a"), copied("valid/spec_layer", stem="b", changes=changes)
    told = refusal("bisect", one, other, "-o", tmp_path / "o")
    assert "several inputs are called 'T'" in told
