"""IRError, and the closed list of reasons for which a document cannot be read."""

from __future__ import annotations

from enum import Enum

from ov_gather.ir.location import Location
from ov_gather.system.tables import shortened

NOWHERE = Location("", 0)
_LONGEST = 300
"""Longest part of a message, in characters."""


class Fault(Enum):
    """A reason for which a document, or a part of it, cannot be read."""

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
    """A document cannot be read: the reason, the file, line and layer if known, and a hint at what would be right."""

    def __init__(self, fault: Fault, reason: str, location: Location = NOWHERE, hint: str = "") -> None:
        self.fault, self.reason, self.location, self.hint = fault, shortened(reason, _LONGEST), location, hint
        super().__init__(fault, reason)

    @property
    def path(self) -> str:
        """Path of the .xml; empty if the document was read from memory."""
        return self.location.path

    @property
    def line(self) -> int:
        """Line of the .xml, counted from 1; 0 if unknown."""
        return self.location.line

    @property
    def layer(self) -> str:
        """The layer, as a text for people; empty if unknown."""
        return shortened(self.location.layer_text, _LONGEST)

    def __str__(self) -> str:
        place = f"{self.path or '<memory>'}:{self.line}" if self.line else self.path or "<memory>"
        layer = f"{self.layer}: " if self.layer else ""
        return f"{place}: {_escaped(layer + self.reason)}" + (f" ({self.hint})" if self.hint else "")


def _escaped(text: str) -> str:
    """Escape a text like `repr`: the exception may be printed, and a name may hold terminal control sequences."""
    return text if text.isprintable() else repr(text)[1:-1]
