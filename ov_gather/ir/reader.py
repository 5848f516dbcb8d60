"""XML to Model: a whole IR (v10, v11) or a bare <layer> fragment. Hostile input is refused.

Expat, because its line numbers hold in documents of any length and its depth has no limit but ours. Every element becomes its
value when it closes: a <dim> an int, a <port> a Port, a <layer> a Layer, so that only the path to the current element is open.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.model import Edge, Element, Layer, Model, Port
from ov_gather.ir.shapes import BLANKS, MAX_DIMENSION, element_count
from ov_gather.ir.weights import Weights, check_constants

MAX_DEPTH = 256
MAX_BYTES = 1 << 28
MAX_TOKEN = 1 << 20
MAX_VERBATIM = 1_000_000
CHUNK = 1 << 16  # small: expat goes on to the end of a chunk after an error
VERSIONS = ("10", "11")

Source = str | os.PathLike[str] | bytes | IO[bytes]


@dataclass(frozen=True, slots=True)
class Document:
    """What could be read (None: nothing) and what was wrong with it. A `damaged` model lacks what could not be read."""

    model: Model | None
    problems: tuple[IRError, ...]

    @property
    def damaged(self) -> bool:
        """Whether parts of the XML could not be read. A payload that cannot be had does no damage to the model."""
        return any(problem.fault not in (Fault.NO_WEIGHTS, Fault.RANGE, Fault.CONST) for problem in self.problems)


def read_ir(source: Source, weights: str | os.PathLike[str] | bytes | None = None) -> Model:
    """Read a whole IR (version 10 or 11), or a bare `<layer>` fragment.

    Args:
        source: path of the .xml, its bytes, or a binary file object.
        weights: path or bytes of the .bin; by default the file of the same stem beside the .xml. It is mapped, not loaded.

    Raises:
        IRError: the document is not well-formed, not an IR, hostile, misses a mandatory part, has a malformed number, or has a
            Const that its .bin does not hold.
        OSError: the .xml cannot be opened.

    Source: OpenVINO IR v10 and v11.
    """
    document = read_document(source, weights)
    if document.problems or document.model is None:
        raise document.problems[0]
    return document.model


def read_document(source: Source, weights: str | os.PathLike[str] | bytes | None = None) -> Document:
    """Read as much as can be read, and collect what is wrong instead of raising it. Raises OSError only."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        with path.open("rb") as file:
            beside = path.with_suffix(".bin")
            document = _parse(file, str(path), Weights(beside if weights is None else _given(weights)))
    else:
        stream = BytesIO(source) if isinstance(source, bytes | bytearray | memoryview) else source
        document = _parse(stream, str(getattr(source, "name", "")), Weights(_given(weights)))
    if document.model is None:
        return document
    return Document(document.model, (*document.problems, *check_constants(document.model)))


def _given(weights: str | os.PathLike[str] | bytes | None) -> Path | bytes | None:
    return Path(weights) if isinstance(weights, str | os.PathLike) else weights


def _parse(stream: IO[bytes], path: str, weights: Weights) -> Document:
    reader = _Reader(path, weights)
    try:
        reader.run(stream)
    except IRError as fatal:
        return Document(None, (*reader.problems, fatal))
    return Document(reader.result, tuple(reader.problems))


@dataclass(slots=True)
class _Open:
    """An element whose end has not come yet."""

    tag: str
    attributes: dict[str, str]
    line: int
    values: list[tuple[str, Any]] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def all(self, tag: str) -> tuple[Any, ...]:
        """The values of its closed children of this name."""
        return tuple(value for name, value in self.values if name == tag)

    def others(self) -> tuple[Element, ...]:
        return tuple(value for _, value in self.values if isinstance(value, Element))


class _Reader:
    def __init__(self, path: str, weights: Weights) -> None:
        self.path, self.weights = path, weights
        self.problems: list[IRError] = []
        self.result: Model | None = None
        self.stack: list[_Open] = []
        self.verbatim = 0  # how many open elements are kept as they stand
        self.kept = 0  # how many there were in all
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.StartDoctypeDeclHandler = self.doctype

    def run(self, stream: IO[bytes]) -> None:
        total = 0
        try:
            while chunk := stream.read(CHUNK):
                total += len(chunk)
                if total > MAX_BYTES:
                    raise self.error(Fault.LIMIT, f"the document is larger than {MAX_BYTES} bytes")
                self.parser.Parse(chunk)
                if total - self.parser.CurrentByteIndex > MAX_TOKEN:
                    raise self.error(Fault.LIMIT, f"a tag, an attribute or a comment is longer than {MAX_TOKEN} bytes")
            if total == 0:
                raise self.error(Fault.SYNTAX, "the file is empty")
            self.parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise self.syntax_error(error) from None
        except (LookupError, UnicodeError, ValueError) as error:
            if isinstance(error, IRError):
                raise
            raise self.error(Fault.SYNTAX, f"the declared encoding cannot be read: {error}") from None

    def error(self, fault: Fault, reason: str, hint: str = "", *, line: int = 0, layer: str = "") -> IRError:
        line = line or self.parser.CurrentLineNumber
        return IRError(fault, reason, path=self.path, line=line, layer=layer or self.open_layer(), hint=hint)

    def syntax_error(self, error: expat.ExpatError) -> IRError:
        reason = expat.errors.messages[error.code]
        hint = {
            expat.errors.XML_ERROR_NO_ELEMENTS: "is the file truncated, or not XML at all?",
            expat.errors.XML_ERROR_UNCLOSED_TOKEN: "is the file truncated?",
            expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT: "an IR ends with its root element",
            expat.errors.XML_ERROR_INVALID_TOKEN: "not XML here; or a NUL byte, invalid UTF-8, or a '...' placeholder "
            'that <layer type="..."> should replace',
        }.get(reason, "")
        return self.error(Fault.SYNTAX, f"not well-formed XML: {reason}, column {error.offset + 1}", hint, line=error.lineno)

    def open_layer(self) -> str:
        layers = [element for element in self.stack if element.tag == "layer"]
        if not layers:
            return ""
        attributes = layers[-1].attributes
        return f"{attributes.get('type', 'layer')} '{attributes.get('name', '')}' (layer {attributes.get('id', '?')})"

    # ---- what expat calls

    def doctype(self, *_: object) -> None:
        raise self.error(Fault.DOCTYPE, "a document type declaration is refused", "an IR has none; entities are not expanded")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        stack = self.stack
        if len(stack) == MAX_DEPTH:
            raise self.error(Fault.LIMIT, f"elements are nested deeper than {MAX_DEPTH}")
        parent = stack[-1].tag if stack else None
        if self.verbatim or (parent, tag) not in _BUILDERS:
            if parent is None:
                raise self.error(Fault.ROOT, f"the root element is <{tag}>", "an IR starts with <net>, a fragment with <layer>")
            self.verbatim += 1
            self.kept += 1
            if self.kept > MAX_VERBATIM:
                raise self.error(Fault.LIMIT, f"there are more than {MAX_VERBATIM} elements of rt_info and the like")
        stack.append(_Open(tag, attributes, self.parser.CurrentLineNumber))
        self.parser.CharacterDataHandler = stack[-1].text.append if tag == "dim" or self.verbatim else None

    def end(self, tag: str) -> None:
        element = self.stack[-1]
        parent = self.stack[-2].tag if len(self.stack) > 1 else None
        if self.verbatim:
            self.verbatim -= 1
            value: Any = Element(tag, element.attributes, element.others(), "".join(element.text).strip(), element.line)
        else:
            value = _BUILDERS[parent, tag](self, element)
        self.stack.pop()
        if self.stack:
            self.stack[-1].values.append((tag, value))
        else:
            self.result = value
        self.parser.CharacterDataHandler = None

    # ---- what an element becomes when it closes

    def list_of_children(self, element: _Open) -> tuple[Any, ...]:
        return tuple(value for _, value in element.values if not isinstance(value, Element))

    def net(self, element: _Open) -> Model:
        name, version = "", "11"  # a body has neither
        if element.tag == "net":
            name, version = element.attributes.get("name", ""), element.attributes.get("version", "")
            if version not in VERSIONS:
                raise self.error(Fault.VERSION, f"IR version '{version}' is unknown", "10 and 11 are known", line=element.line)
        return Model(
            layers=self.section(element, "layers", mandatory=True),
            edges=self.section(element, "edges"),
            name=name,
            version=int(version),
            tag=element.tag,
            sections=element.others(),
            line=element.line,
            path=self.path,
            weights=self.weights,
        )

    def fragment(self, element: _Open) -> Model:
        element.attributes.setdefault("id", "0")
        element.attributes.setdefault("name", "")
        return Model((self.layer(element),), tag="layer", line=element.line, path=self.path, weights=self.weights)

    def layer(self, element: _Open) -> Layer:
        attributes = dict(element.attributes)
        data = self.section(element, "data", default=_Open("data", {}, element.line))
        return Layer(
            id=self.number(element, attributes.pop("id", None), "id"),
            name=self.mandatory(element, attributes.pop("name", None), "name"),
            type=self.mandatory(element, attributes.pop("type", None), "type"),
            version=attributes.pop("version", None),
            attributes=data.attributes,
            inputs=self.section(element, "input"),
            outputs=self.section(element, "output"),
            extra=attributes,
            sections=element.others(),
            bodies=tuple(value for _, value in element.values if isinstance(value, Model)),
            line=element.line,
            data_line=data.line,
        )

    def port(self, element: _Open) -> Port:
        attributes = dict(element.attributes)
        dims = element.all("dim")
        if element_count(dims) > MAX_DIMENSION:
            self.problems.append(
                self.error(Fault.LIMIT, f"dims {list(dims)} make more than 2^63-1 elements", line=element.line)
            )
            dims = (-1,) * len(dims)
        return Port(
            id=self.number(element, attributes.pop("id", None), "id"),
            dims=dims,
            precision=attributes.pop("precision", None),
            attributes=attributes,
            sections=element.others(),
            line=element.line,
        )

    def dim(self, element: _Open) -> int:
        text = "".join(element.text).strip(BLANKS)
        return -1 if text == "-1" else self.number(element, text, "<dim>", instead=-1)

    def edge(self, element: _Open) -> Edge:
        names = ("from-layer", "from-port", "to-layer", "to-port")
        ends = (self.number(element, element.attributes.get(name), name) for name in names)
        from_layer, from_port, to_layer, to_port = ends
        return Edge(from_layer, from_port, to_layer, to_port, element.line)

    def element_itself(self, element: _Open) -> _Open:
        return element

    # ---- their parts

    def section(self, element: _Open, tag: str, *, default: Any = (), mandatory: bool = False) -> Any:
        found = element.all(tag)
        if len(found) > 1 or (mandatory and not found):
            reason = f"<{element.tag}> has {len(found) or 'no'} <{tag}> sections"
            self.problems.append(self.error(Fault.STRUCTURE, reason, "exactly one is right", line=element.line))
        return found[0] if found else default

    def mandatory(self, element: _Open, text: str | None, name: str) -> str:
        if text is None:
            reason = f"<{element.tag}> has no {name}"
            self.problems.append(self.error(Fault.STRUCTURE, reason, line=element.line))
        return text or ""

    def number(self, element: _Open, text: str | None, name: str, instead: int = 0) -> int:
        if text is None:
            self.mandatory(element, text, name)
            return instead
        if text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= MAX_DIMENSION:
            return int(text)
        reason = f"{name} '{text[:40]}' is not a whole number from 0 to 2^63-1"
        hint = "a <dim> may also be -1: any size" if name == "<dim>" else ""
        self.problems.append(self.error(Fault.NUMBER, reason, hint, line=element.line))
        return instead


_BODIES = ("body", "then_body", "else_body")
_GRAPHS = ("net", *_BODIES)

_Builder = Callable[[_Reader, _Open], Any]


def _builders(parents: Iterable[str | None], builders: Mapping[str, _Builder]) -> dict[tuple[str | None, str], _Builder]:
    return {(parent, tag): build for parent in parents for tag, build in builders.items()}


# What the reader interprets: (parent, element) -> what builds its value. Everything else is kept as it stands.
_BUILDERS: dict[tuple[str | None, str], _Builder] = (
    _builders([None], {"net": _Reader.net, "layer": _Reader.fragment})
    | _builders(_GRAPHS, {"layers": _Reader.list_of_children, "edges": _Reader.list_of_children})
    | _builders(["layers"], {"layer": _Reader.layer})
    | _builders(["edges"], {"edge": _Reader.edge})
    | _builders(["layer"], {"input": _Reader.list_of_children, "output": _Reader.list_of_children})
    | _builders(["layer"], {"data": _Reader.element_itself})
    | _builders(["layer"], dict.fromkeys(_BODIES, _Reader.net))
    | _builders(["input", "output"], {"port": _Reader.port})
    | _builders(["port"], {"dim": _Reader.dim})
)
