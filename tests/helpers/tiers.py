"""Which tests run: the core, all, a part of the rest, or those that a change reaches.

The core has every test function, but of products of parameters a pairwise part: as few rows as needed so that every two values
that occur together in the product occur together in the core. A list that is no product is never cut, unless its function is
marked `sampled(n)`: n rows, evenly spread. What is marked `exhaustive` is not in the core at all.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from pathlib import Path
from types import NoneType
from typing import Any

import pytest

from helpers import import_graph
from helpers.pairwise import covering

Counts = tuple[int, int]
"""How many tests were chosen, of how many."""
_COUNTS = pytest.StashKey[Counts]()
_MANY = 100
"""Cases of a function beyond which its cases are in different parts of the rest."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tiers", "which tests run")
    group.addoption("--all", action="store_true", help="all tests, not the core alone; so do --lf, and names of tests")
    group.addoption("--part", metavar="K/N", help="instead of the core, part K of N of the rest, e.g. 3/8")
    group.addoption(
        "--changed",
        nargs="?",
        const="HEAD",
        metavar="REV",
        help="only test modules that import, at any distance, what is changed since REV (HEAD, if not given)",
    )


@pytest.hookimpl(trylast=True)  # after plugins that mark
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    found = list(items)
    if (changed := config.getoption("changed")) is not None:
        reached = import_graph.reaching(_changed_files(changed))
        items[:] = [item for item in items if reached is None or item.path in reached]
    if part := config.getoption("part"):
        number, parts = _checked_part(part)
        core = core_of(items)
        rest = [item for item in items if item not in core]
        cases = Counter(map(function_of, rest))
        items[:] = [item for item in rest if part_of(item, cases[function_of(item)], parts) == number]
    elif not (config.getoption("all") or config.getoption("lf", False) or any("::" in argument for argument in config.args)):
        core = core_of(items)
        items[:] = [item for item in items if item in core]
    chosen = set(items)
    config.hook.pytest_deselected(items=[item for item in found if item not in chosen])
    config.stash[_COUNTS] = (len(items), len(found))


def _changed_files(revision: str) -> set[Path]:
    try:
        return import_graph.changed_files(revision)
    except ValueError as error:
        raise pytest.UsageError(f"--changed: {error}") from None


def _checked_part(text: str) -> tuple[int, int]:
    number, _, parts = text.partition("/")
    if not (number.isdecimal() and parts.isdecimal() and int(number) < int(parts)):
        raise pytest.UsageError(f"--part: {text!r} is no part such as 3/8; the first of 8 is 0/8")
    return int(number), int(parts)


def part_of(item: pytest.Item, cases: int, parts: int) -> int:
    """Return the number of the part of the rest that a test is in.

    It is that of its function, whose fixtures are made once, unless that has many cases, which would make parts unequal.
    """
    return zlib.crc32((item.nodeid if cases > _MANY else function_of(item)).encode()) % parts


def function_of(item: pytest.Item) -> str:
    """Return the function of a test, without its parameters."""
    return item.nodeid.partition("[")[0]


def core_of(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Return the tests of the core."""
    functions = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        if item.get_closest_marker("exhaustive") is None:
            functions[function_of(item)].append(item)
    return {item for of_one in functions.values() for item in _core_of_function(of_one)}


def _core_of_function(items: list[pytest.Item]) -> list[pytest.Item]:
    if marker := items[0].get_closest_marker("sampled"):
        (count,) = marker.args
        return [items[position * len(items) // count] for position in range(min(count, len(items)))]
    rows = [_values(item) for item in items]
    return [items[position] for position in covering(rows)] if len(items) > 1 and len(rows[0]) > 1 else items


def _values(item: pytest.Item) -> list[Hashable]:
    """Return the factors of a row: one for all names that a list gives together, and one for each fixture with parameters."""
    call = getattr(item, "callspec", None)
    given = dict(call.params) if call else {}
    factors = list[Hashable]()
    for marker in item.iter_markers("parametrize"):
        names = marker.args[0].replace(" ", "").split(",") if isinstance(marker.args[0], str) else marker.args[0]
        factors.append(tuple(_key(given.pop(name)) for name in names if name in given))
    return [*factors, *map(_key, given.values())]


def _key(value: Any) -> Hashable:
    """Return what is equal for the values of a parameter that are the same: objects are, if they are one."""
    return (type(value), repr(value)) if isinstance(value, str | bytes | int | float | NoneType) else id(value)


class Summary:
    """The closing line. With pytest-xdist, the workers collect, and tell it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        if counts := getattr(node, "workeroutput", {}).get("tiers"):
            self._config.stash[_COUNTS] = tuple(counts)

    def pytest_sessionfinish(self) -> None:
        if hasattr(self._config, "workeroutput") and _COUNTS in self._config.stash:
            self._config.workeroutput["tiers"] = self._config.stash[_COUNTS]

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if _COUNTS in self._config.stash:
            terminalreporter.write_line(closing_line(self._config, *self._config.stash[_COUNTS]))


def pytest_configure(config: pytest.Config) -> None:
    if (changed := config.getoption("changed")) is not None:  # checked before processes are started
        _changed_files(changed)
    if part := config.getoption("part"):
        _checked_part(part)
    config.pluginmanager.register(Summary(config), "tiers-summary")


def closing_line(config: pytest.Config, chosen: int, found: int) -> str:
    """Return what was chosen, of how many, and how to run all."""
    part, changed = config.getoption("part"), config.getoption("changed")
    what = f"part {part} of what is not in the core" if part else "all" if config.getoption("all") else "core"
    if what == "core" and any("::" in argument for argument in config.args):
        what = "named"
    since = f", changed since {changed}" if changed else ""
    rest = "" if what in ("all", "named") and not changed else "; `pytest --all` runs all"
    return f"{what}{since}: {chosen:,} of {found:,} tests{rest}"
