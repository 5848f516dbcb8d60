"""Histogram of the differences between two outputs, by power of ten."""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.deviation import errors, is_number

_MAX_RANGES = 8
"""Number of ranges; each spans as many powers of ten as it must."""

Histogram: TypeAlias = tuple[tuple[str, int], ...]
"""Ranges of differences in words, the smallest first, each with the number of elements."""


def histogram(expected: NDArray[Any], found: NDArray[Any]) -> Histogram:
    """Count elements by the power of ten of their difference. Both arrays hold the elements that differ, of one type.

    Types without a difference, such as strings and booleans, and complex numbers have no histogram.
    """
    if not is_number(expected.dtype) or expected.dtype.kind == "c":
        return ()
    off = errors(expected, found)
    positive = off[np.isfinite(off) & (off > 0)]
    counts = [("the same number in other bits", int((off == 0).sum()))]
    if positive.size:
        decades = np.floor(np.log10(positive)).astype(int)
        lowest, highest = int(decades.min()), int(decades.max())
        span = 1 + (highest - lowest) // _MAX_RANGES
        by_range = Counter(((decades - lowest) // span).tolist())
        starts = enumerate(range(lowest, highest + 1, span))
        counts += [(f"1e{start:+d} to 1e{start + span:+d}", by_range[i]) for i, start in starts]
    counts.append(("infinite or NaN on one side", int((~np.isfinite(off)).sum())))
    return tuple((words, number) for words, number in counts if number or words.startswith("1e"))
