"""Weakening of a condition that suffices."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from math import inf
from typing import Any

from ov_gather.graph.symbols import Symbol
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.symbols import Elements
from ov_gather.ranges.algebra.values import LARGEST_SIZE
from ov_gather.ranges.analysis import LARGEST_DIM, Assumption
from ov_gather.ranges.inequalities import FINITE, slack_of
from ov_gather.ranges.runs import AnalysisCache
from ov_gather.ranges.sites import Site

LIMIT = 2**31
"""Magnitude that no integer in a condition exceeds."""
EXACT = 1 << 16
"""Bounds below this are exact. Above, where requests hardly differ, they are powers of two."""


class Weakening:
    """Trial proofs of weaker conditions for a site, until the budget is spent. Bounds of `masks` are not moved."""

    def __init__(self, runs: AnalysisCache, site: Site, masks: Collection[str]) -> None:
        self._runs, self._site, self._masks = runs, site, masks
        self._inputs = {elements.input for elements in runs.part_of(site).inputs}

    def run(self, condition: Assumption) -> Assumption:
        """Drop bounds that are not needed, and move each remaining bound as far as the proof holds."""
        inputs = {one: interval for one, interval in condition.inputs.items() if one.input in self._inputs}
        condition = self._ordered(self._reduced(replace(condition, inputs=inputs)))
        condition = self.with_moved(condition, condition.inputs)
        for dim in condition.dims:
            if self._runs.is_budget_spent:
                return condition
            condition = self._larger(self._smaller(condition, dim), dim)
        for product in condition.limits:
            if self._runs.is_budget_spent:
                return condition
            condition = self._wider(condition, product)
        return self._split(condition)

    def with_moved(self, condition: Assumption, some: Iterable[Elements]) -> Assumption:
        """Move the bounds of some elements as far as the proof holds, but not those of masks."""
        for elements in [one for one in some if one.input not in self._masks]:
            for is_high in (False, True):
                if self._runs.is_budget_spent:
                    return condition
                condition = self._moved(condition, elements, is_high)
        return condition

    def _split(self, condition: Assumption) -> Assumption:
        """Drop lower bounds of dimensions below which the rest of the condition suffices, too.

        A mean over no elements is another case than one over some: what is proved of each need not be provable of both at once.
        """
        for dim, (low, high) in list(condition.dims.items()):
            least = self._runs.unconditional.algebra.sizes.of(dim)[0]
            if self._runs.is_budget_spent or least >= low or dim in condition.same:
                continue
            if self._suffices(replace(condition, dims={**condition.dims, dim: (least, low - 1)})):
                others = {other: bounds for other, bounds in condition.dims.items() if other != dim}
                condition = replace(condition, dims=others if high == inf else {**others, dim: (least, high)})
        return condition

    def _suffices(self, condition: Assumption) -> bool:
        return self._runs.prove(condition, self._site)

    def _reduced(self, condition: Assumption) -> Assumption:
        """Drop bounds that are not needed: for each kind of bound first all at once, then one by one."""
        for part in ("same", "limits", "dims", "inputs"):
            if part == "dims":
                condition = self._without_replaced(condition)
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

    def _ordered(self, condition: Assumption) -> Assumption:
        """Weaken equalities of two dimensions to inequalities, in one direction or the other."""
        for dim, same in condition.same.items():
            if self._runs.is_budget_spent or len(same.symbols) != 1 or same != Polynomial.symbol(*same.symbols):
                continue
            pairs = permutations((dim, *same.symbols))
            weaker = (_with_inequality(condition, dim, larger, smaller) for larger, smaller in pairs)
            condition = next(filter(self._suffices, weaker), condition)
        return condition

    def _without_replaced(self, condition: Assumption) -> Assumption:
        """Drop the bounds of dimensions that others replace."""
        dims = {dim: bounds for dim, bounds in condition.dims.items() if dim not in condition.same}
        candidate = replace(condition, dims=dims)
        return candidate if len(dims) < len(condition.dims) and self._suffices(candidate) else condition

    def _moved(self, condition: Assumption, elements: Elements, is_high: bool) -> Assumption:
        """Move a numeric bound of the elements of an input outwards."""
        interval = condition.inputs[elements]
        start = interval.high if is_high else interval.low
        if abs(start) in (FINITE, inf) or (interval.highs if is_high else interval.lows):
            return condition
        sign = 1 if is_high else -1

        def at(bound: Number) -> Assumption:
            tried = replace(interval, high=sign * bound) if is_high else replace(interval, low=sign * bound)
            return replace(condition, inputs={**condition.inputs, elements: tried})

        return self._farthest(at, int(sign * start), LIMIT)

    def _smaller(self, condition: Assumption, dim: Symbol) -> Assumption:
        """Find the least lower bound of a dimension, by doubling first: it is usually small."""
        low, high = condition.dims[dim]

        def of(size: int) -> Assumption:
            return replace(condition, dims={**condition.dims, dim: (size, high)})

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

    def _larger(self, condition: Assumption, dim: Symbol) -> Assumption:
        """Find the greatest upper bound of a dimension."""
        low, high = condition.dims[dim]
        if high == inf:
            return condition

        def at(bound: Number) -> Assumption:
            return replace(condition, dims={**condition.dims, dim: (low, bound)})

        return self._farthest(at, int(high), LARGEST_DIM)

    def _wider(self, condition: Assumption, product: Polynomial) -> Assumption:
        """Find the greatest limit of a product of dimensions."""

        def at(bound: Number) -> Assumption:
            return replace(condition, limits={**condition.limits, product: int(min(bound, LARGEST_SIZE))})

        return self._farthest(at, condition.limits[product], LARGEST_SIZE + 1)

    def _farthest(self, at: Callable[[Number], Assumption], start: int, limit: int) -> Assumption:
        """Move a bound outwards from `start` as far as the proof holds: to infinity, a power of two, or exactly.

        Bounds beyond `EXACT` are powers of two up to `limit`, unless `start` is beyond them.
        """
        if not self._suffices(at(start + 1)):  # first, because most bounds are the farthest already
            return at(start)
        for room in self._runs.rooms(at(start), self._site):  # the index moves as far as the bound, unless it is scaled
            end = start + room
            if end < EXACT - 1 and not self._suffices(at(end + 1)) and self._suffices(at(end)):
                return at(end)
        if self._suffices(at(inf)):
            return at(inf)
        powers = [1 << power for power in range(EXACT.bit_length() - 1, limit.bit_length()) if 1 << power > start]
        count = _count(powers, lambda bound: self._suffices(at(bound)))
        if count or start >= EXACT:
            return at(powers[count - 1] if count else start)
        steps = [start + (1 << power) for power in range(EXACT.bit_length()) if start + (1 << power) < EXACT]
        count = _count(steps, lambda bound: self._suffices(at(bound)))
        good, bad = (steps[count - 1] if count else start), (steps[count] if count < len(steps) else EXACT)
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if self._suffices(at(middle)) else (good, middle)
        return at(good)


def _with_inequality(condition: Assumption, equal: Symbol, larger: Symbol, smaller: Symbol) -> Assumption:
    """Return the condition with `larger >= smaller` instead of a substitute for `equal`; bounds of both bound the smaller."""
    same = {dim: other for dim, other in condition.same.items() if dim != equal}
    dims = {dim: bounds for dim, bounds in condition.dims.items() if dim not in (larger, smaller)}
    bounds = [condition.dims[dim] for dim in (larger, smaller) if dim in condition.dims]
    if bounds:
        dims[smaller] = max(low for low, _ in bounds), min(high for _, high in bounds)
    return replace(condition, same={**same, larger: Polynomial.symbol(smaller) + slack_of(larger)}, dims=dims)


def _with_part(condition: Assumption, part: str, bounds: Mapping[Any, Any]) -> Assumption:
    changed: dict[str, Any] = {part: bounds}
    return replace(condition, **changed)


def _count(bounds: Sequence[int], holds: Callable[[int], bool]) -> int:
    """Return how many of the ascending bounds satisfy a monotone predicate, with few calls if none or few do."""
    good, step = 0, 1
    while good < len(bounds) and holds(bounds[min(good + step, len(bounds)) - 1]):
        good, step = min(good + step, len(bounds)), 2 * step
    bad = min(good + step, len(bounds)) if good < len(bounds) else good + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(bounds[middle - 1]) else (good, middle)
    return good
