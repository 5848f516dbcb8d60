"""`tests/tools/evidence.py`: its table is that of modules and pages, and its arguments are parameters of functions."""

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from helpers.paths import ROOT, TOOLS
from tools import evidence

DOCS = ROOT / "docs"
SHARED = {"__init__", "costs", "timing"}


def test_each_measurement_is_in_the_table():
    assert {path.stem for path in (TOOLS / "measurements").glob("*.py")} - SHARED == {*evidence.MEASUREMENTS}


@pytest.mark.parametrize("name", evidence.MEASUREMENTS)
def test_a_page_names_its_command(name):
    _, page = evidence.MEASUREMENTS[name]
    assert re.search(rf"tests/tools/evidence\.py\s{name}\b", (DOCS / page).read_text())


def test_pages_name_no_other_command():
    named = {name for path in DOCS.rglob("*.md") for name in re.findall(r"evidence\.py\s(\w+)", path.read_text())}
    assert named <= {*evidence.MEASUREMENTS}


def measure(directory: Path, *names: str, threads: Sequence[int] = (1, 2), share: float = 0.5, quick: bool = False):
    yield directory, names, threads
    yield f"{share} {quick}"


@pytest.mark.parametrize(
    ("given", "row", "line"),
    [
        ("here", "| here | () | (1, 2) |", "0.5 False"),
        ("here a b --threads 4 8 --share 2 --quick", "| here | ('a', 'b') | [4, 8] |", "2.0 True"),
        ("--quick here a", "| here | ('a',) | (1, 2) |", "0.5 True"),
    ],
)
def test_arguments_are_parameters(given, row, line, capsys):
    parser = argparse.ArgumentParser()
    evidence.add_arguments(parser, measure)
    positional, options = evidence.split(measure, parser.parse_intermixed_args(given.split()))
    evidence.show(measure(*positional, **options), ("directory", "names", "threads"))
    assert capsys.readouterr().out.splitlines() == ["| directory | names | threads |", "| --- | --- | --- |", row, line]


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ("", 0, "| guard | a guard beside `ids.min(), ids.max()` | howto/guard_requests.md |"),
        ("nothing", 1, "there is no measurement nothing; there are check, cluster,"),
        ("commands nothing", 2, "there is no nothing; there are prove, diff,"),
    ],
)
def test_the_command(given, code, said):
    done = subprocess.run([sys.executable, TOOLS / "evidence.py", *given.split()], capture_output=True, text=True)
    assert (done.returncode, said in done.stdout + done.stderr) == (code, True)
