"""Atomic replacement of files, temporary directories, and file identity."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from stat import S_IMODE
from tempfile import NamedTemporaryFile, TemporaryDirectory, gettempdir
from typing import IO

from ov_gather.system import logs
from ov_gather.system.interrupts import held
from ov_gather.system.platforms import keep_owner


def identity(path: Path) -> tuple[int, int] | str:
    """Return a key that all names of a file share; for a missing file, its resolved path."""
    try:
        found = path.stat()
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


def overwritten(outputs: Iterable[Path], inputs: Iterable[Path]) -> tuple[Path, Path] | None:
    """Return the first output that is one of the inputs, with that input; None if there is none.

    A symbolic link, a hard link and another spelling of a path are the same file.
    """
    known = {identity(file): file for file in inputs}
    pairs = ((output, known.get(identity(output))) for output in outputs)
    return next(((output, file) for output, file in pairs if file is not None), None)


def resolved(path: Path) -> Path:
    """Return the real path, with links followed. Raises OSError for a circle of links."""
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(f"{path}: symbolic links lead in a circle") from None
    return Path(os.path.realpath(path))


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path`, which replaces `path` if the block succeeds.

    `private`: only this user can read or write it, whatever the umask.
    """
    with replacing_all([path], private=private) as (file,):
        yield file


@contextmanager
def replacing_all(paths: Sequence[Path], *, private: bool = False) -> Iterator[list[IO[bytes]]]:
    """Open temporary files beside `paths`, which replace all of `paths` if the block succeeds, and none otherwise.

    A symbolic link stays, and its target is replaced. A new file keeps the permissions of the file that it replaces, and its
    owner if the process runs as root.
    """
    places = [place_of(path) for path in paths]
    with ExitStack() as stack:
        files: list[IO[bytes]] = []
        for place in places:
            opened = stack.enter_context(NamedTemporaryFile(dir=place.parent, prefix=f".{place.name}.", delete=False))
            stack.callback(Path(opened.name).unlink, missing_ok=True)
            files.append(opened)
        yield files
        for file, place in zip(files, places, strict=True):
            file.close()  # Windows cannot move an open file; and a full disk raises here
            if not private:  # temporary files are private already
                _give_permissions(Path(file.name), place)
        _move([(Path(file.name), place) for file, place in zip(files, places, strict=True)])
    for place in places:
        logs.info("files", "%s: written", place)


@contextmanager
def replacing_together(path: Path) -> Iterator[Path]:
    """Yield a path of the same name in a temporary directory beside `path`.

    If the block succeeds, all files written to that directory move beside `path`, and `path` itself last. A symbolic link at
    any of these places stays, and its target is replaced.
    """
    place = place_of(path)
    with TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as directory:
        written = Path(directory, path.name)
        yield written
        files = sorted(Path(directory).iterdir(), key=written.__eq__)
        _move([(file, place_of(path.with_name(file.name))) for file in files])
        logs.info("files", "%s: written", path)


def place_of(path: Path) -> Path:
    """Return the real path at which to write a file. Raises OSError if no regular file can be written there."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not a regular file")  # never replace /dev/null
    place = resolved(path)
    if not place.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {place.parent} to write {path.name} to")
    if not os.access(place.parent, os.W_OK):
        raise PermissionError(f"{path} cannot be written: no permission to write to {place.parent}")
    return place


def _move(moves: Sequence[tuple[Path, Path]]) -> None:
    """Move files to their places. If one move fails, restore what the earlier places held."""
    saved: list[tuple[Path, Path | None]] = []
    with held():
        try:
            for number, (file, place) in enumerate(moves, start=1):
                if number < len(moves):  # no later move can fail
                    saved.append((place, _saved(place, file.with_name(f"{file.name}.old"))))
                file.replace(place)
        except OSError:
            for place, other in reversed(saved):
                place.unlink(missing_ok=True) if other is None else other.replace(place)
            raise
        for _, other in saved:
            if other is not None:
                other.unlink(missing_ok=True)


def _give_permissions(file: Path, place: Path) -> None:
    """Copy the mode of the file to be replaced, and its owner if root; without such a file, use the mode of a new file."""
    if not place.exists():
        umask = os.umask(0)
        os.umask(umask)
        file.chmod(0o666 & ~umask)
        return
    keep_owner(file, place)
    file.chmod(S_IMODE(place.stat().st_mode))


def _saved(place: Path, name: Path) -> Path | None:
    """Hard-link `place` to `name`, or rename it if the file system has no hard links; return None if there is no file."""
    if not place.exists():
        return None
    try:
        os.link(place, name)
    except OSError:
        place.rename(name)
    return name


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a temporary directory. Raises an OSError that names TMPDIR if it has no room for what the block writes."""
    try:
        with TemporaryDirectory(prefix="ov_gather.") as directory:
            yield Path(directory)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        what = f"{gettempdir()} has no room for temporary files: set TMPDIR to a directory that has"
        raise OSError(error.errno, what) from error
