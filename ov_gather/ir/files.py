"""Search for IR files among given files, directories and URLs."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from xml.parsers import expat

from ov_gather.ir.urls import RemoteFile, Url, irs_at

Place = Path | Url
STDIN = Path("-")
"""The place that means standard input."""

_BEGINNING = 1 << 16


class NoIRError(ValueError):
    """There is no IR among the given files and directories."""


@dataclass(frozen=True, slots=True)
class Found:
    """The IR files, each once, and the XML files of other kinds that were skipped."""

    files: tuple[Place, ...]
    skipped: tuple[Place, ...]


def find_irs(paths: Iterable[Place], *, exclude: Collection[str] = (), skip_other_xml: bool = False) -> Found:
    """Collect the IRs: every given file, and every *.xml below a given directory that is an IR or may have been one.

    Args:
        paths: files, directories, URLs. A .bin means the .xml beside it. The content of a file at a URL is not examined.
        exclude: glob patterns; a file is left out if one matches its name, its path, or those of a directory above it.
            Directories above a given directory do not count.
        skip_other_xml: skip XML files of other kinds, and a .bin without an .xml, even if they are given by name; it is no
            error then if no file is left.

    Raises:
        NoIRError: no file is left.
        OSError: a directory cannot be searched.
        ImportError, ValueError: nothing is installed that reads such URLs.
    """
    files: dict[Place, None] = {}  # an ordered set
    skipped: dict[Place, None] = {}
    for path in paths:
        if isinstance(path, Url):
            found = (file for file in irs_at(path) if not any(_matches(place, exclude) for place in (file, *file.parents)))
            files.update(dict.fromkeys(replace(file, is_listed=file.is_listed or skip_other_xml) for file in found))
        elif path.is_dir():
            for file in _below(path, exclude):
                (skipped if is_other_xml(file) else files)[file] = None
        elif not any(_matches(place, exclude) for place in (path, *path.parents)):
            file = _document_of(path)
            (skipped if skip_other_xml and (file.suffix == ".bin" or is_other_xml(file)) else files)[file] = None
    if not files and (not skip_other_xml or all(isinstance(path, Url) or path.is_dir() for path in paths)):
        raise NoIRError("no OpenVINO IR among the given files and directories: there is nothing to do")
    return Found(tuple(files), tuple(file for file in skipped if file not in files))


def _below(directory: Path, exclude: Collection[str]) -> Iterator[Path]:
    for name, directories, files in os.walk(directory, onerror=_raise):
        here = Path(name)
        directories[:] = sorted(child for child in directories if not _matches(here / child, exclude))
        for file in sorted(here / child for child in files if child.endswith(".xml")):
            # Include a broken link, so that it is reported; exclude a pipe, since reading it would block.
            if not _matches(file, exclude) and (file.is_file() or not file.exists()):
                yield file


def _document_of(path: Path) -> Path:
    """Return the .xml beside a .bin if there is one, else the path itself."""
    document = path.with_suffix(".xml")
    return document if path.suffix == ".bin" and document.is_file() else path


def is_other_xml(file: Place) -> bool:
    """Return True if the root element is not that of an IR; a damaged file, or one with a .bin beside it, counts as an IR."""
    return _root_element(file) not in ("net", "layer", None) and not _exists(file.with_suffix(".bin"))


class _RootSeen(Exception):  # noqa: N818 - not an error: a handler raises it to end the parse
    pass


def _root_element(path: Place) -> str | None:
    """Return the name of the root element, or of the document type if the file declares one.

    Returns None if there is no name: the file cannot be opened, is not a regular file, is not well-formed up to the root, or
    its root is not within the first 64 KiB.
    """
    names: list[str] = []

    def found(name: str, *_: object) -> None:
        names.append(name)
        raise _RootSeen  # before any entity or later content can do harm

    parser = expat.ParserCreate()
    parser.StartElementHandler = found
    parser.StartDoctypeDeclHandler = found
    try:
        if isinstance(path, Url):
            parser.Parse(RemoteFile(path).read(0, _BEGINNING))
        elif path.is_file():
            with path.open("rb") as file:
                parser.Parse(file.read(_BEGINNING))
    except (_RootSeen, OSError, expat.ExpatError, LookupError, ValueError):
        pass
    return names[0] if names else None


def _exists(file: Place) -> bool:
    if isinstance(file, Path):
        return file.exists()
    try:
        RemoteFile(file)
    except OSError:
        return False
    return True


def _matches(path: Place, patterns: Collection[str]) -> bool:
    return any(fnmatch(text, pattern.rstrip("/")) for pattern in patterns for text in (path.name, path.as_posix()))


def _raise(error: OSError) -> None:
    raise error
