"""Spread of ratios: quartiles within one run, or the range of several runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median, quantiles


@dataclass(frozen=True, slots=True)
class Spread:
    """A median, and values below and above it."""

    low: float
    median: float
    high: float

    @property
    def deviation(self) -> float:
        """Half the distance of the outer values, as a fraction of the median."""
        return (self.high - self.low) / 2 / self.median


def quartiles(values: Sequence[float]) -> Spread:
    """Return the quartiles of at least two values."""
    return Spread(*quantiles(values, n=4, method="inclusive"))


def extent(values: Sequence[float]) -> Spread:
    """Return the least value, the median and the greatest one."""
    return Spread(min(values), median(values), max(values))


def geometric_mean(ratios: Iterable[float]) -> float:
    """Return the geometric mean of ratios; NaN if there are none."""
    values = list(ratios)
    return exp(sum(map(log, values)) / len(values)) if values else float("nan")
