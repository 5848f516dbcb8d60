"""These context managers write a file whole or not at all, and hold files that are needed for a while."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory, gettempdir
from typing import IO

from ov_gather import logs
from ov_gather.interrupts import held


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Open a file under a temporary name beside `path`; it takes the place of `path` when all went well.

    `private`: only this user can read or write it, whatever the umask.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not a regular file")  # to take the place of /dev/null would be a surprise
    path = path.resolve()  # a link stays, and the file that it leads to is replaced
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {path.parent} to write {path.name} to")
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            yield file
            file.close()  # Windows moves no file that is open
            if not private:  # which is how temporary files are made
                Path(file.name).chmod(0o666 & ~_umask())
            Path(file.name).replace(path)
            logs.info("files", "%s: written", path)
        finally:
            Path(file.name).unlink(missing_ok=True)


@contextmanager
def replacing_together(path: Path) -> Iterator[Path]:
    """Give a path of the same name in a temporary directory beside `path`.

    When all went well, the files that were written to that directory move to the directory of `path`, `path` itself last.
    """
    path = path.resolve()
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {path.parent} to write {path.name} to")
    with TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as directory:
        written = Path(directory, path.name)
        yield written
        with held():
            for file in sorted(Path(directory).iterdir(), key=written.__eq__):
                file.replace(path.with_name(file.name))
        logs.info("files", "%s: written", path)


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
