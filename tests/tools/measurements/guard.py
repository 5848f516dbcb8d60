"""Compare the time of a guard with that of `ids.min(), ids.max()`, for requests of `--ids` ids of each integer type."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import numpy as np
import openvino as ov
from openvino import opset13 as ops

import ov_gather
from tools.measurements.timing import by_turns, quartiles

COLUMNS = ("ids", "guard, us", "NumPy, us", "ratio (quartiles)")


def embedding(kind: type[np.generic]) -> ov.Model:
    """Return an embedding: ids of any shape, and a table of 30,000 rows."""
    ids = ops.parameter([-1, -1], kind, "ids")
    ids.output(0).set_names({"ids"})
    return ov.Model([ops.gather(ops.constant(np.zeros((30_000, 8), np.float32)), ids, 0)], [ids], "embedding")


def measure(*, ids: int = 100_000) -> Iterator[tuple[object, ...]]:
    for kind in (np.int64, np.int32):
        check, given = ov_gather.guard(embedding(kind)), np.random.default_rng(0).integers(0, 30_000, (1, ids)).astype(kind)
        pairs = by_turns([lambda: check({"ids": given}), lambda: (given.min(), given.max())], turns=60)  # noqa: B023
        times = [f"{median(each) * 1e6:.1f}" for each in zip(*pairs, strict=True)]
        yield np.dtype(kind), *times, quartiles([ours / numpy for ours, numpy in pairs])
