"""For editors and grep: one line a finding."""

from __future__ import annotations

from ov_gather.report.findings.base import Report
from ov_gather.report.findings.text import first_line, statistics


def render(report: Report) -> str:
    """As text, without the hints."""
    return "\n".join((*map(first_line, report.findings), *statistics(report), report.summary, ""))
