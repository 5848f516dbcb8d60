"""Calls in a worker process, where a crash is a result like any other."""

from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def call_each(
    function: Callable[[Item], Result], items: Sequence[Item], crashed: Callable[[int | None], Result], start: str = "spawn"
) -> list[Result]:
    """What a function of a module returns for each item, or `crashed(exit code)` where the process dies, which starts anew."""
    context, results = get_context(start), list[Result]()
    while len(results) < len(items):
        rest = items[len(results) :]
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, function, rest))
        process.start()
        theirs.close()
        try:
            for _ in rest:
                results.append(ours.recv())
        except EOFError:
            process.join()
            results.append(crashed(process.exitcode))
        process.join()
    return results


def _work(connection: Connection, function: Callable[[Item], Result], items: Sequence[Item]) -> None:
    for item in items:
        connection.send(function(item))
