"""Integer polynomials over named sizes, such as 2 * dim(x, 0) * dim(x, 1) - 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

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
