"""File systems behind URLs, with timeouts, bounded listings and one-line errors."""

from __future__ import annotations

import errno
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from threading import Thread
from time import monotonic
from typing import Any, TypeVar

from ov_gather.system.imports import missing

T = TypeVar("T")

PIECE = 1 << 22
"""Bytes that a server must deliver within one timeout: 4 MiB in 30 s, which a line of 1.2 Mbit/s achieves."""
_ANSWERS = 10
"""Timeout of a search through directories, as a multiple of the timeout of one answer."""
_DEEPEST = 32
"""Most levels of directories that are searched; a server can invent more without end."""
_MOST = 100_000
"""Most files and directories that are listed."""
_LISTING = 1 << 24
"""Largest page that lists a directory, in bytes."""
_NO_PERMISSION = (401, 403, 407)
_ABSENT = (404, 410)
_USER = re.compile(r"(https?:/*)[^/?#\s]*@|([A-Za-z][A-Za-z0-9+.-]{0,30}://)[^/?#\s:@]*:[^/?#\s]*@")
_QUERY = re.compile(r"((?:https?:|[A-Za-z][A-Za-z0-9+.-]{0,30}://)[^\s?'\"]*)\?[^\s'\"]*|(https?:[^\s?#'\"]*)#[^\s'\"]*")


def redacted(text: str) -> str:
    """Remove the secrets that URLs in a text may hold: users with passwords, and queries and fragments, which may be signed."""
    if "@" in text:
        text = _USER.sub(r"\1\2", text)
    return _QUERY.sub(r"\1\2", text) if "?" in text or "#" in text else text  # a long name takes quadratic time here


def require_fsspec() -> None:
    """Raise ImportError if fsspec is not installed."""
    if find_spec("fsspec") is None:
        raise missing("fsspec")


def file_system(url: str, timeout: float) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it. Raises any exception of the file system."""
    from fsspec.core import url_to_fs

    options = {"client_kwargs": _client(timeout)} if re.match("https?://", url) else {}
    system, path = url_to_fs(url, use_listings_cache=False, **options)  # a cached listing would hide that a file changes
    return system, path


@cache
def _client(timeout: float) -> dict[str, Any]:
    """Return options of aiohttp that end abandoned connections and bound the size of a page."""
    import aiohttp

    class Bounded(aiohttp.ClientResponse):
        async def read(self) -> bytes:
            if self._body is None and "Range" not in self.request_info.headers:
                parts, size = [], 0
                async for part in self.content.iter_any():
                    parts.append(part)
                    size += len(part)
                    if size > _LISTING:
                        self.close()
                        raise OSError(errno.EFBIG, f"the page that lists it is larger than {_LISTING} bytes")
                self._body = b"".join(parts)
            return await super().read()

    return {"timeout": aiohttp.ClientTimeout(total=None, sock_connect=timeout, sock_read=timeout), "response_class": Bounded}


def within(seconds: float, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """Call a function in a thread, and return its result. Raises TimeoutError if it takes longer than `seconds`."""
    results: list[T] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            results.append(function(*arguments, **options))
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(errno.ETIMEDOUT, f"the server takes longer than {seconds:g} s; --timeout allows more")
    return results[0]


def files_below(system: Any, path: str, timeout: float, deepest: int = _DEEPEST) -> list[str]:
    """List the files in a directory and below, at most `deepest` directories down. Raises OSError.

    Depth, number of entries and time are limited, since a server may list a directory within itself without end.
    """
    end = monotonic() + _ANSWERS * timeout
    files, seen = list[str](), {path.rstrip("/")}
    waiting = deque([(path, 0)])
    while waiting:
        directory, depth = waiting.popleft()
        if monotonic() > end:
            raise TimeoutError(errno.ETIMEDOUT, f"the search takes longer than {_ANSWERS * timeout:g} s; --timeout allows more")
        for entry in within(timeout, system.ls, directory, detail=True):
            name = str(entry["name"])
            if name.rstrip("/") in seen:
                continue
            seen.add(name.rstrip("/"))
            if len(seen) > _MOST:
                raise OSError(errno.EMLINK, f"there are more than {_MOST:,} files and directories: name one further down")
            if entry["type"] != "directory":
                files.append(name)
            elif depth < deepest:
                waiting.append((name, depth + 1))
            elif deepest == _DEEPEST:
                raise OSError(errno.ELOOP, f"directories are more than {_DEEPEST} deep: name one further down")
    return files


@contextmanager
def plain_errors() -> Iterator[None]:
    """Convert any exception of a file system to an OSError whose `strerror` is one line without secrets."""
    try:
        yield
    except Exception as error:
        raise _plain(error) from None


def _plain(error: Exception) -> OSError:
    """Return the OSError for an exception. Some file systems always say "not found", and have the reason as the cause."""
    cause = error.__cause__ or error
    status = getattr(cause, "status", None)
    if status in _NO_PERMISSION or isinstance(error, PermissionError):
        return PermissionError(errno.EACCES, f"no permission to read it{f' (HTTP {status})' if status else ''}")
    if status in _ABSENT or (isinstance(error, FileNotFoundError) and cause is error):
        return FileNotFoundError(errno.ENOENT, "there is no such file")
    if status:
        return OSError(errno.EIO, f"the server answers with HTTP {status}")
    text = str(cause) or type(cause).__name__
    if text.startswith("[Errno"):
        text = getattr(cause, "strerror", None) or text
    if type(cause).__module__.startswith("aiohttp"):  # e.g. TooManyRedirects, whose text alone says too little
        text = f"{type(cause).__name__}: {text}"
    return OSError(getattr(cause, "errno", None) or errno.EIO, redacted(text.splitlines()[0]))
