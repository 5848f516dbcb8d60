"""Values for data and updates: small numbers, random bits, and special values of the element type; if memory suffices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.ir.element_types import BOOLEAN, STRING, ElementType
from ov_gather.ir.model import Layer
from ov_gather.ir.shapes import element_count
from ov_gather.system.platforms import available_memory

Make = Callable[[np.random.Generator, ElementType, tuple[int, ...]], NDArray[Any]]
_FLOATS = ("f16", "bf16", "f32", "f64")
COPIES = 8
"""Estimated number of simultaneous copies of a case: as inputs and as outputs, here and in each runtime's process."""
_WORDS = np.array(["", "a", "gather", "элементы", "x" * 40], object)


def small(rng: np.random.Generator, element_type: ElementType, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return numbers that survive narrowing to 32 bits: normal floats, integers below 1000; 8-bit types get any bits."""
    if element_type.name in _FLOATS:
        return rng.standard_normal(shape, np.float32).astype(element_type.dtype)
    if element_type.bits >= 16:
        lowest = -1000 if element_type.dtype.kind == "i" else 0
        return rng.integers(lowest, 1000, shape).astype(element_type.dtype)
    return bits(rng, element_type, shape)


def bits(rng: np.random.Generator, element_type: ElementType, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return random bit patterns, including NaNs with payloads; strings are drawn from a few words."""
    if element_type is BOOLEAN:
        return rng.integers(0, 2, shape).astype(bool)
    if element_type is STRING:
        return np.asarray(_WORDS[rng.integers(0, len(_WORDS), shape)], object)
    dtype = element_type.dtype
    if element_type.bits % 8:
        return rng.integers(0, 1 << (element_type.bits - 1), shape).astype(dtype)
    return np.frombuffer(rng.bytes(element_count(shape) * dtype.itemsize), dtype).reshape(shape)


def special(rng: np.random.Generator, element_type: ElementType, shape: tuple[int, ...]) -> NDArray[Any]:
    """Draw signed zeros, denormals, infinities, NaNs with payloads, limits of the type, and integers above 2**31 and 2**53."""
    chosen = _special_bits(element_type)
    if chosen is None:
        return bits(rng, element_type, shape)
    return np.asarray(chosen[rng.integers(0, len(chosen), shape)]).view(element_type.dtype)  # rank 0 stays an array


def _special_bits(element_type: ElementType) -> NDArray[Any] | None:
    """Return the special values as unsigned integers of the same width; None if the type has none."""
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
        return np.arange(256, dtype=np.uint8)  # 8-bit floats: every value
    infinity, largest = ((sign - 1) >> mantissa) << mantissa, 1 << mantissa
    positive = [0, 1, largest - 1, largest, infinity - 1, infinity, infinity | 1, infinity | (largest >> 1) | 5]
    return np.array(positive + [sign | value for value in positive], unsigned)


def with_nan(rng: np.random.Generator, element_type: ElementType, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return what `small` does, with about every fourth float replaced by NaN."""
    array = small(rng, element_type, shape)
    return np.where(rng.random(shape) < 0.25, array.dtype.type(np.nan), array) if element_type.name in _FLOATS else array


VALUES: Mapping[str, Make] = {"small": small, "bits": bits, "special": special, "NaN": with_nan}


_LEAST_BITS = 16
"""Bits of the smallest type that has halves between -2 and 2 for certain."""


def for_model(
    rng: np.random.Generator,
    place: str,
    element_type: ElementType,
    shape: tuple[int, ...],
    bounds: Sequence[tuple[int, int]],
    *,
    is_searched: bool = False,
) -> NDArray[Any]:
    """Return a random input for a model; `place` names the input in errors.

    Fractions that are compared, sorted or searched are halves between -2 and 2: some are equal, some 0, and some less than 1.

    Integers lie within the intersection of all `bounds`, each (lowest value, exclusive end). Without bounds, 8-bit integers
    take any value, as bytes do, and wider ones are 0 or 1, as in masks. All other types are drawn by `small`.

    Raises ValueError if the bounds admit no value, or if memory does not suffice.
    """
    require_memory(f"{place} of shape {list(shape)}", element_type.byte_size(element_count(shape)))
    if is_searched and element_type.dtype.kind == "f" and element_type.bits >= _LEAST_BITS:
        return (rng.integers(-4, 5, shape) / 2).astype(element_type.dtype)
    if element_type.dtype.kind not in "iu" or (element_type.bits == 8 and not bounds):
        return small(rng, element_type, shape)
    lowest = max([low for low, _ in bounds], default=0)
    end = min([high for _, high in bounds], default=2)
    if end <= lowest and element_count(shape):
        raise ValueError(f"{place} has no valid value: it indexes an axis of size {end}")
    return rng.integers(lowest, max(lowest + 1, end), shape).astype(element_type.dtype)


def require_memory(place: str, needed: int) -> None:
    """Raise ValueError if COPIES times `needed` bytes exceed the free memory."""
    free = available_memory()
    if free is not None and needed * COPIES > free:
        raise ValueError(f"{place}: a case takes {_gigabytes(needed)}, and {COPIES} times that; {_gigabytes(free)} are free")


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"


def check_fits(parameter: Layer, array: NDArray[Any]) -> None:
    """Raise TypeError for another type than a Parameter declares, ValueError for another shape."""
    kind, shape = parameter.declared_type, parameter.declared_shape
    if kind and array.dtype != kind.dtype:
        raise TypeError(f"{parameter.name} must be {kind}, not {array.dtype}")
    if shape and array.shape not in shape:
        raise ValueError(f"{parameter.name} has shape {list(array.shape)}; the layer declares {shape}")


def as_declared(array: NDArray[Any], element_type: ElementType | None) -> NDArray[Any]:
    """Return the array in the type of its port. A .npy stores bf16 and 8-bit floats as raw bytes, strings as fixed width."""
    if array.dtype.kind == "U":
        return array.astype(object)
    if array.dtype.kind == "V" and element_type and element_type.dtype.itemsize == array.itemsize:
        return array.view(element_type.dtype)
    return array
