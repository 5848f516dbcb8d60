"""`ov-gather convert`, as a user runs it, on ONNX's own GatherElements cases and on models that cannot be converted."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper


def save(path, nodes, inputs=("x",), outputs=("y",)):
    def infos(names):
        return [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2]) for name in names]

    graph = helper.make_graph(nodes, "graph", infos(inputs), infos(outputs))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=10), path)
    return path


def test_verify(cli, tmp_path):
    indices = helper.make_tensor("i", TensorProto.INT64, [2, 2], [1, 0, 0, 1])
    nodes = [helper.make_node("Constant", [], ["i"], value=indices), helper.make_node("GatherElements", ["x", "i"], ["y"])]
    done = cli("convert", save(tmp_path / "m.onnx", nodes), "-o", tmp_path / "m.xml", "--verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "openvino: passed (exact)" in done.stdout
    assert "GatherElements-6 'y'" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.bin", "m.onnx", "m.xml"]


def test_what_cannot_be_converted_names_the_node_and_writes_nothing(cli, tmp_path):
    model = save(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"], name="activation")])
    done = cli("convert", model, "-o", tmp_path / "m.xml")
    assert done.returncode == 2
    assert done.stderr == (
        f"error: {model}: node Relu 'activation' (output y): this operator cannot be converted; "
        "GatherElements, Identity, Constant can\n"
    )
    assert list(tmp_path.iterdir()) == [model]


def test_what_cannot_be_verified_writes_nothing(cli, tmp_path):
    infos = [helper.make_tensor_value_info(*info) for info in (("x", 1, [0, 4]), ("i", 7, [3, 4]), ("y", 1, [3, 4]))]
    graph = helper.make_graph([helper.make_node("GatherElements", ["x", "i"], ["y"])], "g", infos[:2], infos[2:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=10), tmp_path / "m.onnx")
    done = cli("convert", tmp_path / "m.onnx", "-o", tmp_path / "m.xml", "--verify")
    assert done.returncode == 2
    assert "indexes an axis of size 0" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]


def test_the_model_is_not_overwritten(cli, tmp_path):
    table = numpy_helper.from_array(np.arange(1000, dtype=np.float32).reshape(250, 4), "x")
    index = helper.make_tensor_value_info("i", TensorProto.INT64, [3, 4])
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 4])
    graph = helper.make_graph([helper.make_node("GatherElements", ["x", "i"], ["y"])], "g", [index], [output], [table])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=10)
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="m.bin", size_threshold=0)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = cli("convert", tmp_path / "m.onnx", "-o", tmp_path / "m.xml")
    assert done.returncode == 2
    assert f"writing {tmp_path}/m.bin would overwrite a part of the model" in done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert cli("convert", tmp_path / "m.onnx", "-o", tmp_path / "other.xml", "--verify").returncode == 0


@pytest.mark.parametrize("content", [b"", b"not ONNX at all", b"\x08\x07\x12\x04" * 100, b"\xff" * 1000])
def test_files_that_are_not_onnx(cli, tmp_path, content):
    (tmp_path / "m.onnx").write_bytes(content)
    done = cli("convert", tmp_path / "m.onnx", "-o", tmp_path / "m.xml")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {tmp_path}/m.onnx: ")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "m.xml").exists()


def test_bad_arguments(cli, tmp_path):
    model = save(tmp_path / "m.onnx", [helper.make_node("Identity", ["x"], ["y"])])
    assert cli("convert", model, "-o", tmp_path / "m.bin").returncode == 2
    assert cli("convert", model).returncode == 2
    assert cli("convert", tmp_path / "nowhere.onnx", "-o", tmp_path / "m.xml").returncode == 2
    assert cli("convert", model, "-o", tmp_path / "nowhere" / "m.xml").returncode == 2
