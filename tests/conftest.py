"""Where things are, and a guard against testing something else than the installed package."""

import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import seeds
from helpers.command_server import COMMAND, CommandServer
from helpers.paths import ROOT, SAMPLES

pytest_plugins = ["helpers.tiers"]

# OpenVINO does without its telemetry where that cannot be imported; it would fork this process for each event.
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    seeds.seed_hypothesis(config)
    finder = next(finder for finder in sys.meta_path if finder.find_spec("ov_gather", None))
    package = finder.find_spec("ov_gather", None)
    if finder is PathFinder and package and package.origin == str(ROOT / "ov_gather" / "__init__.py"):  # no editable install
        pytest.exit("this imports the bare checkout: install the package and run plain `pytest`", returncode=4)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `-n`, let a process that has nothing left take tests from another."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if seeds.GIVEN:
        terminalreporter.write_line(f"{seeds.VARIABLE}={seeds.GIVEN}: the same seed draws the same again")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests in runtime/, as they execute OpenVINO."""
    for item in items:
        if ROOT / "tests" / "runtime" in item.path.parents:
            item.add_marker("openvino")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that depend on the test's name alone, whatever runs before it."""
    return np.random.default_rng(seeds.seed_of(zlib.crc32(request.node.name.encode())))


@pytest.fixture
def samples() -> Path:
    return SAMPLES


@pytest.fixture
def copied(samples: Path, tmp_path: Path) -> Callable[..., Path]:
    """A function that copies a sample, and its .bin if there is one, and returns the path of the .xml.

    `changes` are what to replace in the .xml, by what, and how often.
    """

    def copy(name: str, folder: Path = tmp_path, stem: str = "", changes: Iterable[tuple[Any, ...]] = ()) -> Path:
        source = samples / f"{name}.xml"
        target = folder / f"{stem or source.stem}.xml"
        for file in (source, source.with_suffix(".bin")):
            if file.exists():
                shutil.copy(file, target.with_suffix(file.suffix))
        for old, *new in changes:
            text = target.read_text()
            assert old in text
            target.write_text(text.replace(old, *new))
        return target

    return copy


def _ending(run: Cli) -> Cli:
    """Run commands from the root of the repository; `code` is the exit code that one must have."""

    def checked(*arguments: object, code: int | None = None, **options: object) -> subprocess.CompletedProcess[str]:
        done = run(list(map(str, arguments)), **{"cwd": ROOT} | options)
        assert code in (None, done.returncode), f"exit code {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done

    return checked


@pytest.fixture(scope="session")
def real_cli() -> Cli:
    """The command line as a user runs it, from the root of the repository."""

    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 300}
    return _ending(lambda arguments, **options: subprocess.run([str(COMMAND), *arguments], **given | options))


@pytest.fixture(scope="session")
def cli() -> Iterator[Cli]:
    """The command line in a process whose imports are done already, from the root of the repository."""
    with CommandServer() as server:
        yield _ending(server.run)


@pytest.fixture
def nothing_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `accelerate` change small gathers, too, which it leaves as they are otherwise."""
    monkeypatch.setattr("ov_gather.acceleration.costs.SMALL", 0)
