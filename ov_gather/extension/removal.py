"""Removal of the compiled extensions from the user's cache directory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ov_gather.extension.cache import LOCK, checksum_file, locked
from ov_gather.extension.installed import FILE_NAME
from ov_gather.system.private import checked, user_cache

_FOLDER = re.compile(r"openvino-\d[\w.]*-.+-ov_gather-.+-[0-9a-f]{12}")
"""Name of the directory of one release of OpenVINO and one version of ov-gather."""
_PLACE = re.compile(r"[0-9a-f]{12}|tmp[a-z0-9_]{8}")
"""Name of a directory in it: of a copy for one location of OpenVINO, or a temporary one that a killed compilation left."""


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed from one directory.

    Attributes:
        folder: the directory; it is gone if nothing was kept.
        size: bytes of the removed files.
        kept: paths of files and directories that are not ours.
    """

    folder: Path
    size: int
    kept: tuple[Path, ...]


def remove_all() -> Iterator[Removed]:
    """Remove the extensions of all releases and versions, and yield the outcome for each.

    A process that has loaded one keeps it. Compilations that are running finish first, and their result is removed.

    Raises OSError; NotPrivateError if another user could write to the cache directory.
    """
    caches = user_cache()
    if caches.is_dir():
        for folder in sorted(checked(caches).iterdir()):
            if _FOLDER.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink():
                yield _remove(checked(folder))


def _remove(folder: Path) -> Removed:
    kept: list[Path] = []
    with locked(folder):
        size = _remove_ours(folder, kept)
    return Removed(folder, size, tuple(kept))


def _remove_ours(folder: Path, kept: list[Path]) -> int:
    """Remove what is ours, and the directory if nothing is left. Return the bytes removed, and add what is left to `kept`."""
    size = 0
    for place in sorted(folder.iterdir(), key=lambda place: (place.name == LOCK, place)):  # the lock last: it is held
        if _PLACE.fullmatch(place.name) and place.is_dir() and not place.is_symlink():
            size += _remove_ours(place, kept)
        elif _is_ours(place):
            size += place.lstat().st_size
            place.unlink()
        else:
            kept.append(place)
    with suppress(OSError):  # not empty
        folder.rmdir()
    return size


def _is_ours(place: Path) -> bool:
    if place.is_symlink():
        return place.name in ("libs", "kernel")
    names = (FILE_NAME, checksum_file(place.parent).name, LOCK)
    return place.is_file() and (place.name in names or place.name.startswith(f".{FILE_NAME}."))  # a dot: a write was killed
