"""Work on many items: in this process, in several, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def each(
    function: Callable[[T], R],
    items: Iterable[T],
    died: Callable[[int, str], R],
    *,
    processes: int = 0,
    scheduler: str | None = None,
) -> Iterator[tuple[int, R]]:
    """Yield the index of each item with the result of the function, in the order of completion.

    Args:
        function: a function of one of our modules, or a partial of one, so that other processes can import it.
        items: consumed as workers become free.
        died: called instead of the function for an item whose process died, with its index and how the process ended.
        processes: the number of processes that work; 0 for this process alone.
        scheduler: the address of a Dask cluster that works instead, such as "tcp://10.0.0.5:8786", or "config".

    Raises:
        ImportError: distributed is not installed.
        ClusterError: there is no cluster, it has another version of ov-gather, or the connection is lost.
    """
    if not (processes or scheduler):
        yield from enumerate(map(function, items))
        return
    from ov_gather.workers import cluster
    from ov_gather.workers.processes import Died, in_processes

    results: Iterator[tuple[int, Any]]
    results = cluster.in_cluster(function, items, scheduler) if scheduler else in_processes(function, items, processes)
    for index, result in results:
        yield index, died(index, str(result)) if isinstance(result, Died) else result


def processes_for(items: Sized, jobs: int) -> int:
    """Return the number of processes that at most `jobs` jobs need for these items; 0 if this process is enough."""
    count = min(jobs, len(items))
    return count if count > 1 else 0
