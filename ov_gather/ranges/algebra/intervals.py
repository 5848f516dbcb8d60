"""Intervals bounded by numbers and by polynomials of sizes, and their arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from math import ceil, floor, inf

from ov_gather.ranges.algebra.polynomials import MAX_TERMS, Number, Polynomial, Quotient, depth_of
from ov_gather.ranges.algebra.sizes import Sizes

MAX_BOUNDS = 3
"""Symbolic bounds kept on each side of an interval."""
MAX_DIVIDED = 4
"""Most terms of a dividend whose quotient gets a name."""
MAX_DEPTH = 8
"""How deeply quotients with names are nested at most: each is as long as what it divides."""
MAX_FACTOR = 1 << 24
"""Largest coefficient of a symbolic bound."""


@dataclass(slots=True, unsafe_hash=True)  # not frozen: an analysis makes many
class Interval:
    """The numbers from `low` to `high`, both included, that also satisfy the symbolic bounds.

    Attributes:
        low, high: numeric bounds; infinite if unknown.
        lows: symbolic lower bounds: polynomials with at least one name; each bounds every value.
        highs: symbolic upper bounds, likewise.
    """

    low: Number = -inf
    high: Number = inf
    lows: tuple[Polynomial, ...] = ()
    highs: tuple[Polynomial, ...] = ()

    @property
    def is_any(self) -> bool:
        """Return True if the interval is unbounded (top)."""
        return self.low == -inf and self.high == inf and not self.lows and not self.highs

    @property
    def exactly(self) -> Polynomial | None:
        """The polynomial or number that every value equals; None if unknown."""
        if self.low == self.high and isinstance(self.low, int):
            return Polynomial.constant(self.low)
        return next((bound for bound in self.lows if bound in self.highs), None)

    def __neg__(self) -> Interval:
        if not (self.lows or self.highs):
            return Interval(-self.high, -self.low)
        return Interval(-self.high, -self.low, tuple(-bound for bound in self.highs), tuple(-bound for bound in self.lows))

    def __str__(self) -> str:
        return f"{_text(self.low, self.lows)}..{_text(self.high, self.highs)}"


ANY = Interval()
TRUTH = Interval(0, 1)


def _text(number: Number, bounds: tuple[Polynomial, ...]) -> str:
    known = [] if number in (inf, -inf) else [str(number)]
    return " or ".join([*known, *map(str, bounds)]) or "?"


@dataclass(frozen=True)
class Algebra:
    """Interval arithmetic, given bounds of the sizes that occur in symbolic bounds.

    Each method returns an interval that contains every result of its operation on values of the operands. Integers are
    unbounded here; the caller applies the range of the element type.
    """

    sizes: Sizes = field(default_factory=lambda: Sizes({}))

    def exact(self, value: Polynomial | int) -> Interval:
        """Build the interval of a single value."""
        polynomial = Polynomial.constant(value) if isinstance(value, int) else value
        return self.between(polynomial, polynomial)

    def between(self, low: Polynomial | None, high: Polynomial | None) -> Interval:
        """Build the interval between two polynomials; None means unbounded."""
        return self._made([low] if low is not None else [], [high] if high is not None else [])

    def _made(
        self, lows: Iterable[Polynomial], highs: Iterable[Polynomial], low: Number = -inf, high: Number = inf
    ) -> Interval:
        """Build an interval from lower and upper bounds. The first `MAX_BOUNDS` symbolic bounds of each side are kept."""
        lows, highs = [*dict.fromkeys(lows)], [*dict.fromkeys(highs)]
        low = max([low, *(self.sizes.least(bound) for bound in lows)])
        high = min([high, *(self.sizes.greatest(bound) for bound in highs)])
        return Interval(low, high, _symbolic(lows), _symbolic(highs))

    def lows(self, interval: Interval) -> list[Polynomial]:
        """Return the lower bounds as polynomials, including the numeric one."""
        return [*interval.lows, *([Polynomial.constant(floor(interval.low))] if interval.low not in (inf, -inf) else [])]

    def highs(self, interval: Interval) -> list[Polynomial]:
        """Return the upper bounds as polynomials, including the numeric one."""
        return [*interval.highs, *([Polynomial.constant(ceil(interval.high))] if interval.high not in (inf, -inf) else [])]

    def is_at_least(self, interval: Interval, bound: Polynomial) -> bool:
        """Return True if no value is below the bound."""
        if bound.value is not None and not interval.lows:
            return interval.low >= bound.value
        return any(self.sizes.is_at_most(bound, low) for low in self.lows(interval))

    def is_at_most(self, interval: Interval, bound: Polynomial) -> bool:
        """Return True if no value exceeds the bound."""
        if bound.value is not None and not interval.highs:
            return interval.high <= bound.value
        return any(self.sizes.is_at_most(high, bound) for high in self.highs(interval))

    def join(self, *given: Interval) -> Interval:
        """Join one or more intervals."""
        return reduce(self._join, given)

    def _join(self, one: Interval, other: Interval) -> Interval:
        low, high = min(one.low, other.low), max(one.high, other.high)
        if _are_numbers(one, other):
            return Interval(low, high)
        lows = [bound for a, b in ((one, other), (other, one)) for bound in self.lows(a) if self.is_at_least(b, bound)]
        highs = [bound for a, b in ((one, other), (other, one)) for bound in self.highs(a) if self.is_at_most(b, bound)]
        return self._made(lows, highs, low, high)

    def meet(self, one: Interval, other: Interval) -> Interval:
        """Meet two intervals."""
        low, high = max(one.low, other.low), min(one.high, other.high)
        if _are_numbers(one, other):
            return Interval(low, high)
        return self._made((*one.lows, *other.lows), (*one.highs, *other.highs), low, high)

    def add(self, one: Interval, other: Interval) -> Interval:
        """Add intervals."""
        low, high = one.low + other.low, one.high + other.high
        if _are_numbers(one, other):
            return Interval(low, high)
        first, second = one.exactly, other.exactly
        if first is not None and second is not None:
            return self._made([first + second], [first + second], low, high)
        lows = [a + b for a, b in product(self.lows(one), self.lows(other))]
        highs = [a + b for a, b in product(self.highs(one), self.highs(other))]
        return self._made(lows, highs, low, high)

    def subtract(self, one: Interval, other: Interval) -> Interval:
        """Subtract intervals."""
        return self.add(one, -other)

    def multiply(self, one: Interval, other: Interval) -> Interval:
        """Multiply intervals. Symbolic bounds survive if one operand is a number, or neither is negative."""
        for factor, values in ((one, other), (other, one)):
            if factor.low == factor.high and isinstance(factor.low, int):
                return self._scaled(values, factor.low)
        numbers = _corners(one, other, lambda a, b: 0 if 0 in (a, b) else a * b)
        if one.low < 0 or other.low < 0 or _are_numbers(one, other):
            return numbers
        lows = [a * b for a, b in product(self.lows(one), self.lows(other)) if self.sizes.least(a) >= 0 <= self.sizes.least(b)]
        highs = [a * b for a, b in product(self.highs(one), self.highs(other))]
        return self._made(lows, highs, numbers.low, numbers.high)

    def _scaled(self, values: Interval, factor: int) -> Interval:
        values, factor = (values, factor) if factor >= 0 else (-values, -factor)
        if factor == 0:
            return self.exact(0)
        lows, highs = ([bound * factor for bound in bounds] for bounds in (values.lows, values.highs))
        return self._made(lows, highs, values.low * factor, values.high * factor)

    def divide(self, one: Interval, other: Interval) -> Interval:
        """Divide integers, rounding down or towards 0. Return ANY unless every divisor is at least 1."""
        if other.low < 1:
            return ANY
        dividend, divisor = one.exactly, other.exactly
        quotient = dividend.divided_by(divisor) if dividend is not None and divisor is not None else None
        if quotient is not None:
            return self.exact(quotient)
        numbers = Interval(_corners(one, other, _divided_down).low, _corners(one, other, _divided_up).high)
        if one.low < 0:
            return numbers
        if divisor is None:  # a quotient of numbers that are not negative does not exceed the dividend
            return self._made([], one.highs, numbers.low, numbers.high)
        lows, highs = ([self._rounded_down(bound, divisor) for bound in bounds] for bounds in (one.lows, one.highs))
        kept = [high if bound is None else bound for bound, high in zip(highs, one.highs, strict=True)]
        return self._made((bound for bound in lows if bound is not None), kept, numbers.low, numbers.high)

    def _rounded_down(self, bound: Polynomial, divisor: Polynomial) -> Polynomial | None:
        """Return the quotient of a bound, rounded down: (2 * x - 1) // 2 = x - 1; None if it is no polynomial."""
        rest = dict(bound.terms).get((), 0)
        whole = (bound - rest).divided_by(divisor)
        if divisor.value is not None:
            if whole is not None:
                return whole + rest // divisor.value
            is_named = len(bound.terms) <= MAX_DIVIDED and depth_of(bound) < MAX_DEPTH and self.sizes.least(bound) >= 0
            return Polynomial.symbol(Quotient(bound.terms, divisor.value)) if is_named else None
        # A negative rest, which is no less than -divisor, leaves one less.
        return None if whole is None or rest > 0 or self.sizes.least(divisor + rest) < 0 else whole - int(rest < 0)

    def remainder(self, one: Interval, other: Interval, *, sign_of_dividend: bool) -> Interval:
        """Return the remainder of a division by positive integers; ANY if a divisor may be less than 1."""
        if other.low < 1:
            return ANY
        if 0 <= one.low == one.high and isinstance(one.low, int) and other.low == other.high and isinstance(other.low, int):
            return self.exact(one.low % other.low)
        if one.low >= 0 and any(self.is_at_most(one, low - 1) for low in self.lows(other)):
            return one
        below = self._made((), [high - 1 for high in self.highs(other)], 0)
        if one.low >= 0:
            below = self.meet(below, Interval(0, one.high, (), one.highs))
        return self.join(below, -below) if sign_of_dividend and one.low < 0 else below

    def minimum(self, one: Interval, other: Interval) -> Interval:
        """Return the elementwise minimum."""
        joined = self._join(one, other)
        return self._made(joined.lows, (*one.highs, *other.highs), min(one.low, other.low), min(one.high, other.high))

    def maximum(self, one: Interval, other: Interval) -> Interval:
        """Return the elementwise maximum."""
        return -self.minimum(-one, -other)

    def absolute(self, values: Interval) -> Interval:
        """Return the absolute values."""
        if values.low >= 0:
            return values
        joined = self.join(values, -values)
        return self._made((), joined.highs, max(0, -values.high), joined.high)


def _are_numbers(one: Interval, other: Interval) -> bool:
    """Return True if neither interval has symbolic bounds, so that polynomial arithmetic can be skipped."""
    return not (one.lows or one.highs or other.lows or other.highs)


def _symbolic(bounds: Iterable[Polynomial]) -> tuple[Polynomial, ...]:
    """Keep the first `MAX_BOUNDS` bounds that have a name, few terms, and no coefficient that wraps around in 32 bits."""
    kept = (bound for bound in bounds if bound.value is None and len(bound.terms) <= MAX_TERMS)
    return tuple(bound for bound in kept if all(abs(factor) <= MAX_FACTOR for _, factor in bound.terms))[:MAX_BOUNDS]


def _corners(one: Interval, other: Interval, work: Callable[[Number, Number], Number]) -> Interval:
    """Bound a function that is monotone in each operand by its values at the four corners."""
    results = [work(a, b) for a in (one.low, one.high) for b in (other.low, other.high)]
    return Interval(min(results), max(results))


def _divided_down(dividend: Number, divisor: Number) -> Number:
    if divisor == inf:
        return 0 if dividend >= 0 else -1
    return dividend if dividend in (inf, -inf) else floor(dividend) // floor(divisor)


def _divided_up(dividend: Number, divisor: Number) -> Number:
    """Divide, rounding towards 0."""
    if dividend >= 0:
        return _divided_down(dividend, divisor)
    return 0 if divisor == inf else -_divided_down(-dividend, divisor)
