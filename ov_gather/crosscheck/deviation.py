"""How far an array is from the expected one, in the numbers that people compare by.

All reports take these numbers from `measure`. Arrays are compared piece by piece, so that large ones are never copied whole as
float64.

A NaN equals every NaN, an infinity equals itself, and -0 equals 0. Complex numbers are compared as pairs of real numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

PIECE = 1 << 15
"""Number of elements compared at a time, so that intermediate results of a piece stay in the cache.

On a Xeon (Sapphire Rapids), pieces of 2^14 and 2^15 float32 took equally long, 2^16 8% and 2^12 50% longer.
"""
_MOST = float(np.finfo(np.float64).max)
_EXACT_ULP = 10**6
"""Distances in ULP from this on are shown rounded."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far an array is from the expected one.

    `snr` is reported, and no cosine similarity, which does not notice a wrong scale, and reads 0.9999995 where errors are a
    thousandth of the numbers, which is 60 dB.

    Attributes:
        size: number of elements.
        differing: number of elements with other bits; if the types differ, and for strings, with other values.
        not_finite: number of elements that are infinite or NaN on one side and something else on the other. They count in no
            number below.
        max_abs: largest absolute difference, exact for integers of one type; None for booleans and strings.
        max_rel: largest difference relative to the expected value, where that is not 0; None if only values differ that are
            expected to be 0.
        max_ulp: largest difference in units in the last place: the steps from one representable number to the next that lead
            from the expected value to the other; None unless both are floats of one type.
        snr: signal-to-noise ratio in dB, 20 log10(|expected| / |found - expected|) with Euclidean norms; None if one is 0.
    """

    size: int
    differing: int
    not_finite: int = 0
    max_abs: float | None = None
    max_rel: float | None = None
    max_ulp: int | None = None
    snr: float | None = None

    def __str__(self) -> str:
        if not self.differing:
            return "same bits"
        if not (self.max_abs or self.not_finite):
            return "" if self.max_abs is None else "equal numbers in other bits"
        parts = [f"max abs {self.max_abs:.3g}"]
        parts += [] if self.max_rel is None else [f"max rel {self.max_rel:.3g}"]
        ulp = self.max_ulp
        parts += [] if ulp is None else [f"{ulp if ulp < _EXACT_ULP else format(ulp, '.3g')} ULP"]
        parts += [] if self.snr is None else [f"SNR {self.snr:.1f} dB"]
        parts += [f"{self.not_finite} infinite or NaN on one side"] if self.not_finite else []
        return ", ".join(parts)


def measure(expected: NDArray[Any], found: NDArray[Any]) -> Deviation | None:
    """Return how far an array is from the expected one; None if their shapes differ."""
    if expected.shape != found.shape:
        return None
    differing = sum(int(np.count_nonzero(unequal(one, other))) for _, one, other in pieces(expected, found))
    if not (is_number(expected.dtype) and is_number(found.dtype)):
        return Deviation(expected.size, differing)
    has_steps = expected.dtype == found.dtype and (is_float(expected.dtype) or expected.dtype.kind == "c")
    if not differing:
        return Deviation(expected.size, 0, 0, 0, 0.0, 0 if has_steps else None)
    not_finite, largest, relative, ulp = 0, 0.0, 0.0, 0
    signal, noise = _Norm(), _Norm()
    for _, one, other in pieces(_real(expected), _real(found)):
        error = errors(one, other)
        known = np.isfinite(error)
        not_finite += known.size - int(np.count_nonzero(known))
        known &= np.isfinite(_wide(one))  # two equal infinities have no error
        if not known.all():
            one, other, error = one[known], other[known], error[known]
        if not error.size:
            continue
        sizes = np.abs(_wide(one))
        signal.add(sizes)
        noise.add(error)
        largest = max(largest, _largest(one, other, error))
        with np.errstate(over="ignore"):
            quotients = np.divide(error, sizes, out=np.zeros_like(error), where=sizes > 0)
        relative = max(relative, min(float(quotients.max()), _MOST))
        if has_steps:
            ulp = max(ulp, int(_distance(_steps(one), _steps(other)).max()))
    return Deviation(
        expected.size,
        differing,
        not_finite,
        largest,
        relative if relative or not largest else None,
        ulp if has_steps else None,
        signal.decibels - noise.decibels if signal and noise else None,
    )


def far_off(deviation: Deviation | None) -> str:
    """Return the numbers of a deviation as text; "" if there is none, or the bits are the same."""
    return str(deviation) if deviation and deviation.differing else ""


def beyond(expected: NDArray[Any], found: NDArray[Any], allowed: Callable[[NDArray[np.float64]], Any]) -> NDArray[np.bool_]:
    """Return a mask of the elements that are further off than `allowed` permits for the magnitudes of the expected ones.

    The arrays have one shape, and are numbers. Magnitudes of numbers that are not finite are given as 0.
    """
    one, other = _real(expected), _real(found)
    mask = np.zeros(one.size, bool)
    for start, here, there in pieces(one, other):
        with np.errstate(over="ignore"):
            permitted = np.minimum(allowed(magnitudes(here)), _MOST)
        mask[start : start + PIECE] = errors(here, there) > permitted
    if one.size > expected.size:
        mask = np.asarray(mask.reshape(-1, 2).any(-1))
    return mask.reshape(expected.shape)


def magnitudes(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return the absolute values of numbers; 0 for those that are not finite."""
    numbers = np.abs(_wide(array))
    return np.asarray(np.where(np.isfinite(numbers), numbers, 0))


def errors(expected: NDArray[Any], found: NDArray[Any]) -> NDArray[np.float64]:
    """Return the absolute error of each real number; infinity if one of two is not finite and they are not equal."""
    if _are_integers(expected, found):
        return _distance(_long(expected), _long(found)).astype(np.float64)
    wide, here = _wide(expected), _wide(found)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.minimum(np.abs(wide - here), _MOST)
        is_finite = np.isfinite(wide - here) | (np.isfinite(wide) & np.isfinite(here))
    if is_finite.all():
        return error
    error = np.where(is_finite, error, np.inf)
    return np.asarray(np.where((wide == here) | (np.isnan(wide) & np.isnan(here)), 0, error))


def unequal(expected: NDArray[Any], found: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the elements with other bits; if the types differ, and for strings, with other values."""
    if is_number(expected.dtype) and is_number(found.dtype) and expected.dtype != found.dtype:
        return beyond(expected, found, np.zeros_like)
    if expected.dtype != found.dtype or expected.dtype.kind in "OUST":
        return np.asarray(expected.astype(object) != found.astype(object), bool)
    if expected.dtype.itemsize == 16:  # complex128
        expected, found = (np.asarray(array, order="C")[..., None].view("f8") for array in (expected, found))
        return np.asarray(unequal(expected, found).any(-1))
    return np.asarray(_bits(expected) != _bits(found))


def pieces(expected: NDArray[Any], found: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any], NDArray[Any]]]:
    """Yield flattened pieces of two arrays of one size, each with its start."""
    one, other = expected.reshape(-1), found.reshape(-1)
    for start in range(0, one.size, PIECE):
        yield start, one[start : start + PIECE], other[start : start + PIECE]


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return True for real floats, those of ml_dtypes included."""
    return dtype.kind == "f" or (dtype.kind == "V" and "float" in dtype.name)


def is_number(dtype: np.dtype[Any]) -> bool:
    """Return True for integers, real floats and complex numbers, those of ml_dtypes included."""
    return dtype.kind in "iufc" or (dtype.kind == "V" and ("float" in dtype.name or "int" in dtype.name))


class _Norm:
    """A Euclidean norm, summed so that no square overflows or underflows."""

    def __init__(self) -> None:
        self._scale, self._total = 0.0, 0.0

    def add(self, numbers: NDArray[np.float64]) -> None:
        largest = float(numbers.max())
        if largest > self._scale:
            self._total *= (self._scale / largest) ** 2
            self._scale = largest
        if largest:
            self._total += float(np.square(numbers / self._scale).sum())

    def __bool__(self) -> bool:
        return self._scale > 0

    @property
    def decibels(self) -> float:
        return 20 * log10(self._scale) + 10 * log10(self._total)


def _largest(one: NDArray[Any], other: NDArray[Any], error: NDArray[np.float64]) -> float:
    """Return the largest of some errors; as an int for integers, of which float64 may not hold each."""
    return int(_distance(_long(one), _long(other)).max()) if _are_integers(one, other) else float(error.max())


def _are_integers(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return True for integers of one type."""
    return one.dtype == other.dtype and (one.dtype.kind in "iu" or (one.dtype.kind == "V" and not is_float(one.dtype)))


def _long(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(np.uint64 if array.dtype.kind == "u" else np.int64)


def _distance(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the distances of 64-bit integers of one type, which fit into uint64."""
    return np.asarray(np.maximum(one, other).view(np.uint64) - np.minimum(one, other).view(np.uint64))


def _steps(array: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of representable steps from 0 to each float of a format with a sign bit, or with no sign."""
    bits = _bits(array).astype(np.uint64).view(np.int64)
    if array.dtype.name == "float8_e8m0fnu":
        return bits
    width = 4 if "float4" in array.dtype.name else 8 * array.itemsize
    negative = -((bits >> (width - 1)) & 1)  # -1 or 0
    return ((bits & ((1 << (width - 1)) - 1)) ^ negative) - negative  # np.where takes 5 times as long


def _bits(array: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(array, order="C").view(f"u{array.itemsize}")  # `ascontiguousarray` would add a dimension to a scalar


def _real(array: NDArray[Any]) -> NDArray[Any]:
    """Return complex numbers as pairs of real numbers, and others as they are."""
    return np.ascontiguousarray(array).reshape(-1).view(array.real.dtype) if array.dtype.kind == "c" else array


def _wide(array: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # uninitialized memory may have signalling NaNs
        return array.astype(np.float64)
