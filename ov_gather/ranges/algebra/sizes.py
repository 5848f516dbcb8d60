"""Bounds of named sizes, and of polynomials over them."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from math import ceil, floor, inf, prod

from ov_gather.ranges.algebra.polynomials import Monomial, Number, Polynomial, Quotient
from ov_gather.system.traversal import reachable

_ALWAYS_FITS = 1 << 24
"""Magnitude up to which `limits` are not consulted: every 32-bit type, float32 included, represents these integers."""


class Limits:
    """Polynomials with upper bounds, indexed by the names in them.

    Args:
        beneath: an underlying layer of limits that also hold.
    """

    def __init__(self, beneath: Limits | None = None) -> None:
        self._beneath = beneath
        self._by_name: dict[str, dict[Polynomial, int]] = {}

    def add(self, polynomial: Polynomial, bound: int) -> None:
        """Add an upper bound of a polynomial."""
        for name in polynomial.names:
            known = self._by_name.setdefault(name, {})
            known[polynomial] = min(bound, known.get(polynomial, bound))

    def about(self, name: str) -> Iterator[tuple[Polynomial, int]]:
        """Yield the limited polynomials that contain a name, with their bounds."""
        yield from self._by_name.get(name, {}).items()
        if self._beneath is not None:
            yield from self._beneath.about(name)

    def with_conditions(self, same: Mapping[str, Polynomial], limits: Mapping[Polynomial, int]) -> Limits:
        """Return these limits together with `limits`; limits of names in `same` are added with the names substituted, too."""
        if not same and not limits:
            return self
        found = Limits(self)
        for name in same:
            for polynomial, bound in self.about(name):
                found.add(polynomial.with_values(same), bound)
        for polynomial, bound in limits.items():
            found.add(polynomial, bound)
        return found

    def related(self, names: Iterable[str]) -> set[str]:
        """Return the names, and transitively all that share a limited polynomial with one of them."""
        return set(reachable(names, lambda name: (other for polynomial, _ in self.about(name) for other in polynomial.names)))


@dataclass(frozen=True)
class Sizes:
    """Bounds of names, from which bounds of polynomials are computed.

    Attributes:
        bounds: lower and upper bound of each name.
        default: bounds of unlisted names; its upper bound also caps listed names without one.
        limits: upper bounds of polynomials, such as the element counts of tensors.
        largest: magnitude that no polynomial is assumed to exceed.
        changed: names whose bounds were replaced.
        declared: the bounds that `narrow` starts from; `bounds` by default.
    """

    bounds: MutableMapping[str, tuple[int, Number]]
    default: tuple[int, Number] = (0, inf)
    limits: Limits = field(default_factory=Limits)
    largest: Number = inf
    changed: set[str] = field(default_factory=set)
    declared: Mapping[str, tuple[int, Number]] | None = None
    _least: dict[Polynomial, Number] = field(default_factory=dict, compare=False)
    _of_quotients: dict[Quotient, tuple[int, Number]] = field(default_factory=dict, compare=False)

    def set_bounds(self, name: str, bounds: tuple[int, Number]) -> None:
        """Set the bounds of a name, replacing earlier ones."""
        before = self.bounds.get(name)
        self.bounds[name] = bounds
        if before != bounds:
            self.changed.add(name)
            self._least.clear()
            self._of_quotients.clear()

    def narrow(self, dim: Polynomial, most: Number, least: int = 0) -> None:
        """Narrow the declared bounds of a dimension if it is a single name, and the result is not empty.

        Bounds from an earlier visit of a loop body are replaced: the state may have been widened since.
        """
        if len(dim.terms) == 1 and len(dim.terms[0][0]) == 1 and dim.terms[0][1] == 1:
            ((name,), _) = dim.terms[0]
            low, high = (self.bounds if self.declared is None else self.declared).get(name, self.default)
            bounds = max(low, least), min(high, max(low, self.default[1]), most)
            bounds = bounds if bounds[0] <= bounds[1] else (low, high)
            if bounds != self.of(name):
                self.set_bounds(name, bounds)

    def of(self, name: str) -> tuple[int, Number]:
        """Return the lower and upper bound of a name."""
        maps = self.bounds.maps if isinstance(self.bounds, ChainMap) else (self.bounds,)
        for bounds in maps:  # faster than a lookup in the ChainMap
            if name in bounds:
                low, high = bounds[name]
                return (low, max(low, self.default[1])) if high == inf else (low, high)
        return self._of_quotient(name) if isinstance(name, Quotient) else self.default

    def _of_quotient(self, name: Quotient) -> tuple[int, Number]:
        # Without `limits`, which may be about the quotient itself, such as the number of elements of a tensor of this size.
        found = self._of_quotients.get(name)
        if found is None:
            low, high = self._estimate(name.dividend), -self._estimate(-name.dividend)
            least = 0 if low < 0 else floor(low) // name.divisor
            found = least, high if high == inf else max(0, floor(high) // name.divisor)
            self._of_quotients[name] = found
        return found

    def least(self, polynomial: Polynomial) -> Number:
        """Return a lower bound of the polynomial: the best of five estimates.

        1. The sum of the least value of each term.
        2. The same after each name is written as its lower bound plus an excess: x * y - x is then never negative for y >= 1.
        3. The sum of the least value of each term, where `limits` bound terms.
        4. The upper bound from `limits` of the negated polynomial.
        5. That of the polynomial without a quotient, which is replaced by its dividend: 2 * (x // 2) <= x.
        """
        value = polynomial.value
        if value is not None:
            return value
        found = self._least.get(polynomial)
        if found is None:
            found = max(self._estimate(polynomial), -self.largest)
            if found < -_ALWAYS_FITS:
                found = max(found, self._least_of_limited(polynomial), -self._limit(-polynomial))
            for name in polynomial.names:
                if isinstance(name, Quotient):
                    found = max(found, self._least_without(polynomial, name))
            self._least[polynomial] = found
        return found

    def _least_without(self, polynomial: Polynomial, quotient: Quotient) -> Number:
        """Return a lower bound of a polynomial from `divisor * quotient`, which is in dividend - divisor + 1..dividend."""
        terms: dict[Monomial, int] = {}
        relaxed, divisor = Polynomial(()), quotient.divisor
        for names, factor in polynomial.terms:
            if quotient not in names:
                terms[names] = factor * divisor
                continue
            others = list(names)
            others.remove(quotient)
            if quotient in others:
                return -inf
            bound = quotient.dividend if factor < 0 else quotient.dividend - (divisor - 1)
            relaxed = relaxed + bound * Polynomial(((tuple(others), factor),))
        least = self.least(relaxed + Polynomial.of(terms))
        return least if least == -inf else ceil(least / divisor)

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
        """Return an upper bound of the polynomial from `limits`: 3 * x * y <= 100 gives x * y <= 33."""
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
        if all(len(monomial) <= 1 for monomial, _ in polynomial.terms):  # both estimates agree
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
        """Return an upper bound of the polynomial."""
        value = polynomial.value
        return -self.least(-polynomial) if value is None else value

    def is_at_most(self, one: Polynomial, other: Polynomial) -> bool:
        """Return True if one polynomial never exceeds the other."""
        return one == other or self.least(other - one) >= 0


def _least_of_term(factor: int, bounds: list[tuple[int, Number]]) -> Number:
    """Return the least value of a factor times non-negative values."""
    if factor >= 0:
        return factor * prod(low for low, _ in bounds)
    highest = [high for _, high in bounds]
    return 0 if 0 in highest else factor * prod(highest)
