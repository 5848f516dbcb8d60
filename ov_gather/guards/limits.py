"""The bounds of the elements of one input, and their check by the compiled kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.graph.symbols import Symbol, shown_name
from ov_gather.guards.checks import check_elements, part_of
from ov_gather.kernels import native
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.symbols import Elements
from ov_gather.ranges.requests import RequestCondition
from ov_gather.ranges.terms import Size
from ov_gather.system.tables import printable


def bounds_of(condition: RequestCondition, sizes: Mapping[Symbol, int]) -> tuple[Number, Number]:
    """Return the tightest bounds of a condition for a request with these dimensions."""
    low = max((_number(bound, sizes) for bound in condition.lows), default=-inf)
    return low, min((_number(bound, sizes) for bound in condition.highs), default=inf)


def size_of(polynomial: Polynomial, sizes: Mapping[Symbol, int]) -> int:
    """Evaluate a polynomial of dimensions."""
    return sum(factor * prod(sizes[symbol] for symbol in monomial) for monomial, factor in polynomial.terms)


def _number(bound: Size, sizes: Mapping[Symbol, int]) -> Number:
    return size_of(bound, sizes) if isinstance(bound, Polynomial) else bound


class InputLimits:
    """All conditions on an input, or on one part of it. The kernel checks them in one pass; NumPy finds the broken one."""

    def __init__(self, elements: Elements, conditions: Sequence[RequestCondition], dtype: np.dtype[Any]) -> None:
        self.name, self._spans = elements.input, elements.spans
        self._text, self._conditions = printable(shown_name(elements.input)), conditions
        self._dtype = np.dtype(np.uint8) if dtype == np.bool_ else dtype
        self._is_constant = all(condition.is_constant for condition in conditions)
        self._limits = self._joint({}) if self._is_constant else None

    def check(self, array: NDArray[Any], sizes: Mapping[Symbol, int]) -> None:
        """Raise ValueError if an element is out of bounds."""
        kernel = native.load()
        limits = self._limits if self._is_constant else self._joint(sizes)
        position = None
        if kernel is not None and limits is not None:
            part = part_of(array, self._spans)
            position = kernel.first_outside(part.view(np.uint8) if array.dtype == np.bool_ else part, limits)
            if position == -1:
                return
        for condition in self._conditions:
            check_elements(self._text, array, *bounds_of(condition, sizes), printable(condition.reason), self._spans)
        if position is not None:
            raise ValueError(f"{self._text} was changed by another thread while it was checked")

    def _joint(self, sizes: Mapping[Symbol, int]) -> NDArray[Any] | None:
        """Return the tightest bounds of all conditions as an array; None if no number of this type lies between them."""
        lows, highs = zip(*(bounds_of(condition, sizes) for condition in self._conditions), strict=True)
        return _limits(self._dtype, max(lows), min(highs))


def _limits(dtype: np.dtype[Any], low: Number, high: Number) -> NDArray[Any] | None:
    """Return the least and the greatest number of a type between bounds; None if there is none, or not in the kernel."""
    if dtype.kind in "iu":
        held = np.iinfo(dtype)
        least = held.min if low <= held.min else ceil(low) if low < inf else held.max + 1
        greatest = held.max if high >= held.max else floor(high) if high > -inf else held.min - 1
        return np.array([least, greatest], dtype) if held.min <= least <= greatest <= held.max else None
    if dtype not in (np.float32, np.float64):
        return None
    limits = np.array([_rounded(dtype, low, inf), _rounded(dtype, high, -inf)], dtype)
    return limits if limits[0] <= limits[1] else None


def _rounded(dtype: np.dtype[Any], bound: Number, towards: float) -> Any:
    """Round a bound to a number of a floating-point type, towards the allowed numbers."""
    with np.errstate(over="ignore"):
        found = dtype.type(bound)
        is_outside = float(found) < bound if towards > 0 else float(found) > bound
        return np.nextafter(found, dtype.type(towards)) if is_outside else found
