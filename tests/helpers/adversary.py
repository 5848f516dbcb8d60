"""Attacks on the public doors of ov-gather, each in a worker process: see tests/hostile/doors."""

from __future__ import annotations

import importlib
import pkgutil
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

DOORS = Path(__file__).parents[1] / "hostile" / "doors"


def door_names() -> list[str]:
    """Return the names of all doors, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules([str(DOORS)]))


def trials_of(name: str) -> int:
    """Return the number of attacks that pytest makes on a door."""
    trials: int = importlib.import_module(f"hostile.doors.{name}").TRIALS
    return trials


@dataclass(frozen=True)
class Attack:
    """The outcome of one attack; `finding` is empty if the door held."""

    door: str
    seed: int
    finding: str


def attacks(door: str, seeds: Iterable[int]) -> Iterator[Attack]:
    """Attack a door once per seed and yield each outcome; a worker that dies or takes too long is replaced."""
    limit = importlib.import_module(f"hostile.doors.{door}").SECONDS
    worker: _Worker | None = None
    try:
        for seed in seeds:
            worker = worker or _Worker(door)
            finding = worker.attack(seed, limit)
            if finding is None:
                finding = worker.stop()
                worker = None
            yield Attack(door, seed, finding)
    finally:
        if worker:
            worker.stop()


class _Worker:
    """A spawned process that attacks one door."""

    def __init__(self, door: str) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, door))
        self._process.start()
        theirs.close()

    def attack(self, seed: int, limit: float) -> str | None:
        """Return the finding of one attack, or None if the process gave no answer within the limit in seconds."""
        self._pipe.send(seed)
        try:
            finding: str | None = self._pipe.recv() if self._pipe.poll(limit) else None
        except EOFError:
            finding = None
        return finding

    def stop(self) -> str:
        """End the process; return how it ended."""
        self._pipe.close()
        self._process.join(timeout=1)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
            return "no answer within the limit"
        return f"the process died, exit code {self._process.exitcode}"


def _work(pipe: Connection, door: str) -> None:
    module = importlib.import_module(f"hostile.doors.{door}")
    while True:
        try:
            seed = pipe.recv()
        except EOFError:
            return
        finding = ""
        with TemporaryDirectory() as folder:
            try:
                module.attack(np.random.default_rng(seed), Path(folder))
            except BaseException:
                finding = traceback.format_exc()
        pipe.send(finding)
