"""Dask clusters on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
from distributed import LocalCluster


@contextmanager
def local_cluster(scratch: Path, workers: int = 1, **options: Any) -> Iterator[LocalCluster]:
    """Start workers of one thread each. Their files are in `scratch`, as in Dask's own folder they wait for locks of others."""
    with (
        dask.config.set({"temporary-directory": str(scratch)}),
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", **options) as cluster,
    ):
        yield cluster
