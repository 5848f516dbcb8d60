"""Whether arrays share memory with each other, or elements of one array with each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def overlap(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return True if two arrays have a byte in common, or if that would take too long to find out."""
    try:
        return np.shares_memory(one, other, max_work=10_000)  # type: ignore[arg-type]  # because the stub knows only 0 and -1
    except np.exceptions.TooHardError:
        return True


def overlaps_itself(array: NDArray[Any]) -> bool:
    """Return True if two elements of an array have a byte in common, or if that would take too long to find out."""
    if array.size == 0 or _is_nested(array):
        return False
    # Two elements differ in a first dimension. A shift brings one of them to its position 0, the other behind that.
    parts = (array[(0,) * k] for k in range(array.ndim))
    return any(overlap(part[:1], part[1:]) for part in parts)


def _is_nested(array: NDArray[Any]) -> bool:
    """Return True if each dimension steps over all dimensions of smaller strides, as in any slice of dense memory."""
    reach = array.itemsize
    for stride, size in sorted(
        (abs(stride), size) for stride, size in zip(array.strides, array.shape, strict=True) if size > 1
    ):
        if stride < reach:
            return False
        reach += stride * (size - 1)
    return True
