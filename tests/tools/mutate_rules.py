"""Every rule of the analysis of ranges, changed by one: python tests/tools/mutate_rules.py [--part rules] [--file shaping.py]

Each mutation changes one place: a number by one, < to <=, floor to ceil, min to max, a bound that is left out. Those of the
quick tests of ranges that execute the changed function run against it, in a forked process that ends with the first failure.
What they do not notice is compared with what the rules say of random models as they are, and judged on those of which it says
something else. The table lists what remains: what tells less than before (it is more cautious), more, or something else, what
makes no difference, and what nothing executes. Exit code 1 where a mutation tells more, or something else.
"""

from __future__ import annotations

import argparse
import os
import pickle
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/, where the helpers are

import pytest
from rich.console import Console
from rich.table import Table

from helpers.range_changes import Change, Known, changed_seeds, is_violated, kind_of, known_of_models
from helpers.rule_mutations import RANGES, Mutation, Place, mutations, place_of

TESTS = Path(__file__).parents[1]
QUICK = [
    *(f"unit/test_range_rules_{name}.py" for name in ("indices", "numbers", "shapes")),
    *(f"unit/test_{name}.py" for name in ("range_algebra", "ranges", "prove_onnx", "proved_gathers", "computed_indices")),
    *(f"runtime/test_{name}.py" for name in ("openvino_ranges", "proofs")),
]
SECONDS = 60
"""So much processor time the tests may take; what takes longer does not end, which is noticed."""


class Plugin:
    """Runs the collected tests for each mutation in a forked process."""

    def __init__(self, mutants: Sequence[Mutation], shares: tuple[int, int], console: Console) -> None:
        self._mutants, self._console = mutants, console
        self._known = known_of_models(*shares)
        self._places_of_models: Mapping[tuple[str, int], set[Place]] = in_child(self._executed_by_models)
        self.survivors: list[tuple[Mutation, Change]] = []
        self.counts: Counter[str] = Counter()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        order = list(session.items)
        places, seconds, failed = in_child(lambda: self._executed_by_tests(order, session)) or ({}, {}, "the process")
        if failed:
            raise SystemExit(f"without any mutation fails {failed}")
        order.sort(key=lambda item: seconds[item.nodeid])
        for number, mutation in enumerate(self._mutants, 1):
            place = mutation.place
            chosen = [item for item in order if place is None or place in places[item.nodeid]]
            killer = self._first_that_fails(chosen, mutation, session)
            if killer is None:
                self._survived(mutation, is_executed=bool(chosen))
            elif killer >= 0:
                order.remove(chosen[killer])
                order.insert(0, chosen[killer])
            self.counts["noticed by tests"] += killer is not None
            if number % 20 == 0:
                self._console.print(f"{number} of {len(self._mutants)}: {dict(self.counts)}", highlight=False)
        return True

    def _executed_by_tests(
        self, order: Sequence[pytest.Item], session: pytest.Session
    ) -> tuple[dict[str, set[Place]], dict[str, float], str]:
        """List the functions that each test executes, the time that it takes, and the first test that fails."""
        places, seconds = {}, {}
        for item in order:
            start = time.process_time()
            with Executed() as executed:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            places[item.nodeid], seconds[item.nodeid] = executed.places, time.process_time() - start
            if session.testsfailed:
                return places, seconds, item.nodeid
        return places, seconds, ""

    def _executed_by_models(self) -> dict[tuple[str, int], set[Place]]:
        places = {}
        for key, known in self._known.items():
            with Executed() as executed:
                list(changed_seeds({key: known}))
            places[key] = executed.places
        return places

    def _first_that_fails(self, order: Sequence[pytest.Item], mutation: Mutation, session: pytest.Session) -> int | None:
        """The position of the first test that fails; -1 where it does not end, None where none fails."""

        def position() -> int | None:
            mutation.apply()
            for position, item in enumerate(order):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if session.testsfailed:
                    return position
            return None

        return in_child(position, -1) if order else None

    def _survived(self, mutation: Mutation, *, is_executed: bool) -> None:
        place = mutation.place
        known: Known = {key: one for key, one in self._known.items() if place is None or place in self._places_of_models[key]}

        def change() -> Change:
            mutation.apply()
            found = kind_of(changed_seeds(known))
            return Change.VIOLATED if found is not Change.NONE and is_violated(changed_seeds(known)) else found

        found = in_child(change, Change.VIOLATED) if known else Change.NONE if is_executed else Change.UNSEEN
        self.counts[found.value] += 1
        if found is not Change.VIOLATED:
            self.survivors.append((mutation, found))
            self._console.print(f"{mutation}: {found.value}", markup=False, highlight=False, soft_wrap=True)


class Executed:
    """Collects the functions of the analysis that are called in the meantime."""

    def __init__(self) -> None:
        self.places: set[Place] = set()

    def __enter__(self) -> Executed:
        folder = str(RANGES)

        def called(frame: Any, event: str, _: object) -> None:
            if event == "call" and frame.f_code.co_filename.startswith(folder):
                self.places.add(place_of(frame.f_code))

        sys.setprofile(called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)


def in_child(work: Callable[[], Any], otherwise: Any = None) -> Any:
    """Give what a function returns in a forked process; `otherwise` where that crashes, or does not end."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        result = pickle.dumps(work())
        with os.fdopen(theirs, "wb") as pipe:
            pipe.write(result)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(said) if said else otherwise


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["rules", "algebra"], action="append")
    parser.add_argument("--file", action="append", help="only files of this name")
    parser.add_argument("--tests", action="append", help="run these tests only, such as unit/test_ranges.py")
    parser.add_argument("--every", type=int, default=1, help="try every n-th mutation only")
    parser.add_argument("--first", type=int, default=0, help="of these, begin with this one")
    parser.add_argument("--onnx", type=int, default=150, help="random ONNX models to compare")
    parser.add_argument("--openvino", type=int, default=80, help="random models of OpenVINO to compare")
    arguments = parser.parse_args()
    console = Console()
    paths = [path for part in arguments.part or ["rules", "algebra"] for path in sorted((RANGES / part).glob("*.py"))]
    paths = [path for path in paths if not arguments.file or path.name in arguments.file]
    mutants = [one for path in paths for one in mutations(path)][arguments.first :: arguments.every]
    plugin = Plugin(mutants, (arguments.onnx, arguments.openvino), console)
    files = [str(TESTS / name) for name in arguments.tests or QUICK]
    pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", "--tb=no", "--capture=no", *files], plugins=[plugin])
    shown = Table("mutation", "random models")
    for mutation, change in plugin.survivors:
        shown.add_row(str(mutation), change.value)
    console.print(shown, f"{len(mutants)} mutations: {dict(plugin.counts)}")
    return int(any(change in (Change.MORE, Change.OTHER) for _, change in plugin.survivors))


if __name__ == "__main__":
    sys.exit(main())
