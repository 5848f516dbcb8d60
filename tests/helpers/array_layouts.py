"""Arrays in random layouts within a buffer of random bytes, so that a write outside of an array is seen."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ov_gather.ir.element_types import by_name

Array = NDArray[Any]
EXTENDED = tuple(row.dtype for row in map(by_name, ("bf16", "f8e4m3")) if row)
TYPES = (
    *(np.dtype(kind) for kind in ("?", "i1", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", ">i4", ">f8")),
    *(np.dtype(kind) for kind in ("M8[s]", "S5", "U3", "V16", "V3")),
    *EXTENDED,
)
OBJECTS = (np.dtype("O"), np.dtypes.StringDType())
"""Types that no view of foreign memory can have."""


@dataclass(frozen=True)
class Layout:
    """The strides of an array in bytes, and the offset of its first element within a buffer of `size` bytes."""

    strides: tuple[int, ...]
    offset: int
    size: int

    def view(self, buffer: NDArray[np.uint8], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return the array that lies in this buffer; the strides of single elements may be any number."""
        if prod(shape) == 0:
            return np.ndarray(shape, dtype, buffer, self.offset)
        first = np.ndarray((), dtype, buffer, self.offset)
        return as_strided(first, shape, self.strides)


def random_layout(rng: np.random.Generator, shape: tuple[int, ...], itemsize: int) -> Layout:
    """Return a layout of distinct elements: dense, permuted, reversed, a part of more memory, or misaligned."""
    kind = rng.choice(["dense", "aligned", "any"])
    unit = 1 if kind == "any" else itemsize
    strides = [0] * len(shape)
    reach, low = itemsize, 0
    order = range(len(shape))[::-1] if kind == "dense" or rng.random() < 0.5 else rng.permutation(len(shape))
    for axis in order:
        size = shape[axis]
        if size <= 1:
            strides[axis] = int(rng.choice([0, reach, 3, -itemsize, 1 << 40])) if kind != "dense" else reach
            continue
        stride = reach if kind == "dense" else reach + unit * int(rng.choice([0, 0, 1, 3]))
        if kind != "dense" and rng.random() < 0.25:
            low += stride * (size - 1)
            strides[axis] = -stride
        else:
            strides[axis] = stride
        reach += stride * (size - 1)
    margin = 64 + (int(rng.integers(8)) if kind == "any" else 0)
    return Layout(tuple(strides), margin + low, margin + reach + 64)


def interleaved(rng: np.random.Generator, shape: tuple[int, ...], itemsize: int) -> Layout | None:
    """Return a layout of distinct elements in which no dimension steps over the other; None where the shape allows none."""
    if len(shape) != 2 or shape[0] < 2 or shape[1] < 2:
        return None
    first = shape[1] + 1  # has no common divisor with the other stride
    strides = (shape[1] * itemsize, first * itemsize)
    size = sum(stride * (n - 1) for stride, n in zip(strides, shape, strict=True)) + itemsize
    return Layout(strides, 64, size + 128)


def overlapping(rng: np.random.Generator, shape: tuple[int, ...], itemsize: int) -> Layout | None:
    """Return a layout in which elements share memory, as in an expanded view; None where the shape allows none."""
    axes = [axis for axis, size in enumerate(shape) if size > 1]
    if not axes or prod(shape) == 0:
        return None
    strides = list(np.empty(shape, f"V{itemsize}").strides)
    strides[int(rng.choice(axes))] = int(rng.choice([0, itemsize // 2, -(itemsize // 2)]))
    low = -sum(min(0, stride) * (n - 1) for stride, n in zip(strides, shape, strict=True))
    return Layout(tuple(strides), 64 + low, 128 + 2 * prod(shape) * itemsize + low)


def placed(rng: np.random.Generator, values: Array) -> Array:
    """Return an array of these values in a random layout, sometimes read-only."""
    if values.dtype in OBJECTS:
        return values if values.ndim == 0 or rng.random() < 0.5 else np.repeat(values, 2, axis=0)[::2]
    layout = random_layout(rng, values.shape, values.itemsize)
    result = layout.view(np.frombuffer(rng.bytes(layout.size), np.uint8).copy(), values.shape, values.dtype)
    result[...] = values
    if rng.random() < 0.5:
        result.flags.writeable = False
    return result


class Target:
    """An output in a buffer, before and after a call."""

    def __init__(self, rng: np.random.Generator, layout: Layout, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._before = np.frombuffer(rng.bytes(layout.size), np.uint8)
        self._buffer = self._before.copy()
        self._view: Callable[[NDArray[np.uint8]], Array] = lambda buffer: layout.view(buffer, shape, dtype)
        self.array = self._view(self._buffer)

    def holds(self, expected: Array) -> bool:
        """Return True if the output holds these values, bit by bit, and nothing else was written."""
        return self._equals(self._buffer, expected)

    def is_untouched(self) -> bool:
        """Return True if nothing was written."""
        return bool((self._buffer == self._before).all())

    def has_clean_margins(self) -> bool:
        """Return True if nothing but the output was written, whatever the output holds."""
        after = self._buffer.copy()
        nothing = np.zeros((), self.array.dtype)
        self._view(after)[...] = nothing
        return self._equals(after, nothing)

    def _equals(self, after: NDArray[np.uint8], expected: Array) -> bool:
        wanted = self._before.copy()
        self._view(wanted)[...] = expected
        return bool((after == wanted).all())
