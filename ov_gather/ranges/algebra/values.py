"""Abstract values of tensors: element type, shape, and bounds of the elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, prod

from ov_gather.ir.element_types import ELEMENT_TYPES, ElementType
from ov_gather.ranges.algebra.intervals import ANY, Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.symbols import Excess, UnknownElement

MAX_PARTS = 64
"""Longest axis whose slices have separate intervals: enough for shapes, coordinates and the rows of small tables."""

LARGEST_SIZE = 2**31 - 1
"""Assumed maximum element count of a tensor. The CPU plugin accepts larger tensors, but ShapeOf then wraps around."""

Shape = tuple[Polynomial, ...]

ONE = Polynomial.constant(1)


@dataclass(frozen=True, slots=True)
class SliceBounds:
    """One interval for each slice along an axis of known size."""

    axis: int
    intervals: tuple[Interval, ...]


@dataclass(slots=True)  # not frozen: an analysis makes many
class Value:
    """The abstract value of a tensor.

    Attributes:
        element_type: None if unknown.
        shape: a polynomial for each dimension; None if the rank is unknown.
        elements: bounds of all elements except NaN.
        parts: bounds of each slice along one axis, if tighter than `elements`.
        may_be_nan: True if an element may be NaN.
        peak: a number that fits the element type and that at least one element reaches or exceeds; -inf if unknown, or if the
            tensor may be empty.
        outside: bounds of what a Gather may have read out of bounds, to whose data OpenVINO may apply further operations; None
            if it has not.
    """

    element_type: ElementType | None
    shape: Shape | None
    elements: Interval = ANY
    parts: SliceBounds | None = None
    may_be_nan: bool = False
    peak: Number = -inf
    outside: Interval | None = None
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        """Return a hash, which is kept: values are looked up often, and are long."""
        if not self._hash:
            elements = self.elements
            self._hash = hash((self.shape, elements.low, elements.high, elements.highs))
        return self._hash

    @property
    def has_symbols(self) -> bool:
        """Return True if a dimension or a bound is no number, or the rank is unknown."""
        if self.shape is None or self.elements.lows or self.elements.highs:
            return True
        for dim in self.shape:
            if dim.value is None:
                return True
        return self.parts is not None and any(one.lows or one.highs for one in self.parts.intervals)

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None if unknown."""
        return None if self.shape is None else len(self.shape)

    def along(self, axis: int) -> tuple[Interval, ...] | None:
        """Return the interval of each slice along an axis; None if its size is unknown or exceeds MAX_PARTS."""
        if self.parts is not None and self.parts.axis == axis:
            return self.parts.intervals
        size = None if self.shape is None else self.shape[axis].value
        return None if size is None or size > MAX_PARTS else (self.elements,) * size

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """The bounds of all elements, and of each slice."""
        return (self.elements, *(() if self.parts is None else self.parts.intervals))

    def mapped(self, work: Callable[[Interval], Interval]) -> Value:
        """Return the value with a function applied to the bounds of all elements, and of each slice."""
        parts = None if self.parts is None else SliceBounds(self.parts.axis, tuple(map(work, self.parts.intervals)))
        return replace(self, elements=work(self.elements), parts=parts)

    def with_shape(self, shape: Shape | None, axis: int | None = None) -> Value:
        """Return the same elements in another shape. The parts move to `axis`; None drops them."""
        parts = None if self.parts is None or axis is None else replace(self.parts, axis=axis)
        return replace(self, shape=shape, parts=parts)


def in_slices(algebra: Algebra, value: Value, axis: int, intervals: Sequence[Interval]) -> Value:
    """Return the value with one interval for each slice along an axis."""
    if not intervals:
        return replace(value, parts=None)
    elements = algebra.join(*intervals)
    is_told = all(interval == elements for interval in intervals)
    return replace(value, elements=elements, parts=None if is_told else SliceBounds(axis, tuple(intervals)))


def is_integer(element_type: ElementType | None) -> bool:
    """Return True if a type holds integers only; booleans count as 0 and 1."""
    return element_type is not None and element_type.name in _RANGES


def is_of_sizes(bound: Polynomial) -> bool:
    """Return True if all symbols in a symbolic bound are sizes."""
    if bound.value is not None:
        return True
    return not any(isinstance(symbol, UnknownElement) for monomial, _ in bound.terms for symbol in monomial)


def are_exact(algebra: Algebra, elements: Interval, exact: Number) -> bool:
    """Return True if arithmetic that is exact for integers up to `exact` is exact on these elements.

    Dimensions and element counts of tensors are assumed not to exceed `exact`.
    """
    is_low_exact = elements.low >= -exact or any(is_counted(algebra, -bound) for bound in elements.lows)
    return is_low_exact and (elements.high <= exact or any(is_counted(algebra, bound) for bound in elements.highs))


def is_counted(algebra: Algebra, bound: Polynomial) -> bool:
    """Return True if the bound contains only dimensions, and is linear or limited by the element count of a tensor."""
    return is_of_sizes(bound) and algebra.sizes.is_limited(bound)


def counted(algebra: Algebra, elements: Interval) -> Interval:
    """Clamp sizes, or positions in a tensor, to 0..LARGEST_SIZE."""
    return algebra.meet(elements, Interval(0, LARGEST_SIZE))


def every_value(element_type: ElementType | None) -> Interval:
    """Return the range of an element type; only integer types are bounded."""
    return ANY if element_type is None else _RANGES.get(element_type.name, ANY)


def _range(element_type: ElementType) -> Interval:
    bits = element_type.bits
    if element_type.name[0] == "u":
        return Interval(0, (1 << bits) - 1)
    return Interval(-(1 << bits - 1), (1 << bits - 1) - 1)


_RANGES = {"boolean": Interval(0, 1)} | {row.name: _range(row) for row in ELEMENT_TYPES if row.name[0] in "iu"}


def at_least_one(dim: Polynomial) -> Polynomial:
    """Express a positive size as 1 + k with k >= 0."""
    return ONE + Polynomial.symbol(Excess(dim.terms))


def product(dims: Sequence[Polynomial]) -> Polynomial:
    """Return the product of dimensions; 1 for a scalar."""
    return prod(dims, start=ONE)


def count(algebra: Algebra, shape: Shape | None) -> tuple[Number, Number]:
    """Return a lower and an upper bound of the element count of a shape."""
    if shape is None:
        return 0, inf
    total = product(shape)
    return algebra.sizes.least(total), algebra.sizes.greatest(total)
