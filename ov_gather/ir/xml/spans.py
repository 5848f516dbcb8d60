"""Byte offsets of the elements of a document, for edits that leave all other bytes unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

_START_TAG = re.compile(rb"""<(?:[^<>"']|"[^"]*"|'[^']*')*>""")

_ATTRIBUTE = re.compile(rb"""(\s+)([^\s=]+)\s*=\s*("[^"]*"|'[^']*')""")


@dataclass(slots=True, eq=False)
class Span:
    """An element: its tag, attributes and children, and the offsets of its start tag, its content and its end tag."""

    tag: str
    attributes: dict[str, str]
    start: int
    inner: int
    end: int = 0
    children: list[Span] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[Span]:
        """Yield the children with a tag."""
        return (child for child in self.children if child.tag == tag)


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of the bytes from `start` to `end`."""

    start: int
    end: int
    content: bytes


def spans(document: bytes) -> Span:
    """Return the root element of a document. Raises ValueError unless it is well-formed and in UTF-8.

    Non-ASCII bytes under another declared encoding are refused even if they are valid UTF-8: an insertion would change meaning.
    """
    parser = expat.ParserCreate()
    found: list[Span] = []
    open_: list[Span] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        at = parser.CurrentByteIndex
        match = _START_TAG.match(document, at)
        if match is None:
            raise ValueError(f"the start tag of <{tag}> was not found in the bytes of the document")
        span = Span(tag, attributes, at, match.end())
        (open_[-1].children if open_ else found).append(span)
        open_.append(span)

    def end(tag: str) -> None:
        span = open_.pop()
        # For an element without content (<a/>), expat reports the start of its only tag as its end.
        span.end = max(parser.CurrentByteIndex, span.inner)

    def declaration(version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ("utf-8", "us-ascii") and not document.isascii():
            raise ValueError(f"the document is in {encoding}, not in UTF-8")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.XmlDeclHandler = declaration
    try:
        document.decode()
        parser.Parse(document, True)
    except expat.ExpatError as error:
        raise ValueError(str(error)) from None
    return found[0]


def with_attribute(document: bytes, span: Span, name: str, value: str | None) -> Edit:
    """Return the edit that sets an attribute of an element, or removes it if the value is None."""
    tag = document[span.start : span.inner]
    match = next((match for match in _ATTRIBUTE.finditer(tag, 1 + len(span.tag.encode())) if match[2] == name.encode()), None)
    text = b"" if value is None else b"%s=%s" % (name.encode(), quoteattr(value).encode())
    if match is None:
        at = span.start + 1 + len(span.tag.encode())
        return Edit(at, at, b" " + text if text else b"")
    return Edit(span.start + match.start(), span.start + match.end(), match[1] + text if text else b"")


def with_dims(document: bytes, port: Span, dims: tuple[int, ...]) -> Edit:
    """Return the edit that sets the dims of a port, laid out like its first dim."""
    old = list(port.all("dim"))
    first, last = (old[0], old[-1]) if old else (None, None)
    start = first.start if first else port.inner
    end = last.end + len("</dim>") if last else port.inner
    if first is None and document[port.start : port.inner].endswith(b"/>"):
        raise ValueError("a port without content has no place for dims")
    before = start
    while document[before - 1 : before].isspace():
        before -= 1
    between = document[before:start] if first else b""
    return Edit(start, end, between.join(b"<dim>%d</dim>" % dim for dim in dims))


def edited(document: bytes, edits: list[Edit]) -> bytes:
    """Apply the edits to the document. Raises ValueError if two of them overlap."""
    parts, done = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < done:
            raise ValueError("two changes meet in one place")
        parts += [document[done : edit.start], edit.content]
        done = edit.end
    return b"".join([*parts, document[done:]])
