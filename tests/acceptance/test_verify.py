"""What `--verify` and `check` say of an ONNX model that they can make up no inputs for."""

from __future__ import annotations

import html
import os
from datetime import date

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

pytestmark = [pytest.mark.onnxruntime, pytest.mark.openvino, pytest.mark.slow]


@pytest.fixture
def seven(tmp_path):
    """A model that needs seven numbers, but declares any number of them."""
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [size]) for name, size in (("x", "n"), ("y", 7))]
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["y"])]
    graph = helper.make_graph(nodes, "graph", infos[:1], infos[1:], [numpy_helper.from_array(np.array([7]), "shape")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def test_it_is_not_verified_and_nothing_failed(cli, tmp_path, seven):
    done = cli("convert", seven, "-o", tmp_path / "m.xml", "--verify")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"{seven}: not verified: onnxruntime accepts none of the inputs that were made up (inputs of x [6]: " in line
    assert line.endswith("give --input")
    assert "FAILED" not in done.stdout + done.stderr
    assert not (tmp_path / "m.xml").exists()
    np.save(tmp_path / "x.npy", np.arange(7, dtype=np.float32))
    done = cli("convert", seven, "-o", tmp_path / "m.xml", "--verify", "--input", f"x={tmp_path}/x.npy")
    assert done.returncode == 0, done.stdout + done.stderr


def test_check_says_so_and_goes_on(cli, tmp_path, seven, samples):
    done = cli("check", seven, samples / "valid" / "gather_8_open_sizes.xml", "--cases", "1")
    assert done.returncode == 2
    assert "not verified: onnxruntime accepts none of the inputs that were made up" in done.stdout
    assert "FAILED" not in done.stdout
    assert "gather_8_open_sizes.xml" in done.stdout


def test_the_page_tells_what_was_run_and_what_the_conversion_loses(cli, tmp_path):
    infos = [
        helper.make_tensor_value_info("x", TensorProto.INT64, [7]),
        helper.make_tensor_value_info("y", TensorProto.INT64, [7]),
    ]
    graph = helper.make_graph([helper.make_node("Abs", ["x"], ["y"])], "graph", infos[:1], infos[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), tmp_path / "m.onnx")
    done = cli("check", tmp_path / "m.onnx", "--report", tmp_path / "page.html")
    assert done.returncode == 0, done.stdout + done.stderr
    loss = "i64 is computed as i32, values beyond wrap around: input 'x'"
    assert f"warning: {loss}" in done.stderr
    page = (tmp_path / "page.html").read_text()
    assert "Passed" in page
    assert f"ov-gather check {tmp_path}/m.onnx --report {tmp_path}/page.html" in page
    assert f"not as ONNX says: {loss}" in html.unescape(page)
    assert str(date.today().year) in page


@pytest.mark.parametrize("command", ["convert", "check"])
def test_without_onnxruntime_it_is_said_before_anything_is_done(real_cli, tmp_path, seven, command):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['onnxruntime'] = None")
    options = ("-o", tmp_path / "m.xml", "--verify") if command == "convert" else ()
    done = real_cli(command, seven, *options, env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "error: onnxruntime, which ONNX models are verified with, is not installed: pip install onnxruntime\n"
    )
