"""The XML of an IR, streamed: every element becomes its value when it closes.

Expat, because its line numbers hold in documents of any length and its depth has no limit but ours. A <dim> becomes an int, a
<port> a Port, a <layer> a Layer, so that only the path to the current element is open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import IO, Any
from xml.parsers import expat

from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.model import Edge, Element, Layer, Model, Port
from ov_gather.ir.numbers import parse_digits
from ov_gather.ir.shapes import BLANKS, MAX_DIMENSION, element_count
from ov_gather.ir.weights import Weights

MAX_DEPTH = 256
MAX_BYTES = 1 << 28
MAX_TOKEN = 1 << 20
MAX_VERBATIM = 1_000_000
CHUNK = 1 << 16  # small: expat goes on to the end of a chunk after an error
VERSIONS = ("10", "11")


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


class Parser:
    """Parses one document; `problems` are what it could pass over, `result` is what it made of the rest."""

    def __init__(self, path: str, weights: Weights) -> None:
        self.path, self.weights = path, weights
        self.problems: list[IRError] = []
        self.result: Model | None = None
        self.stack: list[_Open] = []
        self.verbatim = 0  # how many open elements are kept as they stand
        self.kept = 0  # how many there were in all
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype

    def run(self, stream: IO[bytes]) -> None:
        """Read to the end. Raises IRError where nothing more can be made of the document."""
        total = 0
        try:
            while chunk := stream.read(CHUNK):
                total += len(chunk)
                if total > MAX_BYTES:
                    raise self._error(Fault.LIMIT, f"the document is larger than {MAX_BYTES} bytes")
                self.parser.Parse(chunk)
                if total - self.parser.CurrentByteIndex > MAX_TOKEN:
                    raise self._error(Fault.LIMIT, f"a tag, an attribute or a comment is longer than {MAX_TOKEN} bytes")
            if total == 0:
                raise self._error(Fault.SYNTAX, "the file is empty")
            self.parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise self._syntax_error(error) from None
        except (LookupError, UnicodeError, ValueError) as error:
            if isinstance(error, IRError):
                raise
            raise self._error(Fault.SYNTAX, f"the declared encoding cannot be read: {error}") from None

    def _error(self, fault: Fault, reason: str, hint: str = "", *, line: int = 0, layer: str = "") -> IRError:
        line = line or self.parser.CurrentLineNumber
        return IRError(fault, reason, path=self.path, line=line, layer=layer or self._open_layer(), hint=hint)

    def _syntax_error(self, error: expat.ExpatError) -> IRError:
        reason = expat.errors.messages[error.code]
        hint = {
            expat.errors.XML_ERROR_NO_ELEMENTS: "is the file truncated, or not XML at all?",
            expat.errors.XML_ERROR_UNCLOSED_TOKEN: "is the file truncated?",
            expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT: "an IR ends with its root element",
            expat.errors.XML_ERROR_INVALID_TOKEN: "not XML here; or a NUL byte, invalid UTF-8, or a '...' placeholder "
            'that <layer type="..."> should replace',
        }.get(reason, "")
        return self._error(Fault.SYNTAX, f"not well-formed XML: {reason}, column {error.offset + 1}", hint, line=error.lineno)

    def _open_layer(self) -> str:
        layers = [element for element in self.stack if element.tag == "layer"]
        if not layers:
            return ""
        attributes = layers[-1].attributes
        return f"{attributes.get('type', 'layer')} '{attributes.get('name', '')}' (layer {attributes.get('id', '?')})"

    # ---- what expat calls

    def _doctype(self, *_: object) -> None:
        raise self._error(Fault.DOCTYPE, "a document type declaration is refused", "an IR has none; entities are not expanded")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        stack = self.stack
        if len(stack) == MAX_DEPTH:
            raise self._error(Fault.LIMIT, f"elements are nested deeper than {MAX_DEPTH}")
        parent = stack[-1].tag if stack else None
        if self.verbatim or (parent, tag) not in _BUILDERS:
            if parent is None:
                raise self._error(
                    Fault.ROOT, f"the root element is <{tag}>", "an IR starts with <net>, a fragment with <layer>"
                )
            self.verbatim += 1
            self.kept += 1
            if self.kept > MAX_VERBATIM:
                raise self._error(Fault.LIMIT, f"there are more than {MAX_VERBATIM} elements of rt_info and the like")
        stack.append(_Open(tag, attributes, self.parser.CurrentLineNumber))
        self.parser.CharacterDataHandler = stack[-1].text.append if tag == "dim" or self.verbatim else None

    def _end(self, tag: str) -> None:
        element = self.stack[-1]
        parent = self.stack[-2].tag if len(self.stack) > 1 else None
        if self.verbatim:
            self.verbatim -= 1
            value: Any = Element(tag, element.attributes, element.others(), "".join(element.text).strip(BLANKS), element.line)
        else:
            value = _BUILDERS[parent, tag](self, element)
        self.stack.pop()
        if self.stack:
            self.stack[-1].values.append((tag, value))
        else:
            self.result = value
        self.parser.CharacterDataHandler = None

    # ---- what an element becomes when it closes

    def _list_of_children(self, element: _Open) -> tuple[Any, ...]:
        self._refuse_others(element)
        return tuple(value for _, value in element.values if not isinstance(value, Element))

    def _net(self, element: _Open) -> Model:
        name, version = "", "11"  # a body has neither
        if element.tag == "net":
            name, version = element.attributes.get("name", ""), element.attributes.get("version", "")
            if version not in VERSIONS:
                raise self._error(Fault.VERSION, f"IR version '{version}' is unknown", "10 and 11 are known", line=element.line)
        return Model(
            layers=self._section(element, "layers", mandatory=True),
            edges=self._section(element, "edges"),
            name=name,
            version=int(version),
            tag=element.tag,
            sections=element.others(),
            line=element.line,
            path=self.path,
            weights=self.weights,
        )

    def _fragment(self, element: _Open) -> Model:
        element.attributes.setdefault("id", "0")
        element.attributes.setdefault("name", "")
        return Model((self._layer(element),), tag="layer", line=element.line, path=self.path, weights=self.weights)

    def _layer(self, element: _Open) -> Layer:
        attributes = dict(element.attributes)
        data = self._section(element, "data", default=_Open("data", {}, element.line))
        return Layer(
            id=self._number(element, attributes.pop("id", None), "id"),
            name=self._mandatory(element, attributes.pop("name", None), "name"),
            type=self._mandatory(element, attributes.pop("type", None), "type"),
            version=attributes.pop("version", None),
            attributes=data.attributes,
            inputs=self._section(element, "input"),
            outputs=self._section(element, "output"),
            extra=attributes,
            sections=element.others(),
            bodies=tuple(value for _, value in element.values if isinstance(value, Model)),
            line=element.line,
            data_line=data.line,
        )

    def _port(self, element: _Open) -> Port:
        attributes = dict(element.attributes)
        dims = element.all("dim")
        if element_count(dims) > MAX_DIMENSION:
            self.problems.append(
                self._error(Fault.LIMIT, f"dims {list(dims)} make more than 2^63-1 elements", line=element.line)
            )
            dims = (-1,) * len(dims)
        return Port(
            id=self._number(element, attributes.pop("id", None), "id"),
            dims=dims,
            precision=attributes.pop("precision", None),
            attributes=attributes,
            sections=element.others(),
            line=element.line,
        )

    def _dim(self, element: _Open) -> int:
        text = "".join(element.text).strip(BLANKS)
        return -1 if text == "-1" else self._number(element, text, "<dim>", instead=-1)

    def _edge(self, element: _Open) -> Edge:
        names = ("from-layer", "from-port", "to-layer", "to-port")
        from_layer, from_port, to_layer, to_port = (self._number(element, element.attributes.get(name), name) for name in names)
        return Edge(from_layer, from_port, to_layer, to_port, element.line)

    def _element_itself(self, element: _Open) -> _Open:
        self._refuse_others(element)
        return element

    def _refuse_others(self, element: _Open) -> None:
        for other in element.others():
            reason, hint = f"<{element.tag}> has a <{other.tag}>", "OpenVINO ignores it"
            self.problems.append(self._error(Fault.STRUCTURE, reason, hint, line=other.line))

    # ---- their parts

    def _section(self, element: _Open, tag: str, *, default: Any = (), mandatory: bool = False) -> Any:
        found = element.all(tag)
        if len(found) > 1 or (mandatory and not found):
            reason = f"<{element.tag}> has {len(found) or 'no'} <{tag}> sections"
            self.problems.append(self._error(Fault.STRUCTURE, reason, "exactly one is right", line=element.line))
        return found[0] if found else default

    def _mandatory(self, element: _Open, text: str | None, name: str) -> str:
        if text is None:
            reason = f"<{element.tag}> has no {name}"
            self.problems.append(self._error(Fault.STRUCTURE, reason, line=element.line))
        return text or ""

    def _number(self, element: _Open, text: str | None, name: str, instead: int = 0) -> int:
        if text is None:
            self._mandatory(element, text, name)
            return instead
        number = parse_digits(text)
        if number is not None and number <= MAX_DIMENSION:
            return number
        reason = f"{name} '{text[:40]}' is not a whole number from 0 to 2^63-1"
        hint = "a <dim> may also be -1: any size" if name == "<dim>" else ""
        self.problems.append(self._error(Fault.NUMBER, reason, hint, line=element.line))
        return instead


_BODIES = ("body", "then_body", "else_body")
_GRAPHS = ("net", *_BODIES)

_Builder = Callable[[Parser, _Open], Any]


def _builders(parents: Iterable[str | None], builders: Mapping[str, _Builder]) -> dict[tuple[str | None, str], _Builder]:
    return {(parent, tag): build for parent in parents for tag, build in builders.items()}


# What the reader interprets: (parent, element) -> what builds its value. Everything else is kept as it stands.
_BUILDERS: dict[tuple[str | None, str], _Builder] = (
    _builders([None], {"net": Parser._net, "layer": Parser._fragment})
    | _builders(_GRAPHS, {"layers": Parser._list_of_children, "edges": Parser._list_of_children})
    | _builders(["layers"], {"layer": Parser._layer})
    | _builders(["edges"], {"edge": Parser._edge})
    | _builders(["layer"], {"input": Parser._list_of_children, "output": Parser._list_of_children})
    | _builders(["layer"], {"data": Parser._element_itself})
    | _builders(["layer"], dict.fromkeys(_BODIES, Parser._net))
    | _builders(["input", "output"], {"port": Parser._port})
    | _builders(["port"], {"dim": Parser._dim})
)
