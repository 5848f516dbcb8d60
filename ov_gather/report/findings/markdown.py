"""Markdown report of `ov-gather validate`, for the summary of a job of GitHub Actions."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from itertools import accumulate, takewhile

from ov_gather.report.findings import Report
from ov_gather.report.places import message_text, place_text
from ov_gather.rules.findings import Finding
from ov_gather.system.tables import printable

_LONGEST = 900_000
"""Longest table, in bytes: GitHub refuses summaries of more than 1 MiB."""
_HEAD = ("<table>", "<tr><th>place</th><th>rule</th><th>what is wrong</th><th>what would be right</th></tr>")


def render(report: Report) -> str:
    """Return a heading with the counts, and an HTML table of the findings, in which names are no Markdown."""
    lines = [f"### ov-gather: {replace(report, unchanged=None).summary}", ""]
    if report.findings:
        rows = list(map(_row, report.findings))
        sizes = accumulate(len(row.encode(errors="replace")) + 1 for row in rows)
        shown = sum(1 for _ in takewhile(_LONGEST.__ge__, sizes))
        more = [f'<tr><td colspan="4">and {len(rows) - shown:,} more, see the log</td></tr>'] if shown < len(rows) else []
        lines += [*_HEAD, *rows[:shown], *more, "</table>", ""]
    return "\n".join(lines)


def _row(finding: Finding) -> str:
    rule = f"{finding.severity.value} {finding.rule}"
    cells = (place_text(finding.location), rule, message_text(finding), finding.hint)
    return f"<tr>{''.join(f'<td>{escape(printable(text))}</td>' for text in cells)}</tr>"
