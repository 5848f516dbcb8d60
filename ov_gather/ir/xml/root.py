"""The root element tells whether a file can be an IR; nothing behind it is read."""

from __future__ import annotations

from pathlib import Path
from xml.parsers import expat

from ov_gather.ir.urls import RemoteFile, Url

_BEGINNING = 1 << 16


class _Found(Exception):  # noqa: N818 - this is no error: a handler ends the parse with it
    pass


def root_element(path: Path | Url) -> str | None:
    """Read the name of the root element, or of the document type if the file declares one.

    Returns None where there is no name: the file cannot be opened, is no regular file, is not well-formed so far, or its root
    does not come in the first 64 KiB.
    """
    names: list[str] = []

    def found(name: str, *_: object) -> None:
        names.append(name)
        raise _Found  # so that no entity, nor anything else that follows, can do harm

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
