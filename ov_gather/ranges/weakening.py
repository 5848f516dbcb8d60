"""Weakening of a condition that suffices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf
from typing import Any

from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.values import LARGEST_SIZE
from ov_gather.ranges.analysis import LARGEST_DIM, Assumption
from ov_gather.ranges.inequalities import FINITE
from ov_gather.ranges.runs import AnalysisCache
from ov_gather.ranges.sites import Site

LIMIT = 2**31
"""Magnitude that no integer in a condition exceeds."""


class Weakening:
    """Trial proofs of weaker conditions for a site, until the budget of steps is spent."""

    def __init__(self, runs: AnalysisCache, site: Site) -> None:
        self._runs, self._site = runs, site
        self._inputs = set(runs.part_of(site).inputs)

    def run(self, condition: Assumption) -> Assumption:
        """Drop bounds that are not needed, and move each remaining bound as far as the proof holds."""
        inputs = {name: interval for name, interval in condition.inputs.items() if name in self._inputs}
        condition = self._reduced(replace(condition, inputs=inputs))
        for name in condition.inputs:
            for is_high in (False, True):
                if self._runs.is_budget_spent:
                    return condition
                condition = self._moved(condition, name, is_high)
        for name in condition.dims:
            if self._runs.is_budget_spent:
                return condition
            condition = self._larger(self._smaller(condition, name), name)
        for product in condition.limits:
            if self._runs.is_budget_spent:
                return condition
            condition = self._wider(condition, product)
        return condition

    def _suffices(self, condition: Assumption) -> bool:
        return self._runs.prove(condition, self._site)

    def _reduced(self, condition: Assumption) -> Assumption:
        """Drop bounds that are not needed: for each kind of bound first all at once, then one by one."""
        for part in ("same", "limits", "dims", "inputs"):
            without = _with_part(condition, part, {})
            if getattr(condition, part) and self._suffices(without):
                condition = without
            for name in list(getattr(condition, part)):
                if self._runs.is_budget_spent:
                    return condition
                smaller = {other: bounds for other, bounds in getattr(condition, part).items() if other != name}
                candidate = _with_part(condition, part, smaller)
                if smaller and self._suffices(candidate):
                    condition = candidate
        return condition

    def _moved(self, condition: Assumption, name: str, is_high: bool) -> Assumption:
        """Move a numeric bound of the elements of an input outwards."""
        interval = condition.inputs[name]
        start = interval.high if is_high else interval.low
        if start == FINITE or abs(start) == inf or (interval.highs if is_high else interval.lows):
            return condition
        sign = 1 if is_high else -1

        def moved(distance: Number) -> Assumption:
            bound = start + sign * distance
            tried = replace(interval, high=bound) if is_high else replace(interval, low=bound)
            return replace(condition, inputs={**condition.inputs, name: tried})

        return self._moved_farthest(moved, inf, LIMIT - 1 - abs(int(start)))

    def _smaller(self, condition: Assumption, name: str) -> Assumption:
        """Find the least lower bound of a dimension, by doubling first: it is usually small."""
        low, high = condition.dims[name]

        def of(size: int) -> Assumption:
            return replace(condition, dims={**condition.dims, name: (size, high)})

        if low > 1 and not self._suffices(of(low - 1)):
            return condition
        enough, too_small = 1, 0
        if low == 1 and high < inf and self._suffices(of(0)):
            return of(0)
        while enough < low and not self._suffices(of(enough)):
            too_small, enough = enough, 2 * enough
        enough = min(enough, low)
        while enough - too_small > 1:
            middle = (too_small + enough) // 2
            too_small, enough = (too_small, middle) if self._suffices(of(middle)) else (middle, enough)
        return of(enough)

    def _larger(self, condition: Assumption, name: str) -> Assumption:
        """Find the greatest upper bound of a dimension."""
        low, high = condition.dims[name]
        if high == inf:
            return condition

        def moved(distance: Number) -> Assumption:
            return replace(condition, dims={**condition.dims, name: (low, high + distance)})

        return self._moved_farthest(moved, inf, LARGEST_DIM - int(high))

    def _wider(self, condition: Assumption, product: Polynomial) -> Assumption:
        """Find the greatest limit of a product of dimensions."""
        start = condition.limits[product]

        def moved(distance: Number) -> Assumption:
            return replace(condition, limits={**condition.limits, product: start + int(distance)})

        room = max(LARGEST_SIZE - start, 0)
        return self._moved_farthest(moved, room, room)

    def _moved_farthest(self, moved: Callable[[Number], Assumption], most: Number, limit: int) -> Assumption:
        """Move a bound by `most` if the proof then holds, or else by the greatest distance up to `limit` at which it does."""
        if self._suffices(moved(most)):
            return moved(most)
        return moved(_farthest(lambda distance: self._suffices(moved(distance)), limit))


def _with_part(condition: Assumption, part: str, bounds: Mapping[Any, Any]) -> Assumption:
    changed: dict[str, Any] = {part: bounds}
    return replace(condition, **changed)


def _farthest(holds: Callable[[int], bool], limit: int) -> int:
    """Return the greatest distance at which a monotone predicate holds, to within 1/64; it holds at 0."""
    step = 1
    while step < limit and holds(step):
        step *= 2
    good, bad = step // 2, min(step, limit + 1)
    while bad - good > max(1, good // 64):
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good
