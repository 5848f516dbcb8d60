"""Proofs: whether the indices of a gather or scatter can be out of bounds, for which inputs, and why."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ov_gather.graph.protocol import Key, Node
from ov_gather.graph.symbols import Symbol
from ov_gather.ir.gc_paused import paused_collection
from ov_gather.ranges.algebra.intervals import Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Number
from ov_gather.ranges.analysis import Analysis, Assumption, Outcome, analyse, steps_to
from ov_gather.ranges.bounds import Bound, is_loose, known_range, range_of
from ov_gather.ranges.conditions import Conditions
from ov_gather.ranges.examples import Premises, symbols_in
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.paths import path_to
from ov_gather.ranges.proof import Proof, Status
from ov_gather.ranges.reading_outside import results_of
from ov_gather.ranges.refutable import refutable
from ov_gather.ranges.rules.call import Operands, Semantics
from ov_gather.ranges.runs import AnalysisCache, key_of
from ov_gather.ranges.sites import BoundsCheck, Obstacle, Site
from ov_gather.ranges.terms import Condition, Subject, conditions_of, text_of
from ov_gather.ranges.witness import witness_of
from ov_gather.system.traversal import depth_first


@paused_collection()  # analyses have no cycles
def prove_sites(
    graph: AnalysedGraph, semantics: Semantics, given: Assumption, sites: Sequence[Site], *, with_paths: bool = False
) -> list[Proof]:
    """Return a proof for each site of a graph; `with_paths` adds how its indices are computed."""
    runs = AnalysisCache(graph, semantics, given, sites)
    conditions = Conditions(graph, semantics, given, runs)
    known = runs.unconditional
    outcomes = [known.outcome(site) for site in sites]
    origins: dict[Key, Key] = {}
    found = [_proof(runs, conditions, site, outcome, origins) for site, outcome in zip(sites, outcomes, strict=True)]
    proofs = _with_examples([proof for proof, _ in found], [condition for _, condition in found], conditions.premises)
    return [_with_path(proof, runs, site) for proof, site in zip(proofs, sites, strict=True)] if with_paths else proofs


def _with_examples(proofs: list[Proof], conditions: Sequence[Assumption | None], premises: Premises) -> list[Proof]:
    """Add an example to each conditional proof: a part of one that satisfies all, or one of its own if none does."""
    every = list({key_of(condition): condition for condition in conditions if condition is not None}.values())
    common = premises.example(every)
    alone: dict[Hashable, Mapping[Symbol, Number]] = {}

    def example(condition: Assumption) -> Mapping[str, Number]:
        key = key_of(condition)
        if common is None and key not in alone:
            alone[key] = premises.example([condition]) or {}
        found = alone[key] if common is None else {symbol: common[symbol] for symbol in sorted(symbols_in(condition))}
        return {str(symbol): value for symbol, value in found.items()}

    pairs = zip(proofs, conditions, strict=True)
    return [proof if condition is None else replace(proof, example=example(condition)) for proof, condition in pairs]


def _with_path(proof: Proof, runs: AnalysisCache, site: Site) -> Proof:
    analysis = runs.unconditional
    if analysis.outcome(site) is Outcome.OPEN:
        analysis = runs.around(site)
    return replace(proof, path=path_to(analysis, site))


def _proof(
    runs: AnalysisCache, conditions: Conditions, site: Site, outcome: Outcome, origins: dict[Key, Key]
) -> tuple[Proof, Assumption | None]:
    """Return the verdict on a site, given that of the unconditional analysis, and the condition if there is one."""
    analysis = runs.unconditional
    if outcome is Outcome.OUT_OF_BOUNDS:
        return _refuted(analysis, site), None
    if outcome is Outcome.OPEN and runs.around(site) is not analysis:
        analysis = runs.around(site)
        outcome = analysis.outcome(site)
    found = None if outcome is Outcome.IN_BOUNDS else conditions.weakest(site)
    if outcome is Outcome.IN_BOUNDS or (found is not None and found.condition == Assumption()):
        return _made(analysis, site, "proved", "every index is in bounds"), None
    if found is None:
        return _made(analysis, site, "unknown", _first_unknown(analysis, site, origins)), None
    needed = conditions_of(found.condition)
    proof = _made(analysis, site, "conditional", f"in bounds if {' and '.join(map(str, needed))}", needed)
    return replace(proof, others=tuple(map(conditions_of, found.alternatives))), found.condition


def refuted(graph: AnalysedGraph, semantics: Semantics, sites: Sequence[Site]) -> Iterator[tuple[Site, Proof]]:
    """Yield the sites that are out of bounds in every run, without a search for conditions."""
    possible = refutable(graph, semantics, sites)
    if not possible:
        return
    analysis = analyse(graph, steps_to(graph, possible), semantics, Assumption())
    for site in possible:
        if analysis.outcome(site) is Outcome.OUT_OF_BOUNDS:
            yield site, _refuted(analysis, site)


def _refuted(analysis: Analysis, site: Site) -> Proof:
    wanted = analysis.demands(site)
    assert not isinstance(wanted, Obstacle)
    missed = next(demand for demand in wanted if demand.fails(analysis.algebra))
    return _made(analysis, site, "refuted", "an index is out of bounds in every run that gets here", demand=missed)


def _made(
    analysis: Analysis,
    site: Site,
    status: Status,
    reason: str,
    conditions: tuple[Condition, ...] = (),
    demand: BoundsCheck | None = None,
) -> Proof:
    wanted = analysis.demands(site)
    if isinstance(wanted, Obstacle) or not wanted:
        elements = analysis.value(site.indices).elements
        return Proof(site.name, site.type, site.line, status, None, None, range_of(elements), reason, conditions)
    if demand is None:
        demand = _first_open(analysis, wanted)
    size = str(demand.size) if demand.size.value is None else demand.size.value
    bounds = range_of(demand.indices)
    witness = None
    if status == "refuted":
        coordinate = demand.axis - site.batch_dims if site.has_coordinates else None
        witness = witness_of(analysis.algebra, demand, analysis.graph.graph.constant(site.indices), coordinate)
    return Proof(site.name, site.type, site.line, status, demand.axis, size, bounds, reason, conditions, witness)


def _first_unknown(analysis: Analysis, site: Site, origins: dict[Key, Key]) -> str:
    """Name the tensor at which values become unbounded, back from the indices; or the axis, if these are bounded."""
    wanted, name = analysis.demands(site), analysis.graph.name_of
    if isinstance(wanted, Obstacle):
        return f"{name(wanted.key)}: {wanted.reason}"
    if site.lenient:
        return f"{name(site.indices)}: {site.lenient}"
    key = _origin(analysis, site.indices, origins)
    low, high = known_range(analysis.value(key))
    if low is None and high is None:
        return f"nothing is known of the values of {name(key)}"
    if key == site.indices and low is not None and high is not None:
        check = _first_open(analysis, wanted)
        values = f"{low}" if low == high else f"in {low}..{high}"
        is_one = check.indices.low >= -check.counts_from_end and check.indices.high <= 0
        return f"{name(key)} is {values}, and axis {check.axis} may be {'empty' if is_one else 'too small'}"
    return (
        f"the values of {name(key)} may be {low if low is not None else 'anything'}..{high if high is not None else 'anything'}"
    )


def _first_open(analysis: Analysis, checks: Sequence[BoundsCheck]) -> BoundsCheck:
    """Return the first check that is not shown to hold, else the first one."""
    return next((one for one in checks if not one.holds(analysis.algebra)), checks[0])


def _origin(analysis: Analysis, wanted: Key, origins: dict[Key, Key]) -> Key:
    """Return the tensor at which values become unbounded, an output of an operation rather than an input, which can be bounded.

    `origins` caches it for each tensor on the way.
    """
    loose: dict[Key, list[Key]] = {}

    def before(key: Key) -> list[Key]:
        loose[key] = _loose_operands(analysis, key)
        return [one for one in loose[key] if one not in origins]

    for key in depth_first([] if wanted in origins else [wanted], before):
        found = [origins.get(one, one) for one in loose[key]] or [key]  # an origin is missing on a cycle alone
        origins[key] = next((one for one in found if analysis.graph.producer(one) is not None), found[0])
    return origins[wanted]


def _loose_operands(analysis: Analysis, key: Key) -> list[Key]:
    """Return the operands of unknown values, and of a loop or branches the results; none if the operation itself is unknown."""
    step = analysis.graph.producer(key)
    if step is None:
        return []
    given = [*step.inputs, *(edge.inner for body in step.bodies for edge in body.exits if edge.outer == key)]
    loose = [one for one in given if one is not None and is_loose(analysis.value(one))]
    return [] if _is_opaque(analysis, step, key, set(loose)) else loose


def _is_opaque(analysis: Analysis, step: Node, key: Key, loose: Collection[Key]) -> bool:
    """Return True if an output of an operation is unknown even if the operands of unknown values are all 0."""
    if analysis.graph.rule(step) is None:
        return not step.bodies
    graph, sizes = analysis.graph, analysis.algebra.sizes
    algebra = Algebra(replace(sizes, bounds=ChainMap({}, sizes.bounds), _least={}, _of={}, _lowest={}))
    inputs = [None if given is None else analysis.value(given) for given in step.inputs]
    zeros = [
        replace(value, elements=Interval(0, 0), parts=None, may_be_nan=False) if value and given in loose else value
        for given, value in zip(step.inputs, inputs, strict=True)
    ]
    declared = [graph.declared(output) for output in step.outputs]
    found = results_of(graph, step, Operands(algebra, analysis.solver.semantics, zeros, declared))
    return is_loose(found[step.outputs.index(key)])


@dataclass(frozen=True)
class Requirement:
    """The bounds of one input or dynamic dimension that the sites of a model require.

    Attributes:
        name: the name of the input, or e.g. "dim(x, 1)".
        lows: lower bounds that all hold: at most one number, the others as text.
        highs: upper bounds, likewise.
    """

    name: str
    lows: tuple[int | float | str, ...]
    highs: tuple[int | float | str, ...]

    @property
    def is_impossible(self) -> bool:
        """Return True if the numeric bounds contradict each other."""
        numbers = [[bound for bound in bounds if not isinstance(bound, str)] for bounds in (self.lows, self.highs)]
        return all(numbers) and numbers[0][0] > numbers[1][0]

    def __str__(self) -> str:
        if self.is_impossible:
            return f"{self.name}: no value is both >= {self.lows[0]} and <= {self.highs[0]}, as different layers require"
        count = max(len(self.lows), len(self.highs))
        lows, highs = ((*bounds, *[None] * (count - len(bounds))) for bounds in (self.lows, self.highs))
        return " and ".join(text_of(self.name, *pair) for pair in zip(lows, highs, strict=True))


def requirements(conditions: Iterable[Condition]) -> list[Requirement]:
    """Merge conditions on the same subject."""
    bounds: dict[Subject, list[tuple[Bound, Bound]]] = {}
    for condition in conditions:
        bounds.setdefault(condition.subject, []).append(condition.bounds)
    return [
        Requirement(str(subject), _all(max, [low for low, _ in pairs]), _all(min, [high for _, high in pairs]))
        for subject, pairs in bounds.items()
    ]


def _all(narrowest: Callable[[list[int | float]], int | float], bounds: Iterable[Bound]) -> tuple[int | float | str, ...]:
    """Keep the tightest number, and each text once."""
    given = dict.fromkeys(bound for bound in bounds if bound is not None)
    numbers = [bound for bound in given if not isinstance(bound, str)]
    return (*([narrowest(numbers)] if numbers else []), *(bound for bound in given if isinstance(bound, str)))
