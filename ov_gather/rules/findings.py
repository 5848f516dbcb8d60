"""Findings, the results of validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from ov_gather.ir.location import Location
from ov_gather.rules.fixes import Fix
from ov_gather.system.tables import InNotebooks, TableList

if TYPE_CHECKING:
    from rich.table import Table


class Severity(Enum):
    """Severity of a finding, worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    def at_least(self, other: Severity) -> bool:
        """Return True if this severity is as bad as `other`, or worse."""
        order = list(Severity)
        return order.index(self) <= order.index(other)


@dataclass(frozen=True, slots=True, repr=False)
class Finding(InNotebooks):
    """One violation of a rule, with its severity, what is wrong, what would be right, and where.

    The fingerprint stays the same in other exports of the model, whose ids and lines may differ. `fix` repairs the document, if
    that is mechanical.
    """

    rule: str
    severity: Severity
    message: str
    hint: str
    location: Location
    fingerprint: str = field(default="", compare=False)
    fix: Fix | None = field(default=None, compare=False)

    @property
    def headline(self) -> str:
        """Severity, rule, place and message."""
        file, rule, layer, message, _ = Findings.row(self)
        return f"{rule} at {file}{layer and ', '}{layer}: {message}"

    def table(self) -> Table:
        """Return a table for `rich.print`: what is wrong, where, and what would be right."""
        return Findings([self]).table()


class Findings(TableList[Finding]):
    """A list of findings that a notebook shows as a table."""

    columns = ("place", "rule", "layer", "what is wrong", "what would be right")

    @staticmethod
    def row(entry: Finding) -> tuple[str, ...]:
        """Return place, rule, layer, message and hint."""
        place = entry.location
        file = f"{place.path}:{place.line}" if place.line else place.path
        return file, f"{entry.severity.value} {entry.rule}", place.layer_text, entry.message, entry.hint
