"""One analysis of a graph under an assumption, and its verdict on each site (gather or scatter)."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from math import inf

from ov_gather.graph.protocol import Key, Node
from ov_gather.graph.symbols import Dim, OfInputs, Symbol
from ov_gather.ranges.algebra.constants import CHUNK
from ov_gather.ranges.algebra.intervals import Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Monomial, Number, Polynomial, symbols_within
from ov_gather.ranges.algebra.sizes import Limits, Sizes
from ov_gather.ranges.algebra.symbols import Elements
from ov_gather.ranges.algebra.values import LARGEST_SIZE, Value, count, product
from ov_gather.ranges.doubts import may_be_left
from ov_gather.ranges.graph import AnalysedGraph, has_dynamic_shape, in_order
from ov_gather.ranges.memo import Memo
from ov_gather.ranges.rules.call import Semantics
from ov_gather.ranges.sites import BoundsCheck, Obstacle, Site, demands
from ov_gather.ranges.solver import Solver

LARGEST_DIM = 1 << 23
"""Assumed maximum of a dynamic dimension of an input: an index plus a size is then exact in float32 (up to 1 << 24)."""
LARGEST_OPEN_DIM = 1 << 24
"""Assumed maximum of a dynamic dimension of any other tensor."""


@dataclass(frozen=True)
class Assumption:
    """The premises of an analysis.

    Attributes:
        inputs: bounds of the elements of inputs.
        dims: bounds of dynamic dimensions.
        same: the polynomials that replace dynamic dimensions.
        limits: upper bounds of products of dynamic dimensions.
        fits: assume that no integer computed from sizes exceeds its type. Only used to guess conditions.
    """

    inputs: Mapping[Elements, Interval] = field(default_factory=dict)
    dims: Mapping[Symbol, tuple[int, Number]] = field(default_factory=dict)
    same: Mapping[Symbol, Polynomial] = field(default_factory=dict)
    limits: Mapping[Polynomial, int] = field(default_factory=dict)
    fits: bool = False


class Outcome(Enum):
    """The verdict of one analysis on a site."""

    IN_BOUNDS = "every index is in bounds"
    OUT_OF_BOUNDS = "every run that gets there has an index out of bounds"
    OPEN = "neither is known"


@dataclass(frozen=True)
class Shared:
    """What analyses of a graph under several assumptions share: results of steps, and the graph with other dimensions."""

    memo: Memo = field(default_factory=Memo)
    _graphs: dict[Hashable, AnalysedGraph] = field(default_factory=dict)

    def renamed(self, graph: AnalysedGraph, substitutes: Mapping[Symbol, Polynomial]) -> AnalysedGraph:
        """Return the graph with polynomials instead of some dynamic dimensions."""
        if not substitutes:
            return graph
        key = frozenset(substitutes.items())
        if key not in self._graphs:
            self._graphs[key] = _Renamed(graph, substitutes)
        return self._graphs[key]


@dataclass(frozen=True)
class Analysis:
    """The abstract values of a graph under an assumption.

    Attributes:
        given: the assumption.
        dims: bounds of the dynamic dimensions that the assumption names.
        others: declared bounds of the dynamic dimensions of inputs.
        learned: bounds of unknown integers, found by this analysis.
        counts: upper bounds of the element counts of tensors that exist in every run.
        shared: what it shares with analyses under other assumptions.
    """

    graph: AnalysedGraph
    algebra: Algebra
    solver: Solver
    given: Assumption
    dims: Mapping[Symbol, tuple[int, Number]]
    others: dict[Symbol, tuple[int, Number]]
    learned: dict[Symbol, tuple[int, Number]]
    counts: Limits
    shared: Shared

    def grow(self, steps: Sequence[Node]) -> int:
        """Analyse those of the steps that are not yet; return how many were visited."""
        before = self.solver.visits
        missing = [step for step in steps if step.outputs[0] not in self.solver.evaluated]
        return self.solver.run(missing).visits - before if missing else 0

    def value(self, key: Key) -> Value:
        """Return the abstract value of a tensor."""
        return self.solver.value(key)

    def demands(self, site: Site) -> list[BoundsCheck] | Obstacle:
        """Return the bounds checks of a site."""
        found = demands(site, self.value)
        if isinstance(found, Obstacle) or not self._is_constant(site):
            return found
        return [replace(demand, is_attained=True) for demand in found]

    def _is_constant(self, site: Site) -> bool:
        """Return True if the indices are a constant with known extremes, per coordinate if they are tuples."""
        declared = self.graph.declared(site.indices)
        if self.graph.producer(site.indices) is not None or declared.elements.is_any:
            return False
        return not site.has_coordinates or count(self.algebra, declared.shape)[1] <= CHUNK

    def outcome(self, site: Site) -> Outcome:
        """Return the verdict on a site."""
        if self.is_in_bounds(site):
            return Outcome.IN_BOUNDS
        wanted = self.demands(site)
        if isinstance(wanted, Obstacle) or site.lenient or count(self.algebra, self.value(site.indices).shape)[0] < 1:
            return Outcome.OPEN
        return Outcome.OUT_OF_BOUNDS if any(demand.fails(self.algebra) for demand in wanted) else Outcome.OPEN

    def is_in_bounds(self, site: Site) -> bool:
        """Return True if every index of a site is in bounds."""
        wanted = self.demands(site)
        if not isinstance(wanted, Obstacle) and self.meets(site, wanted, self.algebra, self.dims):
            return True
        return not self._may_be_left(site) and count(self.algebra, self.value(site.indices).shape)[1] <= 0

    def meets(
        self, site: Site, wanted: Sequence[BoundsCheck], algebra: Algebra, dims: Mapping[Symbol, tuple[int, Number]]
    ) -> bool:
        """Return True if bounds checks of a site hold for sizes with the bounds of an algebra, of which `dims` are assumed."""
        if not self._may_be_left(site):
            return all(demand.holds(algebra) for demand in wanted)
        return all(high >= 1 for _, high in dims.values()) and all(_holds_if_left(demand, algebra) for demand in wanted)

    def _may_be_left(self, site: Site) -> bool:
        return self.solver.semantics.reads_out_of_bounds and may_be_left(self.graph, site.indices)


def _holds_if_left(demand: BoundsCheck, algebra: Algebra) -> bool:
    """Return True if a check holds also for an index that is left although a size of 0 says that there is none.

    It is then what it is for a size of 1. Numbers that bound the index for sizes of 0 and more include that; symbols do not.
    """
    if replace(demand, indices=Interval(demand.indices.low, demand.indices.high)).holds(algebra):
        return True
    bounds = (demand.size, *demand.indices.lows, *demand.indices.highs)
    sizes = {symbol for bound in bounds for symbol in symbols_within(bound) if isinstance(symbol, OfInputs)}
    return all(algebra.sizes.of(symbol)[0] >= 1 for symbol in sizes) and demand.holds(algebra)


def steps_to(graph: AnalysedGraph, sites: Iterable[Site], *, without: Container[Key] = ()) -> list[Node]:
    """Return the steps of the top-level graph that the sites depend on; `without` is that of `in_order`."""
    sites = list(sites)
    wanted = [key for site in sites for key in site.wanted]
    return in_order(graph, [*wanted, *(site.data for site in sites if has_open_axes(graph, site))], without=without)


def has_open_axes(graph: AnalysedGraph, site: Site) -> bool:
    """Return True if the site depends on what determines the shape of its data, which is open."""
    return site.within is None and has_dynamic_shape(graph.declared(site.data))


def analyse(
    graph: AnalysedGraph,
    steps: Sequence[Node],
    semantics: Semantics,
    given: Assumption,
    whole: Analysis | None = None,
) -> Analysis:
    """Analyse steps of a graph under an assumption.

    `whole` is an analysis of the whole model under a weaker assumption: what it has found of names and sizes holds here, too.
    Analyses with the same one share the results of steps.
    """
    dims, assumed = dims_of(given), assumed_of(graph, given)
    learned: dict[Symbol, tuple[int, Number]] = {}
    before = {} if whole is None else whole.learned
    # A layer for each analysis: the tensors that the solver adds are those under this assumption
    others, counts = (open_dims(graph), Limits(_counts_of_inputs(graph))) if whole is None else (whole.others, whole.counts)
    shared = Shared() if whole is None else whole.shared
    shown = shared.renamed(graph, given.same)

    def algebra() -> Algebra:
        limits = counts.with_conditions(given.same, given.limits)
        declared = ChainMap(dims, others, graph.bounds)
        bounds = ChainMap(learned, before, *declared.maps)
        largest = LARGEST_SIZE if given.fits else inf
        return Algebra(Sizes(bounds, (0, LARGEST_OPEN_DIM), limits, largest, declared))

    if whole is not None:
        solver = Solver(shown, algebra(), semantics, assumed, whole.solver.names, shared.memo).run(steps)
        return Analysis(shown, solver.algebra, solver, given, dims, others, learned, counts, shared)
    solver = Solver(shown, algebra(), semantics, assumed).run(steps)
    if solver.overflows:  # element counts of later tensors may rule them out
        solver = Solver(shown, algebra(), semantics, assumed, solver.names).run(steps)
    counts = _tightest(counts, solver.known.values())
    return Analysis(shown, solver.algebra, solver, given, dims, others, learned, counts, shared)


def assumed_of(graph: AnalysedGraph, given: Assumption) -> dict[Key, Interval]:
    """Return the assumed bounds of the elements of tensors."""
    return {key: interval for elements, interval in given.inputs.items() for key in graph.keys_of(elements)}


def _counts_of_inputs(graph: AnalysedGraph) -> Limits:
    """Return upper bounds of the element counts of the inputs, found once for each graph."""
    if graph.counts_of_inputs is None:
        graph.counts_of_inputs = Limits()
        for key in graph.inputs.values():
            shape = graph.declared(key).shape
            if shape is not None:
                graph.counts_of_inputs.add(product(shape), LARGEST_SIZE)
    return graph.counts_of_inputs


def _tightest(counts: Limits, values: Iterable[Value]) -> Limits:
    """Keep the limit of the largest multiple of each product: most tensors have the same open sizes as others."""
    symbols = {one for value in values for dim in value.shape or () for one in dim.symbols}
    found, largest = Limits(), dict[Monomial, tuple[int, int]]()
    for polynomial, bound in counts.about(symbols):
        if len(polynomial.terms) > 1:
            found.add(polynomial, bound)
            continue
        ((monomial, factor),) = polynomial.terms
        known = largest.get(monomial)
        if known is None or bound * known[0] < known[1] * factor:
            largest[monomial] = factor, bound
    for monomial, (factor, bound) in largest.items():
        found.add(Polynomial(((monomial, factor),)), bound)
    return found


def open_dims(graph: AnalysedGraph) -> dict[Symbol, tuple[int, Number]]:
    """Return the bounds of the dynamic dimensions of inputs, found once for each graph."""
    if graph.dims_of_inputs is None:
        shapes = [graph.declared(key).shape or () for key in graph.inputs.values()]
        graph.dims_of_inputs = _limited({one: graph.bounds[one] for shape in shapes for dim in shape for one in dim.symbols})
    return graph.dims_of_inputs


def dims_of(given: Assumption) -> dict[Symbol, tuple[int, Number]]:
    """Return the bounds of the dynamic dimensions that an assumption names."""
    return _limited(given.dims)


def _limited(dims: Mapping[Symbol, tuple[int, Number]]) -> dict[Symbol, tuple[int, Number]]:
    """Cap dimensions at `LARGEST_DIM`, unless their lower bound is greater. Symbols for elements are no dimensions."""
    return {
        symbol: (low, max(low, min(high, LARGEST_DIM))) if isinstance(symbol, Dim) else (low, high)
        for symbol, (low, high) in dims.items()
    }


class _Renamed(AnalysedGraph):
    """A graph in which polynomials replace some dynamic dimensions."""

    def __init__(self, graph: AnalysedGraph, substitutes: Mapping[Symbol, Polynomial]) -> None:
        super().__init__(graph.graph, graph.vocabulary)
        self._original, self._substitutes = graph, substitutes
        self.bounds, self.answers, self.doubts = graph.bounds, graph.answers, graph.doubts
        self._rules, self._ends = graph._rules, graph._ends

    def _declare(self, key: Key) -> Value:
        return self.renamed(self._original.declared(key))

    def renamed(self, value: Value) -> Value:
        """Return a value with the polynomials instead of the dimensions."""
        if value.shape is None or self._substitutes.keys().isdisjoint(one for dim in value.shape for one in dim.symbols):
            return value
        axis = None if value.parts is None else value.parts.axis
        return value.with_shape(tuple(dim.with_values(self._substitutes) for dim in value.shape), axis)
