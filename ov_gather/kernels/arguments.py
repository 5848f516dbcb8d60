"""Checks of indices, axes and outputs that all functions of the family share, and the error for an index out of bounds."""

from __future__ import annotations

from operator import index as as_integer
from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_arguments(function: str, **values: Any) -> list[NDArray[Any]]:
    """Return the arguments as arrays. Raises TypeError for a masked array or a non-array, ValueError for a ragged list."""
    return [_as_argument(function, name, value) for name, value in values.items()]


def _as_argument(function: str, name: str, value: Any) -> NDArray[Any]:
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{function}: {name} is a masked array: give its masked elements values first, by filled()")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{function}: {name} cannot be seen as an array: {error}") from None
    if array.dtype == object and array.ndim == 0 and not isinstance(value, np.ndarray):
        given = "None" if value is None else f"a {type(value).__name__}"
        raise TypeError(f"{function}: {name} must be an array, not {given}")
    return array


def checked_axis(function: str, name: str, axis: int, rank: int) -> int:
    """Return the axis counted from the front. Raises ValueError if it is out of range, TypeError if it is not an integer."""
    try:
        axis = as_integer(axis)
    except TypeError:
        raise TypeError(f"{function}: {name} must be an integer, not {axis!r}") from None
    if not -rank <= axis < rank:
        raise ValueError(f"{function}: {name} {axis} is out of range for rank {rank} (valid {-rank}..{rank - 1})")
    return axis % rank


def checked_elements(function: str, data: NDArray[Any], indices: NDArray[Any], axis: int) -> int:
    """Check that indices have data's rank and exceed data only along the axis; return the axis counted from the front.

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


def checked_indices(function: str, indices: NDArray[Any], name: str = "indices") -> NDArray[Any]:
    """Return the indices in native byte order. Raises TypeError, which names them, if they are not int32 or int64."""
    if indices.dtype.kind != "i" or indices.itemsize < 4:
        raise TypeError(f"{function}: {name} must be int32 or int64, not {indices.dtype}")
    return indices.astype(indices.dtype.newbyteorder("="), copy=False)


def as_index_dtype(indices: NDArray[Any]) -> NDArray[Any]:
    """Convert indices of any integer type to int32 or int64. A uint64 beyond int64 saturates, and so stays out of bounds."""
    if indices.dtype in (np.int32, np.int64):
        return indices
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    return indices.astype(np.int64)


def checked_output(
    function: str, out: NDArray[Any] | None, shape: tuple[int, ...], data: NDArray[Any], *others: NDArray[Any]
) -> NDArray[Any]:
    """Return `out` as an array to write to, or a new array.

    Raises TypeError or ValueError if `out` has another shape or dtype, is read-only, or overlaps an input or itself.
    """
    if out is None:
        return np.empty(shape, data.dtype)
    is_array = isinstance(out, np.ndarray) and not isinstance(out, np.ma.MaskedArray)
    if not is_array or out.dtype != data.dtype:
        given = out.dtype if is_array else type(out).__name__
        raise TypeError(f"{function}: out must be an array of data's dtype {data.dtype}, not {given}")
    if out.shape != shape:
        raise ValueError(f"{function}: out must have the shape {shape} of the result, not {out.shape}")
    if not out.flags.writeable:
        raise ValueError(f"{function}: out is read-only")
    if overlaps_itself(out):
        raise ValueError(
            f"{function}: elements of out overlap each other, as those of an expanded view do; give it their own memory"
        )
    if any(overlap(out, array) for array in (data, *others)):
        raise ValueError(f"{function}: out overlaps an input")
    return np.asarray(out)


def overlap(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return True if two arrays share a byte, or if the exact answer would take too long."""
    try:
        return np.shares_memory(one, other, max_work=10_000)  # type: ignore[arg-type]  # the stub knows only 0 and -1
    except np.exceptions.TooHardError:
        return True


def overlaps_itself(array: NDArray[Any]) -> bool:
    """Return True if two elements of an array share a byte, or if the exact answer would take too long."""
    if array.size == 0 or _is_nested(array):
        return False
    # Let k be the first dimension in which two overlapping elements differ. A shift moves one of them to 0 up to dimension k.
    parts = (array[(0,) * k] for k in range(array.ndim))
    return any(overlap(part[:1], part[1:]) for part in parts)


def _is_nested(array: NDArray[Any]) -> bool:
    """Return True if each stride exceeds the extent of all dimensions with smaller strides, as in a slice of dense memory."""
    reach = array.itemsize
    for stride, size in sorted(
        (abs(stride), size) for stride, size in zip(array.strides, array.shape, strict=True) if size > 1
    ):
        if stride < reach:
            return False
        reach += stride * (size - 1)
    return True


def out_of_bounds(
    function: str, indices: NDArray[Any], position: tuple[int, ...], axis: int, size: int, name: str = "indices"
) -> IndexError:
    """Return the IndexError for the index at this position, which is out of bounds for an axis of this size.

    If the index is in bounds now, another thread has changed the indices since, and the error says so.
    """
    index = int(indices[position])
    if -size <= index < size:
        return IndexError(
            f"{function}: an index was out of bounds, but another thread has changed the indices since; "
            "they must not change while they are in use"
        )
    valid = f"valid {-size}..{size - 1}" if size else "no index is valid"
    return IndexError(
        f"{function}: {name}[{', '.join(map(str, position))}] = {index} "
        f"is out of bounds for axis {axis} of size {size} ({valid})"
    )


def unravel(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the coordinates of a row-major position."""
    return tuple(map(int, np.unravel_index(position, shape)))
