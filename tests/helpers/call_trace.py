"""Which functions of the product each test executes, commands of the command server included; a plugin of pytest."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from helpers.paths import ROOT

VARIABLE = "OV_GATHER_TESTS_CALL_TRACE"
"""The folder that calls are written to; nothing is traced without it."""
KNOWN = "known.json"
"""The file of that folder that names the tests that need no trace."""
PRODUCT = tuple(f"{ROOT / folder}/" for folder in ("ov_gather", "converters"))


Calls = set[tuple[str, str]]
"""Functions, each by its file and name."""
_calls: Calls = set()
"""The functions that the test which runs has called so far."""
_of_fixtures: dict[object, Calls] = {}
"""The functions that made a fixture, which serve each test that uses it."""


@contextmanager
def traced(test: str) -> Iterator[None]:
    """Write the functions that this thread, and those that it starts, call in the meantime to a file of the folder."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        yield
        return
    calls = _calls
    calls.clear()
    start = time.monotonic()

    def called(frame: Any, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PRODUCT):
            calls.add((code.co_filename, code.co_name))

    threading.setprofile(called)
    sys.setprofile(called)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        places = [(str(Path(file).relative_to(ROOT)), name) for file, name in sorted(calls.copy())]
        record = {"test": test, "seconds": time.monotonic() - start, "calls": places}
        with (Path(folder) / f"{os.getpid()}.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")


def current_test() -> str:
    """Return the id of the test that pytest executes; empty outside of tests."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests that are not known."""
    known = set(json.loads((Path(os.environ[VARIABLE]) / KNOWN).read_text()))
    items[:] = [item for item in items if item.nodeid not in known]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Trace each test, with the fixtures that were made for others before."""
    fixtures = getattr(item, "_fixtureinfo").name2fixturedefs.values()  # noqa: B009 - pytest has no public name for it
    with traced(item.nodeid):
        for versions in fixtures:
            _calls.update(_of_fixtures.get(versions[-1], ()))
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    """Keep what a fixture calls, as it may serve several tests."""
    before = _calls.copy()
    try:
        return (yield)
    finally:
        _of_fixtures[fixturedef] = _calls - before
