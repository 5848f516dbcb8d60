"""The core without the packages that extras install: what it does, and what it says of the rest."""

import os
import subprocess
import sys

import pytest

from helpers.paths import VALID


@pytest.fixture
def without(tmp_path):
    """A function that gives the environment of a process in which some packages are not installed."""

    def environment(*modules):
        (tmp_path / "sitecustomize.py").write_text(f"import sys; sys.modules.update(dict.fromkeys({modules}))")
        return {**os.environ, "PYTHONPATH": str(tmp_path)}

    return environment


def test_validate_needs_the_core_alone(real_cli, without):
    done = real_cli("validate", VALID / "spec_layer.xml", env=without("openvino", "onnx", "onnx_ir", "onnxruntime", "torch"))
    assert (done.returncode, done.stdout) == (0, "files: 1, errors: 0, warnings: 0, notes: 0\n"), done.stderr


@pytest.mark.parametrize(
    ("module", "extra", "command"),
    [
        ("openvino", "openvino", ("check", VALID / "spec_layer.xml")),
        ("openvino", "openvino", ("accelerate", VALID / "spec_layer.xml", "-o", "unwritten.xml")),
        ("openvino", "openvino", ("extension-path",)),
        ("onnx_ir", "onnx", ("convert", VALID / "spec_layer.xml", "-o", "unwritten.xml")),
    ],
)
def test_a_command_names_the_extra_that_it_misses(real_cli, without, module, extra, command):
    done = real_cli(*command, env=without(module))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: this needs {module}, which is not installed: pip install 'ov-gather[{extra}]'\n"


def test_convert_names_the_extra_for_exported_programs(real_cli, without, tmp_path):
    (tmp_path / "m.pt2").write_bytes(b"PK")
    done = real_cli("convert", tmp_path / "m.pt2", "-o", tmp_path / "m.xml", "--trust", env=without("torch"))
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr.splitlines(keepends=True)[-1]
        == "error: this needs torch, which is not installed: pip install 'ov-gather[torch]'\n"
    )


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
    expected = "this needs openvino, which is not installed: pip install 'ov-gather[openvino]'\n"
    assert (done.returncode, done.stdout) == (0, 2 * expected), done.stderr
