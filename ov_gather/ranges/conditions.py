"""Conditions: bounds of inputs and sizes under which the indices of a site are in bounds. They are guessed, then proved."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import reduce
from itertools import islice
from math import inf

from ov_gather.ranges.algebra.intervals import TRUTH, Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.values import every_value, is_integer
from ov_gather.ranges.analysis import Assumption
from ov_gather.ranges.feasibility import can_be_met, limits_of
from ov_gather.ranges.graph import Graph, Key
from ov_gather.ranges.inequalities import FINITE, is_dynamic_dim, names_of, solve_all
from ov_gather.ranges.rules.call import Semantics
from ov_gather.ranges.runs import AnalysisCache, joined, key_of
from ov_gather.ranges.sites import Obstacle, Site
from ov_gather.ranges.weakening import LIMIT, Weakening

_RECENT = 4
"""Number of conditions found last that are tried first."""
_ROUNDS = 3
"""Rounds of deriving limits: an operand that fits in one round may overflow its consumer in the next."""
LARGE = 4096
"""Lower bound of dynamic dimensions in a guess; weakening then lowers it."""
SMALL = 8
"""Upper bound of dynamic dimensions in a guess; weakening then raises it."""


class Conditions:
    """The search for the weakest condition of each site, on top of the premises `given`. Guesses are shared by all sites."""

    def __init__(self, graph: Graph, semantics: Semantics, given: Assumption, runs: AnalysisCache) -> None:
        self._graph, self._semantics, self._given, self._runs = graph, semantics, given, runs
        self._found: dict[Hashable, Assumption | None] = {}
        self._known: dict[Hashable, Assumption] = {}
        self._of_outputs: dict[Key, Assumption] = {}

    def weakest(self, site: Site) -> Assumption | None:
        """Return bounds of inputs and dynamic dimensions under which every index is in bounds; None if none was found.

        The result is proved to suffice. Each bound that can be dropped is dropped, and others are moved until the proof fails
        (large ones to within 1/64), unless the budget of steps runs out.
        """
        wanted = self._runs.around(site).demands(site)
        if isinstance(wanted, Obstacle):
            return None
        key = (site.indices, tuple((demand.size, demand.counts_from_end) for demand in wanted))
        if key not in self._found:
            found = self._found[key] = self._search(site)
            if found is not None:
                self._known.setdefault(key_of(found), found)
        found = self._found[key]
        if found is not None and site.output is not None:
            self._of_outputs[site.output] = found
        return found

    def _search(self, site: Site) -> Assumption | None:
        if self._runs.is_budget_spent:
            return next((known for known in self._recent() if self._runs.prove(known, site)), None)
        guess = next((guess for guess in self._with_limits(site) if self._runs.prove(guess, site)), None)
        return None if guess is None else self._with_both_bounds(Weakening(self._runs, site).run(guess))

    def _with_both_bounds(self, condition: Assumption) -> Assumption:
        """Bound inputs that are wider than the runtime's integers on both sides, because values beyond wrap around."""
        inputs = dict(condition.inputs)
        for name, interval in inputs.items():
            element_type = self._graph.declared(self._graph.inputs[name]).element_type
            given, kept = every_value(element_type), self._semantics.widest(element_type)
            known = self._given.inputs.get(name, Interval())
            if given.low < kept.low and known.low == -inf and not (interval.lows or known.lows):
                interval = replace(interval, low=max(interval.low, kept.low))
            if given.high > kept.high and known.high == inf and not (interval.highs or known.highs):
                interval = replace(interval, high=min(interval.high, kept.high))
            inputs[name] = interval
        return replace(condition, inputs=inputs)

    def _with_limits(self, site: Site) -> Iterator[Assumption]:
        """Yield satisfiable guesses, each also with limits of sizes under which nothing wraps around."""
        limits = self._limits(site)
        for guess in self._all_guesses(site):
            for limited in [guess] if limits is None else [guess, joined(guess, limits)]:
                if self._can_be_met(limited):
                    yield limited

    def _can_be_met(self, condition: Assumption) -> bool:
        return can_be_met(condition, self._given, self._graph, self._runs.under(Assumption()).counts)

    def _limits(self, site: Site) -> Assumption | None:
        """Return limits of sizes under which no integer computed from sizes exceeds its type; None if none does anyway."""
        found = Assumption()
        for _ in range(_ROUNDS):
            seen = self._runs.under_for(joined(self._runs.implied(site), found), site)
            more = joined(found, limits_of(seen.solver.overflows.values(), self._runs.part_of(site).dims))
            if more == found:
                break
            found = more
        return None if found == Assumption() else found

    def _all_guesses(self, site: Site) -> Iterator[Assumption]:
        yield from self._recent()  # sites of a model often share a condition
        yield self._sizes(site, 1)
        yield from self._solved(site, Assumption())
        for sizes in self._all_sizes(site):
            elements = (dict.fromkeys(self._runs.part_of(site).inputs, Interval(element, element)) for element in (0, 1))
            # If inputs of all zeros or ones do not suffice, no other bounds do.
            if any(self._runs.prove(joined(sizes, Assumption(inputs)), site) for inputs in elements):
                yield from self._guesses(site, sizes)

    def _recent(self) -> list[Assumption]:
        return list(islice(reversed(self._known.values()), _RECENT))[::-1]

    def _all_sizes(self, site: Site) -> Iterator[Assumption]:
        yield self._sizes(site, 1)
        yield self._before(site)
        yield self._large_sizes(site)
        yield self._same_sizes(site, 1, SMALL)

    def _large_sizes(self, site: Site) -> Assumption:
        """Assume sizes of at least `LARGE`, halved until tensors of these sizes can exist."""
        least = LARGE
        while least > SMALL and not self._can_be_met(self._same_sizes(site, least)):
            least //= 2
        return self._same_sizes(site, least)

    def _before(self, site: Site) -> Assumption:
        """Combine the conditions of the sites that feed this one."""
        steps = self._runs.part_of(site).steps
        conditions = [self._of_outputs[output] for step in steps for output in step.outputs if output in self._of_outputs]
        return reduce(joined, {id(condition): condition for condition in conditions}.values(), Assumption())

    def _guesses(self, site: Site, sizes: Assumption) -> Iterator[Assumption]:
        inputs = self._runs.part_of(site).inputs
        yield sizes
        yield joined(sizes, Assumption({name: Interval(-FINITE, FINITE) for name in inputs if self._is_real(name)}))
        exact = self._semantics.exact_integers
        bounds = {name: FINITE if self._is_real(name) else exact for name in inputs}
        yield joined(sizes, Assumption({name: Interval(-bound, bound) for name, bound in bounds.items()}))
        for found in self._solved(site, sizes):
            yield found
            if sizes.dims:
                yield joined(found, self._sizes(site, 1))
        wanted = self._runs.under_for(joined(self._runs.implied(site), sizes), site).demands(site)
        for demand in [] if isinstance(wanted, Obstacle) else wanted:
            if not all(map(is_dynamic_dim, demand.size.names)):
                continue
            inside = Algebra().between(demand.lowest, demand.size - 1)
            yield replace(sizes, inputs=dict.fromkeys(inputs, inside))
            yield replace(sizes, inputs=dict.fromkeys(inputs, replace(inside, low=0, lows=())))
        yield replace(sizes, inputs=dict.fromkeys(inputs, TRUTH))

    def _solved(self, site: Site, sizes: Assumption) -> Iterator[Assumption]:
        """Bound each input by symbols, and solve the bounds checks of a site for the symbols and for dimensions."""
        symbols = {name: self._symbolic(name) for name in self._runs.part_of(site).inputs}
        dims = {**sizes.dims, **{bound: (-LIMIT, LIMIT) for name in symbols for bound in names_of(name)}}
        assumed = Assumption(symbols, dims, sizes.same, sizes.limits, fits=True)
        seen = self._runs.under_for(joined(self._runs.implied(site), assumed), site)
        wanted = seen.demands(site)
        found = None if isinstance(wanted, Obstacle) else solve_all(seen.algebra, wanted, sizes)
        if found is not None:
            yield found

    def _sizes(self, site: Site, least: int, most: Number = inf) -> Assumption:
        """Bound the dynamic dimensions of inputs from below, and from above if `most` is finite."""
        found = {}
        for name in self._runs.part_of(site).dims:
            low, high = self._given.dims.get(name) or self._graph.bounds[name]
            if low < least <= high or low <= most < high:
                found[name] = (max(low, min(least, int(min(high, LIMIT)))), min(high, max(low, most)))
        return Assumption(dims=found)

    def _same_sizes(self, site: Site, least: int, most: Number = inf) -> Assumption:
        """Assume also that dynamic dimensions of inputs at the same axis are equal."""
        first: dict[int, str] = {}
        same = {}
        for key in self._runs.part_of(site).shaping:
            for axis, dim in enumerate(self._graph.declared(key).shape or ()):
                for name in dim.names - {first.setdefault(axis, name) for name in dim.names}:
                    same[name] = Polynomial.name(first[axis])
        return replace(self._sizes(site, least, most), same=same)

    def _is_real(self, name: str) -> bool:
        return not is_integer(self._graph.declared(self._graph.inputs[name]).element_type)

    def _symbolic(self, name: str) -> Interval:
        """Bound the elements of an input by one symbol on each side."""
        declared = self._graph.declared(self._graph.inputs[name])
        known = Interval() if self._is_real(name) else every_value(declared.element_type)
        low, high = (Polynomial.name(bound) for bound in names_of(name))
        return Interval(max(known.low, -LIMIT), min(known.high, LIMIT - 1), (low,), (high,))
