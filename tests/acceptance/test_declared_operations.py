"""The page docs/howto/declare_an_operation.md, executed: its declaration, with the library in docs/custom_layer."""

import re
import shutil

import pytest

from helpers.paths import ROOT
from helpers.users_operations import LAYER, build, write_model

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
PAGE = (ROOT / "docs" / "howto" / "declare_an_operation.md").read_text()
DEFAULT = "float m_alpha = 1;"
assert DEFAULT in LAYER


@pytest.fixture
def checked(cli, tmp_path):
    """A function that checks the model of a layer with a library of this source."""
    (tmp_path / "my_ops.py").write_text(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1])
    write_model(tmp_path / "model.xml")

    def check(source):
        library = build(source, tmp_path / "libsnake.so")
        options = ["--ops", "my_ops.py", "--extension", str(library), "--cases", "4", "--report", "page.html"]
        return cli("check", "model.xml", *options, cwd=tmp_path)

    return check


def test_the_declared_layer_passes(checked, cli, tmp_path):
    done = checked(LAYER)
    assert done.returncode == 0, done
    assert "Snake-example 'snake'" in done.stdout
    assert "passed: 2, failed: 0" in done.stdout
    assert "leaks no memory" in (tmp_path / "page.html").read_text()
    assert cli("validate", "model.xml", "--ops", "my_ops.py", cwd=tmp_path).stdout.endswith("notes: 0\n")
    assert cli("prove", "model.xml", "--ops", "my_ops.py", cwd=tmp_path).returncode == 0


@pytest.mark.exhaustive
def test_a_fault_is_named_on_the_terminal_and_on_the_page(checked, tmp_path):
    done = checked(LAYER.replace(DEFAULT, "float m_alpha = 2;"))
    assert done.returncode == 1, done
    assert "library: FAILED (has a wrong default of alpha: without alpha, expected alpha=1.0: " in done.stdout
    assert done.stdout.count("FAILED (") == 1
    assert "has a wrong default of alpha" in (tmp_path / "page.html").read_text()


def test_a_wrong_file_is_one_line(cli, tmp_path):
    write_model(tmp_path / "model.xml")
    (tmp_path / "my_ops.py").write_text("from ov_gather.ops.spec import Operation\n\nOperation(type=)\n")
    done = cli("validate", "model.xml", "--ops", "my_ops.py", cwd=tmp_path)
    assert done.returncode == 2
    assert re.fullmatch(rf"error: {tmp_path}/my_ops.py:3: SyntaxError: [^\n]+\n", done.stderr)
