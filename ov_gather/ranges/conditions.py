"""Conditions: bounds of inputs and sizes under which the indices of a site are in bounds. They are guessed, then proved."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from math import inf

from ov_gather.graph.protocol import Key
from ov_gather.graph.symbols import OfInputs, Symbol
from ov_gather.ir.element_types import BOOLEAN, ElementType
from ov_gather.ranges.algebra.intervals import TRUTH, Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.symbols import Elements
from ov_gather.ranges.algebra.values import every_value, is_integer
from ov_gather.ranges.analysis import Assumption
from ov_gather.ranges.cuts import is_all_of
from ov_gather.ranges.examples import Premises
from ov_gather.ranges.feasibility import can_be_met, limits_of
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.inequalities import FINITE, extremes_of, solve_all
from ov_gather.ranges.rules.call import Semantics
from ov_gather.ranges.runs import AnalysisCache, joined, key_of
from ov_gather.ranges.sites import BoundsCheck, Obstacle, Site
from ov_gather.ranges.weakening import LIMIT, Weakening

_RECENT = 4
"""Number of conditions found last that are tried first."""
_ROUNDS = 3
"""Rounds of deriving limits: an operand that fits in one round may overflow its consumer in the next."""
_MET = 0.5
"""Share of typical requests that a condition should admit. If it admits fewer, others are searched, too."""
_SEARCHED = 3
"""Number of incomparable conditions of a site that are compared."""
LARGE = 4096
"""Lower bound of dynamic dimensions in a guess; weakening then lowers it."""
SMALL = 8
"""Least lower bound of dynamic dimensions in a guess that tensors of these sizes can exist."""
BOXES = ((64, 4096), (16, 512), (8, 8))
"""Upper bounds of sizes in guesses, along the first axis and along all others, in case larger integers overflow."""
POINT = (2, 64)
"""Sizes in a guess, along the first axis and along all others, in case the proof holds between some sizes only."""


@dataclass(frozen=True)
class SiteCondition:
    """The condition of a site.

    Attributes:
        condition: the premises under which every index is in bounds.
        alternatives: other conditions that suffice, which admit fewer of the typical requests.
    """

    condition: Assumption
    alternatives: tuple[Assumption, ...] = ()


class Conditions:
    """The search for the weakest condition of each site, on top of the premises `given`. Guesses are shared by all sites."""

    def __init__(self, graph: AnalysedGraph, semantics: Semantics, given: Assumption, runs: AnalysisCache) -> None:
        self._graph, self._semantics, self._given, self._runs = graph, semantics, given, runs
        self.premises = Premises(graph, given, runs.unconditional.counts)
        self._masks = {name for name in graph.inputs if self._is_mask(Elements(name))}
        self._found: dict[Hashable, SiteCondition | None] = {}
        self._known: dict[Hashable, Assumption] = {}
        self._of_outputs: dict[Key, Assumption] = {}

    def weakest(self, site: Site) -> SiteCondition | None:
        """Return bounds of inputs and dynamic dimensions under which every index is in bounds; None if none was found.

        The result is proved to suffice, and an example meets it. Each bound that can be dropped is dropped, and others are
        moved until the proof fails, unless the budget of steps runs out. An empty condition holds for every input.
        """
        wanted = self._runs.around(site).demands(site)
        if isinstance(wanted, Obstacle) or site.lenient:
            return None
        implied = key_of(self._runs.implied(site))  # the condition may suffice beside this alone
        key = (site.indices, implied, tuple((demand.size, demand.counts_from_end) for demand in wanted))
        if key not in self._found:
            found = self._found[key] = self._search(site)
            if found is not None:
                self._known.setdefault(key_of(found.condition), found.condition)
        found = self._found[key]
        if found is not None and site.output is not None:
            self._of_outputs[site.output] = found.condition
        return found

    def _search(self, site: Site) -> SiteCondition | None:
        if self._runs.is_budget_spent:
            return next((SiteCondition(known) for known in self._recent(site) if self._runs.prove(known, site)), None)
        found: list[Assumption] = []
        for guess in self._proved(site):
            if any(_implies(guess, other) for other in found) or self._is_of_one_size(guess, site):
                continue
            weakest = self._with_both_bounds(self._of_parts(Weakening(self._runs, site, self._masks).run(guess), site))
            share = self.premises.share(weakest)
            is_pinned = share < _MET and any(low == high for low, high in guess.dims.values())
            if weakest not in found and not is_pinned and self.premises.example([weakest]) is not None:
                found.append(weakest)
            if found and (len(found) == _SEARCHED or share >= _MET):
                break
        best = sorted(found, key=lambda one: (-self.premises.share(one), _count(one))) if len(found) > 1 else found
        return SiteCondition(best[0], tuple(best[1:])) if best else None

    def _of_parts(self, condition: Assumption, site: Site) -> Assumption:
        """Bound only the parts of inputs that a site reads, each as little as possible, if they are not all that there is."""
        for elements, interval in condition.inputs.items():
            parts = [] if elements.spans else self._runs.parts_of(site, elements.input)
            if not parts or self._runs.is_budget_spent:
                continue
            others = {one: bounds for one, bounds in condition.inputs.items() if one != elements}
            candidate = replace(condition, inputs={**others, **dict.fromkeys(parts, interval)})
            if not self._runs.prove(candidate, site):
                continue
            if len(parts) > 1:
                candidate = Weakening(self._runs, site, self._masks).with_moved(candidate, parts)
            are_alike = len({candidate.inputs[part] for part in parts}) == 1
            if not are_alike or not is_all_of(parts, self._graph.declared(self._graph.inputs[elements.input]).shape):
                condition = candidate
        return condition

    def _is_of_one_size(self, guess: Assumption, site: Site) -> bool:
        """Return True if a guess pins sizes, and suffices for none larger or smaller by 1: too few requests meet it."""
        pinned = {symbol: low for symbol, (low, high) in guess.dims.items() if low == high}
        moved = ({symbol: (size + step, size + step) for symbol, size in pinned.items()} for step in (1, -1))
        return bool(pinned) and not any(self._runs.prove(replace(guess, dims={**guess.dims, **dims}), site) for dims in moved)

    def _with_both_bounds(self, condition: Assumption) -> Assumption:
        """Bound inputs that are wider than the runtime's integers on both sides, because values beyond wrap around."""
        inputs = dict(condition.inputs)
        for elements, interval in inputs.items():
            element_type = self._type_of(elements)
            given, kept = every_value(element_type), self._semantics.widest(element_type)
            known = self._given.inputs.get(Elements(elements.input), Interval())
            if given.low < kept.low and known.low == -inf and not (interval.lows or known.lows):
                interval = replace(interval, low=max(interval.low, kept.low))
            if given.high > kept.high and known.high == inf and not (interval.highs or known.highs):
                interval = replace(interval, high=min(interval.high, kept.high))
            inputs[elements] = interval
        return replace(condition, inputs=inputs)

    def _proved(self, site: Site) -> Iterator[Assumption]:
        """Yield satisfiable guesses that suffice, as they are or with limits of sizes under which nothing wraps around."""
        tried: set[Hashable] = set()
        for guess in self._all_guesses(site):
            for _ in range(_ROUNDS):
                if key_of(guess) in tried or not self._can_be_met(guess):
                    break
                tried.add(key_of(guess))
                if self._runs.prove(guess, site):
                    yield guess
                    break
                guess = joined(guess, limits_of(self._runs.overflows(guess, site), self._runs.part_of(site).dims))

    def _can_be_met(self, condition: Assumption) -> bool:
        return can_be_met(condition, self._given, self._graph, self._runs.unconditional.counts)

    def _all_guesses(self, site: Site) -> Iterator[Assumption]:
        yield from self._recent(site)  # sites of a model often share a condition
        yield self._sizes(site, 1)
        yield from self._solved(site, Assumption())
        elements = [dict.fromkeys(self._runs.part_of(site).inputs, Interval(element, element)) for element in (0, 1)]
        filled = self._sizes(site, 1)  # remainders by a size of 0 are unknown, whatever the inputs are
        matter = self._demands(site, joined(filled, Assumption(elements[0]))) != self._demands(site, filled)
        for sizes in self._all_sizes(site):
            yield sizes
            # If inputs of all zeros or ones do not suffice, no other bounds do.
            if matter and any(self._runs.prove(joined(sizes, Assumption(inputs)), site) for inputs in elements):
                yield from self._guesses(site, sizes)

    def _demands(self, site: Site, condition: Assumption) -> list[BoundsCheck]:
        wanted = self._runs.under(joined(self._runs.implied(site), condition), site).demands(site)
        return [] if isinstance(wanted, Obstacle) else wanted

    def _recent(self, site: Site) -> list[Assumption]:
        """Return the last conditions on the inputs and dimensions that the site depends on, those with few bounds first."""
        part = self._runs.part_of(site)
        names, inputs = {*part.dims}, {*part.inputs}
        recent = islice(reversed(self._known.values()), _RECENT)
        usable = [one for one in recent if names.issuperset((*one.dims, *one.same)) and inputs.issuperset(one.inputs)]
        return sorted(usable, key=_count)

    def _all_sizes(self, site: Site) -> Iterator[Assumption]:
        yield self._sizes(site, 1)
        yield self._before(site)
        yield self._large_sizes(site)
        yield from (self._between(site, 1, box) for box in BOXES)
        yield self._between(site, None, POINT)

    def _between(self, site: Site, least: int | None, most: tuple[int, int]) -> Assumption:
        """Bound dimensions along the first axis, and all others, from above; from below by the same if `least` is None."""
        found = {}
        for dim in self._runs.part_of(site).dims:
            low, high = self._given.dims.get(dim) or self._graph.bounds[dim]
            size = most[0] if dim.is_first else most[1]
            if low <= size <= high:
                found[dim] = (size if least is None else max(low, least), size)
        return replace(self._same_sizes(site, 1), dims=found) if least else Assumption(dims=found)

    def _large_sizes(self, site: Site) -> Assumption:
        """Assume sizes of at least `LARGE`, halved until tensors of these sizes can exist."""
        least = LARGE
        while least > SMALL and not self._can_be_met(self._same_sizes(site, least)):
            least //= 2
        return self._same_sizes(site, least)

    def _before(self, site: Site) -> Assumption:
        """Combine the conditions of the sites that feed this one."""
        steps = self._runs.steps_to(site)
        conditions = [self._of_outputs[output] for step in steps for output in step.outputs if output in self._of_outputs]
        return reduce(joined, {id(condition): condition for condition in conditions}.values(), Assumption())

    def _guesses(self, site: Site, sizes: Assumption) -> Iterator[Assumption]:
        inputs = self._runs.part_of(site).inputs
        yield joined(sizes, Assumption({one: Interval(-FINITE, FINITE) for one in inputs if self._is_real(one)}))
        exact = self._semantics.exact_integers
        bounds = {one: FINITE if self._is_real(one) else exact for one in inputs}
        yield joined(sizes, Assumption({one: Interval(-bound, bound) for one, bound in bounds.items()}))
        masks = Assumption({one: TRUTH for one in inputs if one.input in self._masks})
        for assumed in [sizes, *([joined(sizes, masks)] if masks.inputs else [])]:
            for found in self._solved(site, assumed):
                yield found
                if sizes.dims:
                    yield joined(found, self._sizes(site, 1))
        for demand in self._demands(site, sizes):
            if not all(isinstance(symbol, OfInputs) for symbol in demand.size.symbols):
                continue
            inside = Algebra().between(demand.lowest, demand.size - 1)
            yield replace(sizes, inputs=dict.fromkeys(inputs, inside))
            yield replace(sizes, inputs=dict.fromkeys(inputs, replace(inside, low=0, lows=())))
        yield replace(sizes, inputs=dict.fromkeys(inputs, TRUTH))

    def _solved(self, site: Site, sizes: Assumption) -> Iterator[Assumption]:
        """Bound other inputs than those in `sizes` by symbols; solve the bounds checks for the symbols and for dimensions."""
        symbols = {one: self._symbolic(one) for one in self._runs.part_of(site).inputs if one not in sizes.inputs}
        bounds: dict[Symbol, tuple[int, Number]] = {end: (-LIMIT, LIMIT) for one in symbols for end in extremes_of(one)}
        assumed = Assumption({**symbols, **sizes.inputs}, {**sizes.dims, **bounds}, sizes.same, sizes.limits, fits=True)
        seen = self._runs.under(joined(self._runs.implied(site), assumed), site)
        wanted = seen.demands(site)
        found = None if isinstance(wanted, Obstacle) else solve_all(seen.algebra, wanted, sizes)
        if found is not None:
            yield found

    def _sizes(self, site: Site, least: int) -> Assumption:
        """Bound the dynamic dimensions of inputs from below."""
        found = {}
        for dim in self._runs.part_of(site).dims:
            low, high = self._given.dims.get(dim) or self._graph.bounds[dim]
            if low < least <= high:
                found[dim] = (least, high)
        return Assumption(dims=found)

    def _same_sizes(self, site: Site, least: int) -> Assumption:
        """Assume also that dynamic dimensions of inputs at the same axis are equal."""
        first: dict[int, Symbol] = {}
        same = {}
        for key in self._runs.part_of(site).shaping:
            for axis, dim in enumerate(self._graph.declared(key).shape or ()):
                for symbol in dim.symbols - {first.setdefault(axis, one) for one in dim.symbols}:
                    same[symbol] = Polynomial.symbol(first[axis])
        return replace(self._sizes(site, least), same=same)

    def _is_mask(self, elements: Elements) -> bool:
        """Return True if an input is boolean or a mask by its name: 0 and 1 are then all that it means."""
        return self._type_of(elements) is BOOLEAN or ("mask" in elements.input.lower() and not self._is_real(elements))

    def _is_real(self, elements: Elements) -> bool:
        return not is_integer(self._type_of(elements))

    def _type_of(self, elements: Elements) -> ElementType | None:
        return self._graph.declared(self._graph.inputs[elements.input]).element_type

    def _symbolic(self, elements: Elements) -> Interval:
        """Bound some elements by one symbol on each side."""
        known = Interval() if self._is_real(elements) else every_value(self._type_of(elements))
        low, high = (Polynomial.symbol(bound) for bound in extremes_of(elements))
        return Interval(max(known.low, -LIMIT), min(known.high, LIMIT - 1), (low,), (high,))


def _implies(one: Assumption, other: Assumption) -> bool:
    """Return True if a condition has each bound of another one, or a tighter number."""
    return (
        all(key in one.inputs and _is_within(one.inputs[key], interval) for key, interval in other.inputs.items())
        and all(dim in one.dims and _is_inside(one.dims[dim], pair) for dim, pair in other.dims.items())
        and other.same.items() <= one.same.items()
        and all(limited in one.limits and one.limits[limited] <= bound for limited, bound in other.limits.items())
    )


def _is_within(one: Interval, other: Interval) -> bool:
    has_bounds = set(other.lows) <= set(one.lows) and set(other.highs) <= set(one.highs)
    return has_bounds and _is_inside((one.low, one.high), (other.low, other.high))


def _is_inside(one: tuple[Number, Number], other: tuple[Number, Number]) -> bool:
    return other[0] <= one[0] and one[1] <= other[1]


def _count(condition: Assumption) -> int:
    """Return the number of bounds, by which conditions of the same use are compared."""
    return len(condition.inputs) + len(condition.dims) + len(condition.same) + len(condition.limits)
