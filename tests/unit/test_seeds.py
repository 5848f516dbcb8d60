"""The seeds of tests: those of always, or others for each TEST_SEED."""

import json
import os
import subprocess
import sys

import pytest

from helpers.paths import ROOT

SUITE = """
import json
from hypothesis import given, settings, strategies as st
from helpers import seeds

EXAMPLES = []

@settings(max_examples=5)
@given(st.integers(0, 10**9))
def test_examples(number):
    EXAMPLES.append(number)

def test_said(rng):
    drawn = {
        "rng": int(rng.integers(10**9)),
        "models": list(seeds.seeds(3)),
        "choices": seeds.choices("Gather-8").randrange(10**9),
        "examples": EXAMPLES,
    }
    print("drawn:", json.dumps(drawn))
"""


@pytest.fixture
def drawn(tmp_path):
    """A function that returns what a run draws with a seed, and what it prints."""
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "conftest.py").write_text("from conftest_of_tests import pytest_configure, pytest_terminal_summary, rng\n")
    (tmp_path / "conftest_of_tests.py").symlink_to(ROOT / "tests" / "conftest.py")

    def run(seed=None):
        environment = {name: value for name, value in os.environ.items() if name != "TEST_SEED"}
        environment |= {"PYTHONPATH": f"{ROOT / 'tests'}:{tmp_path}"} | ({"TEST_SEED": seed} if seed else {})
        command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "test_suite.py"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout.partition("drawn: ")[2].partition("\n")[0]), done.stdout

    return run


@pytest.mark.exhaustive
def test_a_seed_draws_the_same_again_and_another_one_does_not(drawn):
    first, said = drawn("20261127")
    assert drawn("20261127")[0] == first
    other, _ = drawn("20261128")
    assert [name for name in first if first[name] == other[name]] == []
    assert "TEST_SEED=20261127: the same seed draws the same again" in said


def test_without_a_seed_numbers_are_those_of_always(drawn):
    draws, said = drawn()
    del draws["examples"]  # hypothesis draws others in each run
    assert draws == {"rng": 611405702, "models": [0, 1, 2], "choices": 713555694}
    assert "TEST_SEED" not in said
