"""Patterns of valid and of out-of-bounds indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Extent:
    """The index range of an axis. For tuples of coordinates, each field has one number per coordinate; else it is a scalar.

    Attributes:
        size: the size of the axis, limited to the number of non-negative values that the index type has.
        lowest: -size, or the minimum of the index type if that is greater.
        specified: the lowest index that the operation's specification allows, clamped likewise.
    """

    size: Integers
    lowest: Integers
    specified: Integers

    @classmethod
    def of(cls, size: tuple[int, ...], specified: Callable[[Any], Any], dtype: np.dtype[Any]) -> Extent:
        """Build the span of an axis, clamped to the range of the index type."""
        limits, sizes = np.iinfo(dtype), np.array(size if len(size) > 1 else size[0], np.int64)
        end = np.minimum(sizes, min(int(limits.max) + 1, 2**62))
        return cls(end, np.maximum(-sizes, limits.min), np.maximum(specified(sizes), limits.min))


def make(
    pattern: str, rng: np.random.Generator, shape: tuple[int, ...], span: Extent, dtype: np.dtype[Any]
) -> NDArray[Any] | None:
    """Return indices that follow a pattern; None if the shape or the index type admits none."""
    empty = 0 in shape
    if (empty and pattern != "random") or (not empty and not span.size.all() and pattern not in _INVALID):
        return None
    limits = np.iinfo(dtype)
    made = _VALID[pattern](rng, shape, span) if pattern in _VALID else _replaced(rng, shape, span, _INVALID[pattern])
    if made is None:
        return None
    indices = np.asarray(made)  # NumPy returns a scalar for rank 0
    if not empty and not (limits.min <= indices.min() and indices.max() <= limits.max):
        return None
    return indices.astype(dtype)


def _random(rng: np.random.Generator, shape: tuple[int, ...], span: Extent) -> Integers:
    return rng.integers(span.specified, np.maximum(span.size, span.specified + 1), shape)


def _boundary(rng: np.random.Generator, shape: tuple[int, ...], span: Extent) -> Integers:
    ends = [span.size * 0, span.size - 1, np.maximum(span.lowest, -1), span.lowest]
    return np.choose(rng.integers(0, 4, shape), [np.broadcast_to(end, shape) for end in ends])


def _counting(shape: tuple[int, ...]) -> Integers:
    return np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)


def _replaced(rng: np.random.Generator, shape: tuple[int, ...], span: Extent, by: Callable[[Integers], Integers]) -> Integers:
    """Return valid indices in which one of the last tenth is replaced by an invalid one."""
    indices = _random(rng, shape, span) if span.size.all() else np.zeros(shape, np.int64)
    flat, wrong = indices.reshape(-1), np.broadcast_to(by(span.size), shape).reshape(-1)
    position = flat.size - 1 - int(rng.integers(0, -(-flat.size // 10)))
    flat[position] = wrong[position]
    return indices


_VALID: Mapping[str, Callable[[np.random.Generator, tuple[int, ...], Extent], Integers | None]] = {
    "random": _random,
    "boundary": _boundary,
    "negative": lambda rng, shape, span: rng.integers(span.lowest, 0, shape) if (span.lowest < 0).all() else None,
    "equal": lambda rng, shape, span: np.broadcast_to(rng.integers(0, span.size), shape).copy(),
    "duplicates": lambda rng, shape, span: rng.integers(0, np.minimum(span.size, 2), shape),
    "reversed": lambda rng, shape, span: span.size - 1 - _counting(shape) % span.size,
    "permutation": lambda rng, shape, span: rng.permutation(int(span.size.min()))[_counting(shape) % int(span.size.min())],
}
_INVALID: Mapping[str, Callable[[Integers], Integers]] = {
    "above": lambda size: size,
    "below": lambda size: -size - 1,
    "far above": lambda size: size * 0 + 2**31 - 1,
    "far below": lambda size: size * 0 - 2**31,
    "beyond 32 bits": lambda size: size * 0 + 2**32 + 1,
}
INVALID = tuple(_INVALID)
"""Names of the patterns with one index out of bounds."""
