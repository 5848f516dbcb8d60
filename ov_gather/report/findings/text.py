"""Text report of `ov-gather validate`: place, severity, rule and message; the hint on a second line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from click import style

from ov_gather.report.findings import Report
from ov_gather.report.places import message_text, path_text, place_text
from ov_gather.rules.findings import Finding, Severity
from ov_gather.rules.register import RULES
from ov_gather.rules.releases import RELEASES
from ov_gather.system.tables import Styled, printable

if TYPE_CHECKING:
    from ov_gather.rules.oldest import OldestRelease

_COLOUR = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def render(report: Report) -> str:
    """Return the findings, suppressed findings and statistics if requested, and the summary."""
    return "\n".join((*lines(report.findings), *suppressed(report), *statistics(report), report.summary, ""))


def lines(findings: Sequence[Finding]) -> Iterator[Styled]:
    """Yield one or two lines per finding."""
    for finding in findings:
        yield first_line(finding)
        if finding.hint:
            yield Styled(style(f"    {printable(finding.hint)}", dim=True))


def first_line(finding: Finding) -> Styled:
    """Return place, severity, rule, and message."""
    place = style(printable(place_text(finding.location)) + ":", bold=True)
    rule = style(f"{finding.severity.value} {finding.rule}", fg=_COLOUR[finding.severity], bold=True)
    return Styled(f"{place} {rule}: {printable(message_text(finding))}")


def suppressed(report: Report) -> Iterator[str]:
    """Yield one line per suppressed finding, with the reason; nothing unless requested."""
    if report.show_suppressed:
        for each in report.suppressed:
            yield f"{first_line(each.finding)} {style(f'(suppressed: {printable(each.reason)})', dim=True)}"


def statistics(report: Report) -> Iterator[str]:
    """Yield one line per violated rule, with the number of violations; nothing unless requested."""
    for rule, count in report.statistics.items():
        if rule in RULES:
            yield f"{count:7}  {rule}  {RULES[rule].summary}"


def oldest_line(path: str, oldest: OldestRelease) -> str:
    """Return the file, the oldest release that supports it, and the first feature that older ones lack, with its place."""
    release = oldest.release or "no release"
    if oldest.release == RELEASES[0]:
        release += " or older"
    if oldest.extension:
        release += f", with an extension for {oldest.extension}"
    words = [path_text(path), release]
    if oldest.reason:
        place = oldest.place
        at = [] if place is None else [place.layer_text, f"line {place.line}" if place.line else ""]
        words.append(", ".join(filter(None, [oldest.reason, *at])))
    return printable(": ".join(words))
