"""The work: shapes and indices as real models have them, float32 data and int64 indices unless the name says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.bench.case import Case
from ov_gather.bench.gather import Gather
from ov_gather.bench.gather_elements import GatherElements
from ov_gather.bench.gather_nd import GatherND
from ov_gather.bench.scatter_elements import ScatterElements


def _values(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    return np.random.default_rng(0).integers(0, 250, shape, np.uint8).astype(dtype)


def _elements(
    name: str, data: tuple[int, ...], indices: tuple[int, ...], axis: int, dtype: Any = np.float32, shape: Any = None
) -> Case:
    places = np.random.default_rng(0).integers(0, data[axis], indices)
    return GatherElements(name, _values(data, dtype), places, shape or indices, axis)


def _deberta(name: str, heads: int, length: int, buckets: int) -> Case:
    """Relative positions, clipped to the buckets; the same for every head, but materialised, as exports have it."""
    position = np.arange(length)
    relative = np.clip(position[:, None] - position + buckets // 2, 0, buckets - 1)
    shape = (heads, length, length)
    data = np.random.default_rng(0).random((heads, length, buckets), np.float32)
    indices = np.ascontiguousarray(np.broadcast_to(relative, shape))
    return GatherElements(name, data, indices, shape, 2, constant_indices=True)


def _slices(
    name: str, data: tuple[int, ...], indices: tuple[int, ...], axis: int, batch_dims: int = 0, dtype: Any = np.float32
) -> Case:
    places = np.random.default_rng(0).integers(0, data[axis], indices)
    return Gather(name, _values(data, dtype), places, axis, batch_dims)


def _pixels(name: str, data: tuple[int, ...], points: int) -> Case:
    indices = np.random.default_rng(0).integers(0, data[1:3], (data[0], points, 2))
    return GatherND(name, _values(data, np.float32), indices)


def _scatter(name: str, rows: int, updated: int, columns: int) -> Case:
    every = np.broadcast_to(np.arange(rows)[:, None], (rows, columns))
    indices = np.random.default_rng(0).permuted(every, axis=0)[:updated]
    return ScatterElements(name, _values((rows, columns), np.float32), indices, -_values((updated, columns), np.float32), 0)


_MAKERS: dict[str, Callable[[str], Case]] = {
    "deberta": lambda name: _deberta(name, 6, 512, 512),
    "deberta_large": lambda name: _deberta(name, 12, 512, 1024),
    "rows": lambda name: _elements(name, (4096, 1024), (4096, 1024), 1),
    "columns": lambda name: _elements(name, (4096, 1024), (4096, 1024), 0),
    "nchw": lambda name: _elements(name, (8, 128, 64, 64), (8, 128, 64, 64), 1),
    "small_nchw": lambda name: _elements(name, (1, 4, 353, 128), (1, 4, 353, 128), 1),
    "topk_rows": lambda name: _elements(name, (8, 8400, 256), (8, 300, 1), 1, shape=(8, 300, 256)),
    "gnn": lambda name: _elements(name, (2000, 128), (16000, 1), 0, shape=(16000, 128)),
    "vector": lambda name: _elements(name, (10_000_000,), (10_000_000,), 0),
    "bytes": lambda name: _elements(name, (64, 65536), (64, 65536), 1, np.uint8),
    "half": lambda name: _elements(name, (4096, 1024), (4096, 1024), 1, np.float16),
    "int64": lambda name: _elements(name, (4096, 1024), (4096, 1024), 1, np.int64),
    "tiny": lambda name: _elements(name, (3, 7, 5), (3, 10, 5), 1),
    "embedding": lambda name: _slices(name, (30522, 768), (8, 512), 0),
    "embedding_f16": lambda name: _slices(name, (30522, 768), (8, 512), 0, dtype=np.float16),
    "gather_axis1": lambda name: _slices(name, (64, 1024, 256), (128,), 1),
    "batch_gather": lambda name: _slices(name, (8, 8400, 256), (8, 300), 1, 1),
    "gather_nd_pixels": lambda name: _pixels(name, (8, 512, 512, 16), 10_000),
    "scatter": lambda name: _scatter(name, 4096, 2048, 1024),
}
NAMES = tuple(_MAKERS)


def make(name: str) -> Case:
    """Return the case of this name; the same data every time."""
    return _MAKERS[name](name)
