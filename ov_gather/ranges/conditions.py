"""A condition says for which inputs and sizes the indices of a site are in bounds: guessed from symbols, and then proved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, inf

from ov_gather.ranges.algebra.intervals import Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.values import every_value, is_integer
from ov_gather.ranges.analysis import Analysis, Assumption, Outcome, analyse, steps_to
from ov_gather.ranges.graph import Graph, Step
from ov_gather.ranges.rules.call import Semantics
from ov_gather.ranges.sites import Demand, Obstacle, Site

_LIMIT = 2**31
_LARGEST = 1 << 24
"""No condition asks for a larger dimension."""
FINITE = 3.4028234663852886e38
"""The greatest number of 32 bits. What is beyond, and NaN, becomes any integer."""


def weakest_condition(graph: Graph, semantics: Semantics, given: Assumption, site: Site) -> Assumption | None:
    """Find what inputs and open dimensions have to keep to, so that every index of a site is in bounds; None if not found.

    The condition that comes back was proved to suffice, by another run of the analysis. It is the weakest one as far as the
    analysis can tell: nothing in it can be left out, and no bound can be moved by one.
    """
    return _Search(graph, semantics, given, site).run()


class _Search:
    def __init__(self, graph: Graph, semantics: Semantics, given: Assumption, site: Site) -> None:
        self._graph, self._semantics, self._given, self._site = graph, semantics, given, site
        self._steps = steps_to(graph, [site])
        self._inputs = {name: key for name, key in graph.inputs.items() if key in self._leaves()}

    def run(self) -> Assumption | None:
        for guess in self._guesses():
            if self._suffices(guess):
                return self._widened(self._reduced(guess))
        return None

    def _leaves(self) -> set[object]:
        """Collect the tensors that the site depends on."""
        found: set[object] = {self._site.indices}
        waiting: list[Step] = list(self._steps)
        for step in waiting:
            found.update(key for key in step.inputs if key is not None)
        return found

    def _analysis(self, condition: Assumption) -> Analysis:
        inputs = {**self._given.inputs}
        for name, interval in condition.inputs.items():
            inputs[name] = interval if name not in inputs else Algebra().both(interval, inputs[name])
        dims = {**self._given.dims, **condition.dims}
        return analyse(self._graph, self._steps, self._semantics, Assumption(inputs, dims, condition.same))

    def _suffices(self, condition: Assumption) -> bool:
        return self._analysis(condition).outcome(self._site) is Outcome.IN_BOUNDS

    def _guesses(self) -> Iterator[Assumption]:
        not_empty = Assumption(dims=self._one_at_least())
        if not_empty.dims:
            yield not_empty
        yield replace(not_empty, inputs={name: Interval(-FINITE, FINITE) for name in self._inputs if self._is_real(name)})
        exact = self._semantics.exact_integers
        bounds = {name: FINITE if self._is_real(name) else exact for name in self._inputs}
        yield replace(not_empty, inputs={name: Interval(-bound, bound) for name, bound in bounds.items()})
        symbols = {name: self._symbolic(name) for name in self._inputs}
        dims = {**not_empty.dims, **{bound: (-_LIMIT, _LIMIT) for name in symbols for bound in _names(name)}}
        seen = self._analysis(Assumption(symbols, dims))
        wanted = seen.demands(self._site)
        if isinstance(wanted, Obstacle):
            return
        found = _solve_all(seen.algebra, wanted, not_empty)
        if found is not None:
            yield found
        for demand in wanted:
            if not all(map(_is_dim, demand.size.names)):  # because nobody can keep to a size that is computed
                continue
            inside = Interval(-inf, inf, (demand.lowest,), (demand.size - 1,))
            if demand.size.value is not None:
                inside = Interval(0 if not demand.counts_from_end else -demand.size.value, demand.size.value - 1)
            yield replace(not_empty, inputs=dict.fromkeys(self._inputs, inside))
            yield replace(not_empty, inputs=dict.fromkeys(self._inputs, replace(inside, low=0, lows=())))

    def _one_at_least(self) -> dict[str, tuple[int, float]]:
        """Assume of each open dimension of an input that it is not empty."""
        found = {}
        for key in self._graph.inputs.values():
            for dim in self._graph.declared(key).shape or ():
                for name in dim.names:
                    low, high = self._given.dims.get(name) or self._graph.bounds[name]
                    if low < 1 <= high:
                        found[name] = (1, high)
        return found

    def _is_real(self, name: str) -> bool:
        return not is_integer(self._graph.declared(self._inputs[name]).element_type)

    def _symbolic(self, name: str) -> Interval:
        """Name the least and the greatest element of an input."""
        declared = self._graph.declared(self._inputs[name])
        known = Interval() if self._is_real(name) else every_value(declared.element_type)
        low, high = (Polynomial.name(bound) for bound in _names(name))
        return Interval(max(known.low, -_LIMIT), min(known.high, _LIMIT - 1), (low,), (high,))

    def _reduced(self, condition: Assumption) -> Assumption:
        """Leave out what is not needed."""
        for part in ("same", "dims", "inputs"):
            for name in list(getattr(condition, part)):
                smaller = {other: bounds for other, bounds in getattr(condition, part).items() if other != name}
                candidate = replace(condition, **{part: smaller})
                if self._suffices(candidate):
                    condition = candidate
        return condition

    def _widened(self, condition: Assumption) -> Assumption:
        """Move each number that bounds an input as far out as it goes."""
        for name, interval in condition.inputs.items():
            for is_high in (False, True):
                interval = self._moved(condition, name, interval, is_high)
                condition = replace(condition, inputs={**condition.inputs, name: interval})
        return condition

    def _moved(self, condition: Assumption, name: str, interval: Interval, is_high: bool) -> Interval:
        start = interval.high if is_high else interval.low
        if start == FINITE or abs(start) == inf or (interval.highs if is_high else interval.lows):
            return interval
        sign = 1 if is_high else -1

        def suffices(distance: Number) -> bool:
            tried = _with_end(interval, start + sign * distance, is_high)
            return self._suffices(replace(condition, inputs={**condition.inputs, name: tried}))

        distance = inf if suffices(inf) else _farthest(suffices, _LIMIT - 1 - abs(int(start)))
        return _with_end(interval, start + sign * distance, is_high)


def _with_end(interval: Interval, bound: Number, is_high: bool) -> Interval:
    return replace(interval, high=bound) if is_high else replace(interval, low=bound)


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


def _names(name: str) -> tuple[str, str]:
    return f"least({name})", f"greatest({name})"


@dataclass(frozen=True, slots=True)
class _Bound:
    """A bound of a name: of an element of an input, or of a dimension."""

    name: str
    number: Polynomial
    is_high: bool


def _solve_all(algebra: Algebra, wanted: Sequence[Demand], condition: Assumption) -> Assumption | None:
    """Find bounds that make all demands hold; None where one cannot be solved."""
    for demand in wanted:
        above = [low - demand.lowest for low in algebra.lows(demand.indices)]
        below = [demand.size - 1 - high for high in algebra.highs(demand.indices)]
        for never_negative in (above, below):
            if any(algebra.sizes.least(slack) >= 0 for slack in never_negative):
                continue
            solved = next(filter(None, map(_solved, never_negative)), None)
            if solved is None:
                return None
            condition = _with(condition, solved)
    return condition


def _solved(slack: Polynomial) -> _Bound | None:
    """Solve `slack >= 0` for a name."""
    elements = [term for term in slack.terms if any(name.startswith(("least(", "greatest(")) for name in term[0])]
    if len(elements) > 1:
        return None
    if elements:
        return _solved_for(slack, elements[0])
    linear = [term for term in slack.terms if len(term[0]) == 1 and _is_dim(term[0][0])]
    return next((bound for term in linear if (bound := _solved_for(slack, term)) is not None), None)


def _solved_for(slack: Polynomial, term: tuple[tuple[str, ...], int]) -> _Bound | None:
    (monomial, factor) = term
    if len(monomial) != 1:
        return None
    rest = slack - Polynomial((term,))
    if monomial[0] in rest.names:
        return None
    if (monomial[0].startswith("least(") and factor < 0) or (monomial[0].startswith("greatest(") and factor > 0):
        return None
    if rest.value is not None:
        number = ceil(-rest.value / factor) if factor > 0 else floor(rest.value / -factor)
        if _is_dim(monomial[0]) and number > _LARGEST:
            return None
        return _Bound(monomial[0], Polynomial.constant(number), factor < 0)
    if abs(factor) != 1 or not all(map(_is_dim, rest.names)):
        return None
    return _Bound(monomial[0], -rest if factor > 0 else rest, factor < 0)


def _is_dim(name: str) -> bool:
    return name.startswith("dim(") and "#" not in name


def _with(condition: Assumption, bound: _Bound) -> Assumption:
    """Add a bound to a condition."""
    kind, _, name = bound.name.partition("(")
    if kind in ("least", "greatest"):
        known = condition.inputs.get(name[:-1], Interval())
        if bound.number.value is not None:
            end = Interval(-inf, bound.number.value) if bound.is_high else Interval(bound.number.value, inf)
        else:
            end = Interval(-inf, inf, (), (bound.number,)) if bound.is_high else Interval(-inf, inf, (bound.number,))
        return replace(condition, inputs={**condition.inputs, name[:-1]: Algebra().both(known, end)})
    low, high = condition.dims.get(bound.name, (0, inf))
    if bound.number.value is not None:
        bounds = (low, min(high, bound.number.value)) if bound.is_high else (max(low, bound.number.value), high)
        return replace(condition, dims={**condition.dims, bound.name: bounds})
    slack = Polynomial.name(f"slack({bound.name})")
    number = bound.number - slack if bound.is_high else bound.number + slack
    return replace(condition, same={**condition.same, bound.name: number})
