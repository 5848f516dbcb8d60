"""What is known of named sizes: bounds of names, and of polynomials of them."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from math import inf, prod

from ov_gather.ranges.algebra.limits import Limits
from ov_gather.ranges.algebra.polynomials import Number, Polynomial

_ALWAYS_FITS = 1 << 24
"""Numbers up to this need no limits: every type of 32 bits holds them, float32 included."""


@dataclass(frozen=True)
class Sizes:
    """Bounds of names, and of polynomials of them.

    Attributes:
        bounds: the least and the greatest value of each name.
        default: the bounds of a name that is not listed; its upper one also holds of listed names without an upper bound.
        limits: upper bounds of polynomials, such as the element counts of tensors that exist.
        largest: what no polynomial is taken to exceed, nor its negation.
        changed: the names whose bounds were replaced.
    """

    bounds: MutableMapping[str, tuple[int, Number]]
    default: tuple[int, Number] = (0, inf)
    limits: Limits = field(default_factory=Limits)
    largest: Number = inf
    changed: set[str] = field(default_factory=set)
    _least: dict[Polynomial, Number] = field(default_factory=dict, compare=False)

    def learn(self, name: str, bounds: tuple[int, Number]) -> None:
        """Remember the bounds of a name, in the place of what was known of it."""
        before = self.bounds.get(name)
        self.bounds[name] = bounds
        if before != bounds:
            self.changed.add(name)
            self._least.clear()

    def narrow(self, dim: Polynomial, most: Number, least: int = 0) -> None:
        """Remember bounds of a dimension, if it is nothing but a name."""
        if len(dim.terms) == 1 and len(dim.terms[0][0]) == 1 and dim.terms[0][1] == 1:
            ((name,), _) = dim.terms[0]
            low, high = self.of(name)
            bounds = max(low, least), min(high, most)
            if bounds[0] <= bounds[1] and bounds != (low, high):
                self.learn(name, bounds)

    def of(self, name: str) -> tuple[int, Number]:
        """Give the least and the greatest value of a name."""
        for bounds in (
            self.bounds.maps if isinstance(self.bounds, ChainMap) else (self.bounds,)
        ):  # which is faster than a ChainMap
            if name in bounds:
                low, high = bounds[name]
                return (low, max(low, self.default[1])) if high == inf else (low, high)
        return self.default

    def least(self, polynomial: Polynomial) -> Number:
        """Return a lower bound of the polynomial: the best one of four estimates.

        The first takes each term alone. The second writes each name as its least value and what exceeds it, and so sees that
        x * y - x is never negative for y of 1 or more. The third and the fourth know `limits`: of each term, of the sum.
        """
        value = polynomial.value
        if value is not None:
            return value
        found = self._least.get(polynomial)
        if found is None:
            found = max(self._estimate(polynomial), -self.largest)
            if found < -_ALWAYS_FITS:
                found = max(found, self._least_of_limited(polynomial), -self._limit(-polynomial))
            self._least[polynomial] = found
        return found

    def is_limited(self, polynomial: Polynomial) -> bool:
        """Return True if all terms are linear, or `limits` bound the polynomial from above."""
        if self.largest < inf or all(len(names) <= 1 for names, _ in polynomial.terms):
            return True
        return self._limit(polynomial) < inf

    def _least_of_limited(self, polynomial: Polynomial) -> Number:
        if len(polynomial.terms) == 1:
            return -inf
        return sum((self.least(Polynomial((term,))) for term in polynomial.terms), 0)

    def _limit(self, polynomial: Polynomial) -> Number:
        """Return an upper bound of the polynomial from `limits`: 3 * x * y <= 100 limits x * y to 33."""
        names, found = {name for names, factor in polynomial.terms if factor > 0 for name in names}, inf
        for limited, bound in self.limits.about(min(names)) if names else ():
            if names <= limited.names:
                factors = dict(limited.terms)
                times = [factors[term] // factor for term, factor in polynomial.terms if factor > 0 and term in factors]
                multiple = max(1, min(times, default=1))
                rest = self._estimate(limited - polynomial * multiple)
                found = found if rest == -inf else min(found, (bound - rest) // multiple)
        return found

    def _estimate(self, polynomial: Polynomial) -> Number:
        if all(len(monomial) <= 1 for monomial, _ in polynomial.terms):  # then both estimates are the same
            return self._least_of_sum(polynomial)
        lowest = {name: self.of(name)[0] for name in polynomial.names}
        shifted = polynomial.with_values({name: Polynomial.name(name) + low for name, low in lowest.items()})
        above = {name: self.of(name)[1] - low for name, low in lowest.items()}
        by_term = self._least_of_sum(polynomial)
        by_excess = sum((_least_of_term(factor, [(0, above[name]) for name in names]) for names, factor in shifted.terms), 0)
        return max(by_term, by_excess)

    def _least_of_sum(self, polynomial: Polynomial) -> Number:
        return sum((_least_of_term(factor, [self.of(name) for name in names]) for names, factor in polynomial.terms), 0)

    def greatest(self, polynomial: Polynomial) -> Number:
        """Give a number that the polynomial never exceeds."""
        value = polynomial.value
        return -self.least(-polynomial) if value is None else value

    def is_at_most(self, one: Polynomial, other: Polynomial) -> bool:
        """Whether one polynomial never exceeds the other."""
        return one == other or self.least(other - one) >= 0


def _least_of_term(factor: int, bounds: list[tuple[int, Number]]) -> Number:
    """Give the least value of a number times some values of 0 or more."""
    if factor >= 0:
        return factor * prod(low for low, _ in bounds)
    highest = [high for _, high in bounds]
    return 0 if 0 in highest else factor * prod(highest)
