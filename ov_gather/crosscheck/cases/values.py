"""Values for data and updates: small ones that every runtime keeps, any bits, and the special ones of a type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.cases.memory import require_memory
from ov_gather.ir.element_types import BOOLEAN, STRING, ElementType
from ov_gather.ir.shapes import element_count

Make = Callable[[np.random.Generator, ElementType, tuple[int, ...]], NDArray[Any]]
_FLOATS = ("f16", "bf16", "f32", "f64")
_WORDS = np.array(["", "a", "gather", "элементы", "x" * 40], object)


def small(rng: np.random.Generator, element_type: ElementType, shape: tuple[int, ...]) -> NDArray[Any]:
    """Make numbers that pass unchanged through 32 bits: floating-point ones normally distributed, integers below 1000."""
    if element_type.name in _FLOATS:
        return rng.standard_normal(shape, np.float32).astype(element_type.dtype)
    if element_type.bits >= 16:
        lowest = -1000 if element_type.dtype.kind == "i" else 0
        return rng.integers(lowest, 1000, shape).astype(element_type.dtype)
    return bits(rng, element_type, shape)


def bits(rng: np.random.Generator, element_type: ElementType, shape: tuple[int, ...]) -> NDArray[Any]:
    """Make any pattern of bits, NaN with payloads included; strings are drawn from a few words."""
    if element_type is BOOLEAN:
        return rng.integers(0, 2, shape).astype(bool)
    if element_type is STRING:
        return np.asarray(_WORDS[rng.integers(0, len(_WORDS), shape)], object)
    dtype = element_type.dtype
    if element_type.bits % 8:
        return rng.integers(0, 1 << (element_type.bits - 1), shape).astype(dtype)
    return np.frombuffer(rng.bytes(element_count(shape) * dtype.itemsize), dtype).reshape(shape)


def special(rng: np.random.Generator, element_type: ElementType, shape: tuple[int, ...]) -> NDArray[Any]:
    """Draw zeros of both signs, denormals, infinities, NaN with payloads, the ends of the range, more than 31 and 53 bits."""
    chosen = _special_bits(element_type)
    if chosen is None:
        return bits(rng, element_type, shape)
    return np.asarray(chosen[rng.integers(0, len(chosen), shape)]).view(element_type.dtype)  # a scalar, too, is an array


def _special_bits(element_type: ElementType) -> NDArray[Any] | None:
    """List the special values as unsigned integers of the same size; None where no value is special."""
    width = element_type.bits
    if element_type in (BOOLEAN, STRING) or width % 8:
        return None
    sign, unsigned = 1 << (width - 1), f"u{width // 8}"
    if element_type.dtype.kind in "iu":
        ends = [0, 1, sign - 1, sign, (1 << width) - 1]
        beyond = [value for value in (2**31 - 1, 2**31, 2**32 + 1, 2**53 + 1) if value < 1 << width]
        return np.array(ends + beyond, unsigned)
    mantissa = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}.get(element_type.name)
    if mantissa is None:
        return np.arange(256, dtype=np.uint8)  # of 8 bits: all
    infinity, largest = ((sign - 1) >> mantissa) << mantissa, 1 << mantissa
    positive = [0, 1, largest - 1, largest, infinity - 1, infinity, infinity | 1, infinity | (largest >> 1) | 5]
    return np.array(positive + [sign | value for value in positive], unsigned)


VALUES: Mapping[str, Make] = {"small": small, "bits": bits, "special": special}


def for_model(
    rng: np.random.Generator, place: str, element_type: ElementType, shape: tuple[int, ...], bounds: Sequence[tuple[int, int]]
) -> NDArray[Any]:
    """Make an input for a model; `place` names the input in errors.

    Integers are within all `bounds` (the lowest value and the end). Where there are no bounds, integers of 8 bits have any
    value, as bytes do, and others are 0 or 1, as those of masks are. Everything else is small.

    Raises ValueError where there is no such value, or not the memory.
    """
    require_memory(f"{place} of shape {list(shape)}", element_type.byte_size(element_count(shape)))
    if element_type.dtype.kind not in "iu" or (element_type.bits == 8 and not bounds):
        return small(rng, element_type, shape)
    lowest = max([low for low, _ in bounds], default=0)
    end = min([high for _, high in bounds], default=2)
    if end <= lowest and element_count(shape):
        raise ValueError(f"{place} has no valid value: it indexes an axis of size {end}")
    return rng.integers(lowest, max(lowest + 1, end), shape).astype(element_type.dtype)
