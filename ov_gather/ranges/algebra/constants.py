"""Abstract values of constants: bounds of the elements, per slice along a short axis."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isnan
from typing import TYPE_CHECKING, Any

from ov_gather.ir.element_types import ElementType
from ov_gather.ranges.algebra.intervals import ANY, Interval
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import MAX_PARTS, SliceBounds, Value, is_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 1 << 22
"""Elements of a constant that are read at once, to bound memory."""


def constant_value(element_type: ElementType | None, array: NDArray[Any]) -> Value:
    """Return the abstract value of a constant. Strings, complex numbers and empty arrays get their shape only."""
    shape = tuple(Polynomial.constant(dim) for dim in array.shape)
    if array.dtype.kind in "OUSc" or not array.size:
        return Value(element_type, shape)
    elements, may_be_nan = _bounds(
        array[start : start + CHUNK] for array in [array.reshape(-1)] for start in range(0, array.size, CHUNK)
    )
    if may_be_nan and elements.low == inf:
        elements = ANY
    parts = None if may_be_nan or array.size > CHUNK or not is_integer(element_type) else _parts(array, elements)
    return Value(element_type, shape, elements, parts, may_be_nan)


def _bounds(chunks: Iterable[NDArray[Any]]) -> tuple[Interval, bool]:
    import numpy as np

    low, high, may_be_nan = inf, -inf, False
    for chunk in chunks:
        if chunk.dtype.kind in "iub":
            low, high = min(low, int(chunk.min())), max(high, int(chunk.max()))
            continue
        floats = chunk if chunk.dtype.kind == "f" else chunk.astype(np.float64)
        if isnan(floats.min()):
            may_be_nan, floats = True, floats[~np.isnan(floats)]
        if floats.size:
            low, high = min(low, float(floats.min())), max(high, float(floats.max()))
    return Interval(low, high), may_be_nan


def _parts(array: NDArray[Any], elements: Interval) -> SliceBounds | None:
    """Return the interval of each slice along the last axis whose slices differ in range; None if no axis does."""
    for axis in reversed(range(array.ndim)):
        if not 1 < array.shape[axis] <= MAX_PARTS:
            continue
        others = tuple(other for other in range(array.ndim) if other != axis)
        lows, highs = array.min(others), array.max(others)
        intervals = tuple(Interval(int(low), int(high)) for low, high in zip(lows, highs, strict=True))
        if any(interval != elements for interval in intervals):
            return SliceBounds(axis, intervals)
    return None
