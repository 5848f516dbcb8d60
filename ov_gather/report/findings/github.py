"""Report of `ov-gather validate` as workflow commands of GitHub Actions, which become annotations on changed files."""

from __future__ import annotations

from ov_gather.report.findings import Report
from ov_gather.report.findings.text import statistics
from ov_gather.report.places import message_text, path_text
from ov_gather.rules.findings import Finding, Severity
from ov_gather.system.tables import printable

_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report) -> str:
    """Return one command per finding, then the statistics and the summary for readers of the log."""
    return "\n".join((*map(_command, report.findings), *statistics(report), report.summary, ""))


def _command(finding: Finding) -> str:
    place = finding.location
    file, line, title = _property(path_text(place.path)), max(place.line, 1), _property(finding.rule)
    text = printable(message_text(finding)) + (f"\n{printable(finding.hint)}" if finding.hint else "")
    return f"::{_COMMAND[finding.severity]} file={file},line={line},title={title}::{_escape(text)}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    # Escape first, so that `printable` does not alter the file name; it keeps other control characters from terminals.
    return printable(_escape(text).replace(":", "%3A").replace(",", "%2C"))
