"""Cached analyses of a graph under conditions; they share results, and grow with the sites that need them."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from math import inf

from ov_gather.graph.protocol import Key, Node
from ov_gather.graph.symbols import OfInputs, Symbol
from ov_gather.ranges.algebra.intervals import Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.sizes import Sizes
from ov_gather.ranges.algebra.symbols import Elements
from ov_gather.ranges.analysis import Analysis, Assumption, analyse, steps_to
from ov_gather.ranges.choices import filled_with
from ov_gather.ranges.dependencies import InputDependencies, SitePart
from ov_gather.ranges.doubts import is_after_broadcast, may_be_left
from ov_gather.ranges.fitting import Overflow
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.rules.call import Semantics
from ov_gather.ranges.sites import BoundsCheck, Obstacle, Site

_REMEMBERED = 256
"""Number of the latest conditions whose analyses are kept."""
ENOUGH, ENOUGH_OF_EACH = 530_000, 6
"""Budget of visited steps to search conditions: `ENOUGH`, plus `ENOUGH_OF_EACH` per visit of the first run, site and input."""


class AnalysisCache:
    """Analyses of the sites of a graph, each under a condition on top of the premises `given`.

    The first analysis, without a condition, is that of all sites; any other one covers the sites that were asked for.
    """

    def __init__(self, graph: AnalysedGraph, semantics: Semantics, given: Assumption, sites: Sequence[Site]) -> None:
        self._graph, self._semantics, self._given = graph, semantics, given
        steps = steps_to(graph, sites)
        self._outputs = {key for step in steps for key in step.outputs}
        self._dependencies = InputDependencies(graph, steps)
        self._part: tuple[Site | None, SitePart] = None, SitePart([], [], [])
        self._steps: tuple[Site | None, list[Node]] = None, []
        self._implied: dict[Site, Assumption] = {}
        self._seen: dict[Hashable, Analysis] = {}
        self.unconditional = analyse(graph, steps, semantics, given)
        self._spent = visits = self.unconditional.solver.visits
        self._enough = ENOUGH + ENOUGH_OF_EACH * (len(sites) + len(graph.inputs) + visits)

    @property
    def is_budget_spent(self) -> bool:
        """Return True if the budget of steps is spent, as in a model of very many sites; the search for conditions ends."""
        return self._spent > self._enough

    def under(self, condition: Assumption, site: Site) -> Analysis:
        """Return the analysis under a condition, grown by the steps that a site depends on."""
        if condition == Assumption():
            return self.unconditional
        key = key_of(condition)
        found = self._seen.pop(key, None) or self._started(condition)
        self._seen[key] = found  # as the latest
        if len(self._seen) > _REMEMBERED:
            self._seen.pop(next(iter(self._seen)))
        evaluated = found.solver.evaluated  # empty if the analysis is new
        steps = steps_to(self._graph, [site], without=evaluated) if evaluated else self.steps_to(site)
        self._spent += found.grow(steps)
        return found

    def _started(self, condition: Assumption) -> Analysis:
        """Start an analysis under a condition."""
        self._spent += 1 + len(condition.inputs) + len(condition.dims)
        return analyse(self._graph, [], self._semantics, joined(self._given, condition), self.unconditional)

    def around(self, site: Site) -> Analysis:
        """Return the analysis that assumes that the site has an index; the unconditional one if the budget is spent."""
        implied = self.implied(site)
        if self._spent > 2 * self._enough and key_of(implied) not in self._seen:
            return self.unconditional
        return self.under(implied, site)

    def implied(self, site: Site) -> Assumption:
        """Return the bounds of input dimensions that follow from the site having an index."""
        if site not in self._implied:
            known = self.unconditional
            filled = filled_with(self._graph, site.indices)
            if self._may_be_left(site.indices):
                filled = [key for key in filled if not is_after_broadcast(self._graph, key)]
            dims = [dim for key in filled for dim in known.value(key).shape or ()]
            dims += self._beside(site)
            sizes = known.algebra.sizes
            symbols = {one for dim in dims if len(dim.terms) == 1 for one in dim.symbols if isinstance(one, OfInputs)}
            may_be_empty = [one for one in sorted(symbols) if sizes.of(one)[0] < 1 <= sizes.of(one)[1]]
            self._implied[site] = Assumption(dims={one: (1, sizes.of(one)[1]) for one in may_be_empty})
        return self._implied[site]

    def _beside(self, site: Site) -> list[Polynomial]:
        """Return the dimensions of data off the axis of GatherElements-6, which are those of the indices."""
        shape = self.unconditional.value(site.data).shape
        if site.type != "GatherElements" or not isinstance(site.axis, int) or shape is None or site.may_broadcast:
            return []
        if self._may_be_left(site.indices) or self._may_be_left(site.data):
            return []
        return [dim for axis, dim in enumerate(shape) if axis != site.axis % len(shape)]

    def _may_be_left(self, key: Key) -> bool:
        return self._semantics.reads_out_of_bounds and may_be_left(self._graph, key)

    def part_of(self, site: Site) -> SitePart:
        """Return the inputs that may matter to a site. Only those of the last site are cached."""
        if self._part[0] is not site:
            self._part = site, self._dependencies.part_of(site, self.unconditional)
        return self._part[1]

    def parts_of(self, site: Site, name: str) -> list[Elements]:
        """Return the parts of an input that a site reads; none if it reads all of it."""
        return self._dependencies.parts_of(site, name)

    def steps_to(self, site: Site) -> list[Node]:
        """Return the steps that a site depends on. Only those of the last site are cached."""
        if self._steps[0] is not site:
            self._steps = site, steps_to(self._graph, [site])
            self._spent += len(self._steps[1])
        return self._steps[1]

    def prove(self, condition: Assumption, site: Site) -> bool:
        """Return True if every index of the site is in bounds under the condition; False if not, or if the budget is spent."""
        is_about_sizes = condition.dims or condition.same or condition.limits
        if is_about_sizes and self.follows(condition, site):
            return True
        condition = joined(self.implied(site), condition)
        if self.is_budget_spent and key_of(condition) not in self._seen:
            return False
        return self.under(condition, site).is_in_bounds(site)

    def overflows(self, condition: Assumption, site: Site) -> list[tuple[Overflow, ...]]:
        """Return the bounds that exceed the types of tensors under a condition, of those that the site depends on."""
        if self.is_budget_spent:
            return []
        condition = joined(self.implied(site), condition)
        outputs = {key for step in self.steps_to(site) for key in step.outputs}
        found = self.under(condition, site).solver.overflows
        return [exceeded for key, exceeded in found.items() if key in outputs or key not in self._outputs]

    def rooms(self, condition: Assumption, site: Site) -> list[int]:
        """Return the distances of the least and the greatest index to the ends of the axes, without 0 and open ones."""
        wanted = self.under(joined(self.implied(site), condition), site).demands(site)
        found = set()
        for demand in [] if isinstance(wanted, Obstacle) else wanted:
            size, lowest = demand.size.value, demand.lowest.value
            if size is not None and lowest is not None:
                found |= {size - 1 - demand.indices.high, demand.indices.low - lowest}
        return sorted(int(room) for room in found if 0 < room < inf)

    def follows(self, condition: Assumption, site: Site) -> bool:
        """Return True if the unconditional analysis already shows that the condition suffices."""
        known = self.around(site)
        wanted = known.demands(site)
        if isinstance(wanted, Obstacle):
            return False
        dims = joined(self.implied(site), condition).dims
        sizes = known.algebra.sizes
        limits = sizes.limits.with_conditions(condition.same, condition.limits)
        algebra = Algebra(Sizes(ChainMap({}, dict(dims), sizes.bounds), sizes.default, limits))
        return known.meets(site, [_renamed(demand, condition.same) for demand in wanted], algebra, dims)


def _renamed(demand: BoundsCheck, substitutes: Mapping[Symbol, Polynomial]) -> BoundsCheck:
    """Substitute polynomials for dimensions in a bounds check."""
    if not substitutes:
        return demand
    lows, highs = (
        tuple(bound.with_values(substitutes) for bound in bounds) for bounds in (demand.indices.lows, demand.indices.highs)
    )
    return replace(demand, size=demand.size.with_values(substitutes), indices=replace(demand.indices, lows=lows, highs=highs))


def key_of(condition: Assumption) -> Hashable:
    """Return a hashable key of a condition."""
    parts = (condition.inputs, condition.dims, condition.same, condition.limits)
    return condition.fits, *(frozenset(part.items()) for part in parts)


def joined(one: Assumption, other: Assumption) -> Assumption:
    """Return the conjunction of two assumptions."""
    if not (one.inputs or one.dims or one.same or one.limits or one.fits):
        return other
    inputs: dict[Elements, Interval] = {**one.inputs}
    dims: dict[Symbol, tuple[int, Number]] = {**one.dims}
    for elements, interval in other.inputs.items():
        inputs[elements] = interval if elements not in inputs else Algebra().meet(interval, inputs[elements])
    for dim, (low, high) in other.dims.items():
        least, greatest = dims.get(dim, (low, high))
        dims[dim] = (max(low, least), min(high, greatest))
    limits = {**one.limits, **other.limits}
    limits |= {product: min(limit, one.limits[product]) for product, limit in other.limits.items() if product in one.limits}
    return Assumption(inputs, dims, {**one.same, **other.same}, limits, one.fits or other.fits)
