"""Histogram of the differences between two outputs, by power of ten."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MAX_RANGES = 8
"""Number of ranges; each spans as many powers of ten as it must."""

Magnitudes = tuple[tuple[str, int], ...]
"""Ranges of differences in words, the smallest first, each with the number of elements."""


def magnitudes(expected: NDArray[Any], found: NDArray[Any]) -> Magnitudes:
    """Count elements by the power of ten of their difference. Both arrays hold the elements that differ, of one type.

    Types without a difference, such as strings and booleans, have no histogram.
    """
    if expected.dtype.kind not in "iuf" and not (expected.dtype.kind == "V" and expected.dtype.isbuiltin == 2):
        return ()
    errors = _errors(expected, found)
    positive = errors[np.isfinite(errors) & (errors > 0)]
    counts = [("the same number in other bits", int((errors == 0).sum()))]
    if positive.size:
        decades = np.floor(np.log10(positive)).astype(int)
        lowest, highest = int(decades.min()), int(decades.max())
        span = 1 + (highest - lowest) // _MAX_RANGES
        by_range = Counter(((decades - lowest) // span).tolist())
        starts = enumerate(range(lowest, highest + 1, span))
        counts += [(f"1e{start:+d} to 1e{start + span:+d}", by_range[i]) for i, start in starts]
    counts.append(("infinite or NaN on one side", int((~np.isfinite(errors)).sum())))
    return tuple((words, number) for words, number in counts if number or words.startswith("1e"))


def _errors(expected: NDArray[Any], found: NDArray[Any]) -> NDArray[np.float64]:
    """Return absolute differences: exact before they are rounded for integers; infinite or NaN if a number is."""
    if expected.dtype.kind in "iu":
        high, low = np.maximum(expected, found), np.minimum(expected, found)
        unsigned = f"u{expected.itemsize}"
        return np.asarray(high.view(unsigned) - low.view(unsigned), np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        one, other = expected.astype(np.float64), found.astype(np.float64)
        errors = np.asarray(np.abs(one - other))
    errors[np.isnan(one) & np.isnan(other)] = 0
    return errors
