"""Solver of bounds checks for the elements of inputs and for dynamic dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, gcd, inf

from ov_gather.graph.symbols import Dim, OfInputs, Symbol
from ov_gather.ranges.algebra.intervals import Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Monomial, Polynomial
from ov_gather.ranges.algebra.symbols import Elements, Extreme, Slack
from ov_gather.ranges.analysis import LARGEST_DIM, Assumption
from ov_gather.ranges.sites import BoundsCheck

FINITE = 3.4028234663852886e38
"""Largest finite float32. Infinities and NaN convert to any integer."""


def extremes_of(elements: Elements) -> tuple[Extreme, Extreme]:
    """Return the symbols of the least and the greatest of some elements."""
    return Extreme(elements, False), Extreme(elements, True)


def slack_of(dim: Symbol) -> Polynomial:
    """Return the difference between a dimension and its symbolic bound."""
    return Polynomial.symbol(Slack(dim))


def sign_of_slack(polynomial: Polynomial) -> int:
    """Return 1 if a polynomial has a slack that is added, -1 if one is subtracted, 0 if there is none."""
    return next((factor for symbols, factor in polynomial.terms if any(isinstance(one, Slack) for one in symbols)), 0)


def solve_all(algebra: Algebra, wanted: Sequence[BoundsCheck], condition: Assumption) -> Assumption | None:
    """Add bounds to a condition so that all checks hold; None if one cannot be solved."""
    for demand in wanted:
        above = [low - demand.lowest for low in algebra.lows(demand.indices)]
        below = [demand.size - 1 - high for high in algebra.highs(demand.indices)]
        for slacks in (above, below):
            if any(algebra.sizes.least(slack) >= 0 for slack in slacks):
                continue
            solved = next(filter(None, map(_solved, slacks)), None)
            if solved is None:
                return None
            condition = _with(condition, solved)
    return condition


@dataclass(frozen=True, slots=True)
class _Bound:
    """A bound of a dimension, or of a symbol for the elements of an input."""

    symbol: Symbol
    number: Polynomial
    is_high: bool


def _solved(slack: Polynomial) -> _Bound | None:
    """Solve `slack >= 0` for one symbol; None if that fails."""
    elements = [term for term in slack.terms if any(isinstance(symbol, Extreme) for symbol in term[0])]
    if len(elements) > 1:
        return None
    if elements:
        return _solved_for(slack, elements[0])
    slack = _reduced(_without_factors(slack))
    linear = [term for term in slack.terms if len(term[0]) == 1 and isinstance(term[0][0], OfInputs)]
    return next((bound for term in linear if (bound := _solved_for(slack, term)) is not None), None)


def _without_factors(slack: Polynomial) -> Polynomial:
    """Divide by the dimensions that all terms share."""
    for symbol in slack.symbols:
        if isinstance(symbol, Dim) and all(symbol in monomial for monomial, _ in slack.terms):
            slack = slack.divided_by(Polynomial.symbol(symbol)) or slack
    return slack


def _reduced(slack: Polynomial) -> Polynomial:
    """Divide by the common divisor of the coefficients: 16 * x - 16 * y + 15 >= 0 if and only if x - y >= 0."""
    divisor = gcd(*(factor for monomial, factor in slack.terms if monomial))
    return slack if divisor <= 1 else Polynomial.of({monomial: factor // divisor for monomial, factor in slack.terms})


def _solved_for(slack: Polynomial, term: tuple[Monomial, int]) -> _Bound | None:
    monomial, factor = term
    rest = slack - Polynomial((term,))
    if len(monomial) != 1 or monomial[0] in rest.symbols:
        return None
    (symbol,) = monomial
    if isinstance(symbol, Extreme) and symbol.is_greatest == (factor > 0):
        return None
    if rest.value is not None:
        number = ceil(-rest.value / factor) if factor > 0 else floor(rest.value / -factor)
        is_too_large = isinstance(symbol, Dim) and number > LARGEST_DIM
        return None if is_too_large else _Bound(symbol, Polynomial.constant(number), factor < 0)
    if abs(factor) != 1 or not all(isinstance(one, OfInputs) for one in rest.symbols):
        return None
    return _Bound(symbol, -rest if factor > 0 else rest, factor < 0)


def _with(condition: Assumption, bound: _Bound) -> Assumption:
    """Return the condition with one more bound."""
    symbol, number = bound.symbol, bound.number.value
    if isinstance(symbol, Extreme):
        known = condition.inputs.get(symbol.elements, Interval())
        if number is not None:
            end = Interval(-inf, number) if bound.is_high else Interval(number, inf)
        else:
            end = Interval(-inf, inf, (), (bound.number,)) if bound.is_high else Interval(-inf, inf, (bound.number,))
        return replace(condition, inputs={**condition.inputs, symbol.elements: Algebra().meet(known, end)})
    if number is not None:
        low, high = condition.dims.get(symbol, (0, inf))
        bounds = (low, min(high, number)) if bound.is_high else (max(low, number), high)
        return replace(condition, dims={**condition.dims, symbol: bounds})
    slack = slack_of(symbol)
    same = bound.number - slack if bound.is_high else bound.number + slack
    return replace(condition, same={**condition.same, symbol: same})
