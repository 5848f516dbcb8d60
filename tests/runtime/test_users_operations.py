"""Operations of users: what is loaded in which process, libraries that are wrong, and the functions that take `extensions`."""

import shutil
import subprocess
import sys
from time import monotonic

import numpy as np
import openvino as ov
import pytest

import ov_gather
from helpers.users_operations import LAYER, PYTHON, REGISTERED, TWICE, build, write_model, write_onnx
from ov_gather import converters
from ov_gather.extension import users
from ov_gather.extension.users import ExtensionError, core_for_reading, loaded
from ov_gather.runtimes.isolated import borrowed

NEEDS_COMPILER = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
pytestmark = pytest.mark.skipif(not hasattr(ov, "DiscreteTypeInfo"), reason="this OpenVINO takes no operations in Python")

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(6, 4)
PICKED = np.tile(np.array([3, -4]), (6, 1))
Y = np.take_along_axis(X + np.sin(0.5 * X) ** 2 / 0.5, PICKED, 1)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of this test alone, with the operation; a function that writes it again, changed."""
    name = f"ops_of_{tmp_path.name}"
    monkeypatch.syspath_prepend(tmp_path)

    def write(old="", new=""):
        (tmp_path / f"{name}.py").write_text(PYTHON.replace(old, new))
        return name

    write()
    return write


def test_the_functions_of_python_take_them(module, tmp_path):
    name = module()
    model, onnx = write_model(tmp_path / "m.xml"), write_onnx(tmp_path / "m.onnx")
    given = {"extensions": [f"{name}:Snake", f"{name}:conversion"]}
    assert ov_gather.cross_check(model, runtimes=["openvino"], **given).outputs[0].comparison.passed
    assert ov_gather.bisect(model, model, **given).passed
    assert not [finding for finding in ov_gather.validate(model, infer=True, **given) if finding.rule == "OVG407"]
    assert [finding for finding in ov_gather.validate(model, infer=True) if finding.rule == "OVG407"]
    converted = converters.convert_model(onnx, **given)
    assert "Snake" in [node.get_type_name() for node in converted.get_ops()]
    np.testing.assert_allclose(converters.compile_onnx(onnx, **given)(X, PICKED)["y"], Y, rtol=1e-5)


def test_a_class_itself_is_taken_if_another_process_can_import_it(module):
    imported = __import__(module())
    assert [each.name for each in loaded([imported.Snake])] == [f"{imported.__name__}:Snake"]
    with pytest.raises(ExtensionError, match="put the class into a module"):
        loaded([type("Snake", (ov.Op,), {"__module__": "__main__"})])


@pytest.mark.parametrize("given", ["libsnake.so", 5, [5], [b"x"]])
def test_what_is_no_list_of_extensions(given):
    with pytest.raises(TypeError, match="extension"):
        loaded(given)


def test_a_worker_that_has_loaded_an_older_file_is_not_asked_again(module, tmp_path):
    model = write_model(tmp_path / "m.xml")

    def executed(extensions):
        with borrowed(["openvino"], extensions=extensions) as (runtime,):
            (y,) = runtime.run(model, [X, PICKED])
            return y

    first = loaded([f"{module()}:Snake"])
    np.testing.assert_allclose(executed(first), Y, rtol=1e-5)
    # of another length: Python takes compiled files for those of a file that has the same length and second
    second = loaded([f"{module('x + np.sin', '99 + np.sin')}:Snake"])
    assert first != second
    assert not np.allclose(executed(second), Y)
    with borrowed(["openvino"]) as (stock,):
        assert "Snake" in str(stock.run(model, [X, PICKED]))


def test_a_file_is_loaded_first_once(module, monkeypatch):
    name = f"{module()}:Snake"
    ready = loaded([name])
    monkeypatch.setattr(subprocess, "run", lambda *given, **more: pytest.fail("loaded again"))
    assert loaded([name]) == loaded(ready) == ready


def test_an_operation_of_two_extensions(module):
    name = module("plain = 5", "again = Snake")
    with pytest.raises(
        ExtensionError, match=r":again registers operation Snake of opset 'example', as .*:Snake does: give only"
    ):
        loaded([f"{name}:Snake", f"{name}:again"])


def test_an_extension_twice(module):
    with pytest.raises(ExtensionError, match="is given twice: give it once"):
        loaded([f"{module()}:Snake"] * 2)


def test_a_library_of_ours_given_again_is_no_twin():
    given = loaded([ov_gather.extension_path()])
    assert core_for_reading(given)


@NEEDS_COMPILER
def test_a_library_that_registers_an_operation_twice(tmp_path):
    library = build(LAYER.replace(REGISTERED, TWICE), tmp_path / "libtwice.so")
    with pytest.raises(ExtensionError, match=r"libtwice.so registers operation Snake of opset 'example' twice: list it once"):
        loaded([library])


SOURCES = {
    "crash as it is loaded": (
        "#include <csignal>\nstatic int now = std::raise(SIGSEGV);",
        "crashes when it is loaded (SIGSEGV)",
    ),
    "crash in the entry point": (
        'extern "C" void create_extensions(void*) { __builtin_trap(); }',
        "crashes when it is loaded (SIGILL)",
    ),
    "exit": ('#include <cstdlib>\nextern "C" void create_extensions(void*) { _Exit(7); }', "(exit code 7)"),
    "hang": ('#include <unistd.h>\nextern "C" void create_extensions(void*) { sleep(99); }', "hangs when it is loaded"),
    "throw": (
        '#include <stdexcept>\nextern "C" void create_extensions(void*) { throw std::runtime_error("bad luck"); }',
        "cannot be loaded (bad luck): build it for OpenVINO",
    ),
    "no entry point": ("int nothing;", "it lacks the entry point that OPENVINO_CREATE_EXTENSIONS(...) makes"),
}


@pytest.mark.sampled(1)
@NEEDS_COMPILER
@pytest.mark.parametrize("name", SOURCES)
def test_a_library_that_cannot_be_loaded(name, tmp_path, monkeypatch):
    source, said = SOURCES[name]
    monkeypatch.setattr(users, "TIME_LIMIT", 5.0 if name == "hang" else 60.0)
    library = build(source, tmp_path / "libwrong.so")
    with pytest.raises(ExtensionError) as error:
        loaded([ov_gather.extension_path(), library])
    assert str(error.value).startswith(f"{library} ")
    assert said in str(error.value)


@pytest.mark.parametrize("name", ["", "x" * 5000, "x.so", "loop.so"])
def test_a_path_without_a_file(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.so").symlink_to("loop.so")
    with pytest.raises(ExtensionError, match="there is no such file: give a library, or module:Class"):
        loaded([name])


@NEEDS_COMPILER
@pytest.mark.skipif(sys.platform == "win32", reason="fork")
def test_processes_that_a_library_starts_are_not_waited_for(tmp_path):
    starts = "#include <unistd.h>\nstruct Starts { Starts() { if (fork() == 0) { sleep(50); _exit(0); } } } starts;\n"
    library = build(LAYER + starts, tmp_path / "lib'of ü.so")
    start = monotonic()
    assert [one.name for one in loaded([library])] == [str(library)]
    assert monotonic() - start < 40


@NEEDS_COMPILER
@pytest.mark.skipif(sys.platform != "linux", reason="names of libraries on Linux")
def test_a_library_for_another_release(tmp_path):
    other = build("int other() { return 1; }", tmp_path / "libopenvino.so", "-Wl,-soname,libopenvino.so.2460")
    source = 'int other(); extern "C" int create_extensions(void*) { return other(); }'
    library = build(source, tmp_path / "libold.so", other.name)
    other.unlink()
    release = ov.get_version().split("-")[0]
    with pytest.raises(ExtensionError) as error:
        loaded([library])
    assert str(error.value) == f"{library} is built for OpenVINO 2024.6.0: build it for OpenVINO {release}, which is installed"


def test_our_library_is_compiled_before_the_time_of_loading_runs(tmp_path, monkeypatch):
    """The process that loads an extension needs it, and compiling takes minutes."""
    calls = []
    (tmp_path / "text.so").write_text("no library at all, but a text")
    monkeypatch.setattr(users, "extension_path", lambda: calls.append("compiled"))
    run = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *given, **options: (calls.append("loaded"), run(*given, **options))[1])
    with pytest.raises(ValueError, match="is no shared library"):
        users.loaded([str(tmp_path / "text.so")])
    assert calls == ["compiled", "loaded"]
