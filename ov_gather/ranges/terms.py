"""What a proof needs of inputs and sizes, as data, and as text for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.symbols import Elements
from ov_gather.ranges.analysis import LARGEST_DIM, Assumption
from ov_gather.ranges.bounds import Bound
from ov_gather.ranges.inequalities import FINITE, sign_of_slack, slack_of

Size = Polynomial | Number
"""A bound: a number, or a polynomial of sizes that has no constant value."""


Subject = Elements | Polynomial
"""What a condition is about: elements of an input, or a polynomial of sizes."""


@dataclass(frozen=True, slots=True)
class Condition:
    """All elements of an input, or a size, lie between bounds.

    Attributes:
        lows, highs: bounds that all hold, none if there is no bound: polynomials, and at most one number. An input of
            floating-point numbers must also have no NaN.
    """

    subject: Subject
    lows: tuple[Size, ...] = ()
    highs: tuple[Size, ...] = ()

    @property
    def bounds(self) -> tuple[Bound, Bound]:
        """Both bounds for people: "min(dim(x, 1) - 1, 9)" if there are several."""
        return _shown("max", self.lows), _shown("min", self.highs)

    def __str__(self) -> str:
        return text_of(str(self.subject), *self.bounds)


def conditions_of(assumption: Assumption) -> tuple[Condition, ...]:
    """Return what an assumption demands of requests."""
    found: dict[Subject, Condition] = {}
    for elements, interval in assumption.inputs.items():
        _add(found, elements, (*interval.lows, interval.low), (*interval.highs, interval.high))
    for dim, (low, high) in assumption.dims.items():
        _add(found, Polynomial.symbol(dim), (low or -inf,), (_limit(high),))
    for product, limit in assumption.limits.items():
        _add(found, product, (), (limit,))
    for dim, same in assumption.same.items():
        sign = sign_of_slack(same)
        bound = same - slack_of(dim) * sign
        subject = Polynomial.symbol(dim)
        low, high = assumption.dims.get(dim, (0, inf)) if sign else (0, inf)
        total = subject - bound
        constant = dict(total.terms).get((), 0)
        if all(factor > 0 for monomial, factor in total.terms if monomial) and total - constant not in found:
            subject, bound, low, high = total - constant, Polynomial.constant(-constant), 0, inf  # x + y <= 9, not x <= 9 - y
        lows, highs = ((bound,) if sign >= 0 else ()), ((bound,) if sign <= 0 else ())
        _add(found, subject, (*lows, low or -inf), (*highs, _limit(high)))
    return tuple(found.values())


def _limit(high: Number) -> Number:
    return inf if high >= LARGEST_DIM else high


def _add(found: dict[Subject, Condition], subject: Subject, lows: Sequence[Size], highs: Sequence[Size]) -> None:
    found[subject] = Condition(subject, _tightest(lows, max), _tightest(highs, min))


def _tightest(bounds: Iterable[Size], narrowest: Callable[[list[Number]], Number]) -> tuple[Size, ...]:
    """Return the polynomials, and the tightest of the numbers; infinities are none."""
    given = [bound if not isinstance(bound, Polynomial) or bound.value is None else bound.value for bound in bounds]
    numbers = [bound for bound in given if not isinstance(bound, Polynomial) and bound not in (inf, -inf)]
    return (*(bound for bound in given if isinstance(bound, Polynomial)), *([narrowest(numbers)] if numbers else []))


def _shown(function: Literal["min", "max"], bounds: Sequence[Size]) -> Bound:
    if len(bounds) > 1:
        return f"{function}({', '.join(map(str, bounds))})"
    (bound,) = bounds or (None,)
    return str(bound) if isinstance(bound, Polynomial) else bound


def text_of(name: str, low: Bound, high: Bound) -> str:
    """Format a condition for people: "input_ids in -1000..999" or "dim(x, 1) >= 5"."""
    if (low, high) == (-FINITE, FINITE):
        return f"{name} is finite"
    if low is None and high is None:
        return f"{name} has no NaN"
    if low == high:
        return f"{name} = {low}"
    if high is None:
        return f"{name} >= {low}"
    return f"{name} <= {high}" if low is None else f"{name} in {low}..{high}"
