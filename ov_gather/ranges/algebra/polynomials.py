"""Integer polynomials over named sizes, such as 2 * dim(x, 0) * dim(x, 1) - 1, and bounds of them."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from itertools import groupby
from math import inf, prod

Number = int | float
"""An integer, or one of the infinities, which say that nothing is known."""
Monomial = tuple[str, ...]
"""The product of some names, in alphabetical order; a name that stands twice is squared."""

MAX_TERMS = 12
"""A polynomial with more terms than these is of no use to a reader, and costs time."""


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of products: the integer coefficient of each monomial, zeros left out, in the order of the monomials."""

    terms: tuple[tuple[Monomial, int], ...]

    @classmethod
    def of(cls, terms: Mapping[Monomial, int]) -> Polynomial:
        """Make the polynomial with these coefficients."""
        return cls(tuple(sorted((monomial, factor) for monomial, factor in terms.items() if factor)))

    @classmethod
    def constant(cls, value: int) -> Polynomial:
        """Make the polynomial that is this number."""
        return cls((((), value),) if value else ())

    @classmethod
    def name(cls, name: str) -> Polynomial:
        """Make the polynomial that is this name."""
        return cls((((name,), 1),))

    @property
    def value(self) -> int | None:
        """The number that this is; None where there is a name in it."""
        if not self.terms:
            return 0
        return self.terms[0][1] if self.terms[-1][0] == () else None

    @property
    def names(self) -> frozenset[str]:
        """The names that occur."""
        return frozenset(name for monomial, _ in self.terms for name in monomial)

    def __add__(self, other: Polynomial | int) -> Polynomial:
        added = _polynomial(other).terms
        if not added or not self.terms:  # because most sums have one of a few terms, which need no order
            return self if not added else Polynomial(added)
        terms = dict(self.terms)
        for monomial, factor in added:
            terms[monomial] = terms.get(monomial, 0) + factor
        return Polynomial.of(terms)

    def __neg__(self) -> Polynomial:
        return Polynomial(tuple((monomial, -factor) for monomial, factor in self.terms))

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self + -_polynomial(other)

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        terms: dict[Monomial, int] = {}
        for monomial, factor in self.terms:
            for others, number in _polynomial(other).terms:
                product = tuple(sorted(monomial + others))
                terms[product] = terms.get(product, 0) + factor * number
        return Polynomial.of(terms)

    def divided_by(self, divisor: Polynomial) -> Polynomial | None:
        """Divide where nothing remains; None where something does, or the divisor is 0."""
        rest, quotient = self, Polynomial(())
        while rest.terms and divisor.terms:
            (lead, factor), (by, number) = rest._leading, divisor._leading
            remaining = _without(lead, by)
            if remaining is None or factor % number:
                return None
            term = Polynomial(((remaining, factor // number),))
            quotient, rest = quotient + term, rest - term * divisor
        return quotient if divisor.terms else None

    @property
    def _leading(self) -> tuple[Monomial, int]:
        """The term of the highest degree; each step of a division makes it lower."""
        return max(self.terms, key=lambda term: (len(term[0]), term[0]))

    def with_values(self, values: Mapping[str, Polynomial]) -> Polynomial:
        """Put polynomials in the place of some names."""
        found = Polynomial(())
        for monomial, factor in self.terms:
            term = Polynomial.constant(factor)
            for name in monomial:
                term = term * values.get(name, Polynomial.name(name))
            found = found + term
        return found

    def __str__(self) -> str:
        return "".join(_sum(self)) or "0"


def _polynomial(given: Polynomial | int) -> Polynomial:
    return Polynomial.constant(given) if isinstance(given, int) else given


def _without(monomial: Monomial, part: Monomial) -> Monomial | None:
    """Take the names of a part out of a monomial; None where they are not in it."""
    left = list(monomial)
    for name in part:
        if name not in left:
            return None
        left.remove(name)
    return tuple(left)


def _sum(polynomial: Polynomial) -> Iterator[str]:
    """Write the terms, those with most names first, the number last."""
    for i, (monomial, factor) in enumerate(sorted(polynomial.terms, key=lambda term: (-len(term[0]), term[0]))):
        yield ("-" if i == 0 else " - ") if factor < 0 else ("" if i == 0 else " + ")
        powers = [name if (count := len(list(same))) == 1 else f"{name}^{count}" for name, same in groupby(monomial)]
        number = [str(abs(factor))] if abs(factor) != 1 or not powers else []
        yield " * ".join(number + powers)


@dataclass(frozen=True)
class Sizes:
    """What is known of each name: its least and its greatest value. A name that is not listed is a size: 0 or more."""

    bounds: MutableMapping[str, tuple[int, Number]]
    default: tuple[int, Number] = (0, inf)
    _least: dict[Polynomial, Number] = field(default_factory=dict, compare=False)

    def learn(self, name: str, bounds: tuple[int, Number]) -> None:
        """Remember the bounds of a name, in the place of what was known of it."""
        before = self.bounds.get(name)
        self.bounds[name] = bounds
        if before not in (None, bounds):
            self._least.clear()

    def of(self, name: str) -> tuple[int, Number]:
        """Give the least and the greatest value of a name."""
        for bounds in (
            self.bounds.maps if isinstance(self.bounds, ChainMap) else (self.bounds,)
        ):  # which is faster than a ChainMap
            if name in bounds:
                return bounds[name]
        return self.default

    def least(self, polynomial: Polynomial) -> Number:
        """Give a number that the polynomial is never below: the better one of two estimates.

        The first takes each term alone. The second writes each name as its least value and what exceeds it, and so sees that
        x * y - x is never negative for y of 1 or more.
        """
        value = polynomial.value
        if value is not None:
            return value
        found = self._least.get(polynomial)
        if found is None:
            found = self._least[polynomial] = self._estimate(polynomial)
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
