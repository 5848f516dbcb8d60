"""Mutation testing: python tests/tools/mutate.py [--sample 200] [--seed 0] [--room acceleration] [--file gather_tuples.py]

A mutation changes one comparison, `and` or `or`, `not`, number, boolean, sum or minimum of the product. The tests that execute
the changed function run against it, and should fail. The first run traces which test executes which function, which takes as
long as the tests; `--calls FILE` keeps that for later runs.

Works in the checkout of an editable installation: each changed file is restored afterwards. Exit code 1 if less than 90% of
the mutations are noticed; the table lists the survivors.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/, where the helpers are

import pytest
from rich.console import Console
from rich.table import Table

from helpers.call_trace import VARIABLE
from helpers.paths import ROOT
from helpers.source_mutations import Mutation, mutations

ROOMS = ("acceleration", "converters", "crosscheck", "rules", "ir")
GOAL = 0.9
BUDGET = 60.0
"""Seconds of tests, as traced, that a mutation has to survive."""
SLOWER = 10
"""A mutant that takes this many times longer than its tests did, and a minute, does not end."""


QUIET = ("-q", "--tb=no", "-p", "no:cacheprovider")


@dataclass
class Traced:
    """A test: the functions that it executes, and the seconds that it takes."""

    places: set[tuple[str, str]] = field(default_factory=set)
    seconds: float = 0.0


class Chosen:
    """A plugin of pytest that keeps the chosen tests, in their order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._order = {test: position for position, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((item for item in items if item.nodeid in self._order), key=lambda item: self._order[item.nodeid])


def trace(tests: Sequence[str]) -> dict[str, Traced]:
    """Run tests and return what each executes; those that fail without a mutation are left out."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ[VARIABLE] = folder
        failed = Failed()
        pytest.main([*QUIET, "-p", "helpers.call_trace", *tests], plugins=[failed])
        del os.environ[VARIABLE]
        found: dict[str, Traced] = defaultdict(Traced)
        for path in Path(folder).glob("*.jsonl"):
            for line in path.read_text().splitlines():
                record = json.loads(line)
                found[record["test"]].seconds = max(record["seconds"], found[record["test"]].seconds)
                found[record["test"]].places |= {(file, name) for file, name in record["calls"]}
    return {test: one for test, one in found.items() if test and test not in failed.tests}


class Failed:
    """A plugin of pytest that collects the tests that fail."""

    def __init__(self) -> None:
        self.tests: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.tests.add(report.nodeid)


def chosen(mutation: Mutation, found: dict[str, Traced]) -> list[str]:
    """Return the tests that execute the changed function, those that execute little first, as long as there is time."""
    name = str(mutation.path.relative_to(ROOT))
    if mutation.function:
        executing = [test for test, one in found.items() if (name, mutation.function) in one.places]
    else:
        executing = [test for test, one in found.items() if any(file == name for file, _ in one.places)]
    executing.sort(key=lambda test: (found[test].seconds > 5, len(found[test].places)))
    budget, tests = BUDGET, list[str]()
    for test in executing:
        budget -= found[test].seconds
        if tests and budget < 0:
            break
        tests.append(test)
    return tests


@contextmanager
def applied(mutation: Mutation, text: str) -> Iterator[None]:
    """Change the file, and restore it with its time."""
    before, status = mutation.path.read_bytes(), mutation.path.stat()
    try:
        mutation.path.write_text(text)
        yield
    finally:
        mutation.path.write_bytes(before)
        os.utime(mutation.path, ns=(status.st_atime_ns, status.st_mtime_ns))


def is_noticed(tests: Sequence[str], seconds: float) -> bool:
    """Return True if a test fails, or does not end, in a process of its own."""
    files = sorted({test.partition("::")[0] for test in tests})
    command = [sys.executable, __file__, "--run", *files]
    limit = 60 + SLOWER * seconds
    try:
        done = subprocess.run(command, input="\n".join(tests), text=True, cwd=ROOT, timeout=limit, capture_output=True)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def run_chosen(files: Sequence[str]) -> int:
    """Run the tests that standard input names until one fails."""
    sys.dont_write_bytecode = True
    tests = sys.stdin.read().splitlines()
    return int(pytest.main(["-x", *QUIET, *files], plugins=[Chosen(tests)]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=200, help="mutations, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--room", action="append", help=f"a folder of ov_gather, or converters; {', '.join(ROOMS)} if none is named"
    )
    parser.add_argument("--file", action="append", help="only files of this name")
    parser.add_argument(
        "--tests", nargs=argparse.REMAINDER, default=["tests"], help="the tests that may notice, and options of pytest"
    )
    parser.add_argument("--calls", type=Path, help="where the trace of the tests is kept")
    parser.add_argument("--run", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # a file changes twice in a second, which the time in a .pyc cannot tell
    if arguments.run:
        return run_chosen(arguments.run)
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # so that the file that is changed is restored
    console = Console()
    found = load(arguments.calls) or trace(arguments.tests)
    if arguments.calls:
        save(arguments.calls, found)
    folders = [ROOT / room if room == "converters" else ROOT / "ov_gather" / room for room in arguments.room or ROOMS]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    everything = [one for path in paths if not arguments.file or path.name in arguments.file for one in mutations(path)]
    sample = random.Random(arguments.seed).sample(everything, min(arguments.sample, len(everything)))
    survivors, noticed = Table("place", "mutation", "tests"), 0
    for number, mutation in enumerate(sample, 1):
        what, text = mutation.changed()
        tests = chosen(mutation, found)
        with applied(mutation, text):
            is_found = bool(tests) and is_noticed(tests, sum(found[test].seconds for test in tests))
        noticed += is_found
        if not is_found:
            place = f"{mutation.path.relative_to(ROOT)}:{mutation.line}"
            survivors.add_row(place, what, str(len(tests)))
            console.print(
                f"{number}: {noticed} noticed; survives: {place}: {what}", markup=False, highlight=False, soft_wrap=True
            )
    console.print(survivors, f"{noticed} of {len(sample)} mutations noticed, of {len(everything)}")
    return int(noticed < GOAL * len(sample))


def load(path: Path | None) -> dict[str, Traced]:
    """Return a trace that was kept, if there is one."""
    if path is None or not path.exists():
        return {}
    records = json.loads(path.read_text())
    return {test: Traced({(file, name) for file, name in places}, seconds) for test, (places, seconds) in records.items()}


def save(path: Path, found: dict[str, Traced]) -> None:
    """Keep a trace."""
    path.write_text(json.dumps({test: (sorted(one.places), one.seconds) for test, one in found.items()}))


if __name__ == "__main__":
    sys.exit(main())
