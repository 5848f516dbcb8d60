"""`ov-gather extension new`: a project that passes its own tests at once, or a refusal that writes nothing."""

import os
import platform
import re
import shutil
import sys
from importlib.util import find_spec
from xml.etree import ElementTree

import pytest
import yaml

from helpers.paths import ROOT
from helpers.shells import Shell

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEMPLATE = ROOT / "docs" / "custom_layer"

pytestmark = pytest.mark.openvino


@pytest.mark.exhaustive
@pytest.mark.skipif(not shutil.which("g++") or not find_spec("scikit_build_core"), reason="needs g++, scikit-build-core")
def test_three_commands_to_a_check_that_passes(tmp_path):
    """The last of the project's own tests is `ov-gather check`."""
    shell = Shell(tmp_path / "site")
    shell("ov-gather extension new TwiceSoft3D layer --opset mine", tmp_path)
    shell("pip install --no-build-isolation --no-deps ./layer", tmp_path)
    said = shell("pytest -v layer", tmp_path)
    assert "test_ov_gather PASSED" in said
    assert "test_gpu.py::test_values[0] PASSED" in said or platform.machine() != "x86_64"
    library = shell.site / "twice_soft3d" / "libtwice_soft3d.so"
    said = shell(f"ov-gather sweep --cases 200 --ops layer/twice_soft3d_ops.py --extension {library}", tmp_path)
    assert "failed: 0" in said


READERS = {
    ".py": lambda text: compile(text, "module.py", "exec"),
    ".toml": tomllib.loads,
    ".yml": yaml.safe_load,
    ".xml": ElementTree.fromstring,
}


def test_the_project_has_its_own_names_and_is_well_formed(cli, tmp_path):
    """No name of the template is left in it, and its build, package and tests name files that are there."""
    cli("extension", "new", "TwiceSoft3D", "layer", "--opset", "mine", cwd=tmp_path, code=0)
    project = tmp_path / "layer"
    texts = {path: path.read_text() for path in project.rglob("*") if path.is_file()}
    assert len(texts) > 12
    assert not [path for path, text in texts.items() if re.search(r"snake|\bexample\b", f"{path}{text}", re.I)]
    for path, text in texts.items():
        READERS.get(path.suffix, str)(text)
    build = texts[project / "CMakeLists.txt"]
    sources = [name for target in re.findall(r"^add_\w+\(([^)]*)\)", build, re.M) for name in re.findall(r"\S+\.cpp", target)]
    assert sorted(sources) == sorted(path.name for path in texts if path.suffix == ".cpp")
    assert "install(TARGETS twice_soft3d LIBRARY DESTINATION twice_soft3d)" in build
    included = [(path, name) for path, text in texts.items() for name in re.findall(r'^#include "(.+)"', text, re.M)]
    assert included
    assert all((path.parent / name).is_file() for path, name in included)
    settings = tomllib.loads(texts[project / "pyproject.toml"])["tool"]
    assert [(project / package / "__init__.py").is_file() for package in settings["scikit-build"]["wheel"]["packages"]] == [
        True
    ]
    assert all(list((project / folder).glob("test_*.py")) for folder in settings["pytest"]["ini_options"]["testpaths"])
    assert 'OPENVINO_OP("TwiceSoft3D", "mine")' in texts[project / "twice_soft3d.hpp"]


def test_the_files_are_those_of_the_template(cli, tmp_path):
    import openvino

    done = cli("extension", "new", "Snake", "a", "--opset", "example", cwd=tmp_path, code=0)
    listed = [path.relative_to(TEMPLATE) for path in TEMPLATE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sorted(done.stdout.splitlines()) == sorted(f"a/{path}" for path in listed)
    release = openvino.get_version().split("-")[0]
    for path in listed:
        text = (TEMPLATE / path).read_text()
        assert (tmp_path / "a" / path).read_text() == re.sub(r'openvino==[\d.]+"', f'openvino=={release}"', text)
    assert f"openvino=={release}" in (tmp_path / "a" / "pyproject.toml").read_text()


def test_the_current_directory_if_it_is_empty(cli, tmp_path):
    cli("extension", "new", "SoftStep", ".", cwd=tmp_path, code=0)
    assert 'OPENVINO_OP("SoftStep", "soft_step")' in (tmp_path / "soft_step.hpp").read_text()
    assert {path.name for path in tmp_path.iterdir() if path.name.startswith(".")} == {".github"}


NAMES_OF_OPENCL = ("Half", "Kernel", "Uchar", "Float4", "Step")


@pytest.mark.parametrize("name", NAMES_OF_OPENCL)
def test_a_kernel_for_gpus_may_be_called_like_a_word_of_opencl(cli, tmp_path, name):
    """The function in OpenCL has a longer name than the operation, which no type, keyword or function has."""
    cli("extension", "new", name, "layer", cwd=tmp_path, code=0)
    (kernel,) = (tmp_path / "layer" / "python").rglob("*.cl")
    (function,) = re.findall(r"__kernel void (\w+)", kernel.read_text())
    assert function == f"{name.lower()}_elements"
    assert f'entry="{function}"' in (kernel.parent / "gpu.xml").read_text()


@pytest.mark.sampled(14)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["3D", "new"], "'3D' cannot be the type: give an identifier that begins with a capital, such as GridSample3D"),
        (["class", "new"], "give an identifier that begins with a capital"),
        (["Grid-Sample", "new"], "give an identifier"),
        (["A__B", "new"], "give an identifier"),
        (["GELU", "new"], "Gelu is an operation of OpenVINO; choose another name"),
        (["True", "new"], "'True' cannot be the type: it is a word of Python"),
        (["None", "new"], "'None' cannot be the type: it is a word of Python"),
        (["Int", "new"], "'Int' cannot be the type: its package would be called 'int', which is taken"),
        (["Float", "new"], "its package would be called 'float', which is taken"),
        (["Max", "new"], "its package would be called 'max', which is taken"),
        (["Core", "new"], "'Core' cannot be the type: host.cpp calls something else 'Core'"),
        (["Outer", "new", "--opset", "aten"], "'aten' cannot be the opset"),
        (["Random", "new"], "its package would be called 'random', which is taken"),
        (["SoftStep", "new", "--opset", "opset3"], "'opset3' cannot be the opset"),
        (["SoftStep", "new", "--opset", 'a"b'], "cannot be the opset"),
        (["SoftStep", "full"], "full is not empty: give a new directory"),
        (["SoftStep", "nowhere/new"], "there is no directory"),
        (["SoftStep", "new", "--opset", "ov_gather"], "cannot be the opset"),
        (["NULL", "new"], "'NULL' cannot be the type: it is a macro of C, or may be one; write Null"),
        (["EOF", "new"], "write Eof"),
        (["FILE", "new"], "write File"),
        (["EINVAL", "new"], "write Einval"),
        (["INT_MAX", "new"], "write IntMax"),
        (["Errno", "new"], "its package would be called 'errno', which is taken"),
        (["Pip", "new"], "its package would be called 'pip', which is taken"),
        (["Setup", "new"], "its package would be called 'setup', which is taken"),
        (["Conftest", "new"], "its package would be called 'conftest', which is taken"),
        (["S" * 81, "new"], "give an identifier that begins with a capital, such as GridSample3D, of up to 80"),
        (["SoftStep", "new", "--opset", "s" * 81], "cannot be the opset: give up to 80 letters"),
        (["SoftStep", "n" * 300], "File name too long"),
        (["Class", "new"], "its package would be called 'class', which is taken"),
        (["Extension", "new"], "'Extension' cannot be the type: extension.cpp calls something else 'Extension'"),
        (["Gpu", "new"], "the project has a file tests/test_gpu.py of its own"),
        (["Install", "new"], "its package would be called 'install', which is taken"),
        (["main", "new"], "give an identifier that begins with a capital"),
        (["SoftStep\n", "new"], "give an identifier that begins with a capital"),
        (["SoftStep", "full/mine.txt"], "full/mine.txt' is a file"),
        (["SoftStep", "full/mine.txt/new"], "there is no directory"),
        (["SoftStep", "dangling"], "dangling is a link to nothing: give a new directory"),
        (["SoftStep", "file_link"], "file_link' is a file"),
    ],
)
def test_what_is_refused_writes_nothing(arguments, said, refusal, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "dangling").symlink_to("nothing")
    (tmp_path / "file_link").symlink_to("full/mine.txt")
    refused = refusal("extension", "new", *arguments, cwd=tmp_path)
    assert said in refused
    assert ".new." not in refused  # the name of a temporary directory
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["dangling", "file_link", "full", "mine.txt"]


def test_a_link_to_an_empty_directory(cli, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    cli("extension", "new", "SoftStep", "link", cwd=tmp_path, code=0)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "soft_step.hpp").is_file()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the administrator may write anywhere")
def test_a_directory_that_cannot_be_written(refusal, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    assert "Permission denied" in refusal("extension", "new", "SoftStep", "closed/new", cwd=tmp_path)
