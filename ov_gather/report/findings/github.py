"""`ov-gather validate` as workflow commands of GitHub Actions, which become annotations on the changed files."""

from __future__ import annotations

from ov_gather.report.findings.report import Report
from ov_gather.report.findings.text import statistics
from ov_gather.report.places import message_text, path_text
from ov_gather.rules.findings import Finding, Severity
from ov_gather.tables import printable

_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report) -> str:
    """Return one command for each finding, then the summary, for people who read the log."""
    return "\n".join((*map(_command, report.findings), *statistics(report), report.summary, ""))


def _command(finding: Finding) -> str:
    place = finding.location
    file, line, title = _property(path_text(place.path)), max(place.line, 1), _property(finding.rule)
    text = printable(message_text(finding)) + (f"\n{printable(finding.hint)}" if finding.hint else "")
    return f"::{_COMMAND[finding.severity]} file={file},line={line},title={title}::{_escape(text)}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    # The escapes come first, so that the file keeps its name. Other control characters must not reach a terminal.
    return printable(_escape(text).replace(":", "%3A").replace(",", "%2C"))
