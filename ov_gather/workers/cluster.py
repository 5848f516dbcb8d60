"""Map a function over items on the workers of a Dask cluster. A worker that dies costs only the item that killed it.

Items are sent in batches of a fraction of a second, because a task costs the scheduler and this process some milliseconds. The
number of batches in flight is just enough to keep all workers busy.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from ov_gather.system.imports import require
from ov_gather.workers.processes import Died

if TYPE_CHECKING:
    from distributed import Client, Future

_PACKAGE = "ov-gather"
_CONFIGURED = "config"
"""The address that means the one in Dask's configuration."""
_A_THREAD = 3
"""Batches in flight per worker thread: one done, one running, one queued."""
_AIM = 0.25
"""Target duration of a batch in seconds."""
_MOST = 128
"""Maximum number of items per batch; if a batch kills workers, each of its items is retried alone."""
_LOGGERS = ("distributed", "distributed.client", "distributed.core", "distributed.comm", "tornado.application")
_PAUSE = 0.01
_BETWEEN_LOOKS = 1.0
_ANSWER = 8.0
"""Seconds within which a scheduler must answer."""

Numbered = tuple[int, Any]


class ClusterError(OSError):
    """A cluster cannot start or continue the work."""


def in_cluster(function: Callable[[Any], Any], items: Iterable[Any], address: str) -> Iterator[tuple[int, Any]]:
    """Yield the index of each item with its result, or with Died, in the order of completion. Raises as `each`."""
    require("distributed")
    cluster = _Cluster(address)
    try:
        yield from cluster.run(function, enumerate(items))
    finally:
        cluster.close()


@dataclass(frozen=True, slots=True)
class _Done:
    """The results of a batch, and its duration on the worker in seconds."""

    seconds: float
    results: Sequence[Any]


class _Cluster:
    """A connection to a scheduler whose workers have our version."""

    def __init__(self, address: str) -> None:
        import dask
        from dask.utils import parse_timedelta
        from distributed import Client

        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)  # errors that matter are raised as ours
        self.address = dask.config.get("scheduler-address", None) if address == _CONFIGURED else address
        if not self.address:
            raise ClusterError("Dask's configuration has no scheduler-address: name the scheduler, e.g. tcp://10.0.0.5:8786")
        self._patience = float(parse_timedelta(dask.config.get("distributed.comm.timeouts.connect")))
        _require_scheduler(self.address)
        try:
            self._client: Client = Client(self.address, set_as_default=False, timeout=_ANSWER)
        except (OSError, ValueError, TypeError) as error:
            raise ClusterError(f"there is no Dask scheduler at {self.address}: {_first_line(error, self.address)}") from None
        try:
            self._threads = self._count_threads()
            self._compare_versions()
        except BaseException:
            self.close()
            raise
        self._seen = self._looked = monotonic()
        self._size = 1  # items in the next batch

    def close(self) -> None:
        """Disconnect, and cancel all batches in flight."""
        with suppress(OSError, TimeoutError):  # the cluster may be gone already
            self._client.close(timeout=2)

    def run(self, function: Callable[[Any], Any], items: Iterator[Numbered]) -> Iterator[Numbered]:
        """Yield the results of `in_cluster`: all batches first, then each item of failed batches alone."""
        suspects: list[Numbered] = []
        batches = iter(lambda: list(islice(items, self._size)), [])
        for batch, results in self._results(function, batches, None):
            if isinstance(results, Died):
                suspects += batch  # the cause may also be a batch on another thread of the same worker
            else:
                yield from zip((index for index, _ in batch), results, strict=True)
        # Only an item that runs alone on the cluster can be blamed.
        for batch, results in self._results(function, ([suspect] for suspect in suspects), 1):
            yield batch[0][0], results if isinstance(results, Died) else results[0]

    def _results(
        self, function: Callable[[Any], Any], batches: Iterator[Sequence[Numbered]], at_once: int | None
    ) -> Iterator[tuple[Sequence[Numbered], Sequence[Any] | Died]]:
        """Yield each batch with its results, or with Died if it killed workers."""
        from distributed import as_completed

        under_way: dict[Future, Sequence[Numbered]] = {}
        # Without results: a future whose result is lost with its worker, and which fails when it is computed again, would never
        # be completed.
        completed = as_completed(loop=self._client.loop)
        while True:
            for batch in islice(batches, max(0, (at_once or _A_THREAD * self._threads) - len(under_way))):
                future = self._client.submit(_run, _ours(), function, [item for _, item in batch], pure=False)
                under_way[future] = batch
                completed.add(future)
            if not under_way:
                return
            if not completed.has_ready():
                self._look_after()
                sleep(_PAUSE)
                continue
            for future in completed.next_batch(block=False):
                found = self._result(future)
                if found is None:
                    self._look_after()
                    completed.add(future)
                    continue
                batch = under_way.pop(future)
                if isinstance(found, Died):
                    yield batch, found
                    continue
                self._size = max(1, min(_MOST, 2 * self._size, int(_AIM * len(batch) / max(found.seconds, _PAUSE))))
                yield batch, found.results

    def _result(self, future: Future) -> _Done | Died | None:
        """Return the result of a completed batch; None if its worker has left with it, so that it is computed again."""
        from distributed import CancelledError, KilledWorker

        try:
            done: _Done = future.result(timeout=_BETWEEN_LOOKS)
        except KilledWorker as error:
            return Died(None, error.allowed_failures + 1)
        except CancelledError:
            raise self._lost("the scheduler has ended, or the connection to it") from None
        except (OSError, asyncio.TimeoutError):
            if future.status == "error":  # raised by the function
                raise
            return None
        return done

    def _look_after(self) -> None:
        """Check about once per second that the cluster is alive. Raises ClusterError if it is not."""
        if self._client.status != "running":
            raise self._lost("the scheduler has ended, or the connection to it")
        if monotonic() - self._looked < _BETWEEN_LOOKS:
            return
        self._looked = monotonic()
        if threads := self._count_threads():
            self._seen, self._threads = self._looked, threads
        elif self._looked - self._seen > self._patience:
            raise self._lost(f"no worker has been there for {self._patience:g} s")

    def _lost(self, why: str) -> ClusterError:
        return ClusterError(f"the Dask cluster at {self.address} is lost: {why}; with --cache the next run goes on from here")

    def _count_threads(self) -> int:
        try:
            return sum(self._client.nthreads().values())
        except (OSError, TimeoutError):
            raise self._lost("the scheduler does not answer") from None

    def _compare_versions(self) -> None:
        """Raise ClusterError if there is no worker, or one with another version."""
        if not self._threads:  # an adaptive cluster starts workers only for work
            with suppress(OSError, TimeoutError):
                self._client.submit(version, _PACKAGE, pure=False).exception(timeout=self._patience)
            self._threads = self._count_threads()
            if not self._threads:
                raise ClusterError(f"the Dask cluster at {self.address} has no workers, and none came in {self._patience:g} s")
        ours = _ours()
        found = self._client.run(version, _PACKAGE, on_error="return")
        for worker, theirs in sorted(found.items()):
            if isinstance(theirs, OSError):
                continue  # the worker has left meanwhile
            if theirs != ours:
                what = "no ov-gather" if isinstance(theirs, Exception) else f"ov-gather {theirs}"
                raise ClusterError(f"worker {worker} of the Dask cluster has {what}: install ov-gather {ours} there, as here")


def _ours() -> str:
    return version(_PACKAGE)


def _run(expected: str, function: Callable[[Any], Any], items: Sequence[Any]) -> _Done:
    """Run the function over a batch, on a worker. Check the version again, because workers may join at any time."""
    if version(_PACKAGE) != expected:
        raise ClusterError(f"a worker of the Dask cluster has ov-gather {version(_PACKAGE)}: install {expected} there, as here")
    start = monotonic()
    results = [function(item) for item in items]
    return _Done(monotonic() - start, results)


def _require_scheduler(address: str) -> None:
    """Query the identity of a scheduler before a client is made, whose threads would retry for minutes without an answer.

    Raises ClusterError if there is no answer within seconds, or not that of a scheduler.
    """
    try:
        answer = asyncio.run(asyncio.wait_for(_identity(address), _ANSWER))
    except (TimeoutError, asyncio.TimeoutError):
        raise ClusterError(f"there is no Dask scheduler at {address}: no answer within {_ANSWER:g} s") from None
    except Exception as error:  # Dask raises many types for malformed answers
        raise ClusterError(f"there is no Dask scheduler at {address}: {_first_line(error, address)}") from None
    kind = answer.get("type") if isinstance(answer, dict) else None
    if kind != "Scheduler":
        raise ClusterError(f"there is no Dask scheduler at {address}, but {f'a {kind}' if kind else 'something else'}")


async def _identity(address: str) -> Any:
    from distributed.core import connect
    from distributed.security import Security

    comm = await connect(address, timeout=_ANSWER, **Security().get_connection_args("client"))
    try:
        await comm.write({"op": "identity", "reply": True})
        return await comm.read()
    finally:
        comm.abort()


def _first_line(error: BaseException, address: str = "") -> str:
    """Return the first line of an error, or its type, without the user and password of an address."""
    line = (str(error).splitlines() or [type(error).__name__])[0]
    user = address.partition("://")[2].rpartition("@")[0]
    return line.replace(f"{user}@", "") if user else line
