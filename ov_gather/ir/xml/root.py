"""The root element of a file, which shows if it can be an IR; nothing behind the root is read."""

from __future__ import annotations

from pathlib import Path
from xml.parsers import expat

from ov_gather.ir.urls import RemoteFile, Url

_BEGINNING = 1 << 16


class _Found(Exception):  # noqa: N818 - not an error: a handler raises it to end the parse
    pass


def root_element(path: Path | Url) -> str | None:
    """Return the name of the root element, or of the document type if the file declares one.

    Returns None if there is no name: the file cannot be opened, is not a regular file, is not well-formed up to the root, or
    its root is not within the first 64 KiB.
    """
    names: list[str] = []

    def found(name: str, *_: object) -> None:
        names.append(name)
        raise _Found  # before any entity or later content can do harm

    parser = expat.ParserCreate()
    parser.StartElementHandler = found
    parser.StartDoctypeDeclHandler = found
    try:
        if isinstance(path, Url):
            parser.Parse(RemoteFile(path).read(0, _BEGINNING))
        elif path.is_file():
            with path.open("rb") as file:
                parser.Parse(file.read(_BEGINNING))
    except (_Found, OSError, expat.ExpatError, LookupError, ValueError):
        pass
    return names[0] if names else None
