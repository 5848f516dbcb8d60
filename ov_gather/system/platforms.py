"""Differences between operating systems; `native/interface/platform.hpp` has those for the C++ code."""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

HAS_FORKS = sys.platform == "linux" and hasattr(os, "fork")
"""Whether a process that has imported OpenVINO can fork; on macOS, system libraries crash in a fork."""
HAS_SOCKETS_AS_FILES = hasattr(socket, "AF_UNIX")
"""Whether a socket can be the stdin of a new process; not on Windows, where a socket is no file."""
CAN_REMOVE_MAPPED_FILES = sys.platform != "win32"
"""Whether a file can be removed while it is mapped into memory; its content then stays until it is unmapped."""
HAS_OWNERS = hasattr(os, "geteuid")
"""Whether files have a POSIX owner and mode; on Windows, access to a profile is inherited from its directory."""


def core_count() -> int:
    """Return the number of cores that this process may use, or of the whole machine if the system has no affinity."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_forked_processes(function: Callable[[], None]) -> None:
    """Register a function that each process forked from this one calls; no effect on systems without forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def forked() -> int:
    """Fork this process: return the id of the child, and 0 in the child. Only where HAS_FORKS."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a caller that ignores it would hide how the child ends
    return os.fork()


def exit_code_of(child: int, *, is_awaited: bool = False) -> int | None:
    """Return the exit code of a forked process, once: negative for a signal, None while it runs unless it is awaited."""
    ended, status = os.waitpid(child, 0 if is_awaited else os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def leave_no_core_dump() -> None:
    """Disable core dumps of this process, on systems that have them."""
    with suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def available_memory() -> int | None:
    """Return the bytes that a new program can allocate, reclaimable caches included; None if the system does not say."""
    try:
        found = re.search(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def limit_memory(size: int) -> None:
    """Limit what this process may allocate, beyond what it has, to so many bytes; on Linux only."""
    with suppress(ImportError, OSError):
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[5])
        limit = pages * resource.getpagesize() + size
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def wait_for_end_of(connection: int) -> None:
    """Wait until the peer of a connection, the parent process or its parent, has ended."""
    if HAS_FORKS and hasattr(select, "poll"):
        poll = select.poll()
        poll.register(connection, 0)  # no events: POLLHUP alone
        poll.poll()
    else:
        parent = os.getppid()
        while os.getppid() == parent:
            time.sleep(0.5)


def end_with_parent(parent: int) -> None:
    """Let the system kill this process when its parent, of this id, ends, however that ends; on Linux only."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:  # it has ended already
            os._exit(1)


def lock(file: IO[str]) -> None:
    """Lock a file until it is closed, waiting for other processes; no effect on Windows."""
    with suppress(ImportError):
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


@contextmanager
def locked_directory(path: Path) -> Iterator[None]:
    """Lock a directory for the block, waiting for other processes; no effect on systems that cannot lock one."""
    with ExitStack() as stack:
        with suppress(ImportError, OSError):
            import fcntl

            descriptor = os.open(path, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


@contextmanager
def sigint_blocked() -> Iterator[None]:
    """Block Ctrl+C in processes started within the block, which would otherwise print a traceback while Python starts.

    The resource tracker starts first, because multiprocessing unblocks the signal when it starts the tracker itself.
    """
    mask = getattr(signal, "pthread_sigmask", None)  # Windows has none
    if mask:
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()
    before = mask(signal.SIG_BLOCK, [signal.SIGINT]) if mask else None
    try:
        yield
    finally:
        if mask:
            mask(signal.SIG_SETMASK, before)


def peak_memory() -> int:
    """Return the peak resident memory of this process in bytes. Raises OSError if the system does not report it.

    On Linux it is read from /proc, since children inherit the peak that getrusage reports there.
    """
    if sys.platform == "linux":
        (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        raise OSError("this system does not tell how much memory a process takes") from None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def keep_owner(file: Path, other: Path) -> None:
    """Copy owner and group of `other` to `file` if this process may; no effect on systems without owners."""
    if HAS_OWNERS:
        state = other.stat()
        with suppress(PermissionError):
            os.chown(file, state.st_uid, state.st_gid)


def is_own_group(state: os.stat_result) -> bool:
    """Return True if others cannot write, and the group is this user's private group, without other members."""
    if state.st_mode & stat.S_IWOTH or state.st_gid != os.getegid():
        return False
    try:
        import grp
        import pwd

        group = grp.getgrgid(state.st_gid)
        return group.gr_name == pwd.getpwuid(os.geteuid()).pw_name and not group.gr_mem
    except KeyError:  # no entry for the user or group, as in containers
        return False
