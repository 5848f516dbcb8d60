"""A worker process: it creates one object, and calls its methods for us. If it crashes or hangs, only its process ends."""

from __future__ import annotations

import atexit
import signal
from multiprocessing import Pipe
from typing import Any
from weakref import WeakSet

from ov_gather.system.imports import explained
from ov_gather.system.interrupts import exit_code, on_end
from ov_gather.system.launcher import end_launcher, start
from ov_gather.system.platforms import in_forked_processes

TIME_LIMIT = 120.0
"""Seconds that a worker may take for one answer."""


class CrashedError(Exception):
    """A worker process died or did not answer in time, as the message says."""


class HungError(CrashedError):
    """A worker process did not answer in time."""


_workers: WeakSet[Worker] = WeakSet()


def _kill_all() -> None:
    for worker in list(_workers):
        worker.kill()


on_end(_kill_all)


class Worker:
    """A process that `launcher.py` starts: it creates an object of a class and answers questions."""

    def __init__(self, module: str, class_name: str) -> None:
        self._version = ""
        self.seconds = 0.0
        self._is_killed = False
        self._connection, theirs = Pipe()
        with theirs:  # with a copy of its end we would not see it close
            self._process = start(module, class_name, theirs.fileno())
        _workers.add(self)
        if exit_code() is not None:  # `_kill_all` ran before this worker was registered
            self.kill()

    @property
    def alive(self) -> bool:
        """True while the process runs."""
        return not self._is_killed and self._process.poll() is None

    def version(self) -> str:
        """Return the version, which is the first message of the process."""
        if not self._version:
            try:
                self._version = self._receive()
            except CrashedError as error:
                raise ImportError(f"a worker process cannot start: {error}") from None
            finally:
                if not self._version:
                    self.stop()
        return self._version

    def ask(self, method: str, *arguments: object, limit: float = 0) -> Any:
        """Call a method, for at most `limit` seconds, if given. Raises what it raises; ImportError; CrashedError."""
        self.version()
        answer, self.seconds = self._receive((method, arguments), limit)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def kill(self) -> None:
        """Kill the process at once. A pending `ask` raises CrashedError."""
        self._is_killed = True
        self._process.kill()

    def stop(self) -> None:
        """Kill the process and wait for its end."""
        self._connection.close()
        self._process.kill()
        self._process.wait()

    def _receive(self, question: object = None, limit: float = 0) -> Any:
        try:
            if question:
                self._connection.send(question)
            if not self._connection.poll(limit := limit or TIME_LIMIT):
                raise HungError(f"hangs: no answer within {limit:g} s")
            answer = self._connection.recv()
        except (EOFError, OSError):
            code = self._process.wait()
            raise CrashedError(f"crashes: {signal.Signals(-code).name if code < 0 else f'exit code {code}'}") from None
        except BaseException:
            self.stop()  # else the next question would get the answer to this one
            raise
        if isinstance(answer, ImportError):
            raise explained(answer)
        if isinstance(answer, Exception):
            raise answer
        return answer


@atexit.register
def _stop_all() -> None:
    for worker in list(_workers):
        worker.stop()
    end_launcher()


in_forked_processes(_workers.clear)  # these workers belong to the parent
