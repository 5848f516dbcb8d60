"""What operating systems do each in their own way stands here, and in `native/kernel/platform.hpp` for the C++ code."""

from __future__ import annotations

import os
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
"""Whether a process that has imported OpenVINO can be forked; on macOS, libraries of the system crash in a fork."""
HAS_SOCKETS_AS_FILES = hasattr(socket, "AF_UNIX")
"""Whether a connection between processes is a file, which a new process can have as its stdin; on Windows it is none."""

HAS_OWNERS = hasattr(os, "geteuid")
"""Whether files have an owner and mode as POSIX has them; on Windows, a profile is its user's by inheritance."""


def core_count() -> int:
    """Count the cores that this process may use, or those of the machine where the system does not tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_forked_processes(function: Callable[[], None]) -> None:
    """Call a function in each process that is forked from this one. Where there are no forks there is nothing to do."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def leave_no_core_dump() -> None:
    """Let this process leave no core dump when it crashes, on systems that have them."""
    with suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def wait_for_end_of(connection: int) -> None:
    """Wait until the process at the other end of a connection, which is the parent or its parent, has ended."""
    if HAS_FORKS and hasattr(select, "poll"):
        poll = select.poll()
        poll.register(connection, 0)  # for nothing but its end
        poll.poll()
    else:
        parent = os.getppid()
        while os.getppid() == parent:
            time.sleep(0.5)


def lock(file: IO[str]) -> None:
    """Wait until no other process has locked a file, and lock it until it is closed; on Windows files are not locked."""
    with suppress(ImportError):
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


@contextmanager
def locked_directory(path: Path) -> Iterator[None]:
    """Wait until no other process has locked a directory, and lock it; where a system cannot lock one, nobody waits."""
    with ExitStack() as stack:
        with suppress(ImportError, OSError):
            import fcntl

            descriptor = os.open(path, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


@contextmanager
def unseen_by_children() -> Iterator[None]:
    """Let processes that start meanwhile never see Ctrl+C, which would end them with a traceback while Python itself starts.

    The first process that multiprocessing starts would let it through again: that which keeps track of resources.
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
    """Tell how many bytes this process had at most. Raises OSError where the system does not tell.

    Linux tells the peak of this very process in /proc; what getrusage tells there is inherited by children.
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
    """Give a file the owner and the group of another one, if this process may; nothing on systems without owners."""
    if HAS_OWNERS:
        state = other.stat()
        with suppress(PermissionError):
            os.chown(file, state.st_uid, state.st_gid)


def is_own_group(state: os.stat_result) -> bool:
    """Return True if only the group can write, and it is the one that some systems give to each user, with no other member."""
    if state.st_mode & stat.S_IWOTH or state.st_gid != os.getegid():
        return False
    try:
        import grp
        import pwd

        group = grp.getgrgid(state.st_gid)
        return group.gr_name == pwd.getpwuid(os.geteuid()).pw_name and not group.gr_mem
    except KeyError:  # a user without an entry, as in containers
        return False
