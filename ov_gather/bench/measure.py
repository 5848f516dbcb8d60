"""Timing of contenders side by side: several rounds of blocks of calls, one block per contender, each after a pause."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, log
from statistics import median

import numpy as np

from ov_gather.bench.case import BenchCase, Run, seconds_of
from ov_gather.bench.contenders import CONTENDERS, BenchConditions

ROUNDS = 5
PAUSE = 0.15
"""Seconds before each block, because the thread pools of a contender spin for a while after its last call."""
BLOCK = 0.08
"""Seconds of calls per block; it has at least three calls."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """The reason why a contender did not take part, and whether it is that its result differs."""

    reason: str
    differs: bool = False


@dataclass(frozen=True, slots=True)
class Measurement:
    """The median seconds per call of each contender, those `excluded` and why, and the bytes that must be moved."""

    case: str
    group: str
    bytes: int
    seconds: Mapping[str, float]
    excluded: Mapping[str, Exclusion]

    def ratio(self, contender: str, ours: str = "kernel") -> float | None:
        """Return how many times faster ours is than the contender; None if either did not take part."""
        return self.seconds[contender] / self.seconds[ours] if {contender, ours} <= self.seconds.keys() else None


def measure(case: BenchCase, conditions: BenchConditions) -> Measurement:
    """Time all contenders on one case. Contenders whose result differs from NumPy's are excluded."""
    expected = case.numpy()
    runs: dict[str, Run] = {}
    excluded: dict[str, Exclusion] = {}
    for name, contender in CONTENDERS.items():
        try:
            run, result = contender(case, conditions)
            run()
        except ImportError as error:
            excluded[name] = Exclusion(f"not installed ({error.name})")
            continue
        except Exception as error:  # other projects raise anything for cases they do not support
            excluded[name] = Exclusion((str(error).strip() or type(error).__name__).splitlines()[-1][:100])
            continue
        if np.array_equal(result(), expected):
            runs[name] = run
        else:
            excluded[name] = Exclusion("its result differs", differs=True)
    if "kernel" not in runs:
        raise ValueError(f"{case.name}: our own kernel did not take part: {excluded['kernel'].reason}")
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            time.sleep(PAUSE)
            times[name] += _block(run)
    return Measurement(
        case.name, case.group, case.bytes_moved, {name: median(values) for name, values in times.items()}, excluded
    )


def _block(run: Run) -> list[float]:
    run()
    times: list[float] = []
    end = time.perf_counter() + BLOCK
    while len(times) < 3 or time.perf_counter() < end:
        times.append(seconds_of(run))
    return times


def geometric_mean(ratios: Iterable[float]) -> float:
    """Return the geometric mean of ratios; NaN if there are none."""
    values = list(ratios)
    return exp(sum(map(log, values)) / len(values)) if values else float("nan")
