"""What a command costs: time, CPU time of all its processes, and memory."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

OV_GATHER = Path(sys.executable).with_name("ov-gather")
_SUBREAPER = 36
"""Option of prctl that makes orphaned descendants our children, so that their time counts."""


@dataclass(frozen=True)
class Cost:
    """The cost of a command: wall-clock time and CPU time of all its processes in seconds, peak memory of one process in MB."""

    exit_code: int
    stdout: str
    stderr: str
    seconds: float
    processor: float
    megabytes: float

    @property
    def last_line(self) -> str:
        """The last line of what the command said."""
        lines = (self.stderr + self.stdout).strip().splitlines() or [""]
        return lines[-1][:150].replace("|", "/")


def cost_of(*command: object, directory: Path, environment: Mapping[str, str] | None = None) -> Cost:
    """Run a command in a directory, with more in its environment, and wait for all its processes."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1)
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            list(map(str, command)),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=directory,
            env={**os.environ, **(environment or {})},
            start_new_session=True,  # its processes are those of its group, and other children of ours are not
        )
        assert process.stdout is not None
        output, code, most = process.stdout.read(), 0, 0
        with suppress(ChildProcessError):
            while True:
                pid, status, usage = os.wait4(-process.pid, 0)
                most = max(most, usage.ru_maxrss)
                if pid == process.pid:
                    code = process.returncode = os.waitstatus_to_exitcode(status)
        seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        errors.seek(0)
        said = errors.read()
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(code, output, said, seconds, processor, most / 1024)
