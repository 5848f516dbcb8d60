"""Concise report of `ov-gather validate`, for editors and grep: one line per finding."""

from __future__ import annotations

from ov_gather.report.findings import Report
from ov_gather.report.findings.text import first_line, statistics, suppressed


def render(report: Report) -> str:
    """Return the text report without hints."""
    return "\n".join((*map(first_line, report.findings), *suppressed(report), *statistics(report), report.summary, ""))
