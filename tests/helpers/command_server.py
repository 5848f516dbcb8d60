"""Many `ov-gather` commands for the start-up of one: a process that has imported everything forks for each command.

Each command is a process of its own, in which the console script runs from its first line; only its imports are done already.
What starts before the imports, such as a variable that Python reads, or a limit on what is imported, is not tested like this.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import resource
import runpy
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from types import NoneType

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/, as this file is executed, too

from helpers.line_trace import current_test, traced

COMMAND = Path(sys.executable).with_name("ov-gather")
TIME_LIMIT = 300
LONGEST_MESSAGE = 1 << 17
IMPORTED_LATER = (
    "ov_gather.acceleration.accelerate",
    "ov_gather.bench.model",
    "ov_gather.converters.models",
    "ov_gather.converters.nodes",
    "ov_gather.crosscheck.models.verify",
    "ov_gather.report.convert",
    "ov_gather.rules.inference",
    "ov_gather.runtimes.kernel",
)
"""What the functions of commands import. A module that is missing here is imported by each command that needs it."""


class CommandServer:
    """The process that forks. Use as a context manager: in the end all its time counts as that of our children."""

    def __enter__(self) -> CommandServer:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, __file__, str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        assert self._socket.recv(LONGEST_MESSAGE), "the server of commands did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._process.wait()

    def run(self, arguments: list[str], cwd: Path, file_size: int | None = None) -> CompletedProcess[str]:
        """Do what subprocess.run does, with text; no file that the command writes can be larger than `file_size` bytes."""
        with ExitStack() as stack, ThreadPoolExecutor(2) as pool:
            texts, ends = [], []
            for _ in range(2):
                reader, writer = os.pipe()
                stack.callback(os.close, writer)
                ends.append(writer)
                texts.append(pool.submit(_text, reader))
            request = {"arguments": arguments, "cwd": str(cwd), "file_size": file_size, "test": current_test()}
            socket.send_fds(self._socket, [json.dumps(request).encode()], [0, *ends])
            pid = int(self._socket.recv(LONGEST_MESSAGE))
            self._socket.settimeout(TIME_LIMIT)
            try:
                code = int(self._socket.recv(LONGEST_MESSAGE))
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self._socket.settimeout(None)
                self._socket.recv(LONGEST_MESSAGE)
                raise TimeoutExpired(arguments, TIME_LIMIT) from None
            finally:
                stack.close()  # the command has had its copies; ours would keep the readers waiting
            return CompletedProcess(arguments, code, *(text.result() for text in texts))


def _text(reader: int) -> str:
    with open(reader) as pipe:
        return pipe.read()


def serve(requests: socket.socket) -> tuple[list[str], str]:
    """Fork for each request. Returns, in a process that is to be a command, its arguments and the test; the server exits."""
    requests.send(b"ready")
    interrupts = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the commands
    while True:
        message, files, _, _ = socket.recv_fds(requests, LONGEST_MESSAGE, 3)
        if not message:
            sys.exit()
        request = json.loads(message)
        pid = os.fork()
        if pid == 0:
            break
        for file in files:
            os.close(file)
        requests.send(b"%d" % pid)
        requests.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    requests.close()
    signal.signal(signal.SIGINT, interrupts)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for as long as the process lives, as the next two
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.chdir(request["cwd"])
    if request["file_size"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_size"],) * 2)
    return request["arguments"], request["test"]


def import_everything() -> None:
    """Import what the commands import, but not onnxruntime, which starts threads."""
    from ov_gather.cli import COMMANDS
    from ov_gather.system.imports import defer_imports

    defer_imports()  # as each command does
    for name in COMMANDS:
        import_module(f"ov_gather.cli.{name.replace('-', '_')}")
    for name in IMPORTED_LATER:
        import_module(name)


def wait_for_threads() -> None:
    """Wait until no other thread runs: a fork would copy the locks that it holds, and nobody would release them."""
    end = time.monotonic() + 10
    while len([*Path("/proc/self/task").iterdir()]) > 1:
        assert time.monotonic() < end, "an import has started a thread, which runs on"
        time.sleep(0.01)


def run_command(arguments: list[str], test: str) -> None:
    """Run the console script, and end this process as an interpreter ends, but for freeing all memory, which takes long."""
    sys.argv = [str(COMMAND), *arguments]
    sys.path[0] = str(COMMAND.parent)
    try:
        with traced(test):
            runpy.run_path(str(COMMAND), run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, (int, NoneType)):
            atexit._run_exitfuncs()
            with suppress(OSError):  # what cannot be written is for the interpreter to tell
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(end.code or 0)
        raise


if __name__ == "__main__":
    environment = dict(os.environ)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # starts no threads
    import_everything()
    wait_for_threads()
    os.environ.clear()
    os.environ.update(environment)
    gc.freeze()  # no command looks for garbage in what it shares with the others
    run_command(*serve(socket.socket(fileno=int(sys.argv[1]))))
