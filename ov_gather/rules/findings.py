"""Finding: one violation of a rule, with its place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ov_gather.ir.location import Location


class Severity(Enum):
    """How bad a finding is. Worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    def at_least(self, other: Severity) -> bool:
        """Whether this is as bad as `other`, or worse."""
        order = list(Severity)
        return order.index(self) <= order.index(other)


@dataclass(frozen=True, slots=True)
class Finding:
    """What rule is violated, where, how, and what would be right."""

    rule: str
    severity: Severity
    message: str
    hint: str
    location: Location
