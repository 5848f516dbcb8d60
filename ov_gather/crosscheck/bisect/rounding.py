"""Comparison of arrays up to rounding.

Floats may be off by a share of their magnitude or, if that is greater, of the tensor's typical magnitude. The share grows with
the number of operations before the value, and with the precision's unit roundoff. If the reference itself computes other
numbers on one thread and without optimisation, NOISE times that deviation is added. All other types must be equal, except that
OpenVINO's CPU plugin may narrow 64-bit integers to 32 bits. A tolerance that users give replaces share and noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.deviation import PIECE, is_float, magnitudes, pieces
from ov_gather.crosscheck.models.arrays import TOLERANCE
from ov_gather.crosscheck.models.outputs import NOISE
from ov_gather.crosscheck.results import Difference
from ov_gather.crosscheck.tolerances import Tolerance
from ov_gather.crosscheck.verdict import difference_at, difference_beyond

Share: TypeAlias = float | Tolerance
"""The share of a number that rounding may change, or a tolerance that users give."""

_EPSILON = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
_WITHIN = 1e-4
"""Minimum share of an inner value, above the rounding of hundreds of operations in any order."""
_FINEST = 1e-5
"""Minimum share for a body whose iterations accumulate errors; functions such as Erf are off by 1e-6."""
_MOVE = 2.0**-20
"""Minimum relative perturbation of operands, large enough to change nearly every sum."""
_ULPS_OF_ERF = 8
"""Error of Erf near 0, in units in the last place of 1: OpenVINO computes it as a difference of numbers near 1."""
_DEEPEST = 64
_UNUSUAL = 1e4
"""A number above this multiple of the lower quartile of non-zero magnitudes is an outlier, such as in masks."""
_TINY = float(np.finfo(np.float32).tiny)
_INT32 = np.iinfo(np.int32)


@dataclass(frozen=True, slots=True)
class Rounding:
    """Shares of numbers that rounding may change.

    Attributes:
        precision: the precision of the model.
        within: the minimum share of any value.
        of_outputs: the minimum share of an output, below which nothing is searched.
        tolerance: a tolerance for all values, which replaces the shares.
    """

    precision: str = "f32"
    within: float = _WITHIN
    of_outputs: float = TOLERANCE
    tolerance: Tolerance | None = None

    @property
    def _epsilon(self) -> float:
        return _EPSILON.get(self.precision, _EPSILON["f32"])

    def finest(self) -> Rounding:
        """Return the Rounding with the smallest shares that still exceed rounding."""
        return replace(self, within=_FINEST)

    def share(self, depth: int) -> Share:
        """Return the share for a value computed by `depth` operations."""
        return self.tolerance or self._share(depth)

    def share_of_outputs(self, depth: int) -> Share:
        """Return the share for an output computed by `depth` operations."""
        return self.tolerance or max(self.of_outputs, self._share(depth))

    def _share(self, depth: int) -> float:
        return max(self.within, 8 * self._epsilon * sqrt(min(max(depth, 1), _DEEPEST)))

    def noise_of(self, function: str) -> float:
        """Return the absolute error of a function's results divided by NOISE, as `difference` takes it."""
        return _ULPS_OF_ERF * self._epsilon / NOISE if function == "Erf" else 0

    def neighbours(self, arrays: Sequence[NDArray[Any]], seed: int) -> list[NDArray[Any]]:
        """Perturb floats at random as rounding does, independently per array; whole numbers are exact and stay."""
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
    expected: NDArray[Any], found: NDArray[Any], share: Share, noise: float | NDArray[np.float64] = 0
) -> Difference | str:
    """Return the differences beyond rounding plus NOISE times `noise`, the reference's own deviation; "" if there are none.

    `noise` is one number, or one per element.
    """
    if _squeezed(expected.shape) != _squeezed(found.shape):
        return f"expected {expected.dtype}{list(expected.shape)}, here {found.dtype}{list(found.shape)}"
    found = found.reshape(expected.shape)
    if expected.dtype.kind in "OUST" or found.dtype.kind in "OUST":
        return difference_at(np.asarray(expected.astype(object) != found.astype(object), bool), expected, found)
    if isinstance(share, Tolerance):
        if _has_floats(expected, found) or share.concerns(found.dtype, exact=True):
            return difference_beyond(share, expected, found)
    elif _has_floats(expected, found):
        usual, different, noises = _usual(expected), np.zeros(expected.size, bool), np.asarray(noise).reshape(-1)
        for start, one, other in pieces(expected, found):
            around = noises if noises.size == 1 else noises[start : start + PIECE]
            allowed = share * np.maximum(magnitudes(one), usual) + _TINY + NOISE * around
            different[start : start + PIECE] = _off(one, other) > allowed
        return difference_at(different.reshape(expected.shape), expected, found)
    wide, here = expected.astype(np.int64), found.astype(np.int64)
    narrow = wide.astype(np.int32).astype(np.int64), np.clip(wide, _INT32.min, _INT32.max)
    return difference_at((wide != here) & (narrow[0] != here) & (narrow[1] != here), expected, found)


def errors(expected: NDArray[Any], found: NDArray[Any]) -> NDArray[np.float64]:
    """Return the absolute error of each element; zeros if the arrays are not comparable."""
    if expected.shape != found.shape or expected.dtype.kind in "OUST":
        return np.zeros(expected.shape)
    return _off(expected, found)


def largest_error(expected: NDArray[Any], found: NDArray[Any]) -> float:
    """Return the largest absolute error of any element; infinity if the arrays are not comparable."""
    if expected.shape != found.shape or expected.dtype.kind in "OUST":
        return np.inf
    return max((float(_off(one, other).max()) for _, one, other in pieces(expected, found)), default=0.0)


def _off(expected: NDArray[Any], found: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # uninitialized memory may have signalling NaNs
        wide, here = expected.astype(np.float64), found.astype(np.float64)
    largest = float(np.finfo(np.float32).max) * (1 - 1e-6)  # masks have the lowest float or minus infinity
    wide, here = (np.where(np.abs(array) >= largest, np.copysign(np.inf, array), array) for array in (wide, here))
    with np.errstate(invalid="ignore"):
        error = np.abs(wide - here)
    error = np.where((wide == here) | (np.isnan(wide) & np.isnan(here)), 0, error)
    return np.asarray(np.nan_to_num(error, nan=np.inf, posinf=np.inf))


def _usual(array: NDArray[Any]) -> float:
    """Return the typical magnitude: the root mean square without zeros and outliers."""
    flat = array.reshape(-1)
    sample = _present(flat[:: max(1, flat.size // 100_000)])
    if sample.size < 1000:  # nearly all samples are 0
        sample = _present(flat)
    if not sample.size:
        return 0
    quartile = float(np.quantile(sample, 0.25))
    total, count = 0.0, 0
    for _, piece, _ in pieces(array, array):
        present = _present(piece)
        present = present[present <= _UNUSUAL * quartile]
        total, count = total + float(np.square(present).sum()), count + present.size
    return sqrt(total / count) if count else quartile


def _present(array: NDArray[Any]) -> NDArray[np.float64]:
    numbers = magnitudes(array)
    return numbers[numbers > 0]


def _has_floats(expected: NDArray[Any], found: NDArray[Any]) -> bool:
    return is_float(expected.dtype) or is_float(found.dtype)


def _squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in shape if size != 1)
