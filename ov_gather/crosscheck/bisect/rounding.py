"""This module tells whether two arrays differ by more than rounding explains.

Floating-point numbers may be off by a share of themselves, and of what is usual in their tensor. The share comes from the
precision that the model computes with and from the number of operations that a value has behind it. Where the reference,
executed on one thread and without optimisation, computes other numbers itself, NOISE times that difference is allowed. Other
elements must be equal; that OpenVINO's CPU plugin has 32 bits for integers of 64 is no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.comparisons import Difference
from ov_gather.crosscheck.models.outputs import NOISE, TOLERANCE
from ov_gather.crosscheck.verdict import difference_at

_EPSILON = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
_WITHIN = 1e-4
"""The least share that a value inside of the model may be off: rounding of hundreds of operations in any order stays below."""
_FINEST = 1e-5
"""The least share that is told from rounding in a body whose iterations add it up: functions such as Erf are off by 1e-6."""
_MOVE = 2.0**-20
"""The least share that operands are moved by to see what rounding can do: enough that hardly any sum comes out the same."""
_ULPS_OF_ERF = 8
"""OpenVINO computes Erf as a difference of numbers near 1: near 0 it is off by this number of units in the last place of 1."""
_DEEPEST = 64
_UNUSUAL = 1e4
"""A number is unusual if it is so many times greater than the lower quartile of those that are not 0, as in masks."""
_INT32 = np.iinfo(np.int32)
_PIECE = 1 << 16
"""So many elements are compared at a time."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """A Rounding tells which share of the numbers rounding may take away or add.

    Attributes:
        precision: what the model computes with.
        within: the least share for any value.
        of_outputs: the least share for an output, which has to be exceeded before anything is searched.
    """

    precision: str = "f32"
    within: float = _WITHIN
    of_outputs: float = TOLERANCE

    @property
    def _epsilon(self) -> float:
        return _EPSILON.get(self.precision, _EPSILON["f32"])

    def finest(self) -> Rounding:
        """Return the Rounding that tells the smallest faults from rounding."""
        return replace(self, within=_FINEST)

    def share(self, depth: int) -> float:
        """Give the share for a value that has so many operations behind it."""
        return max(self.within, 8 * self._epsilon * sqrt(min(max(depth, 1), _DEEPEST)))

    def share_of_outputs(self, depth: int) -> float:
        """Give the share for an output that has so many operations behind it."""
        return max(self.of_outputs, self.share(depth))

    def noise_of(self, function: str) -> float:
        """Give how far off any number may be that a function gives, as `difference` takes it."""
        return _ULPS_OF_ERF * self._epsilon / NOISE if function == "Erf" else 0

    def neighbours(self, arrays: Sequence[NDArray[Any]], seed: int) -> list[NDArray[Any]]:
        """Move floating-point numbers at random as rounding does, in each array otherwise; whole numbers are exact and stay."""
        rng = np.random.default_rng(seed)
        return [self._moved(array, rng) for array in arrays]

    def _moved(self, array: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        if array.dtype.kind != "f":
            return array
        unit = max(2 * self._epsilon, _MOVE)
        wide = array.astype(np.float64)
        moved = wide * (1 + unit * rng.uniform(-1, 1, array.shape))
        return np.asarray(np.where(np.isfinite(wide) & (wide != np.rint(wide)), moved, wide)).astype(array.dtype)


def difference(
    expected: NDArray[Any], found: NDArray[Any], share: float, noise: float | NDArray[np.float64] = 0
) -> Difference | str:
    """Describe what differs beyond rounding, and beyond NOISE times the noise of the reference; "" if nothing does.

    The noise is one number, or one for each element.
    """
    if _squeezed(expected.shape) != _squeezed(found.shape):
        return f"expected {expected.dtype}{list(expected.shape)}, here {found.dtype}{list(found.shape)}"
    found = found.reshape(expected.shape)
    if expected.dtype.kind in "OUST" or found.dtype.kind in "OUST":
        return difference_at(np.asarray(expected.astype(object) != found.astype(object), bool), expected, found)
    if _is_float(expected) or _is_float(found):
        usual, different, noises = _usual(expected), np.zeros(expected.size, bool), np.asarray(noise).reshape(-1)
        for start, one, other in _pieces(expected, found):
            around = noises if noises.size == 1 else noises[start : start + _PIECE]
            different[start : start + _PIECE] = _off(one, other) > _allowed(one, share, usual) + NOISE * around
        return difference_at(different.reshape(expected.shape), expected, found)
    wide, here = expected.astype(np.int64), found.astype(np.int64)
    narrow = wide.astype(np.int32).astype(np.int64), np.clip(wide, _INT32.min, _INT32.max)
    return difference_at((wide != here) & (narrow[0] != here) & (narrow[1] != here), expected, found)


def errors(expected: NDArray[Any], found: NDArray[Any]) -> NDArray[np.float64]:
    """Return how far each element of an array is off; no error where the arrays cannot be compared."""
    if expected.shape != found.shape or expected.dtype.kind in "OUST":
        return np.zeros(expected.shape)
    return _off(expected, found)


def largest_error(expected: NDArray[Any], found: NDArray[Any]) -> float:
    """Tell how far the numbers of two arrays are apart at most; infinitely far where the arrays cannot be compared."""
    if expected.shape != found.shape or expected.dtype.kind in "OUST":
        return np.inf
    return max((float(_off(one, other).max()) for _, one, other in _pieces(expected, found)), default=0.0)


def _pieces(expected: NDArray[Any], found: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any], NDArray[Any]]]:
    """Yield pieces of two arrays, flattened, each with where it starts. What is computed of a piece stays in the cache."""
    one, other = expected.reshape(-1), found.reshape(-1)
    for start in range(0, one.size, _PIECE):
        yield start, one[start : start + _PIECE], other[start : start + _PIECE]


def _off(expected: NDArray[Any], found: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # memory that nothing was written to holds signalling NaN
        wide, here = expected.astype(np.float64), found.astype(np.float64)
    largest = float(np.finfo(np.float32).max) * (1 - 1e-6)  # masks hold the least number, or minus infinity
    wide, here = (np.where(np.abs(array) >= largest, np.copysign(np.inf, array), array) for array in (wide, here))
    with np.errstate(invalid="ignore"):
        error = np.abs(wide - here)
    error = np.where((wide == here) | (np.isnan(wide) & np.isnan(here)), 0, error)
    return np.asarray(np.nan_to_num(error, nan=np.inf, posinf=np.inf))


def _allowed(expected: NDArray[Any], share: float, usual: float) -> NDArray[np.float64]:
    return share * np.maximum(_numbers(expected), usual) + float(np.finfo(np.float32).tiny)


def _numbers(array: NDArray[Any]) -> NDArray[np.float64]:
    """Give how great the elements are; 0 for those that are not finite."""
    with np.errstate(invalid="ignore"):
        numbers = np.abs(array.astype(np.float64))
    return np.asarray(np.where(np.isfinite(numbers), numbers, 0))


def _usual(array: NDArray[Any]) -> float:
    """Give the root mean square of the elements, without 0 and without those that are unusual."""
    flat = array.reshape(-1)
    sample = _present(flat[:: max(1, flat.size // 100_000)])
    if sample.size < 1000:  # nearly all that is sampled is 0
        sample = _present(flat)
    if not sample.size:
        return 0
    quartile = float(np.quantile(sample, 0.25))
    total, count = 0.0, 0
    for _, piece, _ in _pieces(array, array):
        present = _present(piece)
        present = present[present <= _UNUSUAL * quartile]
        total, count = total + float(np.square(present).sum()), count + present.size
    return sqrt(total / count) if count else quartile


def _present(array: NDArray[Any]) -> NDArray[np.float64]:
    numbers = _numbers(array)
    return numbers[numbers > 0]


def _is_float(array: NDArray[Any]) -> bool:
    return array.dtype.kind == "f" or (array.dtype.kind == "V" and "float" in array.dtype.name)


def _squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in shape if size != 1)
