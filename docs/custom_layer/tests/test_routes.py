"""The ways to the operation: ONNX nodes, PyTorch, and the check of ov-gather."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
import snake
from make_model import make_model

PROJECT = Path(__file__).parents[1]
CORE = ov.Core()
CORE.add_extension(snake.LIBRARY)
X, ALPHA = np.linspace(-9, 9, 24, dtype=np.float32).reshape(2, 3, 4), np.array([0.5, 1, 2], np.float32)
Y = X + np.sin(ALPHA[:, None] * X) ** 2 / ALPHA[:, None]


def check(model):
    assert "Snake" in [node.get_type_name() for node in model.get_ops()]
    y = CORE.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(X)[0]
    np.testing.assert_allclose(y, Y, 1e-5, 1e-5)


@pytest.mark.parametrize(
    ("kind", "shape", "given"), [("Snake", [3], {"axis": 1, "epsilon": 0.0}), ("SnakeWithEps", [1, 3, 1], {})]
)
def test_onnx(kind, shape, given):
    onnx = pytest.importorskip("onnx", reason="needs onnx: pip install onnx")
    node = onnx.helper.make_node(kind, ["x", "alpha"], ["y"], domain="example", **given)
    x, y = (onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [None, 3, None]) for name in "xy")
    alpha = onnx.numpy_helper.from_array(ALPHA.reshape(shape), "alpha")
    graph = onnx.helper.make_graph([node], "g", [x], [y], [alpha])
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("example", 1)]
    check(CORE.read_model(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()))


@pytest.mark.parametrize("how", ["module", "traced", "exported"])
def test_pytorch(how):
    torch = pytest.importorskip("torch", reason="needs PyTorch: pip install torch")
    from snake import pytorch

    model, x = pytorch.Snake(3, custom=how != "module"), torch.tensor(X)
    model.alpha.data = torch.tensor(ALPHA)
    source, inputs = (torch.export.export(model, (x,)), None) if how == "exported" else (model, x)
    extensions = [snake.LIBRARY, pytorch.MODULE] if how == "module" else [snake.LIBRARY]
    check(ov.convert_model(source, example_input=inputs, extension=extensions))


def test_ov_gather(tmp_path):
    pytest.importorskip("ov_gather", reason="needs ov-gather: pip install ov-gather")
    ov.save_model(make_model(), tmp_path / "model.xml")
    command = ["check", tmp_path / "model.xml", "--ops", PROJECT / "snake_ops.py", "--extension", snake.LIBRARY]
    done = subprocess.run([sys.executable, "-m", "ov_gather", *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
