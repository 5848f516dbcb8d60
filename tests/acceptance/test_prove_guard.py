"""`ov-gather prove --guard`, as a user runs it."""

import json
import shutil
import subprocess
import sys
import tokenize

import numpy as np
import onnx
import openvino as ov
import pytest
from click.testing import CliRunner
from openvino import opset13 as ops

from helpers.hostile_names import NAMES
from helpers.openvino_models import looked_up, number
from ov_gather import guard
from ov_gather.cli.prove import command

FEED = """
import sys
sys.modules["ov_gather"] = sys.modules["openvino"] = None  # neither can be imported
import numpy as np, guard
try:
    guard.check({"ids": np.full((1, 2), VALUE)})
except ValueError as error:
    print(error)
"""


def run(*arguments, code=0):
    done = CliRunner().invoke(command, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done.output


def saved(path, rows=10, name="ids", layer="rows"):
    ids = ops.parameter([-1, -1], np.int64, name)
    ids.output(0).set_names({name})
    gathered = looked_up(rows, ids)
    gathered.set_friendly_name(layer)
    ov.serialize(ov.Model([gathered], [ids]), path)
    return path


@pytest.fixture
def model(tmp_path):
    return saved(tmp_path / "model.xml")


def test_a_guard_that_was_written_is_no_next_step(model, tmp_path):
    assert "next: ov-gather prove " in run(model)
    said = run(model, "--guard", tmp_path / "guard.py")
    assert "next: ov-gather prove " not in said
    assert "next: ov-gather harden " in said


def test_a_python_file_needs_numpy_alone(model, tmp_path):
    assert "guard.py: 1 condition; 0 layers not covered\n" in run(model, "--guard", tmp_path / "guard.py")
    text = (tmp_path / "guard.py").read_text()
    assert "#     ids in -10..9    (Gather 'rows')" in text
    assert f"# Fingerprint: {guard(model).fingerprint}" in text
    for value, said in ((9, ""), (10, "ids[0, 0] = 10 is out of bounds (valid -10..9): Gather 'rows' needs ids in -10..9\n")):
        code = FEED.replace("VALUE", str(value))
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout == said


@pytest.mark.parametrize("name", ["coding=rot13.xml", "coding=utf-7 +AAo-print('injected')+AAo-.xml"])
def test_no_name_of_a_model_is_the_coding_of_a_python_file(model, tmp_path, name):
    model.rename(tmp_path / name)
    model.with_suffix(".bin").rename((tmp_path / name).with_suffix(".bin"))
    run(tmp_path / name, "--guard", tmp_path / "guard.py")
    done = subprocess.run([sys.executable, "guard.py", name], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert tokenize.detect_encoding((tmp_path / "guard.py").open("rb").readline)[0] == "utf-8"


def test_a_python_file_knows_its_model(model, tmp_path):
    run(model, "--guard", tmp_path / "guard.py")
    subprocess.run([sys.executable, "guard.py", "model.xml"], cwd=tmp_path, check=True)
    saved(model, rows=11)
    done = subprocess.run([sys.executable, "guard.py", "model.xml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode
    assert "ValueError: model." in done.stderr
    assert "is not the file that this guard was written for" in done.stderr


def test_a_python_file_knows_the_external_data_of_its_model(tmp_path):
    make = onnx.helper.make_tensor_value_info
    taken = onnx.helper.make_node("Gather", ["table", "at"], ["rows"])
    more = onnx.numpy_helper.from_array(np.arange(5.0), "more")
    nodes = [
        taken,
        onnx.helper.make_node("Constant", [], ["more"], value=more),
        onnx.helper.make_node("Add", ["rows", "more"], ["y"]),
    ]
    table = onnx.numpy_helper.from_array(np.arange(20.0).reshape(4, 5), "table")
    graph = onnx.helper.make_graph(nodes, "g", [make("at", 7, ["n"])], [make("y", 11, ["n", 5])], [table])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9)
    options = {"save_as_external_data": True, "size_threshold": 0, "all_tensors_to_one_file": False, "convert_attribute": True}
    onnx.save(model, tmp_path / "m.onnx", **options)
    assert {path.name for path in tmp_path.iterdir()} == {"m.onnx", "table", "more"}
    run(tmp_path / "m.onnx", "--guard", tmp_path / "guard.py")
    names = {"__name__": "guard"}
    exec(compile((tmp_path / "guard.py").read_text(), "guard.py", "exec"), names)
    (tmp_path / "m.onnx").rename(tmp_path / "other.onnx")
    names["check_model"](tmp_path / "other.onnx")
    for file in ("table", "more", "other.onnx"):
        kept = (tmp_path / file).read_bytes()
        (tmp_path / file).write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
        with pytest.raises(ValueError, match=f"{file} is not the file that this guard was written for"):
            names["check_model"](tmp_path / "other.onnx")
        (tmp_path / file).write_bytes(kept)
    shutil.copy(tmp_path / "other.onnx", tmp_path / "other.bin")
    with pytest.raises(ValueError, match=r"other\.txt is not the file"):
        names["check_model"](tmp_path / "other.txt")


def test_a_schema_names_what_it_cannot_say(tmp_path):
    x, at = (ops.parameter([-1], kind, name) for kind, name in ((np.float32, "x"), (np.int32, "at")))
    for node, name in ((x, "x"), (at, "at")):
        node.output(0).set_names({name})
    ov.serialize(ov.Model([ops.gather(x, at, number(0))], [x, at]), tmp_path / "model.xml")
    run(tmp_path / "model.xml", "--guard", tmp_path / "guard.json")
    schema = json.loads((tmp_path / "guard.json").read_text())
    assert schema["$comment"] == "This schema cannot say:\n    at in -dim(x, 0)..dim(x, 0) - 1"
    assert schema["properties"]["at"]["items"] == {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_headers_of_two_models_and_any_names_compile_together(tmp_path):
    """Names of models, layers and inputs cannot leave comments and literals."""
    names = [*NAMES, "??/", "back\\", 'a // b /* c */ "', "Ä", "int", "x\\u000ay"]
    includes = []
    for position, name in enumerate(names):
        path = tmp_path / f"m{position}.xml"
        try:
            saved(path, name=name, layer=name)
        except (RuntimeError, UnicodeError):
            continue
        done = CliRunner().invoke(command, [str(path), "--guard", str(tmp_path / f"g{position}.hpp")])
        if done.exit_code == 0:
            includes.append(f'#include "g{position}.hpp"\n')
            run(path, "--guard", tmp_path / f"g{position}.py")
            compile((tmp_path / f"g{position}.py").read_text(encoding="utf-8"), "guard.py", "exec")
    assert len(includes) > 10
    (tmp_path / "main.cpp").write_text("".join(includes) + "int main() {}\n")
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    subprocess.run(["g++", *flags, "main.cpp"], cwd=tmp_path, check=True)


def test_other_suffixes_and_several_models_are_refused(model, tmp_path):
    assert "guard.txt: the suffix is the format: .py, .json or .hpp" in run(model, "--guard", "guard.txt", code=2)
    other = saved(tmp_path / "other.xml")
    assert "a guard is that of one model, not of 2" in run(model, other, "--guard", tmp_path / "guard.py", code=2)
    assert not (tmp_path / "guard.py").exists()


def test_a_file_is_replaced_by_force_alone(model, tmp_path):
    (tmp_path / "guard.py").write_text("mine")
    assert "exists; --force overwrites it" in run(model, "--guard", tmp_path / "guard.py", code=2)
    assert (tmp_path / "guard.py").read_text() == "mine"
    run(model, "--guard", tmp_path / "guard.py", "--force")
    assert "def check(" in (tmp_path / "guard.py").read_text()


def test_no_guard_of_a_model_with_errors(model, tmp_path):
    model.write_text(model.read_text().replace('type="Gather"', 'type="Gather" version="opset0"'))
    assert CliRunner().invoke(command, [str(model), "--guard", str(tmp_path / "guard.py")]).exit_code in (1, 2)
    assert not (tmp_path / "guard.py").exists()


def test_what_was_assumed_is_in_the_file(model, tmp_path):
    run(model, "--guard", tmp_path / "guard.py", "--assume", "ids=0..4")
    assert "it was assumed that ids in 0..4" in (tmp_path / "guard.py").read_text()


def test_onnx_sizes_that_share_a_name_are_compared(tmp_path):
    make = onnx.helper.make_tensor_value_info
    inputs = [make("x", 1, ["n", 2]), make("at", 7, ["n"])]
    nodes = [onnx.helper.make_node("Gather", ["x", "at"], ["y"])]
    graph = onnx.helper.make_graph(nodes, "g", inputs, [make("y", 1, ["n", 2])])
    onnx.save(
        onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9), tmp_path / "m.onnx"
    )
    run(tmp_path / "m.onnx", "--guard", tmp_path / "guard.py")
    names = {"__name__": "guard"}
    exec(compile((tmp_path / "guard.py").read_text(), "guard.py", "exec"), names)
    x = np.zeros((3, 2), np.float32)
    names["check"]({"x": x, "at": np.array([2, -3, 0])})
    with pytest.raises(ValueError, match=r"dim\(x, 0\) = 3 and dim\(at, 0\) = 2 differ"):
        names["check"]({"x": x, "at": np.array([2, -3])})
    with pytest.raises(ValueError, match=r"at\[1\] = 3 is out of bounds \(valid -3..2\)"):
        names["check"]({"x": x, "at": np.array([0, 3, 0])})
