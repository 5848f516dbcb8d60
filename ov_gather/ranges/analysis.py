"""One run of the analysis: what is known under some assumptions, and what that says of a site."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from math import inf

from ov_gather.ranges.algebra.constants import CHUNK
from ov_gather.ranges.algebra.intervals import Algebra, Interval
from ov_gather.ranges.algebra.limits import Limits
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.sizes import Sizes
from ov_gather.ranges.algebra.values import LARGEST_SIZE, Value, product
from ov_gather.ranges.graph import Graph, Key, Step, in_order
from ov_gather.ranges.reuse import Earlier
from ov_gather.ranges.rules.call import Semantics
from ov_gather.ranges.sites import Demand, Obstacle, Site, demands, index_count
from ov_gather.ranges.solver import Solver, solve

LARGEST_DIM = 1 << 23
"""Assumed size that no dimension of an input exceeds: float32 holds twice as much exactly, an index plus a size."""
LARGEST_OPEN_DIM = 1 << 24
"""Assumed size that no open dimension of another tensor exceeds."""


@dataclass(frozen=True)
class Assumption:
    """An Assumption is what is taken for granted.

    Attributes:
        inputs: bounds of the elements of inputs, by name.
        dims: bounds of open dimensions, by name.
        same: open dimensions that are what a polynomial of others says.
        limits: upper bounds of products of open dimensions.
        fits: whether nothing that is computed of sizes exceeds its type, which is assumed in search of conditions only.
    """

    inputs: Mapping[str, Interval] = field(default_factory=dict)
    dims: Mapping[str, tuple[int, Number]] = field(default_factory=dict)
    same: Mapping[str, Polynomial] = field(default_factory=dict)
    limits: Mapping[Polynomial, int] = field(default_factory=dict)
    fits: bool = False


class Outcome(Enum):
    """An Outcome is what one run of the analysis says of a site."""

    IN_BOUNDS = "every index is in bounds"
    OUT_OF_BOUNDS = "every run that gets there has an index out of bounds"
    OPEN = "neither is known"


@dataclass(frozen=True)
class Analysis:
    """An Analysis holds what is known of a graph under an assumption.

    Attributes:
        given: the assumption.
        dims: the bounds of the open dimensions that it speaks of.
        others: the bounds of open dimensions of which nothing is assumed.
        learned: the bounds of the names that numbers got.
        learned_before: those of names of which this run has not learned anything, from a run of the whole model.
        counts: the element counts of the tensors that exist in every run, limited.
        names: the names that each step depends on, by its first output, as far as they were asked for.
    """

    graph: Graph
    algebra: Algebra
    solver: Solver
    given: Assumption
    dims: Mapping[str, tuple[int, Number]]
    others: dict[str, tuple[int, Number]]
    learned: dict[str, tuple[int, Number]]
    learned_before: dict[str, tuple[int, Number]]
    counts: Limits
    names: dict[Key, frozenset[str]] = field(default_factory=dict)

    def differing(self, dims: Mapping[str, tuple[int, Number]], given: Assumption) -> set[str]:
        """List the names that have other bounds, or stand for something else, under another assumption."""
        found = {name for name in self.dims.keys() | dims.keys() if self._bounds(self.dims, name) != self._bounds(dims, name)}
        for name in self.given.same.keys() | given.same.keys():
            one, other = self.given.same.get(name), given.same.get(name)
            if one != other:
                found |= {name, *(() if one is None else one.names), *(() if other is None else other.names)}
        for limited, _ in self.given.limits.items() ^ given.limits.items():
            found |= limited.names
        return self.algebra.sizes.limits.related(found)

    def _bounds(self, dims: Mapping[str, tuple[int, Number]], name: str) -> tuple[int, Number] | None:
        return dims[name] if name in dims else self.others.get(name)

    def value(self, key: Key) -> Value:
        """Give what is known of a tensor."""
        return self.solver.value(key)

    def demands(self, site: Site) -> list[Demand] | Obstacle:
        """List what the indices of a site have to keep to."""
        found = demands(site, self.value)
        if isinstance(found, Obstacle) or not self._is_constant(site):
            return found
        return [replace(demand, is_attained=True) for demand in found]

    def _is_constant(self, site: Site) -> bool:
        """Whether indices are a constant whose bounds are known, those of each coordinate where there are some."""
        declared = self.graph.declared(site.indices)
        if self.graph.step_of(site.indices) is not None or declared.elements.is_any:
            return False
        return not site.has_coordinates or index_count(self.algebra, declared)[1] <= CHUNK

    def outcome(self, site: Site) -> Outcome:
        """Judge a site."""
        wanted = self.demands(site)
        least, most = index_count(self.algebra, self.value(site.indices))
        if most <= 0:
            return Outcome.IN_BOUNDS
        if isinstance(wanted, Obstacle):
            return Outcome.OPEN
        if all(demand.is_met(self.algebra) for demand in wanted):
            return Outcome.IN_BOUNDS
        if least >= 1 and any(demand.is_missed(self.algebra) for demand in wanted):
            return Outcome.OUT_OF_BOUNDS
        return Outcome.OPEN


def steps_to(graph: Graph, sites: Iterable[Site]) -> list[Step]:
    """List the steps of the whole model that lead to some sites."""
    sites = list(sites)
    shapes = [site.data for site in sites if site.within is None]
    return in_order(graph, [key for site in sites for key in site.wanted], shapes=shapes)


def analyse(
    graph: Graph,
    steps: Sequence[Step],
    semantics: Semantics,
    given: Assumption,
    near: Analysis | None = None,
    *,
    is_part: bool = False,
) -> Analysis:
    """Go through some steps of a graph; of a run that is near, with a similar assumption, is taken what holds here, too.

    Where the steps are a part of those of the run that is near, the work depends on these alone, and not on the model.
    """
    if near is not None and near.given.same == given.same:
        shown = near.graph
    else:
        shown = _Renamed(graph, given.same) if given.same else graph
    learned: dict[str, tuple[int, Number]] = {}
    before: dict[str, tuple[int, Number]] = {}
    if near is not None and is_part:
        is_whole = not near.learned_before
        learned, before = ({}, near.learned) if is_whole else (dict(near.learned), near.learned_before)
    elif near is not None:
        learned = near.learned_before | near.learned
    dims, others = dims_of(given), open_dims(graph) if near is None else near.others
    counts = _counts_of_inputs(graph) if near is None else near.counts
    assumed = {graph.inputs[name]: interval for name, interval in given.inputs.items()}

    changed = set() if near is None else near.differing(dims, given)

    def algebra() -> Algebra:
        limits = counts.with_conditions(given.same, given.limits)
        bounds = ChainMap(learned, before, dims, others, graph.bounds)
        return Algebra(Sizes(bounds, (0, LARGEST_OPEN_DIM), limits, LARGEST_SIZE if given.fits else inf, changed))

    if near is None:
        solver = solve(shown, steps, algebra(), semantics, assumed)
        if solver.overflows:  # which tensors that are made later may rule out
            solver = solve(shown, steps, algebra(), semantics, assumed, None, solver.numbers)
    else:
        known = near.solver.known if near.given.fits == given.fits else {}
        earlier = Earlier(near.graph, known, near.solver.overflows, changed, near.names)
        solver = solve(shown, steps, algebra(), semantics, assumed, earlier, near.solver.numbers)
    return Analysis(shown, solver.algebra, solver, given, dims, others, learned, before, counts)


def _counts_of_inputs(graph: Graph) -> Limits:
    """Limit the element counts of the inputs."""
    found = Limits()
    for key in graph.inputs.values():
        shape = graph.declared(key).shape
        if shape is not None:
            found.add(product(shape), LARGEST_SIZE)
    return found


def open_dims(graph: Graph) -> dict[str, tuple[int, Number]]:
    """Bound the open dimensions of inputs."""
    shapes = [graph.declared(key).shape or () for key in graph.inputs.values()]
    return _limited({name: graph.bounds[name] for shape in shapes for dim in shape for name in dim.names})


def dims_of(given: Assumption) -> dict[str, tuple[int, Number]]:
    """Bound the open dimensions that an assumption speaks of."""
    return _limited(given.dims)


def _limited(dims: Mapping[str, tuple[int, Number]]) -> dict[str, tuple[int, Number]]:
    """Take for granted that no dimension is larger than `LARGEST_DIM`, unless it has to be."""
    return {name: (low, max(low, min(high, LARGEST_DIM))) for name, (low, high) in dims.items()}


class _Renamed:
    """A graph of which some open dimensions are named otherwise."""

    def __init__(self, graph: Graph, names: Mapping[str, Polynomial]) -> None:
        self._graph, self._names = graph, names
        self._declared: dict[Key, Value] = {}
        self.bounds, self.inputs = graph.bounds, graph.inputs

    def step_of(self, key: Key) -> Step | None:
        """Give the operation that makes a tensor."""
        return self._graph.step_of(key)

    def declared(self, key: Key) -> Value:
        """Give what the model itself says, with the other names."""
        if key not in self._declared:
            self._declared[key] = self._renamed(self._graph.declared(key))
        return self._declared[key]

    def _renamed(self, value: Value) -> Value:
        if value.shape is None or self._names.keys().isdisjoint(name for dim in value.shape for name in dim.names):
            return value
        axis = None if value.parts is None else value.parts.axis
        return value.with_shape(tuple(dim.with_values(self._names) for dim in value.shape), axis)

    def name_of(self, key: Key) -> str:
        """Name a tensor as people do."""
        return self._graph.name_of(key)
