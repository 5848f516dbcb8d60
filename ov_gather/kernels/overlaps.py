"""Memory overlap between arrays, and between elements of one array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def overlap(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return True if two arrays share a byte, or if the exact answer would take too long."""
    try:
        return np.shares_memory(one, other, max_work=10_000)  # type: ignore[arg-type]  # the stub knows only 0 and -1
    except np.exceptions.TooHardError:
        return True


def overlaps_itself(array: NDArray[Any]) -> bool:
    """Return True if two elements of an array share a byte, or if the exact answer would take too long."""
    if array.size == 0 or _is_nested(array):
        return False
    # Let k be the first dimension in which two overlapping elements differ. A shift moves one of them to 0 up to dimension k.
    parts = (array[(0,) * k] for k in range(array.ndim))
    return any(overlap(part[:1], part[1:]) for part in parts)


def _is_nested(array: NDArray[Any]) -> bool:
    """Return True if each stride exceeds the extent of all dimensions with smaller strides, as in a slice of dense memory."""
    reach = array.itemsize
    for stride, size in sorted(
        (abs(stride), size) for stride, size in zip(array.strides, array.shape, strict=True) if size > 1
    ):
        if stride < reach:
            return False
        reach += stride * (size - 1)
    return True
