"""The closed list of ways in which a document cannot be read."""

from __future__ import annotations

from enum import Enum


class Fault(Enum):
    """Why a document, or a part of it, cannot be read."""

    FILE = "a file that cannot be opened"
    SYNTAX = "not well-formed XML"
    DOCTYPE = "document type declaration or entities"
    ROOT = "not an OpenVINO IR"
    VERSION = "unknown IR version"
    LIMIT = "beyond the limits of the reader"
    STRUCTURE = "mandatory part missing or given twice"
    NUMBER = "malformed number"
    NO_WEIGHTS = "missing .bin"
    RANGE = "a payload outside the .bin"
    CONST = "a Const whose attributes or payload are malformed"
    CHECK = "a check that did not come to its end"


def printable(text: str) -> str:
    """A name or text from a document, on one line and without control characters."""
    return text if text.isprintable() else "".join(it if it.isprintable() else repr(it)[1:-1] for it in text)


def _shorten(text: str) -> str:
    """Hostile names are long."""
    return printable(text if len(text) <= 300 else f"{text[:297]}...")


class IRError(ValueError):
    """A document that cannot be read, with its file, line and layer where known."""

    def __init__(self, fault: Fault, reason: str, *, path: str = "", line: int = 0, layer: str = "", hint: str = "") -> None:
        self.fault, self.reason, self.hint = fault, _shorten(reason), hint
        self.path, self.line, self.layer = path, line, _shorten(layer)
        super().__init__(fault, reason)

    def __str__(self) -> str:
        place = f"{self.path or '<memory>'}:{self.line}" if self.line else self.path or "<memory>"
        layer = f"{self.layer}: " if self.layer else ""
        return f"{place}: {layer}{self.reason}" + (f" ({self.hint})" if self.hint else "")
