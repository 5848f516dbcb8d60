"""Bounds of symbols, and of polynomials over them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence, Set
from dataclasses import dataclass, field
from math import ceil, floor, inf, prod

from ov_gather.graph.symbols import Symbol
from ov_gather.ranges.algebra.polynomials import Monomial, Number, Polynomial, Quotient

_ALWAYS_FITS = 1 << 24
"""Magnitude up to which `limits` are not consulted: every 32-bit type, float32 included, represents these integers."""


@dataclass(slots=True, eq=False)
class _Limited:
    """A polynomial with an upper bound, taken apart."""

    polynomial: Polynomial
    bound: int
    symbols: frozenset[Symbol]
    factors: Mapping[Monomial, int]


class Limits:
    """Polynomials with upper bounds, indexed by the symbols in them.

    Args:
        beneath: an underlying layer of limits that also hold.
    """

    def __init__(self, beneath: Limits | None = None) -> None:
        self._beneath = beneath
        self._known: dict[Polynomial, _Limited] = {}
        self._by_symbol: dict[Symbol, list[_Limited]] = {}

    def add(self, polynomial: Polynomial, bound: int) -> None:
        """Add an upper bound of a polynomial."""
        known = self._known.get(polynomial)
        if known is not None:
            known.bound = min(known.bound, bound)
            return
        limited = self._known[polynomial] = _Limited(polynomial, bound, polynomial.symbols, dict(polynomial.terms))
        for symbol in limited.symbols:
            self._by_symbol.setdefault(symbol, []).append(limited)

    def about(self, symbols: Collection[Symbol]) -> Iterator[tuple[Polynomial, int]]:
        """Yield the limited polynomials that contain one of these symbols, each once, with their bounds."""
        yield from ((limited.polynomial, limited.bound) for limited in self._about(symbols))

    def within(self, symbols: Set[Symbol]) -> Iterator[tuple[Polynomial, int]]:
        """Yield the limited polynomials that contain some of these symbols and no others, each once, with their bounds."""
        yield from ((limited.polynomial, limited.bound) for limited in self._about(symbols) if limited.symbols <= symbols)

    def _about(self, symbols: Collection[Symbol]) -> Iterator[_Limited]:
        yield from dict.fromkeys(limited for symbol in symbols for limited in self._by_symbol.get(symbol, ()))
        if self._beneath is not None:
            yield from self._beneath._about(symbols)

    def containing(self, symbols: Collection[Symbol]) -> Iterator[_Limited]:
        """Yield the limited polynomials that contain all of these symbols."""
        fewest = min((self._by_symbol.get(symbol, []) for symbol in symbols), key=len, default=[])
        yield from (limited for limited in fewest if limited.symbols.issuperset(symbols))
        if self._beneath is not None:
            yield from self._beneath.containing(symbols)

    def with_conditions(self, same: Mapping[Symbol, Polynomial], limits: Mapping[Polynomial, int]) -> Limits:
        """Return these limits together with `limits`; limits of symbols in `same` also with these substituted."""
        if not same and not limits:
            return self
        found = Limits(self)
        for polynomial, bound in self.about(same):
            found.add(polynomial.with_values(same), bound)
        for polynomial, bound in limits.items():
            found.add(polynomial, bound)
        return found


@dataclass(frozen=True)
class Sizes:
    """Bounds of symbols, from which bounds of polynomials are computed.

    Attributes:
        bounds: lower and upper bound of each symbol.
        default: bounds of unlisted symbols; its upper bound also caps listed symbols without one.
        limits: upper bounds of polynomials, such as the element counts of tensors.
        largest: magnitude that no polynomial is assumed to exceed.
        declared: the bounds that `narrow` starts from; `bounds` by default.
    """

    bounds: MutableMapping[Symbol, tuple[int, Number]]
    default: tuple[int, Number] = (0, inf)
    limits: Limits = field(default_factory=Limits)
    largest: Number = inf
    declared: Mapping[Symbol, tuple[int, Number]] | None = None
    _least: dict[Polynomial, Number] = field(default_factory=dict, compare=False)
    _of: dict[Symbol, tuple[int, Number]] = field(default_factory=dict, compare=False)
    _lowest: dict[_Limited, int] = field(default_factory=dict, compare=False)

    def set_bounds(self, symbol: Symbol, bounds: tuple[int, Number]) -> None:
        """Set the bounds of a symbol, replacing earlier ones."""
        before = self.bounds.get(symbol)
        self.bounds[symbol] = bounds
        if before != bounds and symbol in self._of:  # otherwise nothing that is cached depends on it
            for cache in (self._of, self._least, self._lowest):
                cache.clear()

    def narrow(self, dim: Polynomial, most: Number, least: int = 0) -> None:
        """Narrow the declared bounds of a dimension if it is a single symbol, and the result is not empty.

        Bounds from an earlier visit of a loop body are replaced: the state may have been widened since.
        """
        if len(dim.terms) == 1 and len(dim.terms[0][0]) == 1 and dim.terms[0][1] == 1:
            ((symbol,), _) = dim.terms[0]
            low, high = (self.bounds if self.declared is None else self.declared).get(symbol, self.default)
            bounds = max(low, least), min(high, max(low, self.default[1]), most)
            bounds = bounds if bounds[0] <= bounds[1] else (low, high)
            if bounds != self.of(symbol):
                self.set_bounds(symbol, bounds)

    def of(self, symbol: Symbol) -> tuple[int, Number]:
        """Return the lower and upper bound of a symbol."""
        found = self._of.get(symbol)
        if found is None:
            found = self._of[symbol] = self._found(symbol)
        return found

    def _found(self, symbol: Symbol) -> tuple[int, Number]:
        if symbol in self.bounds:
            low, high = self.bounds[symbol]
            return (low, max(low, self.default[1])) if high == inf else (low, high)
        return self._of_quotient(symbol) if isinstance(symbol, Quotient) else self.default

    def _of_quotient(self, symbol: Quotient) -> tuple[int, Number]:
        # Without `limits`, which may be about the quotient itself, such as the number of elements of a tensor of this size.
        low, high = self._estimate(symbol.dividend.terms), -self._estimate((-symbol.dividend).terms)
        least = 0 if low < 0 else floor(low) // symbol.divisor
        return least, high if high == inf else max(0, floor(high) // symbol.divisor)

    def least(self, polynomial: Polynomial) -> Number:
        """Return a lower bound of the polynomial: the best of five estimates.

        1. The sum of the least value of each term.
        2. The same after each symbol is written as its lower bound plus an excess: x * y - x is then never negative for y >= 1.
        3. The sum of the least value of each term, where `limits` bound terms.
        4. The upper bound from `limits` of the negated polynomial.
        5. That of the polynomial without a quotient, which is replaced by its dividend: 2 * (x // 2) <= x.
        """
        value = polynomial.value
        if value is not None:
            return value
        found = self._least.get(polynomial)
        if found is None:
            found = max(self._estimate(polynomial.terms), -self.largest)
            if found < -_ALWAYS_FITS:
                found = max(found, self._least_of_limited(polynomial))
                found = max(found, -self._limit(-polynomial, -found))
            for symbol in polynomial.symbols:
                if isinstance(symbol, Quotient):
                    found = max(found, self._least_without(polynomial, symbol))
            self._least[polynomial] = found
        return found

    def _least_without(self, polynomial: Polynomial, quotient: Quotient) -> Number:
        """Return a lower bound of a polynomial from `divisor * quotient`, which is in dividend - divisor + 1..dividend."""
        terms: dict[Monomial, int] = {}
        relaxed, divisor = Polynomial(()), quotient.divisor
        for symbols, factor in polynomial.terms:
            if quotient not in symbols:
                terms[symbols] = factor * divisor
                continue
            others = list(symbols)
            others.remove(quotient)
            if quotient in others:
                return -inf
            bound = quotient.dividend if factor < 0 else quotient.dividend - (divisor - 1)
            relaxed = relaxed + bound * Polynomial(((tuple(others), factor),))
        least = self.least(relaxed + Polynomial.of(terms))
        return least if least == -inf else ceil(least / divisor)

    def is_limited(self, polynomial: Polynomial) -> bool:
        """Return True if all terms are linear, or `limits` bound the polynomial from above."""
        if self.largest < inf or all(len(symbols) <= 1 for symbols, _ in polynomial.terms):
            return True
        return self._limit(polynomial) < inf

    def _least_of_limited(self, polynomial: Polynomial) -> Number:
        if len(polynomial.terms) == 1:
            return -inf
        return sum((self.least(Polynomial((term,))) for term in polynomial.terms), 0)

    def _limit(self, polynomial: Polynomial, needed: Number = inf) -> Number:
        """Return an upper bound of the polynomial from `limits`: 3 * x * y <= 100 gives x * y <= 33.

        Limits that cannot give less than `needed` are skipped: no estimate exceeds the value at the lower bounds of symbols.
        """
        positive = [term for term in polynomial.terms if term[1] > 0]
        found, lowest = needed, self._at_lower_bounds(polynomial.terms)
        for limited in self.limits.containing({symbol for symbols, _ in positive for symbol in symbols}):
            factors = limited.factors
            multiples = [factors[term] // factor for term, factor in positive if term in factors]
            multiple = max(1, min(multiples)) if multiples else 1
            if limited not in self._lowest:
                self._lowest[limited] = self._at_lower_bounds(factors.items())
            if (limited.bound - self._lowest[limited] + lowest * multiple) // multiple >= found:
                continue
            rest = dict(factors)
            for term, factor in polynomial.terms:
                rest[term] = rest.get(term, 0) - factor * multiple
            least = self._estimate([term for term in rest.items() if term[1]])
            found = found if least == -inf else min(found, (limited.bound - least) // multiple)
        return found

    def _at_lower_bounds(self, terms: Iterable[tuple[Monomial, int]]) -> int:
        """Return the value of a polynomial if each symbol has its lower bound."""
        total = 0
        for symbols, factor in terms:
            for symbol in symbols:
                factor *= self.of(symbol)[0]
            total += factor
        return total

    def _estimate(self, terms: Sequence[tuple[Monomial, int]]) -> Number:
        """Return the better of the first two estimates of `least`, for the terms of a polynomial."""
        bounds = {symbol: self.of(symbol) for monomial, _ in terms for symbol in monomial}
        by_term = _least_of_terms(terms, bounds)
        if all(len(monomial) <= 1 for monomial, _ in terms) or not any(low for low, _ in bounds.values()):
            return by_term  # both estimates agree
        excess: dict[Monomial, int] = {}
        for monomial, factor in terms:
            for symbols, multiple in _with_excess(monomial, bounds):
                excess[symbols] = excess.get(symbols, 0) + factor * multiple
        above = {symbol: (0, high - low) for symbol, (low, high) in bounds.items()}
        return max(by_term, _least_of_terms(excess.items(), above))

    def greatest(self, polynomial: Polynomial) -> Number:
        """Return an upper bound of the polynomial."""
        value = polynomial.value
        return -self.least(-polynomial) if value is None else value

    def is_at_most(self, one: Polynomial, other: Polynomial) -> bool:
        """Return True if one polynomial never exceeds the other."""
        return one == other or self.least(other - one) >= 0


def _with_excess(monomial: Monomial, bounds: Mapping[Symbol, tuple[int, Number]]) -> list[tuple[Monomial, int]]:
    """Expand a product of symbols, each its lower bound plus an excess of the same symbol, into terms of the excesses."""
    found: list[tuple[Monomial, int]] = [((), 1)]
    for symbol in monomial:
        low = bounds[symbol][0]
        found = [((*symbols, symbol), factor) for symbols, factor in found] + [
            (symbols, factor * low) for symbols, factor in found if low
        ]
    return found


def _least_of_terms(terms: Iterable[tuple[Monomial, int]], bounds: Mapping[Symbol, tuple[int, Number]]) -> Number:
    """Return the sum of the least values of terms, whose symbols are not negative."""
    total: Number = 0  # loops, because most of the time of an analysis is spent here
    for symbols, factor in terms:
        least: Number = factor
        if factor >= 0:
            for symbol in symbols:
                least *= bounds[symbol][0]
        else:
            highest = [bounds[symbol][1] for symbol in symbols]
            least = 0 if 0 in highest else factor * prod(highest)
        total += least
    return total
