"""Read a whole IR (v10, v11) or a bare <layer> fragment; hostile input is refused."""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO

from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.gc_paused import paused_collection
from ov_gather.ir.model import Model
from ov_gather.ir.weights import Weights, check_constants
from ov_gather.ir.xml.parser import Parser

_OF_PAYLOADS = (Fault.NO_WEIGHTS, Fault.RANGE, Fault.CONST)

Source = str | os.PathLike[str] | bytes | IO[bytes]


@dataclass(frozen=True, slots=True)
class Document:
    """What could be read (None: nothing) and what was wrong with it. A `damaged` model lacks what could not be read."""

    model: Model | None
    problems: tuple[IRError, ...]

    @property
    def damaged(self) -> bool:
        """Whether parts of the XML could not be read. A payload that cannot be had does no damage to the model."""
        return any(problem.fault not in _OF_PAYLOADS for problem in self.problems)

    def with_constants_checked(self) -> Document:
        """The same document, with what is wrong with its constants now."""
        if self.model is None:
            return self
        others = (problem for problem in self.problems if problem.fault not in _OF_PAYLOADS)
        return Document(self.model, (*others, *check_constants(self.model)))


def read_ir(source: Source, weights: str | os.PathLike[str] | bytes | None = None) -> Model:
    """Read a whole IR (version 10 or 11), or a bare `<layer>` fragment.

    Args:
        source: path of the .xml, its bytes, or a binary file object.
        weights: path or bytes of the .bin; by default the file of the same stem beside the .xml. A value is read when needed.

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


@paused_collection()
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
    return document.with_constants_checked()


def _given(weights: str | os.PathLike[str] | bytes | None) -> Path | bytes | None:
    return Path(weights) if isinstance(weights, str | os.PathLike) else weights


def _parse(stream: IO[bytes], path: str, weights: Weights) -> Document:
    parser = Parser(path, weights)
    try:
        parser.run(stream)
    except IRError as fatal:
        return Document(None, (*parser.problems, fatal))
    return Document(parser.result, tuple(parser.problems))
