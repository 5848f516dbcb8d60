"""Benchmark cases: shapes and indices as in real models, with float32 data unless the name says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ov_gather.bench.aggregation_cases import Aggregation
from ov_gather.bench.case import BenchCase
from ov_gather.bench.gather_cases import Gather, GatherElements, GatherND
from ov_gather.bench.scatter_cases import ScatterElements, ScatterND

Shape = tuple[int, ...]
Reduction = Literal["none", "sum"]


def _values(shape: Shape, dtype: Any = np.float32, below: int = 250) -> NDArray[Any]:
    """Return integers that bfloat16 represents exactly, as well as their sums if `below` is small."""
    return np.random.default_rng(0).integers(0, below, shape, np.uint8).astype(dtype)


def _vector(name: str, size: int, count: int) -> BenchCase:
    """Build a lookup in one dimension."""
    return _elements(name, (size,), (count,), 0)


def _elements(name: str, data: Shape, indices: Shape, axis: int, dtype: Any = np.float32, shape: Any = None) -> BenchCase:
    places = np.random.default_rng(0).integers(0, data[axis], indices)
    return GatherElements(name, _values(data, dtype), places, shape or indices, axis)


def _deberta(name: str, heads: int, length: int, buckets: int) -> BenchCase:
    """Build relative positions clipped to the buckets: equal for all heads, but materialised, as in exported models."""
    position = np.arange(length)
    relative = np.clip(position[:, None] - position + buckets // 2, 0, buckets - 1)
    shape = (heads, length, length)
    indices = np.ascontiguousarray(np.broadcast_to(relative, shape))
    return GatherElements(name, _values((heads, length, buckets)), indices, shape, 2, constant_indices=True)


def _slices(name: str, data: Shape, indices: Shape, axis: int, batch_dims: int = 0, dtype: Any = np.float32) -> BenchCase:
    places = np.random.default_rng(0).integers(0, data[axis], indices)
    return Gather(name, _values(data, dtype), places, axis, batch_dims)


def _pixels(name: str, data: Shape, points: int) -> BenchCase:
    indices = np.random.default_rng(0).integers(0, data[1:3], (data[0], points, 2))
    return GatherND(name, _values(data), indices)


def _scatter(name: str, data: Shape, updates: Shape, axis: int, reduction: Reduction = "none") -> BenchCase:
    """Build a scatter in which no index occurs twice in a line along the axis."""
    every = np.broadcast_to(np.arange(data[axis])[:, None], (data[axis], updates[1 - axis]))
    permuted = np.random.default_rng(0).permuted(every, axis=0)[: updates[axis]]
    indices = np.ascontiguousarray(permuted if axis == 0 else permuted.T)
    return ScatterElements(name, _values(data), indices, -_values(updates), axis, reduction)


def _scatter_rows(name: str, data: Shape, updates: int, reduction: Reduction = "none") -> BenchCase:
    """Build a scatter with one index per row. With "sum", rows repeat, as in graph networks that sum messages."""
    random = np.random.default_rng(0)
    rows = random.integers(0, data[0], updates) if reduction == "sum" else random.permutation(data[0])[:updates]
    below = 5 if reduction == "sum" else 250
    return ScatterElements(
        name, _values(data, below=below), rows[:, None], _values((updates, data[1]), below=below), 0, reduction
    )


def _scatter_nd(name: str, data: Shape, updates: int) -> BenchCase:
    rows = np.random.default_rng(0).permutation(data[0])[:updates]
    return ScatterND(name, _values(data), rows[:, None], -_values((updates, data[1])))


def _aggregation(name: str, nodes: int, edges: int, width: int) -> BenchCase:
    sources, targets = np.random.default_rng(0).integers(0, nodes, (2, edges))
    return Aggregation(name, _values((nodes, width), below=5), sources, targets)


_GATHER_ELEMENTS: dict[str, Callable[[str], BenchCase]] = {
    "deberta": lambda name: _deberta(name, 6, 512, 512),
    "deberta_large": lambda name: _deberta(name, 12, 512, 1024),
    "rows": lambda name: _elements(name, (4096, 1024), (4096, 1024), 1),
    "columns": lambda name: _elements(name, (4096, 1024), (4096, 1024), 0),
    "nchw": lambda name: _elements(name, (8, 128, 64, 64), (8, 128, 64, 64), 1),
    "middle_axis": lambda name: _elements(name, (64, 500, 96), (64, 120, 96), 1),
    "small_nchw": lambda name: _elements(name, (1, 4, 353, 128), (1, 4, 353, 128), 1),
    "topk_rows": lambda name: _elements(name, (8, 8400, 256), (8, 300, 1), 1, shape=(8, 300, 256)),
    "gnn": lambda name: _elements(name, (2000, 128), (16000, 1), 0, shape=(16000, 128)),
    "vector": lambda name: _vector(name, 10_000_000, 10_000_000),
    "bytes": lambda name: _elements(name, (64, 65536), (64, 65536), 1, np.uint8),
    "half": lambda name: _elements(name, (4096, 1024), (4096, 1024), 1, np.float16),
    "int64": lambda name: _elements(name, (4096, 1024), (4096, 1024), 1, np.int64),
    "tiny": lambda name: _elements(name, (3, 7, 5), (3, 10, 5), 1),
}
_VECTORS: dict[str, Callable[[str], BenchCase]] = {
    "vector_1k": lambda name: _vector(name, 1_000, 1_000),
    "vector_10k": lambda name: _vector(name, 10_000, 10_000),
    "vector_100k": lambda name: _vector(name, 100_000, 100_000),
    "vector_1m": lambda name: _vector(name, 1_000_000, 1_000_000),
    "vector_2m": lambda name: _vector(name, 2_000_000, 2_000_000),
    "vector_4m": lambda name: _vector(name, 4_000_000, 4_000_000),
    "vector_table": lambda name: _vector(name, 300_000, 2_000_000),
}
_SLICES: dict[str, Callable[[str], BenchCase]] = {
    "embedding": lambda name: _slices(name, (30522, 768), (8, 512), 0),
    "embedding_f16": lambda name: _slices(name, (30522, 768), (8, 512), 0, dtype=np.float16),
    "gather_axis1": lambda name: _slices(name, (64, 1024, 256), (128,), 1),
    "batch_gather": lambda name: _slices(name, (8, 8400, 256), (8, 300), 1, 1),
    "gather_small": lambda name: _slices(name, (1000, 64), (32,), 0),
    "gather_nd_pixels": lambda name: _pixels(name, (8, 512, 512, 16), 10_000),
}
_SCATTERS: dict[str, Callable[[str], BenchCase]] = {
    "scatter": lambda name: _scatter(name, (4096, 1024), (2048, 1024), 0),
    "scatter_small": lambda name: _scatter(name, (64, 64), (64, 16), 1),
    "scatter_sum": lambda name: _scatter(name, (4096, 1024), (2048, 1024), 0, reduction="sum"),
    "scatter_last": lambda name: _scatter(name, (2048, 1024), (2048, 1024), 1),
    "scatter_last_sum": lambda name: _scatter(name, (2048, 1024), (2048, 1024), 1, reduction="sum"),
    "scatter_rows": lambda name: _scatter_rows(name, (16000, 128), 8000),
    "scatter_rows_sum": lambda name: _scatter_rows(name, (2000, 128), 16000, reduction="sum"),
}
_AGGREGATIONS: dict[str, Callable[[str], BenchCase]] = {
    "aggregation_64": lambda name: _aggregation(name, 20_000, 320_000, 64),
    "aggregation_128": lambda name: _aggregation(name, 20_000, 320_000, 128),
    "aggregation_small": lambda name: _aggregation(name, 300, 1_500, 32),
}
_MORE: dict[str, Callable[[str], BenchCase]] = {
    "short_2": lambda name: _elements(name, (400_000, 16), (400_000, 2), 1),
    "short_4": lambda name: _elements(name, (400_000, 16), (400_000, 4), 1),
    "short_8": lambda name: _elements(name, (400_000, 16), (400_000, 8), 1),
    "routing": lambda name: _elements(name, (1024, 8), (1024, 2), 1),
    "labels": lambda name: _elements(name, (1024, 1000), (1024, 5), 1),
    "vector_400mb": lambda name: _vector(name, 100_000_000, 10_000_000),
    "embedding_1gb": lambda name: _slices(name, (350_000, 768), (8, 512), 0),
}
_CALLS: dict[str, Callable[[str], BenchCase]] = {
    "call_gather_elements_1": lambda name: _elements(name, (1, 5), (1, 1), 1),
    "call_gather_elements_150": lambda name: _elements(name, (3, 7, 5), (3, 10, 5), 1),
    "call_gather_1": lambda name: _slices(name, (9,), (1,), 0),
    "call_gather_150": lambda name: _slices(name, (9, 15), (10,), 0),
    "call_gather_nd_1": lambda name: _pixels(name, (1, 7, 5), 1),
    "call_gather_nd_150": lambda name: _pixels(name, (3, 7, 5), 50),
    "call_scatter_elements_1": lambda name: _scatter(name, (1, 5), (1, 1), 1),
    "call_scatter_elements_150": lambda name: _scatter(name, (10, 15), (10, 5), 1),
    "call_scatter_nd_1": lambda name: _scatter_nd(name, (5, 1), 1),
    "call_scatter_nd_150": lambda name: _scatter_nd(name, (10, 15), 5),
}
_GROUPS = {
    "GatherElements": _GATHER_ELEMENTS,
    "one dimension": _VECTORS,
    "Gather, GatherND": _SLICES,
    "scatters": _SCATTERS,
    "aggregations": _AGGREGATIONS,
    "short lines, beyond the caches": _MORE,
    "calls": _CALLS,
}
_GROUP_OF = {name: group for group, makers in _GROUPS.items() for name in makers}
NAMES = tuple(_GROUP_OF)
INDEX_TYPES = {"i64": np.int64, "i32": np.int32}


def make(name: str, index_type: str = "i64") -> BenchCase:
    """Return the case of this name with indices of this type, i32 or i64, and with the same data every time."""
    group = _GROUP_OF[name]
    case = _GROUPS[group][name](name)
    return replace(case, group=group, own_indices=case.own_indices.astype(INDEX_TYPES[index_type]))
