"""Runs of the analysis under conditions: each of them once, and none where what is known already tells."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from math import inf

from ov_gather.ranges.algebra.intervals import Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial, Sizes
from ov_gather.ranges.analysis import Analysis, Assumption, Outcome, analyse, dims_of, steps_to
from ov_gather.ranges.graph import Graph, Key, Step
from ov_gather.ranges.inequalities import is_open_dim
from ov_gather.ranges.rules.call import Semantics
from ov_gather.ranges.sites import Demand, Obstacle, Site

_SHARE = 4
"""Less than one of so many steps of a model is gone through for one site alone."""

ENOUGH, ENOUGH_OF_EACH = 400_000, 50
"""How many steps are gone through in search of conditions, and how often each of a model; real models take a fifth of it."""


class Runs:
    """Sites of a graph are judged under conditions.

    Args:
        graph: the graph.
        semantics: what the runtime does.
        given: what holds anyway.
        sites: the sites.
    """

    def __init__(self, graph: Graph, semantics: Semantics, given: Assumption, sites: Sequence[Site]) -> None:
        self._graph, self._semantics, self._given = graph, semantics, given
        self._sites, self._steps = sites, steps_to(graph, sites)
        self._slices: dict[tuple[Key, Key], list[Step]] = {}
        self._implied: dict[Key, Assumption] = {}
        self._seen: dict[Hashable, Analysis] = {}
        self._kept: dict[int, list[Analysis]] = {}
        self._spent = 0

    @property
    def is_enough(self) -> bool:
        """Whether so many steps were gone through that no more conditions are searched, as in a model of very many sites."""
        return self._spent > ENOUGH + ENOUGH_OF_EACH * len(self._steps)

    def leave_out(self, sites: Sequence[Site]) -> None:
        """Go from now on only through what leads to other sites than these."""
        known = set(sites)
        self._sites = [site for site in self._sites if site not in known]
        self._steps = steps_to(self._graph, self._sites)

    def under(self, condition: Assumption, steps: Sequence[Step] | None = None) -> Analysis:
        """Give what is known under a condition, of all steps or of some."""
        parts = (condition.inputs, condition.dims, condition.same)
        key = (id(steps), *(tuple(sorted(part.items(), key=str)) for part in parts))
        if key not in self._seen:
            some = self._steps if steps is None else steps
            self._spent += len(some)
            given = joined(self._given, condition)
            candidates = self._kept.setdefault(id(steps), [])
            near = self._nearest(given, candidates if steps is None else [*self._kept[id(None)], *candidates])
            self._seen[key] = analyse(self._graph, some, self._semantics, given, near)
            candidates.append(self._seen[key])
        return self._seen[key]

    def _nearest(self, given: Assumption, candidates: Sequence[Analysis]) -> Analysis | None:
        """Choose the run whose assumption differs least from another one."""
        dims = dims_of(self._graph, given)

        def distance(analysis: Analysis) -> int:
            inputs = sum(analysis.given.inputs.get(name) != given.inputs.get(name) for name in self._graph.inputs)
            return inputs + len(analysis.differing(dims, given))

        return min(candidates, key=distance, default=None)

    def around(self, site: Site) -> Analysis:
        """Give what is known in the runs in which a site has an index: no dimension of its indices is 0."""
        return self.under(self.implied(site))

    def implied(self, site: Site) -> Assumption:
        """Tell what the sizes of the inputs' dimensions are if a site has an index."""
        if site.indices not in self._implied:
            known = self.under(Assumption())
            shape, sizes = known.value(site.indices).shape, known.algebra.sizes
            names = {name for dim in shape or () if len(dim.terms) == 1 for name in dim.names if is_open_dim(name)}
            may_be_empty = [name for name in sorted(names) if sizes.of(name)[0] < 1 <= sizes.of(name)[1]]
            self._implied[site.indices] = Assumption(dims={name: (1, sizes.of(name)[1]) for name in may_be_empty})
        return self._implied[site.indices]

    def steps_to(self, site: Site) -> list[Step]:
        """List the steps that lead to a site."""
        key = (site.indices, site.data)
        if key not in self._slices:
            self._slices[key] = steps_to(self._graph, [site])
        return self._slices[key]

    def prove(self, condition: Assumption, site: Site) -> bool:
        """Whether every index of a site is in bounds under a condition."""
        if self.follows(condition, site):
            return True
        condition, steps = joined(self.implied(site), condition), self.steps_to(site)
        # What leads to most sites is gone through for all of them at once.
        some = steps if len(steps) * _SHARE < len(self._steps) else None
        return self.under(condition, some).outcome(site) is Outcome.IN_BOUNDS

    def follows(self, condition: Assumption, site: Site) -> bool:
        """Whether what is known without a condition tells already that it suffices."""
        known = self.around(site)
        wanted = known.demands(site)
        if isinstance(wanted, Obstacle):
            return False
        dims = joined(self.implied(site), condition).dims
        algebra = Algebra(Sizes(ChainMap({}, dict(dims), known.algebra.sizes.bounds)))
        return all(_renamed(demand, condition.same).is_met(algebra) for demand in wanted)


def _renamed(demand: Demand, names: Mapping[str, Polynomial]) -> Demand:
    """Put what a condition says of dimensions in the place of their names."""
    if not names:
        return demand
    lows, highs = (
        tuple(bound.with_values(names) for bound in bounds) for bounds in (demand.indices.lows, demand.indices.highs)
    )
    return replace(demand, size=demand.size.with_values(names), indices=replace(demand.indices, lows=lows, highs=highs))


def joined(one: Assumption, other: Assumption) -> Assumption:
    """Take both for granted."""
    inputs: dict[str, Interval] = {**one.inputs}
    dims: dict[str, tuple[int, Number]] = {**one.dims}
    for name, interval in other.inputs.items():
        inputs[name] = interval if name not in inputs else Algebra().both(interval, inputs[name])
    for name, (low, high) in other.dims.items():
        least, greatest = dims.get(name, (0, inf))
        dims[name] = (max(low, least), min(high, greatest))
    return Assumption(inputs, dims, {**one.same, **other.same})
