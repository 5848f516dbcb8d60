"""Flattening of coordinate tuples (GatherND, ScatterND) to one row-major index into the indexed dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.kernels import native, reference
from ov_gather.kernels.arguments import out_of_bounds, unravel


def flatten(function: str, tuples: NDArray[Any], dims: tuple[int, ...], batch: int = 0) -> NDArray[Any]:
    """Return the row-major index into `dims` of each tuple; `dims` follow the first `batch` dimensions. Raises IndexError."""
    flat = np.empty(tuples.shape[:-1], np.int64)
    kernel = native.load()
    if kernel is None:
        position = _flatten_with_numpy(tuples, dims, flat)
    else:
        position = kernel.flatten_tuples(np.ascontiguousarray(tuples), dims, flat)
    if position != reference.ALL_IN_BOUNDS:
        place = unravel(position, flat.shape)
        bad = (k for k, (index, size) in enumerate(zip(tuples[place], dims, strict=True)) if not -size <= index < size)
        k = next(bad, 0)  # None is bad if another thread has changed the tuple since.
        raise out_of_bounds(function, tuples, (*place, k), batch + k, dims[k])
    return flat


def _flatten_with_numpy(tuples: NDArray[Any], dims: tuple[int, ...], flat: NDArray[Any]) -> int:
    tuples, sizes = reference.snapshot(tuples), np.array(dims, np.int64)
    bad = ((tuples < -sizes) | (tuples >= sizes)).any(axis=-1)
    if bad.any():
        return int(np.argmax(bad))
    flat[...] = 0
    for k, size in enumerate(dims):
        flat *= size
        flat += np.where(tuples[..., k] < 0, tuples[..., k] + size, tuples[..., k])
    return reference.ALL_IN_BOUNDS
