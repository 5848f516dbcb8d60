"""The two-file extension in docs/custom_layer: its README's commands build it, and Python and C++ run the model with it."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import openvino
import pytest

from helpers.paths import ROOT

SOURCE = ROOT / "docs" / "custom_layer"
README = (SOURCE / "README.md").read_text()

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]


def shell(command, folder):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=folder,
        env=environment,
    )


def snake(x, alpha):
    wide = x.astype(np.float64)
    return wide + np.sin(alpha * wide) ** 2 / alpha


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the folder, in which the first command of its README has built the extension and the C++ program."""
    copy = shutil.copytree(SOURCE, tmp_path_factory.mktemp("custom") / "custom_layer")
    done = shell(re.findall(r"```sh\n(.*?)```", README, re.S)[0], copy)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning:" not in done.stdout + done.stderr
    return copy


@pytest.fixture
def core(folder):
    core = openvino.Core()
    core.add_extension(folder / "build" / "libsnake.so")
    return core


def compiled(core, folder, alpha):
    text = (folder / "snake.xml").read_text()
    assert text.count('alpha="0.5"') == 1
    model = core.read_model(text.replace('alpha="0.5"', f'alpha="{alpha}"').encode())
    return core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})


def test_the_files_are_as_short_as_promised():
    assert len((SOURCE / "snake.cpp").read_text().splitlines()) < 40
    assert len((SOURCE / "CMakeLists.txt").read_text().splitlines()) < 20


@pytest.mark.parametrize("alpha", [0.5, 3.0])
@pytest.mark.parametrize("rows", [0, 1, 1000])
def test_python_runs_it(core, folder, alpha, rows):
    x = np.random.default_rng(rows).normal(0, 10, (rows, 4)).astype(np.float32)
    y = compiled(core, folder, alpha)(x)["y"]
    assert y.shape == x.shape
    np.testing.assert_allclose(y, snake(x, alpha), rtol=1e-5, atol=1e-5)


def test_a_cpp_program_runs_it(folder):
    done = shell(re.findall(r"```sh\n(.*?)```", README, re.S)[1], folder)
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.array(done.stdout.split(), float), snake(np.arange(4), 0.5), rtol=1e-5)


def test_the_readme_session(folder, monkeypatch):
    monkeypatch.chdir(folder)
    text = "\n".join(re.findall(r"```python\n(.*?)```", README, re.S))
    results = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(text, {}, "README", "README.md", 0))
    assert (results.attempted, results.failed) == (5, 0)


def test_a_wrong_layer_is_refused(core, folder):
    with pytest.raises(RuntimeError, match=r"example::Snake[\s\S]*alpha must be positive, not 0"):
        compiled(core, folder, "0")
    text = (folder / "snake.xml").read_text().replace('"f32"', '"i32"').replace("FP32", "I32")
    with pytest.raises(RuntimeError, match=r"example::Snake[\s\S]*takes f32, not i32"):
        core.read_model(text.encode())


def test_it_survives_a_round_trip(core, folder, tmp_path):
    model = core.read_model(folder / "snake.xml")
    openvino.save_model(model, tmp_path / "again.xml", compress_to_fp16=False)
    again = core.read_model(tmp_path / "again.xml")
    (layer,) = [node for node in again.get_ops() if node.get_type_name() == "Snake"]
    assert layer.get_attributes() == {"alpha": 0.5}
    assert again.outputs[0].partial_shape == model.outputs[0].partial_shape == openvino.PartialShape("?,4")


def test_without_the_extension_openvino_refuses_the_model(folder):
    with pytest.raises(RuntimeError, match="Snake"):
        openvino.Core().read_model(folder / "snake.xml")
