"""`ov-gather validate` for people: place, severity, rule, what is wrong; on a second line what would be right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from click import style

from ov_gather.report.findings.report import Report
from ov_gather.report.places import message_text, place_text
from ov_gather.rules.findings import Finding, Severity
from ov_gather.rules.register import RULES
from ov_gather.tables import Styled, printable

_COLOUR = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def render(report: Report) -> str:
    """Return the findings, then what is suppressed and the statistics if they were asked for, then the summary."""
    return "\n".join((*lines(report.findings), *suppressed(report), *statistics(report), report.summary, ""))


def lines(findings: Sequence[Finding]) -> Iterator[Styled]:
    """Yield one or two lines for each finding."""
    for finding in findings:
        yield first_line(finding)
        if finding.hint:
            yield Styled(style(f"    {printable(finding.hint)}", dim=True))


def first_line(finding: Finding) -> Styled:
    """Place, severity, rule, and what is wrong."""
    place = style(printable(place_text(finding.location)) + ":", bold=True)
    rule = style(f"{finding.severity.value} {finding.rule}", fg=_COLOUR[finding.severity], bold=True)
    return Styled(f"{place} {rule}: {printable(message_text(finding))}")


def suppressed(report: Report) -> Iterator[str]:
    """Yield one line for each finding that is suppressed, with the reason. Empty if that was not asked for."""
    if report.show_suppressed:
        for each in report.suppressed:
            yield f"{first_line(each.finding)} {style(f'(suppressed: {printable(each.reason)})', dim=True)}"


def statistics(report: Report) -> Iterator[str]:
    """Yield one line for each rule that was violated: how often. Empty if statistics were not asked for."""
    for rule, count in report.statistics.items():
        if rule in RULES:
            yield f"{count:7}  {rule}  {RULES[rule].summary}"
