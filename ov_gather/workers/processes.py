"""Map a function over items in several processes. A process that dies costs only its item, and leaves no temporary file.

The pools of the standard library lose all running items, or hang, if a process is killed.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.util import get_temp_dir
from pathlib import Path
from shutil import rmtree
from threading import Event, Thread
from typing import Any

from ov_gather.system.interrupts import end_cleanly, exit_code, held
from ov_gather.system.platforms import HAS_FORKS, sigint_blocked, wait_for_end_of
from ov_gather.system.supervision import EndedError, command

_LONGEST = 103 - len("/pymp-......../listener-........")
"""Maximum length in bytes of the temporary directory for which the socket path of a fork server is valid."""
_GRACE = 10.0
"""Seconds that a process may take to clean up. C++ code may run that long before Python sees the signal."""


def _context() -> Any:
    """Choose the start method of processes: a fork server, or spawn if there is none or its socket path would be too long.

    A plain fork would copy locks that other threads hold. The fork server has no threads, and imports the package only once.
    """
    fits = len(os.fsencode(tempfile.gettempdir())) <= _LONGEST
    if not (fits and HAS_FORKS):
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(["ov_gather.workers.validation"])
    return context


@dataclass(frozen=True, slots=True)
class Died:
    """The end of a process before it returned a result. A negative exit code is a signal number.

    On a cluster, the exit code is unknown, and `workers` is the number of workers that died, one after another. `reason` is
    known if code of a user ended it.
    """

    exit_code: int | None
    workers: int = 1
    reason: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"ended: {self.reason}"
        if self.exit_code is None:
            return f"died, on {self.workers} workers of the cluster one after another"
        if self.exit_code < 0:
            return f"was killed by {signal.Signals(-self.exit_code).name}"
        return f"ended with exit code {self.exit_code}"


def in_processes(function: Callable[[Any], Any], items: Iterable[Any], count: int) -> Iterator[tuple[int, Any]]:
    """Yield the index of each item with its result, or with Died, in the order of completion."""
    waiting = enumerate(items)
    context = _context()
    workers = [_JobWorker(function, context) for _ in range(count)]
    idle = list(workers)
    busy: dict[Any, _JobWorker] = {}
    try:
        while True:
            while idle and (numbered := next(waiting, None)):
                worker = idle.pop()
                busy[worker.give(*numbered)] = worker
            if not busy:
                return
            for connection in wait(list(busy)):
                worker = busy.pop(connection)
                yield worker.index, worker.result()
                idle.append(worker)
    finally:
        for worker in workers:
            worker.stop()


class _JobWorker:
    """A process that starts with its first item, and starts again after it died."""

    def __init__(self, function: Callable[[Any], Any], context: Any) -> None:
        self.function = function
        self.context = context
        self.index = 0
        self.process: Any = None
        self.connection: Any = None
        self.folder = ""

    def give(self, index: int, item: Any) -> Any:
        """Send an item. The returned connection becomes ready when the process has a result or has died."""
        if self.process is None:
            self.connection, theirs = self.context.Pipe()
            with held(), sigint_blocked():  # a process interrupted during its start could not be stopped
                self.folder = tempfile.mkdtemp(dir=get_temp_dir())
                process = self.context.Process(target=_serve, args=(self.function, theirs, self.folder), daemon=True)
                process.start()
                self.process = process
            theirs.close()  # else the connection would stay open after the process died
        self.index = index
        with suppress(OSError):  # the process has died already, which result() reports
            self.connection.send(item)
        return self.connection

    def result(self) -> Any:
        """Return the received result, or Died."""
        found: Any = None
        with suppress(EOFError, OSError):
            found = self.connection.recv()
            if not isinstance(found, Died):
                return found
        self.process.join()
        died = found or Died(self.process.exitcode)
        self.process = None
        rmtree(self.folder, ignore_errors=True)
        return died

    def stop(self) -> None:
        """End the process. It may clean up."""
        if self.process is not None:
            self.process.terminate()
            self.process.join(_GRACE)
            self.process.kill()
            self.process.join()
            rmtree(self.folder, ignore_errors=True)


def _serve(function: Callable[[Any], Any], connection: Connection, folder: str) -> None:
    """Answer items, with `folder` for temporary files, until the parent stops this process or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl+C, and stops this process
    end_cleanly()
    tempfile.tempdir = os.environ["TMPDIR"] = folder
    is_orphan = Event()
    Thread(target=_end_with_parent, args=(connection.fileno(), folder, is_orphan), daemon=True).start()
    try:
        with command():
            _answer(function, connection)
    except (EOFError, BrokenPipeError):
        is_orphan.set()
    finally:
        rmtree(Path(folder).parent if is_orphan.is_set() else folder, ignore_errors=True)


def _answer(function: Callable[[Any], Any], connection: Connection) -> None:
    """Answer items until a signal ends this process. Raises EOFError or BrokenPipeError when the parent is gone.

    The function may have caught the SystemExit, or raise what comes of it.
    """
    while exit_code() is None:
        item = connection.recv()
        try:
            answer = function(item)
        except EndedError as error:  # the supervised process, which served in the place of this one
            connection.send(Died(None, reason=str(error)))
            return
        except Exception:
            if exit_code() is not None:  # the signal became another exception, or an answer of a process that it killed
                return
            raise
        connection.send(answer)


def _end_with_parent(connection: int, folder: str, is_orphan: Event) -> None:
    """End this process when its parent ends: one that was killed can neither stop it nor remove any temporary file."""
    wait_for_end_of(connection)
    is_orphan.set()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE)
    rmtree(Path(folder).parent, ignore_errors=True)
    os._exit(1)
