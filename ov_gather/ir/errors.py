"""A document cannot be read for one of the reasons in a closed list; an IRError says for which, and where."""

from __future__ import annotations

from enum import Enum

from ov_gather.ir.location import Location

NOWHERE = Location("", 0)


class Fault(Enum):
    """A Fault is a reason for which a document, or a part of it, cannot be read."""

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


class IRError(ValueError):
    """An IRError says why a document cannot be read, in which file, line and layer as far as known, and what would be right."""

    def __init__(self, fault: Fault, reason: str, location: Location = NOWHERE, hint: str = "") -> None:
        self.fault, self.reason, self.location, self.hint = fault, _shorten(reason), location, hint
        super().__init__(fault, reason)

    @property
    def path(self) -> str:
        """The error is in the .xml at this path, which is empty where the document was read from memory."""
        return self.location.path

    @property
    def line(self) -> int:
        """The error is on this line of the .xml, counted from 1. The line is 0 where none is known."""
        return self.location.line

    @property
    def layer(self) -> str:
        """The error is in the layer that this text describes for people. The text is empty where no layer is known."""
        return _shorten(self.location.layer_text)

    def __str__(self) -> str:
        place = f"{self.path or '<memory>'}:{self.line}" if self.line else self.path or "<memory>"
        layer = f"{self.layer}: " if self.layer else ""
        return f"{place}: {_escaped(layer + self.reason)}" + (f" ({self.hint})" if self.hint else "")


def _shorten(text: str) -> str:
    """Cut a text that a hostile document makes long."""
    return text if len(text) <= 300 else f"{text[:297]}..."


def _escaped(text: str) -> str:
    """Escape a text as `repr` does: whoever catches an exception prints it, and a name may hold what steers a terminal."""
    return text if text.isprintable() else repr(text)[1:-1]
