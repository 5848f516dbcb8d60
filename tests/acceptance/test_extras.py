"""The core without the packages that extras install: what it does, and what it says of the rest."""

import re
import subprocess
import sys

import pytest

from helpers.paths import VALID
from helpers.saved_models import saved

OTHERS = ("openvino", "onnx", "onnx_ir", "onnxruntime", "torch", "fsspec", "distributed")


def test_validate_needs_the_core_alone(real_cli, without):
    done = real_cli("validate", VALID / "spec_layer.xml", env=without(*OTHERS))
    assert (done.returncode, done.stdout) == (0, "files: 1, errors: 0, warnings: 0, notes: 0\n"), done.stderr


@pytest.mark.openvino
@pytest.mark.parametrize("command", [("check", VALID / "deberta_bias.xml"), ("sweep", "--cases", "1")])
def test_checks_need_openvino_alone(real_cli, without, command):
    done = real_cli(*command, env=without(*(other for other in OTHERS if other != "openvino")))
    assert done.returncode == 0, done.stderr
    assert re.search(r"passed: [1-9]\d*, failed: 0", done.stdout)


@pytest.mark.parametrize(
    ("module", "package", "command"),
    [
        ("openvino", "openvino", ("check", VALID / "spec_layer.xml")),
        ("openvino", "openvino", ("accelerate", VALID / "spec_layer.xml", "-o", "unwritten.xml")),
        ("openvino", "openvino", ("extension", "path")),
        ("openvino", "openvino", ("validate", VALID, "--infer", "--baseline", "unwritten.json", "--write-baseline")),
        ("onnx_ir", "onnx-ir", ("convert", "m.onnx", "-o", "unwritten.xml")),
        ("onnxruntime", "onnxruntime", ("convert", "m.onnx", "-o", "unwritten.xml", "--verify")),
        ("onnxruntime", "onnxruntime", ("check", "m.onnx")),
        ("fsspec", "fsspec[http]", ("validate", "https://localhost/m.xml")),
        ("torch", "torch", ("convert", "m.pt2", "-o", "unwritten.xml", "--trust")),
    ],
)
def test_a_command_names_the_extra_that_it_misses(real_cli, without, tmp_path, module, package, command):
    saved(tmp_path / "m.onnx", "(float[n] x) => (float[7] y) { y = Reshape (x, shape) }", shape=[7])
    (tmp_path / "m.pt2").write_bytes(b"PK")
    done = real_cli(*command, env=without(module), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    *warnings, last = done.stderr.splitlines()
    assert last.startswith(f"error: this needs {module}, which is not installed: pip install '")
    assert f"'{package}>=" in last
    assert len(warnings) <= (module == "torch")  # that a .pt2 is executed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.onnx", "m.pt2"]


def test_a_function_names_the_extra_that_it_misses(without):
    code = f"""
import ov_gather
for call in (lambda: ov_gather.accelerate, lambda: ov_gather.cross_check({str(VALID / "spec_layer.xml")!r})):
    try:
        call()
    except ImportError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], env=without("openvino"), capture_output=True, text=True, timeout=120)
    expected = "this needs openvino, which is not installed: pip install 'openvino>=2024.6'\n"
    assert (done.returncode, done.stdout) == (0, 2 * expected), done.stderr
