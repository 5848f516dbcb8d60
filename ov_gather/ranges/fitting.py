"""Fitting of computed values to declared types and shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import inf

from ov_gather.ranges.algebra.intervals import ANY, Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import Shape, SliceBounds, Value, every_value, in_slices, is_integer, is_of_sizes
from ov_gather.ranges.rules.call import Semantics

Overflow = tuple[Polynomial, int]
"""A bound by dimensions, and the greatest number that its type holds."""


@dataclass(frozen=True)
class Fitting:
    """Fits values to what a model declares of them."""

    algebra: Algebra
    semantics: Semantics
    _ends: dict[str, Interval] = field(default_factory=dict)

    def fit(self, declared: Value, value: Value) -> Value:
        """Return the value in its declared type and shape.

        Elements beyond the declared type may be any value of the runtime's type, because either may wrap around.
        """
        shape = _agreed(value.shape, declared.shape)
        if value.parts is not None and not _has_parts(value.parts, shape, value.rank):
            value = replace(value, parts=None)
        held = self._held(declared)
        if not all(lies_in(part, held) for part in value.intervals):
            value = self._fitted_value(value, declared)
        if value.element_type is not declared.element_type or value.shape != shape:
            value = replace(value, element_type=declared.element_type, shape=shape)
        return value

    def _held(self, declared: Value) -> Interval:
        """Return the least and the greatest number that both the declared type and the runtime's type hold."""
        element_type = declared.element_type
        if element_type is None or not is_integer(element_type):
            return ANY
        if element_type.name not in self._ends:
            widest, held = self.semantics.widest(element_type), every_value(element_type)
            self._ends[element_type.name] = Interval(max(widest.low, held.low), min(widest.high, held.high))
        return self._ends[element_type.name]

    def _fitted_value(self, value: Value, declared: Value) -> Value:
        """Widen elements that may wrap around to the runtime's type; clamp them if all integers are assumed to fit."""
        widest = self.semantics.widest(declared.element_type)
        held = self._held(declared)
        if self.algebra.sizes.largest < inf:
            return value.mapped(lambda elements: self.algebra.meet(elements, held))
        if value.parts is None:
            return replace(value, elements=widest)
        intervals = [part if lies_in(part, held) else widest for part in value.parts.intervals]
        return in_slices(self.algebra, value, value.parts.axis, intervals)

    def overflow(self, value: Value, declared: Value) -> Iterator[Overflow]:
        """Yield the first bound by dimensions on each side that exceeds the declared type."""
        held = self._held(declared)
        for elements in value.intervals:
            if elements.high > held.high:
                yield from ((bound, int(held.high)) for bound in elements.highs[:1] if is_of_sizes(bound))
            if elements.low < held.low:
                yield from ((-bound, int(-held.low)) for bound in elements.lows[:1] if is_of_sizes(bound))


def kept_within(elements: Interval, widest: Interval) -> Interval:
    """Clamp both bounds to an interval."""
    low, high = (min(max(bound, widest.low), widest.high) for bound in (elements.low, elements.high))
    return Interval(low, high)


def lies_in(elements: Interval, widest: Interval) -> bool:
    """Return True if the numeric bounds lie within those of another interval."""
    return widest.low <= elements.low and elements.high <= widest.high


def _has_parts(parts: SliceBounds, shape: Shape | None, rank: int | None) -> bool:
    """Return True if parts of a value of this rank are parts of the declared shape, whose rank may differ in a broken model."""
    return shape is not None and len(shape) == rank and shape[parts.axis].value == len(parts.intervals)


def _agreed(shape: Shape | None, declared: Shape | None) -> Shape | None:
    """Return the computed shape with the numbers that the model declares; the declared shape if the ranks differ.

    Of a shape with a 0 only the zeros are kept: OpenVINO may set other dimensions to 0 when it fuses moves, e.g. Transpose.
    A computed size that is no dimension of an input replaces a declared 0, which OpenVINO may not execute: see `folding`.
    """
    if shape == declared or shape is None or declared is None or len(shape) != len(declared):
        return declared if shape is None or declared is not None else shape
    is_empty = any(dim.value == 0 for dim in shape)
    if not is_empty and all(dim.value is None for dim in declared):
        return shape
    pairs = zip(shape, declared, strict=True)
    return tuple(
        told if (told.value is not None or (is_empty and dim.value != 0)) and (told.value != 0 or is_of_sizes(dim)) else dim
        for dim, told in pairs
    )
