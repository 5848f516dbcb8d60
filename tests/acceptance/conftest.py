"""What several commands are tested with."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.pages import CHROMIUM


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two worker processes, which are started again when they die; a task that takes a worker with it is not tried again."""
    import dask

    from helpers.clusters import local_cluster

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        local_cluster(tmp_path_factory.mktemp("dask"), 2) as made,
    ):
        yield made


@pytest.fixture(scope="session")
def refusal(cli: Callable[..., Any]) -> Callable[..., str]:
    """A function that returns what a command says which cannot do what it is told to; nothing else is written."""

    def run(*arguments: object, **options: object) -> str:
        done = cli(*arguments, **options)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr
        return done.stderr

    return run


@pytest.fixture
def given(tmp_path: Path) -> Callable[..., list[str]]:
    """A function that saves arrays, and returns the options that name them as inputs."""

    def options(**arrays: Any) -> list[str]:
        for name, array in arrays.items():
            np.save(tmp_path / f"{name}.npy", array)
        return [f"--input={name}={tmp_path / name}.npy" for name in arrays]

    return options


@pytest.fixture
def without(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, str]]:
    """A function that returns the environment of a process in which some packages are not installed."""

    def environment(*modules: str) -> dict[str, str]:
        folder = tmp_path_factory.mktemp("site")
        (folder / "sitecustomize.py").write_text(f"import sys; sys.modules.update(dict.fromkeys({modules}))")
        return os.environ | {"PYTHONPATH": str(folder)}

    return environment


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The Chromium of the system."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium on the PATH (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


@pytest.fixture
def expect(browser: Any) -> Callable[..., Any]:
    """The assertions of playwright, which wait."""
    from playwright.sync_api import expect

    return expect


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Callable[..., Any]:
    """A function that opens a page; afterwards there must have been no other request, and no word on the console."""

    @contextmanager
    def open_page(text: str, query: str = "", **options: Any) -> Iterator[Any]:
        file = tmp_path / "page.html"
        file.write_text(text, encoding="utf-8")
        with browser.new_context(**options) as context:
            page = context.new_page()
            requests, complaints = [], []
            page.on("request", lambda request: requests.append(request.url.partition("?")[0]))
            page.on("console", lambda message: complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(file.as_uri() + query)
            yield page
            assert set(requests) == {file.as_uri()}
            assert complaints == []

    return open_page
