"""Launcher: a process that imports OpenVINO once and forks the workers, so that restarting after a crash takes milliseconds.

It is spawned, not forked: a fork of the caller would copy locks held by the caller's threads.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from threading import Lock, Thread
from time import perf_counter
from typing import Any
from weakref import finalize

from ov_gather.system import platforms
from ov_gather.system.imports import defer_imports

_CONTROL = 0  # the stdin of the launcher and of workers, one end of a socket pair
_LONGEST = 1 << 16
_PROGRAM = "import sys; sys.path[:] = {path!r}; from ov_gather.system import launcher; launcher.{call}"
_IMPORTED_ONCE = (
    *(f"ov_gather.runtimes.{name}" for name in ("configured", "kernel", "library", "openvino", "reference")),
    "ov_gather.rules.inferring",
)
"""Modules whose import starts no thread, so that the process can still be forked. Importing onnxruntime starts one."""


class Process:
    """A worker process, a child of the launcher."""

    def __init__(self, launcher: Launcher, pid: int, exit_code: int | None = None) -> None:
        self._launcher = launcher
        self.pid = pid
        self._exit_code = exit_code

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while the process runs."""
        return self._ask("poll")

    def wait(self) -> int:
        """Wait until the process has ended, and return its exit code."""
        return self._ask("wait") or 0

    def kill(self) -> None:
        """Kill the process if it still runs."""
        if self._exit_code is None:  # the id is not reused before the launcher has reaped the process
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def _ask(self, question: str) -> int | None:
        if self._exit_code is None:
            try:
                self._exit_code = self._launcher.ask({question: self.pid})
            except OSError:  # the launcher has ended
                self.kill()
                self._exit_code = -signal.SIGKILL
        return self._exit_code


class Launcher:
    """A handle to the launcher process."""

    def __init__(self) -> None:
        self._path, self._environment = list(sys.path), dict(os.environ)
        self._lock = Lock()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                _command("main()"),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # workers multiply no matrices
            )
        self.end = finalize(self, _end, self._control, self.process)  # its workers keep running
        self.end.atexit = False  # workers are stopped before that

    def is_current(self) -> bool:
        """Return True if the launcher runs and has the same module search path as this process."""
        return self._control.fileno() >= 0 and self.process.poll() is None and self._path == sys.path

    def start(self, module: str, name: str, connection: int) -> Process:
        """Start a worker process. Raises OSError if the launcher has ended."""
        before, now = self._environment, dict(os.environ)
        changes = {variable: now.get(variable) for variable in {*before, *now} if before.get(variable) != now.get(variable)}
        question = {"module": module, "name": name, "environment": changes}
        return Process(self, self.ask(question, connection) or 0)

    def ask(self, question: Mapping[str, Any], *files: int) -> int | None:
        """Send a question to the launcher and return the answer. Raises OSError if the launcher has ended."""
        with self._lock:
            try:
                socket.send_fds(self._control, [json.dumps(question).encode()], files)
                answer = self._control.recv(_LONGEST)
            except BaseException:
                self._control.close()  # else the next question would get the answer to this one
                raise
        if not answer:
            raise ConnectionError("the process that starts worker processes has ended")
        number: int | None = json.loads(answer)
        return number


def _command(call: str) -> list[str]:
    """Return a command that calls a function of this module in a new process with the same module search path."""
    return [sys.executable, "-c", _PROGRAM.format(path=sys.path, call=call)]


def _end(control: socket.socket, process: subprocess.Popen[bytes]) -> None:
    control.close()
    process.wait()


_launchers: list[Launcher] = []
"""The current launcher, if one was needed so far."""


def start(module: str, name: str, connection: int) -> Process | subprocess.Popen[bytes]:
    """Start a worker process for a class of a module; `connection` is the worker's end of a pipe.

    Without fork, the worker is spawned and imports everything itself. Raises OSError on Windows.
    """
    if not platforms.HAS_SOCKETS_AS_FILES:
        raise OSError("on Windows, runtimes cannot be executed in worker processes: use ov-gather on Linux, such as in WSL")
    if not platforms.HAS_FORKS:
        command = _command(f"work({module!r}, {name!r})")
        return subprocess.Popen(command, stdin=connection, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if _launchers and _launchers[0].is_current():
        with suppress(OSError):  # the launcher was just killed
            return _launchers[0].start(module, name, connection)
    _launchers[:] = [launcher := Launcher()]
    try:
        return launcher.start(module, name, connection)
    except ConnectionError:  # an import crashes it, as it would crash the worker
        return Process(launcher, 0, launcher.process.wait())


def end_launcher() -> None:
    """End the current launcher."""
    for launcher in _launchers:
        launcher.end()
    _launchers.clear()


platforms.in_forked_processes(_launchers.clear)  # the launcher belongs to the parent


def work(module: str, name: str) -> None:
    """Run a spawned worker process."""
    defer_imports()
    _work(module, name)


def main() -> None:
    """Run the launcher until the caller closes the connection; in forked processes, run a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller handles Ctrl+C
    defer_imports()
    with socket.socket(fileno=_CONTROL) as control:
        module, name, connection = _launch(control)
        control.detach()
    os.dup2(connection, _CONTROL)
    os.close(connection)
    _work(module, name)


def _launch(control: socket.socket) -> tuple[str, str, int]:
    """Serve the caller. Return only in a forked process: module and class of the runtime, and the worker's connection."""
    while True:
        message, files, _, _ = socket.recv_fds(control, _LONGEST, 1)
        if not message:
            os._exit(0)
        question = json.loads(message)
        if "module" in question:
            answer: int | None = _fork(question["module"])
            if answer == 0:
                for name, value in question["environment"].items():
                    os.environ.pop(name, None) if value is None else os.environ.update({name: value})
                return question["module"], question["name"], files[0]
            os.close(files[0])
        else:
            answer = _exit_code(**question)
        try:
            control.send(json.dumps(answer).encode())
        except OSError:  # the caller is gone
            os._exit(0)


def _exit_code(poll: int = 0, wait: int = 0) -> int | None:
    pid, status = os.waitpid(poll or wait, os.WNOHANG if poll else 0)
    return os.waitstatus_to_exitcode(status) if pid else None


def _fork(module: str) -> int:
    with suppress(Exception):  # the worker will report it
        import_module("numpy")  # needed by all
        if module in _IMPORTED_ONCE:
            import_module(module)
    gc.freeze()  # keeps workers from collecting garbage in, and so copying, shared pages
    return os.fork()


def _work(module: str, name: str) -> None:
    """Create the runtime, send its version, then serve method calls."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl+C, and stops us
    platforms.leave_no_core_dump()  # a crash is expected here
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # the parent is gone
        _serve(Connection(_CONTROL), module, name)


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
    platforms.wait_for_end_of(_CONTROL)
    os._exit(1)
