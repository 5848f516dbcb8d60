"""What is known of a tensor: its shape, and between which bounds its elements lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from ov_gather.ir.element_types import ELEMENT_TYPES, ElementType
from ov_gather.ranges.algebra.intervals import ANY, Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial

MAX_PARTS = 64
"""The longest axis along which each slice has an interval of its own: shapes, coordinates, rows of small tables."""

LARGEST_SIZE = 2**31 - 1
"""Assumed number of elements that no tensor exceeds; the CPU plugin itself accepts larger ones, and ShapeOf wraps around."""

Shape = tuple[Polynomial, ...]

_NUMBER = "value("
ONE = Polynomial.constant(1)


@dataclass(frozen=True, slots=True)
class Parts:
    """An interval for each slice along one axis, whose size is known."""

    axis: int
    intervals: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of a tensor.

    Attributes:
        element_type: None where it is not known.
        shape: a polynomial for each dimension; None where the rank is open.
        elements: the bounds of all elements, but for NaN.
        parts: the bounds of the elements of each slice along an axis, where that tells more.
        may_be_nan: whether an element may be NaN, which keeps to no bounds.
        peak: a number that one element at least is not below, and that the type holds; infinite where none is known, or there
            may be no element.
    """

    element_type: ElementType | None
    shape: Shape | None
    elements: Interval = ANY
    parts: Parts | None = None
    may_be_nan: bool = False
    peak: Number = -inf

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None where it is open."""
        return None if self.shape is None else len(self.shape)

    def along(self, axis: int) -> tuple[Interval, ...] | None:
        """Give the interval of each slice along an axis; None where its size is not known, or too large."""
        if self.parts is not None and self.parts.axis == axis:
            return self.parts.intervals
        size = None if self.shape is None else self.shape[axis].value
        return None if size is None or size > MAX_PARTS else (self.elements,) * size

    def with_shape(self, shape: Shape | None, axis: int | None = None) -> Value:
        """Give the same elements another shape, in which `axis` is the axis that the parts lie along; None ends the parts."""
        parts = None if self.parts is None or axis is None else replace(self.parts, axis=axis)
        return replace(self, shape=shape, parts=parts)


def in_parts(algebra: Algebra, value: Value, axis: int, intervals: Sequence[Interval]) -> Value:
    """Give the elements of a value bounds by slices along an axis."""
    if not intervals:
        return replace(value, parts=None)
    elements = algebra.hull(*intervals)
    is_told = all(interval == elements for interval in intervals)
    return replace(value, elements=elements, parts=None if is_told else Parts(axis, tuple(intervals)))


def is_integer(element_type: ElementType | None) -> bool:
    """Whether a type holds integers only; booleans are 0 and 1."""
    return element_type is not None and element_type.name in _RANGES


def name_of_number(name: str) -> str:
    """Name a number that is computed or given, and so may be as large as its type allows, other than a dimension."""
    return f"{_NUMBER}{name}, 0)"


def is_of_sizes(bound: Polynomial) -> bool:
    """Return True if all names of a symbolic bound are dimensions."""
    return not any(name.startswith(_NUMBER) for name in bound.names)


def are_exact(algebra: Algebra, elements: Interval, exact: Number) -> bool:
    """Return True if arithmetic that is exact up to `exact` is exact on these integers.

    Dimensions, and the element counts of tensors that exist, are assumed to be that small.
    """
    is_low_exact = elements.low >= -exact or any(is_counted(algebra, -bound) for bound in elements.lows)
    return is_low_exact and (elements.high <= exact or any(is_counted(algebra, bound) for bound in elements.highs))


def is_counted(algebra: Algebra, bound: Polynomial) -> bool:
    """Return True if a bound by dimensions alone is linear, or at most the element count of a tensor that exists."""
    return is_of_sizes(bound) and algebra.sizes.is_limited(bound)


def counted(algebra: Algebra, elements: Interval) -> Interval:
    """Bound the sizes of a tensor that exists, or positions in it."""
    return algebra.both(elements, Interval(0, LARGEST_SIZE))


def every_value(element_type: ElementType | None) -> Interval:
    """Give all values of an element type; only integers have bounds."""
    return ANY if element_type is None else _RANGES.get(element_type.name, ANY)


def _range(element_type: ElementType) -> Interval:
    bits = element_type.bits
    if element_type.name[0] == "u":
        return Interval(0, (1 << bits) - 1)
    return Interval(-(1 << bits - 1), (1 << bits - 1) - 1)


_RANGES = {"boolean": Interval(0, 1)} | {row.name: _range(row) for row in ELEMENT_TYPES if row.name[0] in "iu"}


def at_least_one(dim: Polynomial) -> Polynomial:
    """Write a size that is not 0 as 1 and what it has beyond that."""
    return ONE + Polynomial.name(f"beyond 1({dim})")


def product(dims: Sequence[Polynomial]) -> Polynomial:
    """Multiply dimensions; the product of none is 1."""
    found = Polynomial.constant(1)
    for dim in dims:
        found = found * dim
    return found


def count(algebra: Algebra, shape: Shape | None) -> tuple[Number, Number]:
    """Give the least and the greatest number of elements of a shape."""
    if shape is None:
        return 0, float("inf")
    total = product(shape)
    return algebra.sizes.least(total), algebra.sizes.greatest(total)
