"""The worker process of a runtime. `launcher.py` starts it; `isolated.py` sends it questions and stops it."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from threading import Thread
from time import perf_counter
from typing import Any

from ov_gather.system import platforms

CONNECTION = 0  # stdin, one end of a socket pair


def main(module: str, name: str) -> None:
    """Create the runtime, send its version, then serve method calls."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl+C, and stops us
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
            runtime = runtime_class()  # frees the model now, so that a crash in its destructor is seen now
        connection.send((answer, seconds))


def _end_with_parent() -> None:
    """Exit when the parent ends, even during a call: a parent that was killed cannot stop us."""
    platforms.wait_for_end_of(CONNECTION)
    os._exit(1)
