"""Compiled extensions in the user's cache directory, one per OpenVINO release and ov-gather version.

Libraries loaded from here are executed, so the directories and their parents are checked first (`ov_gather/system/private.py`).
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import IO

from ov_gather.extension.compiling import compile_extension, digest
from ov_gather.extension.installed import FILE_NAME, OpenVINO, kernel
from ov_gather.system.files import replacing
from ov_gather.system.platforms import lock
from ov_gather.system.private import NotPrivateError, checked, make_private, read_private, user_cache

LOCK = "lock"
"""Name of the file in a directory that the process which writes to it has locked."""
_WHAT_TO_DO = "let XDG_CACHE_HOME name a directory to write to"


def library(openvino: OpenVINO) -> Path:
    """Return the extension for an installed OpenVINO, compiled if needed. Raises FileNotFoundError, ImportError, OSError.

    Each location of OpenVINO and ov-gather has its own copy, which finds the libraries there through symlinks beside it.
    """
    folder, links = _folder(openvino), {"libs": openvino.libraries, "kernel": kernel().parent}
    place = folder / hashlib.sha256(b"\0".join(map(os.fsencode, links.values()))).hexdigest()[:12]
    is_linked = all((place / name).exists() for name in links)  # a copy of the cache may have lost them
    if is_linked and _is_whole(checked(place) / FILE_NAME, checked(folder)):
        return place / FILE_NAME
    with locked(folder):
        made = _made(openvino, folder)
        with _kept(folder):
            make_private(place)
            for name, target in links.items():
                if not (place / name).exists():
                    (place / name).unlink(missing_ok=True)
                    (place / name).symlink_to(target)
            _put(made, place / FILE_NAME)
    return place / FILE_NAME


def make(openvino: OpenVINO) -> Path:
    """Compile the extension for an OpenVINO that will be installed here, unless it exists. Raises like `library`."""
    folder = _folder(openvino)
    with locked(folder):
        return _made(openvino, folder)


def _folder(openvino: OpenVINO) -> Path:
    """Return the directory for a release. Raises OSError if its parent cannot be created, or is open to other users."""
    system = f"{sys.platform}-{platform.machine()}"
    ours = f"{version('ov-gather')}-{digest()}"
    name = f"openvino-{openvino.release}-{system}-abi{openvino.cxx11_abi}-ov_gather-{ours}"
    caches = user_cache()
    with _kept(caches / name):
        return make_private(caches) / name


def _made(openvino: OpenVINO, folder: Path) -> Path:
    """Return the library in a folder; compile it first if it is missing or its checksum is wrong."""
    made = folder / FILE_NAME
    if not _is_whole(made, folder):
        with TemporaryDirectory(dir=folder) as work:
            fresh = Path(work, FILE_NAME)
            compile_extension(openvino, fresh)
            with _kept(folder):
                fresh.chmod(0o700)
                with replacing(checksum_file(folder), private=True) as file:
                    file.write(_checksum(fresh))
                fresh.replace(made)
    return made


def _is_whole(library: Path, folder: Path) -> bool:
    """Return True if a library has the checksum that was stored when it was compiled. Raises NotPrivateError."""
    try:
        return read_private(checksum_file(folder)) == _checksum(library)
    except NotPrivateError:
        raise
    except OSError:  # missing or unreadable
        return False


def _checksum(library: Path) -> bytes:
    return hashlib.sha256(read_private(library)).hexdigest().encode()


def checksum_file(folder: Path) -> Path:
    """Return the file with the checksum of the library in a folder."""
    return folder / f"{FILE_NAME}.sha256"


def _put(library: Path, place: Path) -> None:
    """Copy a library atomically, so that no process sees a part of it."""
    with TemporaryDirectory(dir=place.parent) as work:
        copy = Path(work, FILE_NAME)
        copyfile(library, copy)
        copy.chmod(0o700)
        copy.replace(place)


@contextmanager
def _kept(folder: Path) -> Iterator[None]:
    """Convert an OSError of writing into one that says what to do."""
    try:
        yield
    except NotPrivateError:
        raise
    except OSError as error:
        raise OSError(f"our extension cannot be kept in {folder} ({error.strerror}): {_WHAT_TO_DO}") from None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which is created if needed. Raises OSError if it cannot be written."""
    while True:
        with _kept(folder):
            make_private(folder)
            file = (folder / LOCK).open("a")  # "w" would empty a file that a link leads to
        with file:
            lock(file)
            if not _is_at(file, folder / LOCK):  # removed while this process waited: others lock a new file
                continue
            yield
            return


def _is_at(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
