"""Report of `ov-gather validate` as annotations of GitHub Actions."""

from __future__ import annotations

from collections.abc import Mapping

from ov_gather.report.findings import Report
from ov_gather.report.findings.text import statistics
from ov_gather.report.github import Level, annotation
from ov_gather.report.places import message_text
from ov_gather.rules.findings import Finding, Severity

_LEVEL: Mapping[Severity, Level] = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report) -> str:
    """Return one command per finding, then the statistics and the summary for readers of the log."""
    return "\n".join((*map(command, report.findings), *statistics(report), report.summary, ""))


def command(finding: Finding) -> str:
    """Return the command for one finding."""
    place = finding.location
    return annotation(_LEVEL[finding.severity], place.path, place.line, finding.rule, message_text(finding), finding.hint)
