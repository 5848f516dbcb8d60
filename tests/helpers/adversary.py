"""Attacks on the public doors of ov-gather, each in a worker process: see tests/hostile/doors."""

from __future__ import annotations

import importlib
import pkgutil
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from helpers.worker_process import DiedError, Worker

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
    worker = Worker(partial(_finding, door))
    try:
        for seed in seeds:
            try:
                finding = worker.call(seed, limit)
            except DiedError as death:
                finding = str(death)
            yield Attack(door, seed, finding)
    finally:
        worker.stop()


def _finding(door: str, seed: int) -> str:
    """Attack a door once; return the traceback if that raises."""
    module = importlib.import_module(f"hostile.doors.{door}")
    with TemporaryDirectory() as folder:
        try:
            module.attack(np.random.default_rng(seed), Path(folder))
        except BaseException:
            return traceback.format_exc()
    return ""
