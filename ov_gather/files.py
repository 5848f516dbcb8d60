"""Files written whole or not at all, temporary directories, and the question whether two names are one file."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from stat import S_IMODE
from tempfile import NamedTemporaryFile, TemporaryDirectory, gettempdir
from typing import IO

from ov_gather import logs
from ov_gather.interrupts import held
from ov_gather.platforms import keep_owner


def identity(path: Path) -> tuple[int, int] | str:
    """Return a key that all names of a file share; of a file that does not exist yet, those that lead to the same place."""
    try:
        found = path.stat()
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


def overwritten(outputs: Iterable[Path], inputs: Iterable[Path]) -> tuple[Path, Path] | None:
    """Return the first output that is one of the inputs, and that input; None if there is none.

    A symbolic link, a hard link and another spelling of a path are the same file.
    """
    known = {identity(file): file for file in inputs}
    pairs = ((output, known.get(identity(output))) for output in outputs)
    return next(((output, file) for output, file in pairs if file is not None), None)


def resolved(path: Path) -> Path:
    """Return the place that a path leads to, its links followed. Raises OSError for links that lead in a circle."""
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(f"{path}: symbolic links lead in a circle") from None
    return Path(os.path.realpath(path))


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Open a file under a temporary name beside `path`; it takes the place of `path` when all went well.

    `private`: only this user can read or write it, whatever the umask.
    """
    with replacing_all([path], private=private) as (file,):
        yield file


@contextmanager
def replacing_all(paths: Sequence[Path], *, private: bool = False) -> Iterator[list[IO[bytes]]]:
    """Open files under temporary names beside their places, which they take together when all went well, or none does.

    A symbolic link stays, and the file that it leads to is replaced. A file keeps the permissions of the one that it replaces,
    and as root its owner.
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
            file.close()  # Windows moves no file that is open; and a full disk shows here
            if not private:  # which is how temporary files are made
                _give_permissions(Path(file.name), place)
        _move([(Path(file.name), place) for file, place in zip(files, places, strict=True)])
    for place in places:
        logs.info("files", "%s: written", place)


@contextmanager
def replacing_together(path: Path) -> Iterator[Path]:
    """Give a path of the same name in a temporary directory beside `path`.

    When all went well, the files that were written to that directory move to places beside `path`, `path` itself last. Each of
    these places may be a symbolic link of its own.
    """
    place = place_of(path)
    with TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as directory:
        written = Path(directory, path.name)
        yield written
        files = sorted(Path(directory).iterdir(), key=written.__eq__)
        _move([(file, place_of(path.with_name(file.name))) for file in files])
        logs.info("files", "%s: written", path)


def place_of(path: Path) -> Path:
    """Return the place of a file to write. Raises OSError where none can be."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not a regular file")  # to take the place of /dev/null would be a surprise
    place = resolved(path)
    if not place.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {place.parent} to write {path.name} to")
    return place


def _move(moves: Sequence[tuple[Path, Path]]) -> None:
    """Move files to their places. Where one cannot be moved, the places of those before hold again what they held."""
    saved: list[tuple[Path, Path | None]] = []
    with held():
        try:
            for number, (file, place) in enumerate(moves, start=1):
                if number < len(moves):  # nothing follows the last one that could fail
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
    """Give a new file the permissions, and as root the owner, of the file that it replaces; by default those of a new one."""
    if not place.exists():
        file.chmod(0o666 & ~_umask())
        return
    keep_owner(file, place)
    file.chmod(S_IMODE(place.stat().st_mode))


def _saved(place: Path, name: Path) -> Path | None:
    """Give a file a second name, or another one where the file system has no hard links; None without a file."""
    if not place.exists():
        return None
    try:
        os.link(place, name)
    except OSError:
        place.rename(name)
    return name


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a temporary directory. Raises OSError, which names TMPDIR, where what the block writes there has no room."""
    try:
        with TemporaryDirectory(prefix="ov_gather.") as directory:
            yield Path(directory)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        what = f"{gettempdir()} has no room for temporary files: set TMPDIR to a directory that has"
        raise OSError(error.errno, what) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
