"""Files at URLs such as s3:// and https://, read through fsspec: on demand, and only the bytes that are needed."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ov_gather.ir.remote import PIECE, file_system, files_below, plain_errors, redacted, require_fsspec, within
from ov_gather.ir.weights import Weights

T = TypeVar("T")

LARGEST = 1 << 28
"""Largest document that is fetched, in bytes; the parser has the same limit."""
_SMALL = 1 << 12
_CHANGED = "changed while it was read"
TIMEOUT = 30.0
"""Seconds that a server may take for an answer, and for each 4 MiB of a file."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]+://")


def is_url(text: str) -> bool:
    """Return True if a text is a URL rather than a path."""
    return _URL.match(text) is not None


@dataclass(frozen=True, slots=True)
class Url(os.PathLike[str]):
    """A file at a URL, with the methods of Path that reading needs.

    Its text omits user, password and query, which may be secret, and a signature changes each time. `is_listed`: the file was
    found in a directory rather than named. `timeout`: seconds for an answer, and for each 4 MiB.
    """

    text: str = field(repr=False)
    is_listed: bool = field(default=False, compare=False)
    timeout: float = field(default=TIMEOUT, compare=False)

    def __fspath__(self) -> str:
        return self.text

    def __str__(self) -> str:
        return redacted(self.text)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._path.rstrip("/").rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """The name from its last dot on; "" if it has none."""
        return "." + self.name.rpartition(".")[2] if "." in self.name else ""

    @property
    def parents(self) -> Iterator[Url]:
        """The directories above, nearest first."""
        start = self._path.index("://") + 3
        parent = self._path.rstrip("/").rpartition("/")[0]
        while len(parent) > start:
            yield replace(self, text=parent)
            parent = parent.rpartition("/")[0]

    def as_posix(self) -> str:
        """Return the text without secrets."""
        return str(self)

    def absolute(self) -> Url:
        """Return the URL itself."""
        return self

    def with_suffix(self, suffix: str) -> Url:
        """Return the URL with another suffix. The query, which may hold a signature, stays."""
        path = self._path
        return replace(self, text=path.removesuffix(self.suffix) + suffix + self.text[len(path) :])

    @property
    def _path(self) -> str:
        """The URL without the query and fragment of http; other schemes have none."""
        return re.split("[?#]", self.text, maxsplit=1)[0] if self.text.startswith("http") else self.text


def url_of(source: object) -> Url | None:
    """Return the URL that `source` is or contains as text; None if it is none."""
    if isinstance(source, Url):
        return source
    text = os.fspath(source) if isinstance(source, str | os.PathLike) else ""
    if not isinstance(text, str) or not is_url(text):
        return None
    scheme, separator, rest = text.partition("://")
    return Url(scheme.lower() + separator + rest)


class RemoteFile:
    """A file at a URL, which existed when this object was created. Raises OSError, whose `strerror` is for people."""

    def __init__(self, url: Url) -> None:
        self.url = url
        self._open: Any = None
        require_fsspec()
        with plain_errors():
            self._system, self._path = file_system(url.text, url.timeout)
            self._state = self._look()
        # The http file system would ask for the size again; all others do best without ours.
        self._known = {"size": self._state["size"]} if "http" in self._system.protocol else {}

    def size(self) -> int:
        """Return the number of bytes. Raises OSError if the server does not report it."""
        if self._state["size"] is None:
            raise OSError(errno.EIO, "the server does not tell its size")
        return int(self._state["size"])

    def read_all(self) -> bytes:
        """Read the whole file. Raises OSError if it is too large for a document, or its length has changed."""
        size, parts, left = self._state["size"], list[bytes](), LARGEST + 1
        if size is not None and size > LARGEST:
            raise OSError(errno.EFBIG, f"it is larger than {LARGEST} bytes")
        with plain_errors(), self._within(self._opened, block_size=0) as file:
            while left and (piece := self._within(_piece, file, min(left, PIECE))):
                parts.append(piece)
                left -= len(piece)
        if not left:
            raise OSError(errno.EFBIG, f"it is larger than {LARGEST} bytes")
        content = b"".join(parts)
        if size is not None and len(content) != size:
            raise OSError(errno.EIO, f"it {_CHANGED}: {len(content)} bytes came of {size}")
        return content

    def read(self, offset: int, size: int) -> bytes:
        """Read only these bytes; fewer if the file is shorter now."""
        with plain_errors():
            if self._open is None:
                self._open = self._within(self._opened)
            try:
                self._open.seek(offset)
                part: bytes = within(self.url.timeout * -(-size // PIECE), self._open.read, size)
            except ValueError:  # fsspec raises it for a file without random access
                raise OSError(errno.ESPIPE, "the server gives no parts of files (HTTP ranges)") from None
        return part

    def is_changed(self) -> bool:
        """Return True if the size, time or tag that the server reports has changed."""
        with plain_errors():
            return self._look() != self._state

    def _opened(self, **options: Any) -> Any:
        return self._system.open(self._path, "rb", cache_type="none", **options, **self._known)

    def _within(self, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
        return within(self.url.timeout, function, *arguments, **options)

    def _look(self) -> dict[str, Any]:
        state = dict(self._within(self._system.info, self._path))
        if state.get("type") == "directory":
            raise IsADirectoryError(errno.EISDIR, "it is a directory")
        state.pop("url", None)  # the target of a redirection, which may be signed anew each time
        return {"size": None} | state


class RemoteWeights(Weights):
    """The .bin at a URL, of a document at another. Small reads are cached, because some repeat."""

    is_far = True

    def __init__(self, url: Url, document: RemoteFile | None = None) -> None:
        super().__init__(None)
        self.path = url
        self._document = document
        self._remote: RemoteFile | None = None
        self._failure = ""
        self._kept: dict[tuple[int, int], bytes] = {}

    def size(self) -> int:
        """Return the number of bytes when the file was first opened. Raises OSError."""
        return self._opened_remote().size()

    def read(self, offset: int, size: int) -> memoryview:
        """Read `size` bytes from `offset`. Raises OSError, EOFError."""
        if (offset, size) in self._kept:
            return memoryview(self._kept[offset, size])
        if self._failure:
            raise OSError(errno.EIO, self._failure)
        try:
            part = self._opened_remote().read(offset, size) if size else b""
        except OSError as error:
            self._failure = f"{self.path} cannot be read: {error.strerror}"
            raise
        if len(part) < size:
            self._failure = f"{self.path} {_CHANGED}"
            raise EOFError
        if size <= _SMALL:
            self._kept[offset, size] = part
        return memoryview(part)

    def was_cut(self) -> bool:
        """Return False: `trouble` detects any change."""
        return False

    def trouble(self) -> str:
        """Return what prevented reading, or which file changed meanwhile; "" if neither."""
        for file in (self._document, self._remote):
            try:
                if not self._failure and file and file.is_changed():
                    self._failure = f"{file.url} {_CHANGED}"
            except OSError as error:
                self._failure = f"{file.url if file else ''} {_CHANGED}: {error.strerror}"
        return self._failure

    def _opened_remote(self) -> RemoteFile:
        if self._remote is None:
            assert isinstance(self.path, Url)
            self._remote = RemoteFile(self.path)
        return self._remote

    def __reduce__(self) -> tuple[type[Weights], tuple[Any]]:
        return RemoteWeights, (self.path,)


def fetched(url: Url) -> tuple[bytes, RemoteWeights]:
    """Return the document at a URL, and its .bin, which is read on demand. Raises OSError."""
    document = RemoteFile(url)
    return document.read_all(), RemoteWeights(url.with_suffix(".bin"), document)


def irs_at(url: Url) -> list[Url]:
    """List the .xml files that a URL names: a single file, those below a directory, or those that match a pattern with *.

    Raises OSError if they cannot be listed; ImportError, ValueError if nothing is installed for such URLs.
    """
    require_fsspec()
    from fsspec import get_filesystem_class

    get_filesystem_class(url.text.partition("://")[0].partition("::")[0])
    is_pattern = "*" in url.text
    if url.suffix == ".xml" and not is_pattern:
        return [url]
    if url.text.startswith("http") and "?" in url.text:
        raise OSError(f"{url} cannot be listed, as its query, which may be a signature, is of no use for the files in it")
    try:
        with plain_errors():
            system, path = file_system(url.text, url.timeout)
            found = _matching(system, path, url.timeout) if is_pattern else _below(system, path, url.timeout)
            names = [system.unstrip_protocol(file) for file in sorted(found) if file.endswith(".xml")]
    except OSError as error:
        raise OSError(f"{url} cannot be listed: {error.strerror}") from None
    return [replace(url, text=name, is_listed=True) for name in names]


def _below(system: Any, path: str, timeout: float) -> list[str]:
    within(timeout, system.info, path)  # raises if there is nothing, unlike a search
    return files_below(system, path, timeout)


def _matching(system: Any, pattern: str, timeout: float) -> list[str]:
    """List the files that match a pattern: * stands for a part of a name, ** for directories."""
    from fsspec.utils import glob_translate

    start = pattern[: pattern.index("*")].rpartition("/")[0]
    rest = pattern[len(start) + 1 :]
    fits = re.compile(glob_translate(pattern)).match
    found = files_below(system, start, timeout) if "**" in rest else files_below(system, start, timeout, rest.count("/"))
    return [file for file in found if fits(file)]


def _piece(file: Any, size: int) -> bytes:
    """Read `size` bytes, fewer only at the end of the file."""
    parts = list[bytes]()
    while size and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
