"""This module tells whether two arrays differ by more than rounding explains.

Floating-point numbers may be off by a share of themselves, and of what is usual in their tensor. The share comes from the
precision that the model computes with and from the number of operations that a value has behind it. Where the reference,
executed on one thread and without optimisation, computes other numbers itself, NOISE times that difference is allowed. Other
elements must be equal; that OpenVINO's CPU plugin has 32 bits for integers of 64 is no difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.comparisons import Difference
from ov_gather.crosscheck.models.outputs import NOISE, TOLERANCE
from ov_gather.crosscheck.verdict import difference_at

_EPSILON = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
_WITHIN = 1e-4
"""The least share that a value inside of the model may be off: OpenVINO approximates functions such as Exp, and adds up in any
order. A fault that is smaller is none that can be told from rounding."""
_DEEPEST = 64
_UNUSUAL = 1e4
"""A number is unusual if it is so many times greater than the lower quartile of those that are not 0, as in masks."""
_INT32 = np.iinfo(np.int32)


@dataclass(frozen=True, slots=True)
class Rounding:
    """A Rounding tells which share of the numbers rounding may take away or add."""

    precision: str = "f32"

    def share(self, depth: int) -> float:
        """Give the share for a value that has so many operations behind it."""
        return max(_WITHIN, 8 * _EPSILON.get(self.precision, _EPSILON["f32"]) * sqrt(min(max(depth, 1), _DEEPEST)))

    def share_of_outputs(self, depth: int) -> float:
        """Give the share for an output of the model, which has to be exceeded before anything is searched."""
        return max(TOLERANCE, self.share(depth))


def difference(expected: NDArray[Any], found: NDArray[Any], share: float, noise: float = 0) -> Difference | str:
    """Describe what differs beyond rounding, and beyond NOISE times the noise of the reference; "" if nothing does."""
    if _squeezed(expected.shape) != _squeezed(found.shape):
        return f"expected {expected.dtype}{list(expected.shape)}, here {found.dtype}{list(found.shape)}"
    found = found.reshape(expected.shape)
    if expected.dtype.kind in "OUST" or found.dtype.kind in "OUST":
        return difference_at(np.asarray(expected.astype(object) != found.astype(object), bool), expected, found)
    if _is_float(expected) or _is_float(found):
        return difference_at(_off(expected, found) > _allowed(expected, share) + NOISE * noise, expected, found)
    wide, here = expected.astype(np.int64), found.astype(np.int64)
    narrow = wide.astype(np.int32).astype(np.int64), np.clip(wide, _INT32.min, _INT32.max)
    return difference_at((wide != here) & (narrow[0] != here) & (narrow[1] != here), expected, found)


def largest_error(expected: NDArray[Any], found: NDArray[Any]) -> float:
    """Tell how far the numbers of two arrays are apart at most; infinitely far where the arrays cannot be compared."""
    if expected.shape != found.shape or expected.dtype.kind in "OUST":
        return np.inf
    error = _off(expected, found)
    return float(error.max(initial=0))


def _off(expected: NDArray[Any], found: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # memory that nothing was written to holds signalling NaN
        wide, here = expected.astype(np.float64), found.astype(np.float64)
    largest = float(np.finfo(np.float32).max) * (1 - 1e-6)  # masks hold the least number, or minus infinity
    wide, here = (np.where(np.abs(array) >= largest, np.copysign(np.inf, array), array) for array in (wide, here))
    with np.errstate(invalid="ignore"):
        error = np.abs(wide - here)
    error = np.where((wide == here) | (np.isnan(wide) & np.isnan(here)), 0, error)
    return np.asarray(np.nan_to_num(error, nan=np.inf, posinf=np.inf))


def _allowed(expected: NDArray[Any], share: float) -> NDArray[np.float64]:
    numbers = np.abs(expected.astype(np.float64))
    numbers = np.where(np.isfinite(numbers), numbers, 0)
    return share * np.maximum(numbers, _usual(numbers)) + float(np.finfo(np.float32).tiny)


def _usual(numbers: NDArray[np.float64]) -> float:
    """Give the root mean square of the numbers, without 0 and without those that are unusual."""
    present = numbers[numbers > 0]
    if not present.size:
        return 0
    quartile = np.quantile(present[:: max(1, present.size // 100_000)], 0.25)
    present = present[present <= _UNUSUAL * quartile]
    return float(np.sqrt(np.mean(np.square(present)))) if present.size else float(quartile)


def _is_float(array: NDArray[Any]) -> bool:
    return array.dtype.kind == "f" or (array.dtype.kind == "V" and "float" in array.dtype.name)


def _squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in shape if size != 1)
