"""A condition says for which inputs and sizes the indices of a site are in bounds: guessed from symbols, and then proved."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from math import inf

from ov_gather.ranges.algebra.intervals import TRUTH, Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.values import every_value, is_integer
from ov_gather.ranges.analysis import Analysis, Assumption, Outcome, analyse, steps_to
from ov_gather.ranges.graph import Graph, Key, Step
from ov_gather.ranges.inequalities import is_open_dim, names_of, solve_all
from ov_gather.ranges.rules.call import Semantics
from ov_gather.ranges.sites import Obstacle, Site

_LIMIT = 2**31
_RECENT = 4
"""So many of the conditions that were found last are tried first."""
LARGE = 4096
"""Open dimensions are first taken for so large at least, and then for as small as a proof allows."""
FINITE = 3.4028234663852886e38
"""The greatest number of 32 bits. What is beyond, and NaN, becomes any integer."""


class Conditions:
    """Conditions are searched for each site of a graph. What is guessed for all sites is analysed once.

    Args:
        graph: the graph.
        semantics: what the runtime does.
        given: what holds anyway.
        steps: what leads to the sites that are asked for.
    """

    def __init__(self, graph: Graph, semantics: Semantics, given: Assumption, steps: Sequence[Step]) -> None:
        self._graph, self._semantics, self._given = graph, semantics, given
        self._runs = Runs(graph, semantics, given, steps)
        self._found: dict[Hashable, Assumption | None] = {}
        self._known: list[Assumption] = []
        self._of_outputs: dict[Key, Assumption] = {}

    def weakest(self, site: Site) -> Assumption | None:
        """Find what inputs and open dimensions have to keep to, so that every index is in bounds; None if not found.

        The condition that comes back was proved to suffice, by another run of the analysis. It is the weakest one as far as
        the analysis can tell: nothing in it can be left out, and no bound can be moved by one.
        """
        wanted = self._runs.under(Assumption()).demands(site)
        if isinstance(wanted, Obstacle):
            return None
        key = (site.indices, tuple((demand.size, demand.counts_from_end) for demand in wanted))
        if key not in self._found:
            found = self._found[key] = self._search(site)
            if found is not None and found not in self._known:
                self._known.append(found)
        found = self._found[key]
        if found is not None and site.output is not None:
            self._of_outputs[site.output] = found
        return found

    def _search(self, site: Site) -> Assumption | None:
        steps = steps_to(self._graph, [site])
        own = Runs(self._graph, self._semantics, self._given, steps)
        weakening = Weakening(self._graph, own, site)
        for known in self._known[-_RECENT:]:
            if self._runs.prove(known, site):  # because many sites of a model need the same
                return weakening.run(known)
        for runs, sizes in ((self._runs, self._sizes(1)), (own, self._before(steps)), (self._runs, self._same_sizes(LARGE))):
            elements = (dict.fromkeys(self._graph.inputs, Interval(element, element)) for element in (0, 1))
            # Where elements that are known do not help, nothing does.
            if not any(runs.prove(joined(sizes, Assumption(inputs)), site) for inputs in elements):
                continue
            for guess in self._guesses(runs, site, sizes):
                if runs.prove(guess, site):
                    return weakening.run(guess)
        return None

    def _before(self, steps: Sequence[Step]) -> Assumption:
        """Join the conditions of the sites on the way to a site."""
        conditions = (self._of_outputs[output] for step in steps for output in step.outputs if output in self._of_outputs)
        return reduce(joined, conditions, Assumption())

    def _guesses(self, runs: Runs, site: Site, sizes: Assumption) -> Iterator[Assumption]:
        inputs = self._graph.inputs
        yield sizes
        yield joined(sizes, Assumption({name: Interval(-FINITE, FINITE) for name in inputs if self._is_real(name)}))
        exact = self._semantics.exact_integers
        bounds = {name: FINITE if self._is_real(name) else exact for name in inputs}
        yield joined(sizes, Assumption({name: Interval(-bound, bound) for name, bound in bounds.items()}))
        symbols = {name: self._symbolic(name) for name in inputs}
        dims = {**sizes.dims, **{bound: (-_LIMIT, _LIMIT) for name in symbols for bound in names_of(name)}}
        seen = runs.under(Assumption(symbols, dims, sizes.same))
        wanted = seen.demands(site)
        if isinstance(wanted, Obstacle):
            return
        found = solve_all(seen.algebra, wanted, sizes)
        if found is not None:
            yield found
            if sizes.dims:
                yield joined(found, self._sizes(1))
        for demand in wanted:
            if not all(map(is_open_dim, demand.size.names)):
                continue
            inside = Algebra().between(demand.lowest, demand.size - 1)
            yield replace(sizes, inputs=dict.fromkeys(inputs, inside))
            yield replace(sizes, inputs=dict.fromkeys(inputs, replace(inside, low=0, lows=())))
        yield replace(sizes, inputs=dict.fromkeys(inputs, TRUTH))

    def _sizes(self, least: int) -> Assumption:
        """Assume of each open dimension of an input that it has some elements at least."""
        found = {}
        for name in self._open_dims():
            low, high = self._given.dims.get(name) or self._graph.bounds[name]
            if low < least <= high:
                found[name] = (least, high)
        return Assumption(dims=found)

    def _same_sizes(self, least: int) -> Assumption:
        """Assume also that open dimensions of inputs are the same where they are those of the same axis."""
        first: dict[int, str] = {}
        same = {}
        for key in self._graph.inputs.values():
            for axis, dim in enumerate(self._graph.declared(key).shape or ()):
                for name in dim.names - {first.setdefault(axis, name) for name in dim.names}:
                    same[name] = Polynomial.name(first[axis])
        return replace(self._sizes(least), same=same)

    def _open_dims(self) -> Iterator[str]:
        for key in self._graph.inputs.values():
            for dim in self._graph.declared(key).shape or ():
                yield from dim.names

    def _is_real(self, name: str) -> bool:
        return not is_integer(self._graph.declared(self._graph.inputs[name]).element_type)

    def _symbolic(self, name: str) -> Interval:
        """Name the least and the greatest element of an input."""
        declared = self._graph.declared(self._graph.inputs[name])
        known = Interval() if self._is_real(name) else every_value(declared.element_type)
        low, high = (Polynomial.name(bound) for bound in names_of(name))
        return Interval(max(known.low, -_LIMIT), min(known.high, _LIMIT - 1), (low,), (high,))


def joined(one: Assumption, other: Assumption) -> Assumption:
    """Take both for granted."""
    inputs, dims = {**one.inputs}, {**one.dims}
    for name, interval in other.inputs.items():
        inputs[name] = interval if name not in inputs else Algebra().both(interval, inputs[name])
    for name, (low, high) in other.dims.items():
        least, greatest = dims.get(name, (0, inf))
        dims[name] = (max(low, least), min(high, greatest))
    return Assumption(inputs, dims, {**one.same, **other.same})


class Runs:
    """Some steps of a graph are analysed under conditions, under each of them once."""

    def __init__(self, graph: Graph, semantics: Semantics, given: Assumption, steps: Sequence[Step]) -> None:
        self._graph, self._semantics, self._given, self.steps = graph, semantics, given, steps
        self._seen: dict[Hashable, Analysis] = {}

    def under(self, condition: Assumption) -> Analysis:
        """Give what is known under a condition."""
        key = tuple(tuple(sorted(part.items(), key=str)) for part in (condition.inputs, condition.dims, condition.same))
        if key not in self._seen:
            self._seen[key] = analyse(self._graph, self.steps, self._semantics, joined(self._given, condition))
        return self._seen[key]

    def prove(self, condition: Assumption, site: Site) -> bool:
        """Whether every index of a site is in bounds under a condition."""
        return self.under(condition).outcome(site) is Outcome.IN_BOUNDS


class Weakening:
    """A Weakening takes from a condition of a site what is not needed."""

    def __init__(self, graph: Graph, runs: Runs, site: Site) -> None:
        self._runs, self._site = runs, site
        leaves = {key for step in runs.steps for key in step.inputs} | {site.indices}
        self._inputs = [name for name, key in graph.inputs.items() if key in leaves]

    def run(self, condition: Assumption) -> Assumption:
        """Leave out what can be left out, and move each bound as far as it goes."""
        inputs = {name: interval for name, interval in condition.inputs.items() if name in self._inputs}
        condition = self._reduced(replace(condition, inputs=inputs))
        for name in condition.inputs:
            for is_high in (False, True):
                condition = self._moved(condition, name, is_high)
        for name in condition.dims:
            condition = self._smaller(condition, name)
        return condition

    def _suffices(self, condition: Assumption) -> bool:
        return self._runs.prove(condition, self._site)

    def _reduced(self, condition: Assumption) -> Assumption:
        """Leave out what is not needed: at first all sizes, or all inputs, and then one by one."""
        for part in ("same", "dims", "inputs"):
            without = replace(condition, **{part: {}})
            if getattr(condition, part) and self._suffices(without):
                condition = without
            for name in list(getattr(condition, part)):
                smaller = {other: bounds for other, bounds in getattr(condition, part).items() if other != name}
                candidate = replace(condition, **{part: smaller})
                if smaller and self._suffices(candidate):
                    condition = candidate
        return condition

    def _moved(self, condition: Assumption, name: str, is_high: bool) -> Assumption:
        """Move a number that bounds the elements of an input."""
        interval = condition.inputs[name]
        start = interval.high if is_high else interval.low
        if start == FINITE or abs(start) == inf or (interval.highs if is_high else interval.lows):
            return condition
        sign = 1 if is_high else -1

        def moved(distance: Number) -> Assumption:
            bound = start + sign * distance
            tried = replace(interval, high=bound) if is_high else replace(interval, low=bound)
            return replace(condition, inputs={**condition.inputs, name: tried})

        if self._suffices(moved(inf)):
            return moved(inf)
        return moved(_farthest(lambda distance: self._suffices(moved(distance)), _LIMIT - 1 - abs(int(start))))

    def _smaller(self, condition: Assumption, name: str) -> Assumption:
        """Find the least size of a dimension, which is small in most cases."""
        low, high = condition.dims[name]

        def of(size: int) -> Assumption:
            return replace(condition, dims={**condition.dims, name: (size, high)})

        if low > 1 and not self._suffices(of(low - 1)):
            return condition
        enough, too_small = 1, 0
        while enough < low and not self._suffices(of(enough)):
            too_small, enough = enough, 2 * enough
        enough = min(enough, low)
        while enough - too_small > 1:
            middle = (too_small + enough) // 2
            too_small, enough = (too_small, middle) if self._suffices(of(middle)) else (middle, enough)
        return of(enough)


def _farthest(holds: Callable[[int], bool], limit: int) -> int:
    """Find the greatest distance up to which something holds; it does at 0."""
    step = 1
    while step < limit and holds(step):
        step *= 2
    good, bad = step // 2, min(step, limit + 1)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good
