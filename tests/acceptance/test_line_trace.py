"""Mutations are judged by the tests that execute the changed line: by themselves, by a shared fixture, or by a command."""

import inspect
import os
import subprocess
import sys

from coverage import CoverageData

from helpers.line_trace import VARIABLE
from helpers.paths import ROOT
from helpers.source_mutations import mutations
from ov_gather.cli import validating
from ov_gather.ir import numbers

TESTS = """
import pytest
from helpers.command_server import CommandServer
from helpers.paths import ROOT
from ov_gather.ir.numbers import parse_digits

@pytest.fixture(scope="module")
def digits():
    return parse_digits("12")

def test_first(digits):
    assert digits == 12

def test_second(digits):
    assert digits == 12

def test_alone():
    assert parse_digits("x") is None

def test_command():
    with CommandServer() as server:
        assert server.run(["validate", "ir_samples/valid"], ROOT).returncode == 0
"""


def test_lines_of_tests_fixtures_and_commands(tmp_path):
    (tmp_path / "test_of_lines.py").write_text(TESTS)
    environment = dict(os.environ, **{VARIABLE: str(tmp_path / "lines"), "PYTHONPATH": str(ROOT / "tests")})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "helpers.line_trace", "-p", "no:cacheprovider", "test_of_lines.py"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=120)
    found = CoverageData(str(tmp_path / "lines"))
    for path in sorted(tmp_path.glob("lines.*")):
        part = CoverageData(str(path))
        part.read()
        found.update(part)

    def contexts(function: object) -> set[str]:
        module = inspect.getsourcefile(function)
        lines, first = inspect.getsourcelines(function)
        by_line = found.contexts_by_lineno(module)
        return {one for line in range(first + 1, first + len(lines)) for one in by_line.get(line, [])}

    assert contexts(numbers.parse_digits) >= {"test_of_lines.py", "test_of_lines.py::test_alone"}
    assert not contexts(numbers.parse_digits) & {"test_of_lines.py::test_first", "test_of_lines.py::test_second"}
    assert contexts(validating.find) == {"test_of_lines.py::test_command"}


CODE = '''LIMIT = 1

def far(size=2):
    """Return a number."""
    if (size <
            LIMIT):
        return 3
    return 0
'''


def test_the_lines_near_a_mutation(tmp_path):
    path = tmp_path / "code.py"
    path.write_text(CODE)
    assert {one.changed()[0]: (one.line, one.near) for one in mutations(path)} == {
        "1 -> 2": (1, range(1, 9)),
        "2 -> 3": (3, range(4, 9)),
        "size < LIMIT -> size <= LIMIT": (5, range(5, 8)),
        "3 -> 4": (7, range(7, 8)),
        "0 -> 1": (8, range(8, 9)),
    }
