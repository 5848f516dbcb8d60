"""Calls in a worker process, where a crash is a result like any other."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class DiedError(Exception):
    """The process died, or was killed because it gave no answer; its exit code is None then."""

    def __init__(self, exit_code: int | None) -> None:
        super().__init__("no answer within the limit" if exit_code is None else f"the process died, exit code {exit_code}")
        self.exit_code = exit_code


class Worker(Generic[Item, Result]):
    """A process that calls a function of a module for one item after the other, and another process after one that died.

    Attributes:
        told: the last text that the function has told of this call, if it `tells`: then it takes a function of texts, too.
    """

    def __init__(
        self, function: Callable[..., Result], start: str = "spawn", *, daemon: bool = False, tells: bool = False
    ) -> None:
        self._function, self._context, self._daemon, self._tells = function, get_context(start), daemon, tells
        self._process: Any = None
        self.told = ""

    def call(self, item: Item, limit: float | None = None) -> Result:
        """Return what the function returns. Raises DiedError, also if there is no answer within the limit in seconds."""
        if self._process is None:
            self._pipe, theirs = self._context.Pipe()
            self._process = self._context.Process(target=_work, args=(theirs, self._function, self._tells), daemon=self._daemon)
            self._process.start()
            theirs.close()
        self.told = ""
        try:
            self._pipe.send(item)
            while self._pipe.poll(limit):
                is_last, found = self._pipe.recv()
                if is_last:
                    result: Result = found
                    return result
                self.told = found
        except (EOFError, OSError):
            self._process.join(timeout=60)  # it is about to end
        raise DiedError(self.stop())

    def stop(self) -> int | None:
        """End the process; return its exit code, or None if it did not end by itself."""
        if self._process is None:
            return None
        self._pipe.close()
        self._process.join(timeout=1)
        exit_code: int | None = self._process.exitcode
        self._process.kill()
        self._process.join()
        self._process = None
        return exit_code


def call_each(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    crashed: Callable[[int | None], Result],
    start: str = "spawn",
    limit: float | None = None,
) -> list[Result]:
    """What a function of a module returns for each item, or `crashed(exit code)` where the process dies.

    It gives `crashed(None)` for an item that takes longer than the limit in seconds.

    The process stays for later calls: it imports OpenVINO once. Calls in several threads have a process each.
    """
    worker, results = _idle[start].pop() if _idle[start] else Worker(_apply, start, daemon=True), list[Result]()
    for item in items:
        try:
            results.append(worker.call((function, item), limit))
        except DiedError as death:
            results.append(crashed(death.exit_code))
    _idle[start].append(worker)
    return results


_idle: defaultdict[str, list[Worker[Any, Any]]] = defaultdict(list)
"""Workers that wait for calls, by how they are started."""


def _apply(call: tuple[Callable[[Item], Result], Item]) -> Result:
    function, item = call
    return function(item)


def _work(pipe: Connection, function: Callable[..., Result], tells: bool) -> None:
    more = [lambda text: pipe.send((False, text))] if tells else []
    while True:
        try:
            item = pipe.recv()
        except EOFError:
            return
        pipe.send((True, function(item, *more)))
