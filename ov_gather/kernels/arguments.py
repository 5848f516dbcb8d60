"""The functions of the gather family check indices, axes and outputs alike, and name an index out of bounds alike."""

from __future__ import annotations

from operator import index as as_integer
from typing import Any

import numpy as np
from numpy.typing import NDArray


def checked_axis(function: str, name: str, axis: int, rank: int) -> int:
    """Check an axis and count it from the front. Raises ValueError, or TypeError for what is not a whole number."""
    axis = as_integer(axis)
    if not -rank <= axis < rank:
        raise ValueError(f"{function}: {name} {axis} is out of range for rank {rank} (valid {-rank}..{rank - 1})")
    return axis % rank


def checked_elements(function: str, data: NDArray[Any], indices: NDArray[Any], axis: int) -> int:
    """Check that indices have the rank of data and exceed data at most along the axis. Returns the axis from the front.

    Raises ValueError, TypeError.
    """
    rank = data.ndim
    if rank == 0 or indices.ndim != rank:
        raise ValueError(f"{function}: data and indices must have the same rank of at least 1, not {rank} and {indices.ndim}")
    axis = checked_axis(function, "axis", axis, rank)
    for i, (have, want) in enumerate(zip(data.shape, indices.shape, strict=True)):
        if i != axis and want > have:
            raise ValueError(
                f"{function}: indices of shape {indices.shape} exceed data of shape {data.shape} in dimension {i}; "
                f"only along axis {axis} may they be larger"
            )
    return axis


def checked_indices(function: str, indices: NDArray[Any]) -> NDArray[Any]:
    """Bring indices into native byte order. Raises TypeError where they are not int32 or int64."""
    if indices.dtype.kind != "i" or indices.itemsize < 4:
        raise TypeError(f"{function}: indices must be int32 or int64, not {indices.dtype}")
    return indices.astype(indices.dtype.newbyteorder("="), copy=False)


def as_index_dtype(indices: NDArray[Any]) -> NDArray[Any]:
    """Convert indices of any integer type to int32 or int64. A value that int64 does not hold stays out of bounds."""
    if indices.dtype in (np.int32, np.int64):
        return indices
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    return indices.astype(np.int64)


def checked_output(
    function: str, out: NDArray[Any] | None, shape: tuple[int, ...], data: NDArray[Any], *others: NDArray[Any]
) -> NDArray[Any]:
    """Check `out`, or make a new array. Raises TypeError or ValueError where `out` has another shape or dtype, or overlaps."""
    if out is None:
        return np.empty(shape, data.dtype)
    if not isinstance(out, np.ndarray) or out.dtype != data.dtype:
        given = out.dtype if isinstance(out, np.ndarray) else type(out).__name__
        raise TypeError(f"{function}: out must be an array of data's dtype {data.dtype}, not {given}")
    if out.shape != shape:
        raise ValueError(f"{function}: out must have the shape {shape} of the result, not {out.shape}")
    if not out.flags.writeable:
        raise ValueError(f"{function}: out is read-only")
    if any(_overlap(out, array) for array in (data, *others)):
        raise ValueError(f"{function}: out overlaps an input")
    return out


def _overlap(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Tell whether two arrays have a byte in common. The answer is also True where that would be too hard to tell."""
    try:
        return np.shares_memory(one, other, max_work=10_000)  # type: ignore[arg-type]  # because the stub knows only 0 and -1
    except np.exceptions.TooHardError:
        return True


def out_of_bounds(function: str, indices: NDArray[Any], position: tuple[int, ...], axis: int, size: int) -> IndexError:
    """Make the error for the index at this position, which is out of bounds for an axis of this size.

    The index is read once. If it is in bounds, another thread has changed the indices since, and the error says that.
    """
    index = int(indices[position])
    if -size <= index < size:
        return IndexError(
            f"{function}: an index was out of bounds, but another thread has changed the indices since; "
            "they must not change while they are in use"
        )
    valid = f"valid {-size}..{size - 1}" if size else "no index is valid"
    return IndexError(
        f"{function}: indices[{', '.join(map(str, position))}] = {index} "
        f"is out of bounds for axis {axis} of size {size} ({valid})"
    )


def unravel(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Give the coordinates of a row-major position."""
    return tuple(map(int, np.unravel_index(position, shape)))
