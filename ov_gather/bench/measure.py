"""Contenders, timed side by side: several rounds of blocks of calls, one block per contender, each after a pause."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from ov_gather.bench.case import BenchCase, Run, seconds_of
from ov_gather.bench.contenders import CONTENDERS, BenchConditions, limits_of
from ov_gather.bench.spread import Spread, extent, quartiles

ROUNDS = 5
PAUSE = 0.01
"""Seconds before each block, because threads of some contenders spin after a call: torch's for 3 ms, the longest measured."""
BLOCK = 0.04
"""Seconds of calls per block; it has at least two calls.

After a pause, Linux lets two threads share a core for up to 5 ms (measured on two cores of a Xeon), which medians of blocks of
10 ms showed as half the speed, now and then.
"""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """The reason why a contender did not take part, and whether it is that its result differs."""

    reason: str
    differs: bool = False


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run of a case.

    Attributes:
        bytes: the bytes that must be moved.
        rounds: the seconds per call of each contender, the median of each block.
        excluded: contenders that did not take part, and why.
    """

    case: str
    group: str
    bytes: int
    rounds: Mapping[str, Sequence[float]]
    excluded: Mapping[str, Exclusion]

    def ratio(self, contender: str, ours: str = "kernel") -> Spread | None:
        """Return how many times faster ours is than the contender, over rounds; None if either did not take part."""
        if not {contender, ours} <= self.rounds.keys():
            return None
        return quartiles([other / mine for other, mine in zip(self.rounds[contender], self.rounds[ours], strict=True)])


@dataclass(frozen=True, slots=True)
class Runs:
    """All runs of a case, each in a process of its own."""

    runs: Sequence[Measurement]

    @property
    def first(self) -> Measurement:
        """The first run; the case is the same in all."""
        return self.runs[0]

    @property
    def excluded(self) -> Mapping[str, Exclusion]:
        """Contenders that did not take part in at least one run, and why."""
        return {name: exclusion for run in self.runs for name, exclusion in run.excluded.items()}

    @property
    def seconds(self) -> Mapping[str, float]:
        """The median seconds per call of each contender."""
        names = dict.fromkeys(name for run in self.runs for name in run.rounds)
        return {name: median(second for run in self.runs for second in run.rounds.get(name, ())) for name in names}

    def ratio(self, contender: str, ours: str = "kernel") -> Spread | None:
        """Return the ratio of one run with its quartiles, or the median ratio of several runs with their range."""
        found = [ratio for run in self.runs if (ratio := run.ratio(contender, ours))]
        if not found:
            return None
        return found[0] if len(self.runs) == 1 else extent([ratio.median for ratio in found])


def measure(case: BenchCase, conditions: BenchConditions) -> Measurement:
    """Time all contenders on one case. Contenders whose result differs from NumPy's are excluded."""
    expected = case.numpy()
    runs: dict[str, Run] = {}
    excluded: dict[str, Exclusion] = {}
    for name, contender in {**CONTENDERS, **limits_of(case)}.items():
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
    rounds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            time.sleep(PAUSE)
            rounds[name].append(_block(run))
    return Measurement(case.name, case.group, case.bytes_moved, rounds, excluded)


def _block(run: Run) -> float:
    """Return the median seconds of a call."""
    run()
    times: list[float] = []
    end = time.perf_counter() + BLOCK
    while len(times) < 2 or time.perf_counter() < end:
        times.append(seconds_of(run))
    return median(times)
