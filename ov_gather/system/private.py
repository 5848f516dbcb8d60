"""Directories and files that only this user can write to, so that their content can be trusted or executed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ov_gather.system.platforms import HAS_OWNERS, is_own_group
from ov_gather.system.tables import printable

_CHOOSE = "let XDG_CACHE_HOME name a directory that only you can write to"
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class NotPrivateError(PermissionError):
    """Another user could write to a path; the message says how to fix it."""


def user_cache() -> Path:
    """Return our cache directory: $XDG_CACHE_HOME/ov-gather, or ~/.cache/ov-gather. Raises OSError without a home directory."""
    try:
        caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:
        raise OSError(f"there is no home directory to keep a cache in: {_CHOOSE}") from None
    return Path(caches, "ov-gather")


def make_private(folder: Path) -> Path:
    """Create a directory and its missing parents with mode 0700, and return its real path, checked.

    Raises NotPrivateError if another user could write to it or replace it; OSError.
    """
    for place in (*reversed(folder.absolute().parents), folder):
        if not place.exists():
            place.mkdir(mode=0o700, exist_ok=True)
    return checked(folder)


def checked(folder: Path) -> Path:
    """Return the real path of a directory that only this user or root can write to or replace.

    Each parent directory must be as safe; one that others can write to must be sticky, as /tmp is. After this check no other
    user can replace a part of the path. Raises NotPrivateError, OSError.
    """
    real = folder.resolve(strict=True)
    if not HAS_OWNERS:
        return real
    _check_owner(folder, folder.lstat())  # another user's link could lead to a directory of ours
    state = real.stat()
    _check_owner(real, state)
    _check_mode(real, state.st_mode)
    for place in real.parents:
        state = place.stat()
        _check_owner(place, state)
        if not state.st_mode & stat.S_ISVTX and not is_own_group(state):
            _check_mode(place, state.st_mode)
    return real


def read_private(path: Path) -> bytes:
    """Read a file that only this user or root can write to. Raises NotPrivateError, OSError.

    The check applies to the file that is read: the final path component is not followed if it is a link.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:  # noqa: PTH123 - Path.open follows links
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise OSError(f"{path} is not a regular file")
        if HAS_OWNERS:
            _check_owner(path, state)
            _check_mode(path, state.st_mode)
        return file.read()


def _check_owner(path: Path, state: os.stat_result) -> None:
    if state.st_uid not in (0, os.geteuid()):
        reason = f"{path} belongs to another user (uid {state.st_uid})"
        raise NotPrivateError(printable(f"{reason}, who could replace what is in it: {_CHOOSE}"))


def _check_mode(path: Path, mode: int) -> None:
    if mode & _OTHERS:
        reason = f"other users can write to {path} (mode {stat.S_IMODE(mode):04o})"
        raise NotPrivateError(printable(f"{reason}: remove what they may have put there, and chmod go-w; or {_CHOOSE}"))
