"""The extension as its users load it: from C++, benchmark_app, ovc, and built alone with plain CMake."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import openvino
import pytest

import ov_gather
from helpers.compiling import compile_once
from helpers.paths import ROOT
from helpers.saved_models import saved
from ov_gather.extension import cache, installed
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir

pytestmark = pytest.mark.openvino

OPENVINO = Path(openvino.__file__).parent
SCRIPTS = Path(sys.executable).parent

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def run(*command, **options):
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, encoding="utf-8", timeout=300, check=False, **options
    )


@pytest.fixture
def layer(tmp_path):
    """An IR of one layer of ours, [2, 2] by [2, 2] along axis 1."""
    builder = ModelBuilder("model")
    shape = PartialShape.of((2, 2))
    inputs = [builder.parameter("data", F32, shape), builder.parameter("indices", I64, shape)]
    (output,) = builder.layer("GatherElements", "gather", "ov_gather", {"axis": "1"}, inputs, [(F32, shape)])
    builder.result("output", output)
    write_ir(builder.build(), tmp_path / "layer.xml")
    return tmp_path / "layer.xml"


@pytest.mark.parametrize("command", [("extension", "path"), ("extension", "build")])
def test_extension_path(real_cli, command):
    result = real_cli(*command)
    assert (result.returncode, result.stdout) == (0, f"{ov_gather.extension_path()}\n")


def test_a_process_keeps_the_extension_that_is_removed_meanwhile(real_cli, layer, tmp_path, monkeypatch):
    built = ov_gather.extension_path()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(cache, "compile_extension", lambda openvino, library: shutil.copyfile(built, library))
    library = cache.library(installed.find())
    folder, caches = library.parents[1], library.parents[2]
    (caches / "validate").mkdir()
    code = f"""
import numpy, openvino, ov_gather
core = openvino.Core()
core.add_extension({str(library)!r})
print("loaded", flush=True)
input()
compiled = core.compile_model(core.read_model({str(layer)!r}), "CPU")
print(compiled([numpy.float32([[0, 1], [2, 3]]), numpy.int64([[1, 0], [1, -2]])])[0].tolist())
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as process:
        assert process.stdout.readline() == "loaded\n"
        done = real_cli("extension", "clean")
        assert done.returncode == 0
        first, last = done.stdout.splitlines()
        assert first.startswith(f"{folder}: removed, ")
        assert last.startswith(f"1 extension removed from {caches}, ")
        assert int(last.split()[-2].replace(",", "")) > 2 * built.stat().st_size
        assert [path.name for path in caches.iterdir()] == ["validate"]
        assert process.communicate("\n")[0] == "[[1.0, 0.0], [3.0, 2.0]]\n"
    again = real_cli("extension", "clean")
    assert (again.returncode, again.stdout) == (0, f"0 extensions removed from {caches}, 0 bytes\n")


@needs_compiler
def test_a_cpp_program_runs_our_layer(layer, tmp_path):
    libraries = OPENVINO / "libs"
    linked = [*map(str, libraries.glob("libopenvino.so.*")), f"-Wl,-rpath,{libraries}"]
    source = Path(__file__).with_name("host.cpp").read_text()
    program = compile_once(source, tmp_path / "host", f"-I{OPENVINO}/include", *linked)
    right = run(program, ov_gather.extension_path(), layer, "-2")
    assert (right.returncode, right.stdout) == (0, "1 0 3 2 \n"), right.stderr
    wrong = run(program, ov_gather.extension_path(), layer, "2")
    assert wrong.returncode == 1
    assert "GatherElements 'gather': indices[1, 1] = 2 is out of bounds for axis 1 of size 2 (valid -2..1)" in wrong.stdout


def test_benchmark_app_runs_our_layer(layer, tmp_path):
    np.save(tmp_path / "data.npy", np.zeros((2, 2), np.float32))
    for value, code in ((-2, 0), (2, 1)):
        np.save(tmp_path / "indices.npy", np.array([[0, 1], [1, value]]))
        inputs = [f"{name}:{tmp_path / name}.npy" for name in ("data", "indices")]
        extension = ["-extensions", ov_gather.extension_path()]
        result = run(SCRIPTS / "benchmark_app", "-m", layer, "-d", "CPU", *extension, "-niter", "4", "-i", *inputs)
        assert result.returncode == code, result.stdout + result.stderr
        assert ("Throughput:" in result.stdout) == (code == 0)
        assert ("indices[1, 1] = 2 is out of bounds" in result.stdout + result.stderr) == (code == 1)


def test_ovc_converts_to_our_layer(tmp_path, cli):
    text = "(float[3, 4] data, int64[2, 2] indices) => (float[2, 2] y) { y = GatherElements <axis = 1> (data, indices) }"
    saved(tmp_path / "m.onnx", text, 13)
    result = run(
        *(SCRIPTS / "ovc", tmp_path / "m.onnx", "--extension", ov_gather.extension_path(), "--output_model", tmp_path / "m.xml")
    )
    assert result.returncode == 0, result.stderr
    assert 'type="GatherElements" version="ov_gather"' in (tmp_path / "m.xml").read_text()
    checked = cli("check", tmp_path / "m.xml", "--runtimes", "extension", "--format", "json")
    assert checked.returncode == 0, checked.stdout
    assert json.loads(checked.stdout)["counts"]["passed"] > 10


@pytest.fixture
def cmake(tmp_path):
    """A function that runs cmake on our C++ alone, and returns what it says."""
    source, built = ROOT / "ov_gather" / "native", tmp_path / "build"
    environment = {**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}", "CMAKE_GENERATOR": "Ninja"}
    quickly = ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0", "-DCMAKE_UNITY_BUILD=ON"]

    def call(*arguments):
        done = run("cmake", *arguments, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    call("-S", shutil.copytree(source, tmp_path / "native"), "-B", built, *quickly)
    return lambda *options: call("--build", built, *options)


@needs_compiler
def test_plain_cmake_plans_the_extension_alone(cmake):
    """An author of a custom layer starts from this build; it needs neither scikit-build nor nanobind nor Python's headers."""
    plan = cmake("--", "-t", "commands")
    assert re.findall(r" -o (\S+)\.so\b", plan) == ["libov_gather_kernel", "libov_gather_extension"]
    assert not re.search(r"nanobind|Python\.h|include/python", plan)


@pytest.mark.exhaustive
@needs_compiler
def test_plain_cmake_builds_an_extension_that_loads(cmake, tmp_path):
    cmake()
    built = tmp_path / "build"
    assert sorted(file.name for file in built.glob("*.so")) == ["libov_gather_extension.so", "libov_gather_kernel.so"]
    loads = "import openvino, sys; openvino.Core().add_extension(sys.argv[1])"
    assert run(sys.executable, "-c", loads, built / "libov_gather_extension.so").returncode == 0
