"""Report of `ov-gather diff` as annotations of GitHub Actions."""

from __future__ import annotations

from ov_gather.ir.differences.changes import Differences, IRChange
from ov_gather.report.diff.text import summary
from ov_gather.report.github import annotation
from ov_gather.system.tables import printable


def render(a: str, b: str, found: Differences) -> str:
    """Return one error per change, at the layer of B; at that of A if it was removed; then the summary."""
    return "\n".join((*(_command(a, b, change) for change in found.changes), printable(summary(found)), ""))


def _command(a: str, b: str, change: IRChange) -> str:
    path, place = (b, change.b) if change.b else (a, change.a)
    return annotation("error", path, place.line if place else 0, f"{change.kind} {change.what}".rstrip(), str(change))
