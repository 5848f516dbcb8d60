"""The work: shapes and indices as real models have them, float32 data and int64 indices unless the name says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Case:
    """One gather. `indices` may be a stride-0 view; `own_indices` is what its owner has, before expansion."""

    name: str
    data: NDArray[Any]
    own_indices: NDArray[Any]
    shape: tuple[int, ...]
    axis: int
    constant_indices: bool = False

    @property
    def indices(self) -> NDArray[Any]:
        """The indices in the shape of the output."""
        return np.broadcast_to(self.own_indices, self.shape)

    @property
    def is_expanded(self) -> bool:
        """Whether the indices are smaller than the output."""
        return self.own_indices.shape != self.shape

    @property
    def bytes_moved(self) -> int:
        """Read once: the indices, and an element of data for each output; written once: the output."""
        return self.own_indices.nbytes + 2 * int(np.prod(self.shape)) * self.data.itemsize


def _random(
    name: str, data: tuple[int, ...], indices: tuple[int, ...], axis: int, dtype: Any = np.float32, shape: Any = None
) -> Case:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 250, data).astype(dtype)
    return Case(name, values, rng.integers(0, data[axis], indices), shape or indices, axis)


def _deberta(name: str, heads: int, length: int, buckets: int) -> Case:
    """Relative positions, clipped to the buckets; the same for every head, but materialised, as exports have it."""
    position = np.arange(length)
    relative = np.clip(position[:, None] - position + buckets // 2, 0, buckets - 1)
    shape = (heads, length, length)
    data = np.random.default_rng(0).random((heads, length, buckets), np.float32)
    return Case(name, data, np.ascontiguousarray(np.broadcast_to(relative, shape)), shape, 2, constant_indices=True)


_MAKERS: dict[str, Callable[[str], Case]] = {
    "deberta": lambda name: _deberta(name, 6, 512, 512),
    "deberta_large": lambda name: _deberta(name, 12, 512, 1024),
    "rows": lambda name: _random(name, (4096, 1024), (4096, 1024), 1),
    "columns": lambda name: _random(name, (4096, 1024), (4096, 1024), 0),
    "nchw": lambda name: _random(name, (8, 128, 64, 64), (8, 128, 64, 64), 1),
    "small_nchw": lambda name: _random(name, (1, 4, 353, 128), (1, 4, 353, 128), 1),
    "topk_rows": lambda name: _random(name, (8, 8400, 256), (8, 300, 1), 1, shape=(8, 300, 256)),
    "gnn": lambda name: _random(name, (2000, 128), (16000, 1), 0, shape=(16000, 128)),
    "vector": lambda name: _random(name, (10_000_000,), (10_000_000,), 0),
    "bytes": lambda name: _random(name, (64, 65536), (64, 65536), 1, np.uint8),
    "half": lambda name: _random(name, (4096, 1024), (4096, 1024), 1, np.float16),
    "int64": lambda name: _random(name, (4096, 1024), (4096, 1024), 1, np.int64),
    "tiny": lambda name: _random(name, (3, 7, 5), (3, 10, 5), 1),
}
NAMES = tuple(_MAKERS)


def make(name: str) -> Case:
    """The case of this name; the same data every time."""
    return _MAKERS[name](name)
