"""A server on loopback that misbehaves: it is silent, drips, sends others away, lies about sizes, or lists without end."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from helpers.paths import SAMPLES
from helpers.web_server import QuietHandler, listening

DOCUMENT = (SAMPLES / "valid" / "spec_layer.xml").read_bytes()
BEHAVIOURS = (
    *("silent", "drip", "loop", "away", "nest", "self", "wide"),
    *("endless", "short", "long", "bomb", "reset", "status", "junk"),
)


@contextmanager
def misbehaving() -> Iterator[str]:
    """Yield the address of a server whose first part of a path says how it misbehaves."""
    stop = threading.Event()

    class Handler(QuietHandler):
        def do_HEAD(self) -> None:  # noqa: N802 - as the base class calls it
            self.do_GET()

        def do_GET(self) -> None:  # noqa: N802 - as the base class calls it
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

    with listening(Handler) as port:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            stop.set()
