"""Reader of a whole IR (v10, v11) or a bare <layer> fragment, which refuses hostile input."""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast

from ov_gather.ir.constants import check_constants
from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.gc_paused import paused_collection
from ov_gather.ir.model import Model
from ov_gather.ir.urls import RemoteWeights, fetched, url_of
from ov_gather.ir.weights import Weights
from ov_gather.ir.xml.parser import Parser
from ov_gather.system import logs

_OF_PAYLOADS = (Fault.NO_WEIGHTS, Fault.RANGE, Fault.CONST)

if TYPE_CHECKING:
    import openvino
    from lxml import etree

Source: TypeAlias = "str | os.PathLike[str] | bytes | IO[bytes] | etree._Element | etree._ElementTree | openvino.Model"
WeightsSource: TypeAlias = "str | os.PathLike[str] | bytes | Weights | None"


@dataclass(frozen=True, slots=True)
class Document:
    """The model, or the part that could be read, or None; and the problems. A `damaged` model lacks some parts."""

    model: Model | None
    problems: tuple[IRError, ...]

    @property
    def damaged(self) -> bool:
        """True if parts of the XML could not be read. An unreadable payload does not count."""
        return any(problem.fault not in _OF_PAYLOADS for problem in self.problems)

    def with_constants_checked(self) -> Document:
        """Return the document with its constants checked again."""
        if self.model is None:
            return self
        others = (problem for problem in self.problems if problem.fault not in _OF_PAYLOADS)
        return Document(self.model, (*others, *check_constants(self.model)))


def read_ir(source: Source, weights: WeightsSource = None) -> Model:
    """Read a whole IR (version 10 or 11), or a bare `<layer>` fragment.

    Args:
        source: path or URL of the .xml, its bytes, a binary file object, an lxml element or tree, or an `openvino.Model`. An
            element or a Model is serialized first, and line numbers refer to that text.
        weights: path, URL or bytes of the .bin, or Weights; by default the file of the same stem beside the .xml, or beside the
            file that lxml has read the element from. Values are read on demand.

    Returns:
        The Model.

    Raises:
        IRError: the document is not well-formed, not an IR, or hostile, lacks a mandatory part, has a malformed number, or has
            a Const that its .bin does not hold.
        OSError: the .xml cannot be opened.
        TypeError: `source` is none of these kinds.

    Source: OpenVINO IR v10 and v11.
    """
    document = read_document(source, weights)
    if document.problems or document.model is None:
        raise document.problems[0]
    return document.model


@paused_collection()
def read_document(source: Source, weights: WeightsSource = None) -> Document:
    """Read what can be read, and collect errors instead of raising them. Raises OSError, TypeError as `read_ir` does."""
    path = path_of(source)
    if url := url_of(source):
        content, beside = fetched(url)
        document = _parse(BytesIO(content), path, beside if weights is None else _weights("", weights))
    elif isinstance(source, str | os.PathLike):
        with Path(path).open("rb") as file:
            document = _parse(file, str(Path(path)), _weights(path, weights))
    elif isinstance(source, bytes | bytearray | memoryview):
        document = _parse(BytesIO(source), path, _weights("", weights))
    elif _is_openvino_model(source):
        text, payloads = _serialized(source)
        document = _parse(BytesIO(text), path, _weights("", payloads if weights is None else weights))
    elif hasattr(source, "read"):
        document = _parse(cast(IO[bytes], source), path, _weights("", weights))
    else:
        document = _parse(BytesIO(_text(source)), path, _weights(path, weights))
    logs.debug("ir", "%s: read, problems: %d", path or "a document in memory", len(document.problems))
    return document.with_constants_checked()


def path_of(source: Source) -> str:
    """Return the path of the .xml that `source` is or came from; empty if unknown."""
    if url := url_of(source):
        return str(url)
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    if hasattr(source, "docinfo"):
        return source.docinfo.URL or ""
    if hasattr(source, "getroottree"):
        return source.getroottree().docinfo.URL or ""
    return str(getattr(source, "name", ""))


def _is_openvino_model(source: Any) -> bool:
    """Return True if `source` is an `openvino.Model`, without importing OpenVINO."""
    return type(source).__name__ == "Model" and type(source).__module__.startswith("openvino")


def _serialized(model: Any) -> tuple[bytes, bytes]:
    """Return the bytes of the .xml and the .bin that OpenVINO writes for an `openvino.Model`."""
    import openvino

    with TemporaryDirectory(prefix="ov-gather-") as directory:
        path = Path(directory, "model.xml")
        openvino.serialize(model, path, path.with_suffix(".bin"))
        return path.read_bytes(), path.with_suffix(".bin").read_bytes()


def _text(source: Any) -> bytes:
    from lxml import etree

    try:
        return etree.tostring(source, encoding="utf-8", with_tail=False)
    except TypeError:
        kinds = "a path, bytes, a binary file object, an lxml element or tree, or an openvino.Model"
        raise TypeError(f"an IR is read from {kinds}, not from {type(source).__name__}") from None


def _weights(path: str, given: WeightsSource) -> Weights:
    """Return the given .bin, by default the one beside the .xml."""
    if isinstance(given, Weights):
        return given
    if given is None and (document := url_of(path)):
        return RemoteWeights(document.with_suffix(".bin"))
    if url := url_of(given):
        return RemoteWeights(url)
    if given is None:
        return Weights(Path(path).with_suffix(".bin") if path else None)
    return Weights(Path(given) if isinstance(given, str | os.PathLike) else given)


def _parse(stream: IO[bytes], path: str, weights: Weights) -> Document:
    parser = Parser(path, weights)
    try:
        parser.run(stream)
    except IRError as fatal:
        return Document(None, (*parser.problems, fatal))
    return Document(parser.result, tuple(parser.problems))
