"""A web server for tests, which serves files that are mostly zeros without having them, and counts what it sends."""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CHUNK = 1 << 16


@dataclass
class Served:
    """A file: its end; the size of the whole, the rest of which is zeros; its tag; and what is done before each GET."""

    content: bytes
    size: int = 0
    tag: str = "1"
    status: int = 200
    has_ranges: bool = True
    before: Callable[[Served], object] = lambda served: None

    def part(self, start: int, stop: int) -> bytes:
        first = max(self.size - len(self.content), 0)
        return self.content[max(start - first, 0) : max(stop - first, 0)].rjust(stop - start, b"\0")


@dataclass
class Site:
    """What a server serves, by path, where it is, and how many bytes of files it has sent."""

    files: dict[str, Served] = field(default_factory=dict)
    address: str = ""
    sent: int = 0


class QuietHandler(BaseHTTPRequestHandler):
    """A handler that logs nothing."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler], context: ssl.SSLContext | None = None) -> Iterator[int]:
    """Yield a free port of this machine, where requests are handled, with TLS if there is a context."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


@contextmanager
def serving(context: ssl.SSLContext | None = None) -> Iterator[Site]:
    """Serve on a free port of this machine, with TLS if there is a context."""
    site = Site()

    class Handler(QuietHandler):
        def do_HEAD(self) -> None:
            self.answer(has_body=False)

        def do_GET(self) -> None:
            self.answer(has_body=True)

        def answer(self, has_body: bool) -> None:
            served = site.files.get(self.path)
            if served is None:
                served = Served(b"", status=404)
            if has_body:
                served.before(served)
            size = max(served.size, len(served.content))
            start, stop, status = 0, size, served.status
            wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            if wanted and served.has_ranges and status == 200:
                start, stop, status = int(wanted[1]), min(int(wanted[2]) + 1, size), 206
            self.send_response(status)
            self.send_header("Content-Length", str(stop - start))
            self.send_header("ETag", served.tag)
            if status == 206:
                self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{size}")
            self.end_headers()
            for position in range(start, stop, CHUNK) if has_body else ():
                part = served.part(position, min(position + CHUNK, stop))
                try:
                    self.wfile.write(part)
                except OSError:
                    self.close_connection = True
                    return
                site.sent += len(part)

    with listening(Handler, context) as port:
        site.address = f"http{'s' if context else ''}://localhost:{port}"
        yield site
