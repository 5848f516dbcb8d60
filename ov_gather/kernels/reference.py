"""The NumPy kernel: the oracle for the compiled one, and its stand-in where that is missing or does not know the dtype."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALL_IN_BOUNDS = -1


def gather_elements(data: NDArray[Any], indices: NDArray[Any], axis: int, output: NDArray[Any]) -> int:
    """Fill `output`; return -1, or the first position (row-major in `indices`) whose index is out of bounds."""
    size = data.shape[axis]
    out_of_bounds = (indices < -size) | (indices >= size)
    if out_of_bounds.any():
        return int(np.argmax(out_of_bounds))
    corner = data[tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(indices.shape))]
    positions = indices.astype(np.intp)
    positions[positions < 0] += size
    # Three dimensions do for any rank, also for those where NumPy runs out of index arrays.
    outer, inner = prod(indices.shape[:axis]), prod(indices.shape[axis + 1 :])
    gathered = np.take_along_axis(corner.reshape(outer, size, inner), positions.reshape(outer, indices.shape[axis], inner), 1)
    output[...] = gathered.reshape(output.shape)
    return ALL_IN_BOUNDS
