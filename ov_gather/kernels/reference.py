"""NumPy kernels: the oracle for the compiled kernel, and its fallback if it is missing or does not support a dtype."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALL_IN_BOUNDS = -1


def first_out_of_bounds(indices: NDArray[Any], size: int) -> int:
    """Return the first position (row-major in `indices`) out of bounds for an axis of this size; -1 if there is none."""
    return _first(_out_of_bounds(indices, size))


def _out_of_bounds(indices: NDArray[Any], size: int) -> NDArray[Any]:
    return np.asarray((indices < -size) | (indices >= size))


def _first(bad: NDArray[Any]) -> int:
    return int(np.argmax(bad)) if bad.any() else ALL_IN_BOUNDS


def zero_of(dtype: np.dtype[Any]) -> Any:
    """Return the value that an index out of bounds yields: zero, or "" for object arrays, which hold strings."""
    return "" if dtype.kind == "O" else np.zeros((), dtype)


def snapshot(indices: NDArray[Any]) -> NDArray[Any]:
    """Copy indices that another thread may change, so that the checked values are the ones used.

    An addition copies element by element. A plain copy of memory may be interrupted within an index, and would then hold an
    index that never existed.
    """
    return np.asarray(np.add(indices, 0))


def gather_elements(data: NDArray[Any], indices: NDArray[Any], axis: int, output: NDArray[Any], zero: bool = False) -> int:
    """Fill `output`; return -1, or the first position (row-major in `indices`) whose index is out of bounds.

    With `zero`, such an index yields zeros instead.
    """
    indices = snapshot(indices)
    size = data.shape[axis]
    bad = _out_of_bounds(indices, size)
    position = _first(bad)
    if position != ALL_IN_BOUNDS and not zero:
        return position
    zero_value = zero_of(data.dtype)
    if size == 0:
        output[...] = zero_value
        return ALL_IN_BOUNDS
    corner = data[tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(indices.shape))]
    positions = np.where(bad, 0, indices).astype(np.intp) % size
    # Three dimensions suffice for any rank, including ranks that exceed NumPy's limit on index arrays.
    outer, inner = prod(indices.shape[:axis]), prod(indices.shape[axis + 1 :])
    gathered = np.take_along_axis(corner.reshape(outer, size, inner), positions.reshape(outer, indices.shape[axis], inner), 1)
    output[...] = gathered.reshape(output.shape)
    output[bad] = zero_value
    return ALL_IN_BOUNDS


_REDUCE = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def scatter_elements(output: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], axis: int, reduction: str) -> None:
    """Update `output` in place, in the order of `indices`, which must all be in bounds."""
    corner = output[tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(indices.shape))]
    outer, inner = prod(indices.shape[:axis]), prod(indices.shape[axis + 1 :])
    size, count = output.shape[axis], indices.shape[axis]
    if indices.size == 0:
        return
    table = corner.reshape(outer, size, inner)  # a copy if the corner is smaller than the whole
    positions = (indices.astype(np.intp) % size).reshape(outer, count, inner)
    places = (np.arange(outer)[:, None, None], positions, np.arange(inner))
    values = updates.reshape(outer, count, inner)
    if reduction == "none":
        for k in range(count):  # one position along the axis at a time, so that the last update wins
            table[places[0][:, 0], positions[:, k], places[2]] = values[:, k]
    else:
        _REDUCE[reduction].at(table, places, values)
    corner[...] = table.reshape(corner.shape)


def scatter_nd(output: NDArray[Any], flat: NDArray[Any], updates: NDArray[Any], rows: int, reduction: str) -> None:
    """Update rows of a contiguous `output` in place, in the order of `flat`, whose indices must all be in bounds."""
    if updates.size == 0:
        return
    table, places = output.reshape(rows, output.size // rows), flat.ravel()
    values = updates.reshape(places.size, table.shape[1])
    if reduction == "none":  # The last update of a row wins: np.unique keeps the first of the reversed order.
        last, position = np.unique(places[::-1], return_index=True)
        table[last] = values[::-1][position]
    else:
        _REDUCE[reduction].at(table, places, values)


def aggregate(
    data: NDArray[Any],
    sources: NDArray[Any],
    targets: NDArray[Any],
    weights: NDArray[Any] | None,
    output: NDArray[Any],
    reduction: str,
    mean: bool,
) -> bool:
    """Fill `output` with rows of data, gathered and reduced in float32; return True if all indices are in bounds."""
    sources, targets = snapshot(sources), snapshot(targets)
    rows = output.shape[0]
    if any(first_out_of_bounds(each, size) != ALL_IN_BOUNDS for each, size in ((sources, len(data)), (targets, rows))):
        return False
    if output.size == 0:
        return True
    width = output.size // rows
    with np.errstate(invalid="ignore", over="ignore"):  # the compiled kernel does not warn either
        messages = data.astype(np.float32)[sources]
        if weights is not None:
            messages *= weights.astype(np.float32).reshape(weights.shape + (1,) * (data.ndim - weights.ndim))
        neutral = {"add": 0.0, "min": np.inf, "max": -np.inf}[reduction]
        wide = np.full((rows, width), neutral, np.float32)
        _REDUCE[reduction].at(wide, targets, messages.reshape(targets.size, width))  # of rank 2: NumPy crashes at rank 64
        counts = np.bincount(targets.astype(np.intp) % rows, minlength=rows)[:, np.newaxis]
        wide = np.where(counts == 0, np.float32(0), wide)
        wide = wide / np.maximum(counts, 1).astype(np.float32) if mean else wide
        output[...] = wide.reshape(output.shape)
    return True
