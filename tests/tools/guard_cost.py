"""Compare the time of a guard with that of `ids.min(), ids.max()`: python tests/tools/guard_cost.py [--ids N]."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import openvino as ov
from openvino import opset13 as ops

import ov_gather

BLOCKS, CALLS = 60, 20


def model(kind: type[np.generic]) -> ov.Model:
    """Return an embedding: ids of any shape, and a table of 30,000 rows."""
    ids = ops.parameter([-1, -1], kind, "ids")
    ids.output(0).set_names({"ids"})
    return ov.Model([ops.gather(ops.constant(np.zeros((30_000, 8), np.float32)), ids, 0)], [ids], "embedding")


def seconds(work: Callable[[], object]) -> float:
    """Return the time of one call, of a block of calls."""
    start = time.perf_counter()
    for _ in range(CALLS):
        work()
    return (time.perf_counter() - start) / CALLS


def main() -> None:
    """Print one line for each integer type: both times, their ratio, and its quartiles over blocks, which take turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ids", type=int, default=100_000, help="number of ids in a request")
    count = parser.parse_args().ids
    for kind in (np.int64, np.int32):
        check = ov_gather.guard(model(kind))
        ids = np.random.default_rng(0).integers(0, 30_000, (1, count)).astype(kind)
        feed = {"ids": ids}
        pairs = [(seconds(lambda: check(feed)), seconds(lambda: (ids.min(), ids.max()))) for _ in range(BLOCKS)]  # noqa: B023
        ours, numpy = np.median(pairs, axis=0) * 1e6
        low, middle, high = np.quantile([one / other for one, other in pairs], (0.25, 0.5, 0.75))
        print(f"{np.dtype(kind)}: guard {ours:.1f} us, NumPy {numpy:.1f} us, ratio {middle:.2f} ({low:.2f}..{high:.2f})")


if __name__ == "__main__":
    main()
