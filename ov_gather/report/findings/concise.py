"""`ov-gather validate` for editors and grep: one line for each finding."""

from __future__ import annotations

from ov_gather.report.findings.report import Report
from ov_gather.report.findings.text import first_line, statistics, suppressed


def render(report: Report) -> str:
    """Return the report as the format "text" has it, without the hints."""
    return "\n".join((*map(first_line, report.findings), *suppressed(report), *statistics(report), report.summary, ""))
