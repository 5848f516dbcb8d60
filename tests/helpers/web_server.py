"""Web servers for tests.

One serves files that are mostly zeros without having them, and counts what it sends. The other one misbehaves: it is silent,
drips, sends others away, lies about sizes, or lists without end.
"""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from helpers.paths import SAMPLES

CHUNK = 1 << 16
DOCUMENT = (SAMPLES / "valid" / "spec_layer.xml").read_bytes()
BEHAVIOURS = (
    *("silent", "drip", "loop", "away", "nest", "self", "wide"),
    *("endless", "short", "long", "bomb", "reset", "status", "junk"),
)


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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()


@contextmanager
def _running(handler: type[_Handler], context: ssl.SSLContext | None = None) -> Iterator[int]:
    """Yield the port of this machine on which a server answers."""
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

    class Handler(_Handler):
        def do_GET(self) -> None:
            served = site.files.get(self.path)
            if served is None:
                served = Served(b"", status=404)
            has_body = self.command == "GET"
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

    with _running(Handler, context) as port:
        site.address = f"http{'s' if context else ''}://localhost:{port}"
        yield site


@contextmanager
def misbehaving() -> Iterator[str]:
    """Yield the address of a server whose first part of a path says how it misbehaves."""
    stop = threading.Event()

    class Handler(_Handler):
        def do_GET(self) -> None:
            self.close_connection = True
            with suppress(OSError):
                getattr(self, self.path.split("/")[1].partition("?")[0], self.status)()

        def head(self, status: int, **headers: object) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), str(value))
            self.send_header("Connection", "close")
            self.end_headers()

        def page(self, *links: str) -> None:
            text = "".join(f'<a href="{link}">x</a>' for link in links).encode()
            self.head(200, Content_Type="text/html", Content_Length=len(text))
            if self.command == "GET":
                self.wfile.write(text)

        def silent(self) -> None:
            stop.wait(60)

        def drip(self) -> None:
            self.head(200, Content_Length=1 << 20)
            while self.command == "GET" and not stop.wait(0.2):
                self.wfile.write(b" ")

        def loop(self) -> None:
            self.head(302, Location=self.path)

        def away(self) -> None:
            self.head(302, Location="file:///etc/passwd")

        def nest(self) -> None:
            self.page(f"{self.path.rstrip('/')}/deeper/")

        def self(self) -> None:
            self.page(self.path, "./", "a/../")

        def wide(self) -> None:
            self.page(*(f"{self.path.rstrip('/')}/{i}/" for i in range(300)))

        def endless(self) -> None:
            self.head(200, Content_Type="text/html")
            while self.command == "GET" and not stop.is_set():
                self.wfile.write(b'<a href="x.xml">x</a>' * 1000)

        def short(self) -> None:
            self.head(200, Content_Length=len(DOCUMENT) + 100)
            self.wfile.write(DOCUMENT if self.command == "GET" else b"")

        def long(self) -> None:
            self.head(200, Content_Length=1 << 60)
            self.wfile.write(DOCUMENT if self.command == "GET" else b"")

        def bomb(self) -> None:
            self.head(200, Content_Encoding="gzip", Content_Type="text/html")
            self.wfile.write(b"\x1f\x8b not gzip" if self.command == "GET" else b"")

        def reset(self) -> None:
            self.connection.close()

        def status(self) -> None:
            self.head(503)

        def junk(self) -> None:
            self.wfile.write(b"\x00\xff\r\n\r\n::error::junk\r\n")

    with _running(Handler) as port:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            stop.set()
