"""Run a function over many items in several processes. A process that dies costs its item and nothing else.

The pools of the standard library lose everything that is under way, or hang, when one of their processes is killed.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from ov_gather.interrupts import held
from ov_gather.platforms import HAS_FORKS, unseen_by_children

_LONGEST = 103 - len("/pymp-......../listener-........")
"""Bytes of the longest path of the directory for temporary files with which the socket of a fork server has a valid path."""


def _context() -> Any:
    """Choose how processes are started.

    A fork would copy the locks that other threads of this process hold. The fork server has no such threads,
    and it imports the package once for all processes. Where there is no fork server, or its socket cannot have a valid path,
    each process starts anew.
    """
    fits = len(os.fsencode(tempfile.gettempdir())) <= _LONGEST
    if not (fits and HAS_FORKS):
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(["ov_gather.rules.validation"])
    return context


@dataclass(frozen=True, slots=True)
class Died:
    """How a process ended before it gave a result. A negative exit code is the number of a signal.

    No exit code is known of the workers of a cluster; so many of them died one after another.
    """

    exit_code: int | None
    workers: int = 1

    def __str__(self) -> str:
        if self.exit_code is None:
            return f"died, on {self.workers} workers of the cluster one after another"
        if self.exit_code < 0:
            return f"was killed by {signal.Signals(-self.exit_code).name}"
        return f"ended with exit code {self.exit_code}"


def in_processes(function: Callable[[Any], Any], items: Sequence[Any], count: int) -> Iterator[tuple[int, Any]]:
    """Yield the index of each item with its result, or with Died, in the order in which the items are done."""
    waiting = deque(enumerate(items))
    context = _context()
    workers = [_Worker(function, context) for _ in range(min(count, len(items)))]
    idle = list(workers)
    busy: dict[Any, _Worker] = {}
    try:
        while True:
            while idle and waiting:
                worker = idle.pop()
                busy[worker.give(*waiting.popleft())] = worker
            if not busy:
                return
            for connection in wait(list(busy)):
                worker = busy.pop(connection)
                yield worker.index, worker.result()
                idle.append(worker)
    finally:
        for worker in workers:
            worker.stop()


class _Worker:
    """A process that is started when it is first given an item, and started again after it died."""

    def __init__(self, function: Callable[[Any], Any], context: Any) -> None:
        self.function = function
        self.context = context
        self.index = 0
        self.process: Any = None
        self.connection: Any = None

    def give(self, index: int, item: Any) -> Any:
        """Send an item. The connection that is returned is ready when the result is there, or when the process has died."""
        if self.process is None:
            self.connection, theirs = self.context.Pipe()
            process = self.context.Process(target=_serve, args=(self.function, theirs), daemon=True)
            with held(), unseen_by_children():  # A process that is interrupted while it starts cannot be stopped, and says so.
                process.start()
                self.process = process
            theirs.close()  # otherwise the death of the process would not close the connection
        self.index = index
        with suppress(OSError):  # the process has died already, which result() tells
            self.connection.send(item)
        return self.connection

    def result(self) -> Any:
        """Receive the result, or Died."""
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            died = Died(self.process.exitcode)
            self.process = None
            return died

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.terminate()
            self.process.join()


def _serve(function: Callable[[Any], Any], connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent, which stops this process
    with suppress(EOFError, BrokenPipeError):  # they mean that the parent is gone
        while True:
            connection.send(function(connection.recv()))
