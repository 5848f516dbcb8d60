"""Integer polynomials over symbols, such as 2 * dim(x, 0) * dim(x, 1) - 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from ov_gather.graph.symbols import Symbol

Number = int | float
"""A bound: a number, or an infinity if unknown."""
Monomial = tuple[Symbol, ...]
"""A product of symbols in their order; a symbol that occurs twice is squared."""

MAX_TERMS = 12
"""Most terms of a symbolic bound: longer ones are unreadable and slow."""


@dataclass(slots=True, unsafe_hash=True)  # not frozen: an analysis makes many
class Polynomial:
    """A sum of monomials with non-zero integer coefficients, sorted by monomial."""

    terms: tuple[tuple[Monomial, int], ...]

    @classmethod
    def of(cls, terms: Mapping[Monomial, int]) -> Polynomial:
        """Build a polynomial from the coefficient of each monomial."""
        return cls(tuple(sorted((monomial, factor) for monomial, factor in terms.items() if factor)))

    @classmethod
    def constant(cls, value: int) -> Polynomial:
        """Build a constant polynomial."""
        return cls((((), value),) if value else ())

    @classmethod
    def symbol(cls, symbol: Symbol) -> Polynomial:
        """Build the polynomial that is a single symbol."""
        return cls((((symbol,), 1),))

    @property
    def value(self) -> int | None:
        """The constant that this polynomial is; None if it contains a symbol."""
        if not self.terms:
            return 0
        return self.terms[0][1] if self.terms[-1][0] == () else None

    @property
    def symbols(self) -> frozenset[Symbol]:
        """The symbols in the polynomial."""
        return frozenset(symbol for monomial, _ in self.terms for symbol in monomial)

    def __add__(self, other: Polynomial | int) -> Polynomial:
        added = _polynomial(other).terms
        if not added or not self.terms:  # the common case, which needs no sorting
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
        """Return the exact quotient; None if there is a remainder or the divisor is 0."""
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
        """The term of the highest degree, which each step of the division cancels."""
        return max(self.terms, key=lambda term: (len(term[0]), term[0]))

    def with_values(self, values: Mapping[Symbol, Polynomial]) -> Polynomial:
        """Substitute polynomials for symbols."""
        found = Polynomial(())
        for monomial, factor in self.terms:
            term = Polynomial.constant(factor)
            for symbol in monomial:
                term = term * values.get(symbol, Polynomial.symbol(symbol))
            found = found + term
        return found

    def __str__(self) -> str:
        return "".join(_sum(self)) or "0"


class Quotient(Symbol):
    """floor(dividend / divisor). Parts: the terms of the dividend, which is not negative; the divisor, which is 2 or more."""

    __slots__ = ()
    kind = "//"

    @property
    def dividend(self) -> Polynomial:
        """The dividend, a polynomial of sizes."""
        return Polynomial(self[1])

    @property
    def divisor(self) -> int:
        """The divisor."""
        divisor: int = self[2]
        return divisor

    @property
    def depth(self) -> int:
        """1, or that of the deepest quotient in the dividend plus 1."""
        return 1 + depth_of(self.dividend)

    def __str__(self) -> str:
        return f"({self.dividend} // {self.divisor})" if len(self[1]) == 1 else f"(({self.dividend}) // {self.divisor})"


def depth_of(polynomial: Polynomial) -> int:
    """Return how deeply quotients are nested in a polynomial."""
    return max((symbol.depth for symbol in polynomial.symbols if isinstance(symbol, Quotient)), default=0)


def symbols_within(polynomial: Polynomial) -> Iterator[Symbol]:
    """Yield the symbols in a polynomial, and those in the dividends of its quotients."""
    for monomial, _ in polynomial.terms:
        for symbol in monomial:
            yield symbol
            if isinstance(symbol, Quotient):
                yield from symbols_within(symbol.dividend)


def _polynomial(given: Polynomial | int) -> Polynomial:
    return Polynomial.constant(given) if isinstance(given, int) else given


def _without(monomial: Monomial, part: Monomial) -> Monomial | None:
    """Divide a monomial by another; None if it is not a multiple."""
    left = list(monomial)
    for symbol in part:
        if symbol not in left:
            return None
        left.remove(symbol)
    return tuple(left)


def _sum(polynomial: Polynomial) -> Iterator[str]:
    """Yield the terms as text: highest degree first, the constant last."""
    for i, (monomial, factor) in enumerate(sorted(polynomial.terms, key=lambda term: (-len(term[0]), term[0]))):
        yield ("-" if i == 0 else " - ") if factor < 0 else ("" if i == 0 else " + ")
        powers = [str(symbol) if (count := len(list(same))) == 1 else f"{symbol}^{count}" for symbol, same in groupby(monomial)]
        number = [str(abs(factor))] if abs(factor) != 1 or not powers else []
        yield " * ".join(number + powers)
