"""The template in docs/custom_layer: the commands of its README build it and run its own tests."""

import doctest
import re
import shutil
from importlib.util import find_spec

import numpy as np
import pytest

import ov_gather
from helpers.declaring import declared
from helpers.paths import ROOT
from helpers.shells import Shell
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir

TEMPLATE = ROOT / "docs" / "custom_layer"
COMMANDS = re.findall(r"```sh\n(.*?)```", (TEMPLATE / "README.md").read_text(), re.S)

pytestmark = [
    pytest.mark.openvino,
    pytest.mark.skipif(not shutil.which("g++") or not find_spec("scikit_build_core"), reason="needs g++, scikit-build-core"),
]


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    return Shell(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def template(shell, tmp_path_factory):
    """A copy of the template, built, installed and tested by the first commands of its README."""
    copy = shutil.copytree(TEMPLATE, tmp_path_factory.mktemp("custom") / "custom_layer")
    said = shell(COMMANDS[0], copy)
    assert "warning:" not in said
    assert re.search(r"\d+ passed", said)
    assert "failed" not in said
    return copy


def test_every_file_is_short():
    files = [path for path in TEMPLATE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert len(files) == 19
    assert [path.name for path in files if len(path.read_text().splitlines()) >= 60] == []


def test_the_declaration_has_the_range_that_the_library_checks(tmp_path):
    """`sweep` makes up attributes within it."""
    assert "epsilon must not be negative" in (TEMPLATE / "snake.cpp").read_text()
    with declared(tmp_path / "snake_ops.py", (TEMPLATE / "snake_ops.py").read_text()):
        for epsilon, rules in (("-1", ["OVG204"]), ("0", []), ("1e30", [])):
            builder = ModelBuilder("m")
            x, alpha = (builder.parameter(name, F32, PartialShape.of([3])) for name in ("x", "alpha"))
            attributes = {"axis": "0", "epsilon": epsilon}
            (y,) = builder.layer("Snake", "s", "example", attributes, [x, alpha], [(F32, PartialShape.of([3]))])
            builder.result("y", y)
            write_ir(builder.build(), tmp_path / "m.xml")
            assert [finding.rule for finding in ov_gather.validate(tmp_path / "m.xml")] == rules


@pytest.mark.exhaustive
def test_ov_gather_and_a_cpp_program_run_it(template, shell):
    said = shell(COMMANDS[1], template)
    assert "failed: 0" in said
    x, alpha = np.arange(4.0), np.array([0.5, 0.5, 2, 2])
    expected = x + np.sin(alpha * x) ** 2 / alpha
    np.testing.assert_allclose(np.array(said.split()[-4:], float), expected, rtol=1e-5)


@pytest.mark.exhaustive
def test_the_readme_session(template, shell):
    text = "\n".join(re.findall(r"```python\n(.*?)```", (template / "README.md").read_text(), re.S))
    assert len(doctest.DocTestParser().get_examples(text)) == 6
    (template / "session.txt").write_text(text)
    assert "failed" not in shell("python -m doctest session.txt", template)
