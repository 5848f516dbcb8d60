"""Streaming parser of an IR: only the path to the current element is open.

Expat parses, because its line numbers are right in documents of any length and its depth is limited only by us. Canonical
layers and edges, which are most of nearly every document, are parsed by regular expressions; expat gets blanks instead.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import IO
from xml.parsers import expat

from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.model import Model
from ov_gather.ir.weights import Weights
from ov_gather.ir.xml.canonical import LAYER_DEPTH, read_edges, read_layers
from ov_gather.ir.xml.elements import BUILD, ElementBuilder, OpenElement
from ov_gather.system.kinds import IR, LFS_ADVICE, LFS_POINTER, LFS_REASON, kind_of

MAX_DEPTH = 256
MAX_BYTES = 1 << 28
MAX_TOKEN = 1 << 20
MAX_VERBATIM = 1_000_000
CHUNK = 1 << 16  # small, because expat parses a chunk to its end even after an error

_GAP = re.compile("<layers>|</layer>|<edges>")
"""Tags after which canonical layers or edges may follow."""


class Parser(ElementBuilder):
    """Parser of one document. `problems` are the errors from which it recovered; `result` is the model."""

    def __init__(self, path: str, weights: Weights) -> None:
        super().__init__(path, weights)
        self.result: Model | None = None
        self.verbatim = 0  # number of open elements that are kept verbatim
        self.kept = 0  # number of elements kept verbatim so far
        self.fed = 0  # bytes fed to expat
        self.gap_tag = -1  # offset of the last tag that opened <layers> or <edges> or closed a <layer>
        self.in_gap = False  # whether the position is behind such a tag, or behind a canonical layer or edge
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end

    def run(self, stream: IO[bytes]) -> None:
        """Parse a document to its end; call it once. Raises IRError if the parser cannot continue."""
        total, rest = 0, b""
        try:
            while chunk := stream.read(CHUNK):
                if not total and chunk.startswith(LFS_POINTER):
                    raise self._fatal(Fault.SYNTAX, LFS_REASON, LFS_ADVICE)
                total += len(chunk)
                if total > MAX_BYTES:
                    raise self._fatal(Fault.LIMIT, f"the document is larger than {MAX_BYTES} bytes")
                rest = self._parse(rest + chunk, len(chunk))
                if self.fed + len(rest) - self.parser.CurrentByteIndex > MAX_TOKEN:
                    raise self._fatal(Fault.LIMIT, f"a tag, an attribute or a comment is longer than {MAX_TOKEN} bytes")
            if total == 0:
                raise self._fatal(Fault.SYNTAX, "the file is empty")
            self._parse(rest, 0)
            self.parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise self._syntax_error(error) from None
        except (LookupError, UnicodeError, ValueError) as error:
            if isinstance(error, IRError):
                raise
            raise self._fatal(Fault.SYNTAX, f"the declared encoding cannot be read: {error}") from None
        finally:
            del self.parser  # break the cycle of expat and its handlers, which would keep the model alive until a collection

    def _parse(self, data: bytes, added: int) -> bytes:
        """Parse `data`, and return the unparsed rest, which may be the beginning of a canonical element.

        The rest is shorter than `added`, the number of new bytes in `data`, so no text is scanned more than twice.
        """
        # Decode each byte to one character: canonical elements are ASCII, which UTF-8 and expat's single-byte encodings share.
        text = data.decode("latin-1")
        position = 0
        while position < len(data):
            if self.in_gap:
                position = self._canonical(text, position)
            gap = _GAP.search(text, position)
            if self.in_gap and gap is None and len(data) - position < added:
                break
            end = gap.end() if gap else len(data)
            gap_tag = self.fed + gap.start() - position if gap else -1
            self._feed(data[position:end])
            # The match may lie in a comment: it counts only if expat saw a tag there.
            self.in_gap = gap is not None and self.gap_tag == gap_tag
            position = end
        return data[position:]

    def _canonical(self, text: str, start: int) -> int:
        """Parse the canonical layers or edges that follow; return the position behind them."""
        parent = self.stack[-1]
        tag, read = ("layer", read_layers) if parent.tag == "layers" else ("edge", read_edges)
        values, end, verbatim = read(text, start, self.parser.CurrentLineNumber)
        if len(self.stack) + LAYER_DEPTH > MAX_DEPTH or self.kept + verbatim > MAX_VERBATIM:
            return start
        self.kept += verbatim
        parent.values.setdefault(tag, []).extend(values)
        if values:
            # They are well-formed. Feed as many line breaks and blanks, so that expat's later positions stay right.
            self._feed(b"\n" * text.count("\n", start, end) + b" " * (end - 1 - text.rindex("\n", start, end)))
        return end

    def _feed(self, data: bytes) -> None:
        self.parser.Parse(data)
        self.fed += len(data)

    def _fatal(self, fault: Fault, reason: str, hint: str = "") -> IRError:
        return self.error(fault, reason, hint, self.parser.CurrentLineNumber)

    def _syntax_error(self, error: expat.ExpatError) -> IRError:
        reason = expat.errors.messages[error.code]
        hint = {
            expat.errors.XML_ERROR_NO_ELEMENTS: "is the file truncated, or not XML at all?",
            expat.errors.XML_ERROR_UNCLOSED_TOKEN: "is the file truncated?",
            expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT: "an IR ends with its root element",
            expat.errors.XML_ERROR_INVALID_TOKEN: "not XML here; or a NUL byte, invalid UTF-8, or a '...' placeholder "
            'that <layer type="..."> should replace',
        }.get(reason, "")
        kind = kind_of(PurePath(self.path))
        if kind is not None and kind is not IR:
            return self.error(Fault.SYNTAX, f"this is {kind.name}, no IR", kind.advice, error.lineno)
        return self.error(Fault.SYNTAX, f"not well-formed XML: {reason}, column {error.offset + 1}", hint, error.lineno)

    # ---- handlers of expat

    def _doctype(self, *_: object) -> None:
        raise self._fatal(Fault.DOCTYPE, "a document type declaration is refused", "an IR has none; entities are not expanded")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        stack = self.stack
        if len(stack) == MAX_DEPTH:
            raise self._fatal(Fault.LIMIT, f"elements are nested deeper than {MAX_DEPTH}")
        parent = stack[-1].tag if stack else None
        build = None if self.verbatim else BUILD.get(parent, {}).get(tag)
        if build is None:
            if parent is None:
                hint = "an IR starts with <net>, a fragment with <layer>"
                raise self._fatal(Fault.ROOT, f"the root element is <{tag}>", hint)
            self.verbatim += 1
            self.kept += 1
            if self.kept > MAX_VERBATIM:
                raise self._fatal(Fault.LIMIT, f"there are more than {MAX_VERBATIM} elements of rt_info and the like")
        elif tag in ("layers", "edges"):
            self.gap_tag = self.parser.CurrentByteIndex
        stack.append(OpenElement(tag, attributes, self.parser.CurrentLineNumber, build))
        self.parser.CharacterDataHandler = stack[-1].text.append if tag == "dim" or build is None else None

    def _end(self, tag: str) -> None:
        stack = self.stack
        element = stack[-1]
        if element.build is None:
            stack[-2].others.append(element.verbatim())
            self.verbatim -= 1
        elif len(stack) == 1:
            self.result = element.build(self, element)
        else:
            stack[-2].values.setdefault(tag, []).append(element.build(self, element))
            if tag == "layer":
                self.gap_tag = self.parser.CurrentByteIndex
        stack.pop()
        self.parser.CharacterDataHandler = None
