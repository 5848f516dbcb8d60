"""Operations of users, by --extension: every command that loads OpenVINO takes them, as a library or in Python."""

import re
import shlex
import shutil
from types import SimpleNamespace

import openvino as ov
import pytest

from helpers.users_operations import LAYER, PYTHON, REGISTERED, WITH_ONNX, build, write_model, write_onnx

NEEDS_COMPILER = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
NEEDS_PYTHON = pytest.mark.skipif(not hasattr(ov, "DiscreteTypeInfo"), reason="this OpenVINO takes no operations in Python")

COMMANDS = {
    "check": ("check model.xml --runtimes openvino", 0, "whole models: 1, outputs: 1, passed: 1, failed: 0, not run: 0"),
    "validate": ("validate --infer model.xml", 0, "errors: 0"),
    "validate in processes": ("validate --infer --jobs 2 model.xml other.xml", 0, "errors: 0"),
    "accelerate": ("accelerate model.xml -o new.xml", 0, "new.xml: 0 of 1"),
    "harden": ("harden model.xml --policy clamp -o new.xml", 0, "new.xml: 1 of 1"),
    "bisect": ("bisect model.xml model.xml", 0, "computes what"),
    "bisect accelerated": ("bisect model.xml model.xml --runtime accelerated", 0, "computes what"),
    "bisect different": ("bisect model.xml other.xml", 1, "Snake 'snake'"),
    "bench": ("bench model model.xml --threads 1", 0, "f32: "),
    "convert": ("convert model.onnx -o new.xml", 0, "new.xml: "),
    "convert to ours": ("convert model.onnx -o new.xml --target extension --accelerate", 0, "new.xml: "),
    "convert several": ("convert model.onnx again.onnx -o irs --jobs 2", 0, "again.xml: "),
    # onnxruntime does not know the operation: the IR is written, and not verified
    "convert and verify": ("convert model.onnx -o new.xml --verify", 2, "new.xml: "),
}
SMALL = ("validate", "harden", "bisect", "convert")
"""Commands that are tried without the extension, too."""
MARKS = {"bench": pytest.mark.exhaustive}  # measures for seconds


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return build(LAYER.replace(REGISTERED, WITH_ONNX), tmp_path_factory.mktemp("library") / "libsnake.so")


@pytest.fixture
def run(cli, tmp_path):
    """A function that runs a command of COMMANDS in a folder with the models."""
    write_model(tmp_path / "model.xml")
    write_model(tmp_path / "other.xml", alpha=0.7)
    write_onnx(tmp_path / "model.onnx")
    write_onnx(tmp_path / "again.onnx")
    (tmp_path / "my_ops.py").write_text(PYTHON)

    def execute(name, *extensions):
        command, code, said = COMMANDS[name]
        given = [word for extension in extensions for word in ("--extension", extension)]
        done = cli(*command.split(), *given, cwd=tmp_path)
        return SimpleNamespace(is_right=done.returncode == code and said in done.stdout, code=done.returncode, done=done)

    return execute


@pytest.mark.sampled(1)
@NEEDS_COMPILER
@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ())) for name in COMMANDS])
def test_a_library_on_every_command(name, run, library, tmp_path):
    found = run(name, library)
    assert found.is_right, found.done
    if "new.xml" in COMMANDS[name][0]:
        assert 'type="Snake" version="example"' in (tmp_path / "new.xml").read_text()


@pytest.mark.sampled(1)
@NEEDS_PYTHON
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "bench"])
def test_a_class_in_the_current_directory_on_every_command(name, run):
    conversion = ["my_ops:conversion"] if name.startswith("convert") else []
    found = run(name, "my_ops:Snake", *conversion)
    assert found.is_right, found.done


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SMALL)
def test_without_it_the_model_is_refused(name, run, tmp_path):
    found = run(name)
    assert found.code == (1 if name == "validate" else 2)
    assert "Snake" in found.done.stdout + found.done.stderr
    assert not (tmp_path / "new.xml").exists()


@pytest.mark.exhaustive
@NEEDS_COMPILER
def test_the_command_of_a_reproducer_names_the_extension(run, library, cli, tmp_path):
    said = run("bisect different", library).done.stdout
    (command,) = re.findall(r"ov-gather (bisect .*--extension.*)", said)
    again = cli(*shlex.split(command), cwd=tmp_path)
    assert again.returncode == 1
    assert "Snake 'snake'" in again.stdout


def test_an_extension_of_validate_needs_infer(refusal, tmp_path):
    model = write_model(tmp_path / "model.xml")
    (tmp_path / "my_ops.py").write_text(PYTHON)
    said = refusal("validate", model, "--extension", "my_ops:Snake", cwd=tmp_path)
    assert "--extension is for --infer" in said


def test_a_file_of_a_repository_cannot_load_code(refusal, tmp_path):
    write_model(tmp_path / "model.xml")
    (tmp_path / "my_ops.py").write_text("raise SystemExit('executed')")
    (tmp_path / "pyproject.toml").write_text('[tool.ov_gather]\ninfer = true\nextension = ["my_ops:Snake"]\n')
    assert "extension is unknown" in refusal("validate", "model.xml", cwd=tmp_path)


WRONG = {
    "nothing.so": "there is no such file: give a library, or module:Class",
    ".": "is no file: give a library",
    "text.so": "is no shared library: build it for OpenVINO",
    "my_ops:Nothing": "my_ops has no Nothing",
    "nowhere:Snake": "cannot be imported (ModuleNotFoundError: No module named 'nowhere')",
    "my_ops:plain": "is no class of openvino.Op",
    "broken:Snake": "cannot be imported (NameError: name 'undefined' is not defined)",
    "needing:Snake": "without arguments: ",
}


@pytest.mark.sampled(2)
@NEEDS_PYTHON
@pytest.mark.parametrize("command", ["harden", "convert", "convert several"])
@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_loaded_is_said_before_anything_is_written(name, command, run, tmp_path):
    (tmp_path / "text.so").write_text("no library at all, but a text")
    (tmp_path / "broken.py").write_text("undefined")
    (tmp_path / "needing.py").write_text("import openvino\nclass Snake(openvino.Op):\n    def __init__(self, inputs): ...\n")
    before = set(tmp_path.iterdir())
    found = run(command, name)
    assert (found.code, found.done.stdout) == (2, "")
    assert found.done.stderr.startswith("error: ")
    assert name in found.done.stderr
    assert WRONG[name] in found.done.stderr
    assert {path for path in set(tmp_path.iterdir()) - before if path.name != "__pycache__"} == set()


@pytest.mark.sampled(1)
@NEEDS_PYTHON
@pytest.mark.parametrize(
    "command", ["check model.xml --runtimes openvino", "bisect model.xml model.xml", "bench model model.xml"]
)
def test_an_evaluate_that_raises_is_named_with_its_line(command, cli, tmp_path):
    write_model(tmp_path / "model.xml")
    text = PYTHON.replace("        outputs[0].shape = inputs[0].shape\n", "        raise KeyError('no such alpha')\n")
    (tmp_path / "my_ops.py").write_text(text)
    line = text.splitlines().index("        raise KeyError('no such alpha')") + 1
    done = cli(*command.split(), "--extension", "my_ops:Snake", cwd=tmp_path, code=2)
    assert f"KeyError: 'no such alpha' ({tmp_path / 'my_ops.py'}, line {line})" in done.stdout + done.stderr
