"""The process in which a foreign runtime executes. `launcher.py` starts it; `isolated.py` asks and stops it."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from threading import Thread
from time import perf_counter
from typing import Any

from ov_gather import platforms

CONNECTION = 0  # our stdin, which is one end of a pair of sockets


def main(module: str, name: str) -> None:
    """Say which version the Runtime of this name in this module is of, then call the methods that are asked for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent, which stops us
    platforms.leave_no_core_dump()  # a crash is expected here
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # the parent is gone
        _serve(Connection(CONNECTION), module, name)


def _serve(connection: Connection, module: str, name: str) -> None:
    try:
        runtime_class: Any = getattr(import_module(module), name)
        runtime = runtime_class()
        connection.send(runtime.version)
    except Exception as error:  # of any kind: the parent raises it
        connection.send(error)
        return
    while True:
        method, arguments = connection.recv()
        start = perf_counter()
        try:
            answer = getattr(runtime, method)(*arguments)
        except Exception as error:  # of any kind: the parent raises it
            answer = error
        seconds = perf_counter() - start
        if method == "close":
            runtime = runtime_class()  # nothing is left of the model, not even a crash when it is freed
        connection.send((answer, seconds))


def _end_with_parent() -> None:
    """End this process with its parent, also in the middle of an execution: a parent that was killed cannot stop us."""
    platforms.wait_for_end_of(CONNECTION)
    os._exit(1)
