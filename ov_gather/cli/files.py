"""Which files a command line names."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import IO

import click

from ov_gather.ir.xml.root import root_element


@dataclass(frozen=True, slots=True)
class Found:
    """The IR files, each once, and the XML files of another kind that were passed over."""

    files: tuple[Path, ...]
    skipped: tuple[Path, ...]


def find_irs(paths: Iterable[Path], *, exclude: Collection[str] = (), skip_other_xml: bool = False) -> Found:
    """Files as they are named; of directories, every *.xml below them that is an IR or may have been one.

    Args:
        paths: files and directories.
        exclude: glob patterns; a file is left out if one matches its name, its path, or those of a directory above it. What is
            above a directory that is named does not count.
        skip_other_xml: pass over XML files with another root also where they are named. It is no error then if none is left.

    Raises:
        UsageError: no file is left.
        OSError: a directory cannot be searched.
    """
    files: dict[Path, None] = {}  # for want of an ordered set
    skipped: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            for file in _below(path, exclude):
                (skipped if _is_other_xml(file) else files)[file] = None
        elif not any(_matches(it, exclude) for it in (path, *path.parents)):
            (skipped if skip_other_xml and _is_other_xml(path) else files)[path] = None
    if not files and (not skip_other_xml or all(path.is_dir() for path in paths)):
        raise click.UsageError("no OpenVINO IR among the given files and directories: there is nothing to do")
    return Found(tuple(files), tuple(file for file in skipped if file not in files))


def refuse_existing(paths: Iterable[Path], force: bool) -> None:
    """Raise UsageError where a file to write exists, unless it may be overwritten."""
    for path in paths:
        if path.exists() and not force:
            raise click.UsageError(f"{path} exists; --force overwrites it")


def opened(output: Path | None) -> AbstractContextManager[IO[bytes] | None]:
    """A file that takes its place when all went well, if there is one to write."""
    if output is None:
        return nullcontext()
    from ov_gather.files import replacing

    return replacing(output)


def _below(directory: Path, exclude: Collection[str]) -> Iterator[Path]:
    for name, directories, files in os.walk(directory, onerror=_raise):
        here = Path(name)
        directories[:] = sorted(it for it in directories if not _matches(here / it, exclude))
        for file in sorted(here / it for it in files if it.endswith(".xml")):
            # Not only regular files: a broken link is found, too, but no pipe, which would block.
            if not _matches(file, exclude) and (file.is_file() or not file.exists()):
                yield file


def _is_other_xml(file: Path) -> bool:
    """Whether the root is that of something else. Too damaged to tell, or with a .bin beside it, it is meant to be an IR."""
    return root_element(file) not in ("net", "layer", None) and not file.with_suffix(".bin").exists()


def _matches(path: Path, patterns: Collection[str]) -> bool:
    return any(fnmatch(text, pattern.rstrip("/")) for pattern in patterns for text in (path.name, path.as_posix()))


def _raise(error: OSError) -> None:
    raise error
