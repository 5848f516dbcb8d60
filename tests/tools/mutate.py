"""Mutation testing: python tests/tools/mutate.py [--all] [--sample 200] [--seed 0] [--room ranges] [--file gather_tuples.py]

A mutation changes one comparison, `and` or `or`, `not`, number, boolean, sum or minimum of the product. The tests that execute
the changed line run against it, and should fail: those of the core or, with `--all`, any. First all tests are traced, which
takes longer than the tests; `--trace FILE` keeps what was found, for both, and is right until the product changes. Tests that
also fail without a mutation do not count.

Works in the checkout of an editable installation, and restores each changed file. The exit code is 1 if less than 85% of the
mutations are noticed by the core, or 91% by all; the table lists the survivors.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/, where the helpers are

import pytest
from coverage import Coverage, CoverageData
from rich.console import Console
from rich.table import Table

import ov_gather
from helpers.line_trace import VARIABLE
from helpers.paths import ROOT
from helpers.source_mutations import Mutation, mutations
from helpers.tiers import core_of

ROOMS = ("acceleration", "converters", "crosscheck", "graph", "ir", "plugin", "rules")
GOALS = {"the core": 0.85, "all tests": 0.91}
BUDGET = 60.0
"""Maximum seconds of tests per mutation, as traced."""
SLOWER = 2
"""Timeout factor: a mutant that takes this many times longer than its tests did, plus a minute, is stopped."""


FAILED = "\nfails: "
QUIET = ("-q", "--tb=no", "-p", "no:cacheprovider")


class Trace:
    """The lines that each test executes, and its seconds, of the core or of all tests."""

    def __init__(self, file: Path, *, core: bool) -> None:
        lines = CoverageData(str(file))
        lines.read()  # otherwise its first use erases it
        with sqlite3.connect(file) as data:
            self.seconds: dict[str, float] = dict(data.execute("select test, seconds from passed where in_core >= ?", [core]))
        self.contexts = cache(lines.contexts_by_lineno)

    def executing(self, path: Path, lines: Collection[int]) -> set[str]:
        """Return the tests that execute one of these lines, by themselves or by a fixture that they share with others."""
        contexts = {context for line, found in self.contexts(str(path)).items() if line in lines for context in found}
        return {test for test in self.seconds if not contexts.isdisjoint({test, test.partition("::")[0]})}


class Chosen:
    """A pytest plugin that keeps the chosen tests, in their order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._order = {test: position for position, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((item for item in items if item.nodeid in self._order), key=lambda item: self._order[item.nodeid])


def trace(tests: Sequence[str], file: Path) -> None:
    """Run tests, and write which lines each executes, and the seconds of those that pass."""
    os.environ[VARIABLE] = str(file)
    results = Results()
    pytest.main([*QUIET, "--all", "--timeout=0", "-p", "helpers.line_trace", *tests], plugins=[results])  # tracing takes longer
    del os.environ[VARIABLE]
    lines = Coverage(data_file=str(file), config_file=False)
    lines.combine()
    lines.save()
    passed = [(test, seconds, test in results.core) for test, seconds in results.seconds.items() if test not in results.failed]
    with sqlite3.connect(file) as data:
        data.execute("create table passed (test text, seconds real, in_core integer)")
        data.executemany("insert into passed values (?, ?, ?)", passed)


class Results:
    """A pytest plugin that collects the failing tests, those of the core, and the seconds of each test."""

    def __init__(self) -> None:
        self.failed: set[str] = set()
        self.core: set[str] = set()
        self.seconds = Counter[str]()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.core = {item.nodeid for item in core_of(items)}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed.add(report.nodeid)


def chosen(mutation: Mutation, found: Trace) -> list[str]:
    """Return tests that execute the changed line, within the budget: first those named like it, then the fastest of each file.

    If there are none, the tests that execute the rest of the statement, or any test.
    """
    is_executed_by_calls = mutation.function and mutation.line in mutation.near  # others are by an import
    executing = found.executing(mutation.path, [mutation.line]) if is_executed_by_calls else set()
    executing = executing or found.executing(mutation.path, mutation.near) or set(found.seconds)
    ranks, of_file = dict[str, int](), Counter[str]()
    for test in sorted(executing, key=lambda test: found.seconds[test]):
        ranks[test] = of_file[test.partition("::")[0]]
        of_file[test.partition("::")[0]] += 1
    names = _stems(f"{mutation.path.parent.name} {mutation.path.stem} {mutation.function}")
    budget, tests = BUDGET, list[str]()
    for test in sorted(executing, key=lambda test: (found.seconds[test] > 5, -len(names & _stems(test)), ranks[test])):
        budget -= found.seconds[test]
        if tests and budget < 0:
            break
        tests.append(test)
    return tests


def _stems(text: str) -> set[str]:
    """Return how the words of a name begin, so that `refuse_fatal` and `test_fatal_models` are alike."""
    return {word[:5] for word in re.findall("[a-z]{4,}", text)}


@contextmanager
def applied(mutation: Mutation, text: str) -> Iterator[None]:
    """Change the file, and restore it with its timestamps."""
    before, status = mutation.path.read_bytes(), mutation.path.stat()
    try:
        mutation.path.write_text(text)
        yield
    finally:
        mutation.path.write_bytes(before)
        os.utime(mutation.path, ns=(status.st_atime_ns, status.st_mtime_ns))


def outcome(tests: Sequence[str], seconds: float) -> frozenset[str] | None:
    """Run tests in a process until one fails, and return that; nothing if it timed out or crashed; None if all pass."""
    files = sorted({test.partition("::")[0] for test in tests})
    command = [sys.executable, __file__, "--run", *files]
    limit = 60 + SLOWER * seconds
    try:
        done = subprocess.run(command, input="\n".join(tests), text=True, cwd=ROOT, timeout=limit, capture_output=True)
    except subprocess.TimeoutExpired:
        return frozenset()
    failed = [test for test in done.stdout.rpartition(FAILED)[2].splitlines() if test] if FAILED in done.stdout else []
    return frozenset(failed) if done.returncode else None


def run_chosen(files: Sequence[str]) -> int:
    """Run the tests listed on standard input until one fails, and print that last."""
    sys.dont_write_bytecode = True
    tests, results = sys.stdin.read().splitlines(), Results()
    code = int(pytest.main(["-x", *QUIET, "--all", *files], plugins=[Chosen(tests), results]))
    print(FAILED + "\n".join(results.failed))
    return code


def failing_anyway(tests: Collection[str]) -> set[str]:
    """Return the tests that fail without a mutation."""
    results = Results()
    if tests:
        pytest.main(
            [*QUIET, "--all", *sorted({test.partition("::")[0] for test in tests})], plugins=[Chosen(sorted(tests)), results]
        )
    return results.failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="all tests may notice, not the core alone")
    parser.add_argument("--sample", type=int, default=200, help="mutations, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--room", action="append", help=f"a folder of ov_gather, or converters; {', '.join(ROOMS)} if none is named"
    )
    parser.add_argument("--file", action="append", help="only files of this name")
    parser.add_argument(
        "--tests", nargs=argparse.REMAINDER, default=["tests"], help="the tests that may notice, and options of pytest"
    )
    parser.add_argument("--trace", type=Path, metavar="FILE", help="where the trace of the tests is kept, for coverage.py, too")
    parser.add_argument("--run", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # a file may change twice within the resolution of the time in a .pyc
    if arguments.run:
        return run_chosen(arguments.run)
    if not Path(ov_gather.__file__).is_relative_to(ROOT):
        parser.error(f"tests would import {Path(ov_gather.__file__).parent}, not that of {ROOT}: install this checkout")
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # so that the changed file is restored
    console = Console()
    folder = tempfile.TemporaryDirectory()
    file = (arguments.trace or Path(folder.name) / "trace").absolute()
    if not file.exists():
        trace(arguments.tests, file)
    found = Trace(file, core=not arguments.all)
    folders = [ROOT / room if room == "converters" else ROOT / "ov_gather" / room for room in arguments.room or ROOMS]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    everything = [one for path in paths if not arguments.file or path.name in arguments.file for one in mutations(path)]
    sample = random.Random(arguments.seed).sample(everything, min(arguments.sample, len(everything)))
    survivors = judge(sample, found, console)
    table = Table("place", "mutation", "tests")
    for mutation in survivors:
        table.add_row(place(mutation), mutation.changed()[0], str(len(chosen(mutation, found))))
    noticed, by = len(sample) - len(survivors), "all tests" if arguments.all else "the core"
    console.print(table, f"{noticed} of {len(sample)} mutations noticed by {by}, of {len(everything)}")
    return int(noticed < GOALS[by] * len(sample))


def judge(sample: Sequence[Mutation], found: Trace, console: Console) -> list[Mutation]:
    """Return the surviving mutations; remove tests from `found` that also fail without a mutation."""
    survivors, noticed = list[Mutation](), dict[Mutation, frozenset[str]]()
    for mutation in sample:
        what, text = mutation.changed()
        tests = chosen(mutation, found)
        with applied(mutation, text):
            failed = outcome(tests, sum(found.seconds[test] for test in tests)) if tests else None
        if failed is not None:
            noticed[mutation] = failed
            continue
        survivors.append(mutation)
        line = f"{len(noticed)} noticed, {len(survivors)} survive: {place(mutation)}: {what}"
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    failing = failing_anyway(frozenset[str]().union(*noticed.values()))
    if not failing:
        return survivors
    console.print("These fail without a mutation, too:", *sorted(failing), markup=False, highlight=False, soft_wrap=True)
    for test in failing:
        del found.seconds[test]
    return survivors + judge([mutation for mutation, failed in noticed.items() if failed & failing], found, console)


def place(mutation: Mutation) -> str:
    """Return the file and line of a mutation."""
    return f"{mutation.path.relative_to(ROOT)}:{mutation.line}"


if __name__ == "__main__":
    sys.exit(main())
