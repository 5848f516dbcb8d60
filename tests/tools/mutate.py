"""Mutation testing: python tests/tools/mutate.py [--sample 200] [--seed 0] [--room acceleration] [--file gather_tuples.py]

A mutation changes one comparison, `and` or `or`, `not`, number, boolean, sum or minimum of the product. The tests that execute
the changed function run against it, and should fail. The first run traces which test executes which function, which takes as
long as the tests; `--calls FILE` keeps the trace, so that later runs trace only new tests. Tests that also fail without a
mutation do not count.

Works in the checkout of an editable installation, and restores each changed file. The exit code is 1 if less than 90% of the
mutations are noticed; the table lists the survivors.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/, where the helpers are

import pytest
from rich.console import Console
from rich.table import Table

import ov_gather
from helpers.call_trace import KNOWN, VARIABLE
from helpers.paths import ROOT
from helpers.source_mutations import Mutation, mutations

ROOMS = ("acceleration", "converters", "crosscheck", "rules", "ir")
GOAL = 0.9
BUDGET = 120.0
"""Maximum seconds of tests per mutation, as traced."""
SLOWER = 2
"""Timeout factor: a mutant that takes this many times longer than its tests did, plus a minute, is stopped."""


FAILED = "\nfails: "
QUIET = ("-q", "--tb=no", "-p", "no:cacheprovider")


@dataclass
class Traced:
    """The functions that a test executes, and its seconds."""

    places: set[tuple[str, str]] = field(default_factory=set)
    seconds: float = 0.0


class Chosen:
    """A pytest plugin that keeps the chosen tests, in their order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._order = {test: position for position, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((item for item in items if item.nodeid in self._order), key=lambda item: self._order[item.nodeid])


def trace(tests: Sequence[str], known: Collection[str]) -> dict[str, Traced]:
    """Run tests that are not in `known`; return what each executes, except for those that fail without a mutation."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ[VARIABLE] = folder
        (Path(folder) / KNOWN).write_text(json.dumps(sorted(known)))
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
    """A pytest plugin that collects the failing tests."""

    def __init__(self) -> None:
        self.tests: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.tests.add(report.nodeid)


def chosen(mutation: Mutation, found: dict[str, Traced]) -> list[str]:
    """Return tests that execute the changed function, within the budget: first those named like it, then those of each file
    that execute least.
    """
    name = str(mutation.path.relative_to(ROOT))
    if mutation.function:
        executing = [test for test, one in found.items() if (name, mutation.function) in one.places]
    else:
        executing = [test for test, one in found.items() if any(file == name for file, _ in one.places)]
    executing.sort(key=lambda test: len(found[test].places))
    ranks, of_file = dict[str, int](), Counter[str]()
    for test in executing:
        ranks[test] = of_file[test.partition("::")[0]]
        of_file[test.partition("::")[0]] += 1
    names = _stems(f"{mutation.path.stem} {mutation.function}")
    executing.sort(key=lambda test: (found[test].seconds > 5, -len(names & _stems(test)), ranks[test]))
    budget, tests = BUDGET, list[str]()
    for test in executing:
        budget -= found[test].seconds
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


@dataclass(frozen=True)
class Outcome:
    """The verdict of tests on a mutation."""

    is_noticed: bool
    failed: frozenset[str] = frozenset()
    """The failing test; empty if the process timed out or crashed."""


def outcome(tests: Sequence[str], seconds: float) -> Outcome:
    """Run tests in a separate process until one fails."""
    files = sorted({test.partition("::")[0] for test in tests})
    command = [sys.executable, __file__, "--run", *files]
    limit = 60 + SLOWER * seconds
    try:
        done = subprocess.run(command, input="\n".join(tests), text=True, cwd=ROOT, timeout=limit, capture_output=True)
    except subprocess.TimeoutExpired:
        return Outcome(True)
    failed = [test for test in done.stdout.rpartition(FAILED)[2].splitlines() if test] if FAILED in done.stdout else []
    return Outcome(done.returncode != 0, frozenset(failed))


def run_chosen(files: Sequence[str]) -> int:
    """Run the tests listed on standard input until one fails, and print that last."""
    sys.dont_write_bytecode = True
    tests, failed = sys.stdin.read().splitlines(), Failed()
    code = int(pytest.main(["-x", *QUIET, *files], plugins=[Chosen(tests), failed]))
    print(FAILED + "\n".join(failed.tests))
    return code


def failing_anyway(tests: Collection[str]) -> set[str]:
    """Return the tests that fail without a mutation."""
    failed = Failed()
    if tests:
        pytest.main([*QUIET, *sorted({test.partition("::")[0] for test in tests})], plugins=[Chosen(sorted(tests)), failed])
    return failed.tests


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
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # a file may change twice within the resolution of the time in a .pyc
    if arguments.run:
        return run_chosen(arguments.run)
    if not Path(ov_gather.__file__).is_relative_to(ROOT):
        parser.error(f"tests would import {Path(ov_gather.__file__).parent}, not that of {ROOT}: install this checkout")
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # so that the changed file is restored
    console = Console()
    found = load(arguments.calls)
    found |= trace(arguments.tests, found)
    if arguments.calls:
        save(arguments.calls, found)
    folders = [ROOT / room if room == "converters" else ROOT / "ov_gather" / room for room in arguments.room or ROOMS]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    everything = [one for path in paths if not arguments.file or path.name in arguments.file for one in mutations(path)]
    sample = random.Random(arguments.seed).sample(everything, min(arguments.sample, len(everything)))
    survivors = judge(sample, found, console)
    table = Table("place", "mutation", "tests")
    for mutation in survivors:
        table.add_row(place(mutation), mutation.changed()[0], str(len(chosen(mutation, found))))
    noticed = len(sample) - len(survivors)
    console.print(table, f"{noticed} of {len(sample)} mutations noticed, of {len(everything)}")
    return int(noticed < GOAL * len(sample))


def judge(sample: Sequence[Mutation], found: dict[str, Traced], console: Console) -> list[Mutation]:
    """Return the surviving mutations; remove tests from `found` that also fail without a mutation."""
    survivors, noticed = list[Mutation](), dict[Mutation, frozenset[str]]()
    for mutation in sample:
        what, text = mutation.changed()
        tests = chosen(mutation, found)
        with applied(mutation, text):
            says = outcome(tests, sum(found[test].seconds for test in tests)) if tests else Outcome(False)
        if says.is_noticed:
            noticed[mutation] = says.failed
            continue
        survivors.append(mutation)
        line = f"{len(noticed)} noticed, {len(survivors)} survive: {place(mutation)}: {what}"
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    failing = failing_anyway(frozenset[str]().union(*noticed.values()))
    if not failing:
        return survivors
    console.print("These fail without a mutation, too:", *sorted(failing), markup=False, highlight=False, soft_wrap=True)
    for test in failing:
        del found[test]
    return survivors + judge([mutation for mutation, failed in noticed.items() if failed & failing], found, console)


def place(mutation: Mutation) -> str:
    """Return the file and line of a mutation."""
    return f"{mutation.path.relative_to(ROOT)}:{mutation.line}"


def load(path: Path | None) -> dict[str, Traced]:
    """Return a saved trace; empty if there is none."""
    if path is None or not path.exists():
        return {}
    records = json.loads(path.read_text())
    return {test: Traced({(file, name) for file, name in places}, seconds) for test, (places, seconds) in records.items()}


def save(path: Path, found: dict[str, Traced]) -> None:
    """Save a trace."""
    path.write_text(json.dumps({test: (sorted(one.places), one.seconds) for test, one in found.items()}))


if __name__ == "__main__":
    sys.exit(main())
