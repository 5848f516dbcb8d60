"""Which lines of the product each test executes, commands of the command server included; a plugin of pytest."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from coverage import Coverage

from helpers.paths import ROOT

VARIABLE = "OV_GATHER_TESTS_LINE_TRACE"
"""The data file of coverage.py; nothing is traced without it. Each process writes its own, with a suffix."""
PRODUCT = [f"{ROOT / folder}/*" for folder in ("ov_gather", "converters")]


@contextmanager
def traced(context: str) -> Iterator[None]:
    """Save the lines that this thread, and those that it starts, execute in the meantime."""
    file = os.environ.get(VARIABLE)
    if not file:
        yield
        return
    lines = Coverage(data_file=file, data_suffix=True, config_file=False, include=PRODUCT)
    lines.set_option("run:core", "ctrace")  # which of its tracers know contexts
    try:
        with lines.collect():
            lines.switch_context(context)
            yield
    finally:
        lines.save()


def current_test() -> str:
    """Return the id of the test that pytest executes; empty outside of tests."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]


def _switch(context: str | None) -> str | None:
    """Set the context of the lines to come; return that of the lines before."""
    lines = Coverage.current()
    assert lines
    return lines.switch_context(context or "")


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop() -> Iterator[None]:
    with traced(""):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Trace each test in a context of its name."""
    _switch(item.nodeid)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(request: pytest.FixtureRequest) -> Iterator[None]:
    """Trace a fixture that serves several tests in a context that is named like their module, or class."""
    before = _switch(request.node.nodeid)
    try:
        return (yield)
    finally:
        _switch(before)
