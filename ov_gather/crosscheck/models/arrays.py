"""Comparison of the arrays of a model's outputs. It needs no ONNX, which `check` of IRs does without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.deviation import beyond, is_float, magnitudes, pieces, unequal
from ov_gather.crosscheck.results import Comparison, Difference, Status
from ov_gather.crosscheck.tolerances import Tolerance
from ov_gather.crosscheck.verdict import deviation_of, difference_at, difference_beyond, first_difference

TOLERANCE = 1e-3
NARROWED = "narrowed-to-32-bits"
RUNS = 3
"""Runs of a model that tell random outputs: few numbers, such as one draw of Bernoulli, may be the same in two."""

KeyT = TypeVar("KeyT")


def compare_arrays(
    expected: NDArray[Any], found: NDArray[Any] | None, runtime: str, exact: bool, tolerance: Tolerance | None = None
) -> Comparison:
    """Compare an output within the tolerance, if one is given.

    Without one, compare bit by bit if `exact` or not floating-point, else within TOLERANCE of its largest value. `found` is
    None if the converted model lacks the output.
    """
    if found is None:
        return Comparison(runtime, Status.FAILED, "the converted model has no such output")
    off = deviation_of(expected, found)
    exact |= expected.dtype.kind != "f"
    given = tolerance if off and tolerance and tolerance.concerns(expected.dtype, exact=exact) else None
    if given:
        difference = difference_beyond(given, expected, found)
        near = f"within {given}"
    elif exact or off is None:
        difference, near = first_difference(expected, found), ""
    else:
        largest = max((float(magnitudes(piece).max()) for _, piece, _ in pieces(expected, expected)), default=0.0)
        difference = difference_at(beyond(expected, found, lambda _: TOLERANCE * largest), expected, found)
        near = f"within {(off.max_abs or 0) / (largest or 1):.0e} of the largest number"
    status, names = Status.FAILED if difference else Status.PASSED, tuple[str, ...]()
    if difference and expected.dtype.kind in "iu":
        wrapped = expected.astype(np.int32).astype(expected.dtype)
        if not first_difference(wrapped, found):
            status, names = Status.EXPECTED, (NARROWED,)
    detail = _without_nan(str(difference) or (near if off and off.max_abs else "exact"), expected, found)
    where = difference if isinstance(difference, Difference) else None
    return Comparison(runtime, status, detail, names, where, deviation=off, tolerance=given)


def _without_nan(detail: str, expected: NDArray[Any], found: NDArray[Any]) -> str:
    """Return the detail, and how many numbers are NaN on both sides, which are equal whatever they should have been."""
    if expected.shape != found.shape or not (is_float(expected.dtype) and is_float(found.dtype)):
        return detail
    count = sum(int((np.isnan(one) & np.isnan(other)).sum()) for _, one, other in pieces(expected, found))
    if count and count == expected.size:
        return "nothing was compared: every number is NaN on both sides"
    return f"{detail}; {count} of {expected.size} are NaN on both sides" if count else detail


def varying(runs: Sequence[Mapping[KeyT, NDArray[Any]]]) -> set[KeyT]:
    """Return the keys of the arrays that are not the same in all runs."""
    first, *others = runs
    return {
        key for other in others for key, one in first.items() if one.shape != other[key].shape or unequal(one, other[key]).any()
    }
