"""Handling of SIGINT (Ctrl+C), SIGTERM, and SIGHUP (the terminal is closed): end the process and clean up unfinished work."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ()))  # Windows lacks it
_stops: list[Callable[[], None]] = []
_ended_by: list[int] = []


def end_cleanly() -> None:
    """Make these signals raise SystemExit in the main thread, with the exit codes of shells: 130, 143 and 129.

    A signal that this process ignores stays ignored.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def on_end(stop: Callable[[], None]) -> None:
    """Register `stop`, which runs first when a signal ends the process, so that no child keeps the process waiting.

    `stop` must not wait for a lock.
    """
    _stops.append(stop)


def exit_code() -> int | None:
    """Return the exit code if a signal is ending this process, else None.

    The SystemExit alone does not show it: C++ code may have turned it into another exception.
    """
    return _ended_by[0] if _ended_by else None


def is_interruption(error: BaseException) -> bool:
    """Return True if an error is how a signal ends this process, and was not raised by the code that runs."""
    by_python = isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return by_python or exit_code() is not None


def _end(number: int, frame: FrameType | None) -> None:
    for ignored in _SIGNALS:
        signal.signal(ignored, signal.SIG_IGN)  # a second Ctrl+C must not interrupt the clean-up
    _ended_by.append(128 + number)
    for stop in _stops:
        stop()
    sys.exit(128 + number)


@contextmanager
def held() -> Iterator[None]:
    """Defer these signals until the block ends, such as while several files that belong together are moved into place."""
    arrived: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()  # Python runs signal handlers in the main thread only
    before = {number: signal.getsignal(number) for number in _SIGNALS} if is_main else {}
    before = {number: handler for number, handler in before.items() if handler is not None}
    for number in before:
        signal.signal(number, lambda signal_number, frame: arrived.append(signal_number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for arrived_number in arrived:
            signal.raise_signal(arrived_number)
