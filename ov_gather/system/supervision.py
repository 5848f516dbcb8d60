"""Supervision of commands that run code of users, which may end its process, crash or hang: no silence passes for success.

The command goes on in a forked child. In memory that both share, the child notes which code of a user runs, and the exit code
once the command has ended; without it, the parent reports a failure.
"""

from __future__ import annotations

import io
import os
import signal
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from mmap import mmap

from ov_gather.system.interrupts import exit_code
from ov_gather.system.platforms import HAS_FORKS, end_with_parent, exit_code_of, forked

LIMIT = 60.0
"""Seconds that limited code of a user may run."""
_GRACE = 3.0
"""Seconds that a command may take after its end, as for threads of users, and code of a user after a signal."""
_POLL = 0.02
_SIZE = 4096
_NOTE = struct.Struct("=dq")
"""The limit of what runs; its number, or 0 if no code of a user runs. In the byte before is the exit code of the command + 1.

That byte stays 0 until the end, and no note overwrites it: a process that code of a user has forked notes what it runs, too.
"""
_AT = 1
_TEXT = _AT + _NOTE.size


class EndedError(ValueError):
    """A process hangs, or ended before its command, and what runs in it is to blame."""


class _Supervisor:
    """The state of this process: whether it runs a command, and what it shares with its parent if that supervises it."""

    is_command = False
    shared: mmap | None = None
    calls = 0


@contextmanager
def command() -> Iterator[None]:
    """Run a command, which may call `supervise`, and note its end."""
    _Supervisor.is_command = True
    try:
        yield
    except SystemExit as end:
        if _Supervisor.shared:
            sys.stdout.flush()
            _Supervisor.shared[0] = int(end.code or 0) + 1
        raise
    finally:
        _Supervisor.is_command = False


def supervise() -> None:
    """Go on in a child process, once. This process waits for it, and exits as the command does.

    On systems without forks, warn once, and go on in this process.

    Raises EndedError, in this process, if the child ends before the command has ended.
    """
    if not _Supervisor.is_command or _Supervisor.shared:
        return
    if not HAS_FORKS:
        _warn_once()
        return
    shared, parent = mmap(-1, _SIZE), os.getpid()
    if child := forked():
        sys.exit(_wait(child, shared))
    _Supervisor.shared = shared
    end_with_parent(parent)
    _keep_results_apart()


@cache
def _warn_once() -> None:
    text = "your operations run unsupervised on this system: if one crashes or hangs, so does this command (Linux reports it)"
    warnings.warn(text, RuntimeWarning, stacklevel=2)


def _keep_results_apart() -> None:
    """Send to stderr what code of a user writes to descriptor 1; `sys.stdout` gets another descriptor for the results."""
    out = sys.stdout
    if not isinstance(out, io.TextIOWrapper) or out is not sys.__stdout__:
        return
    out.flush()
    results = os.fdopen(os.dup(1), "wb")
    sys.stdout = io.TextIOWrapper(results, out.encoding, out.errors, line_buffering=out.line_buffering)
    os.dup2(2, 1)


def foreign(end: SystemExit) -> str:
    """Return the file and line that end a supervised command if they are neither ours nor click's; "" otherwise."""
    if not _Supervisor.shared or end.__traceback__ is None:
        return ""
    *_, (frame, line) = traceback.walk_tb(end.__traceback__)
    is_ours = str(frame.f_globals.get("__name__")).partition(".")[0] in ("ov_gather", "click")
    return "" if is_ours else f"{frame.f_code.co_filename}:{line}"


@contextmanager
def running(what: str, *, is_limited: bool) -> Iterator[None]:
    """Note that code of a user runs. What it calls is not noted."""
    shared = _Supervisor.shared
    if not shared or _NOTE.unpack_from(shared, _AT)[1]:
        yield
        return
    _note(shared, what, LIMIT if is_limited else 0)
    try:
        yield
    finally:
        _NOTE.pack_into(shared, _AT, 0, 0)


def _note(shared: mmap, what: str, limit: float) -> None:
    _Supervisor.calls += 1
    text = what.encode(errors="replace")[: _SIZE - _TEXT - 1] + b"\0"
    shared[_TEXT : _TEXT + len(text)] = text
    _NOTE.pack_into(shared, _AT, limit, _Supervisor.calls)


def _wait(child: int, shared: mmap) -> int:
    """Return the exit code of the command in a child process. Raises EndedError if the child ends before the command."""
    try:
        return _watch(child, shared)
    except SystemExit:  # a signal, which the child has got, too, if it was Ctrl+C on a terminal
        os.kill(child, (exit_code() or 0) - 128)
        _watch(child, shared, is_interrupted=True)
        raise


def _watch(child: int, shared: mmap, *, is_interrupted: bool = False) -> int:
    seen, waited = (0, 0.0, 0), 0.0
    while (code := exit_code_of(child)) is None:
        limit: float
        number: int
        limit, number = _NOTE.unpack_from(shared, _AT)
        note = (shared[0], limit, number)
        seen, waited = note, waited + _POLL if note == seen else 0.0
        is_over = is_interrupted or shared[0] > 0
        limit = _GRACE if is_over else limit
        if (number or is_over) and limit and waited > limit:
            os.kill(child, signal.SIGKILL)
            exit_code_of(child, is_awaited=True)
            if shared[0] or is_interrupted:
                return max(shared[0] - 1, 0)
            raise EndedError(f"{_what(shared)} hangs: no answer within {limit:g} s")
        time.sleep(_POLL)
    return _result(code, shared)


def _result(code: int, shared: mmap) -> int:
    if shared[0]:
        return shared[0] - 1  # whatever code of a user does when Python ends
    how = f"crashes: {signal.Signals(-code).name}" if code < 0 else f"ends the process, with exit code {code}"
    if _NOTE.unpack_from(shared, _AT)[1]:
        raise EndedError(f"{_what(shared)} {how}: it must return")
    raise EndedError(f"the command {how}, before it is done: code of a declared operation, such as a thread, may be the cause")


def _what(shared: mmap) -> str:
    text = shared[_TEXT:]
    return text[: text.index(b"\0")].decode(errors="replace")
