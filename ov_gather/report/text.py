"""Findings as text for people: place, severity, rule, what is wrong, what would be right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from ov_gather.findings import Finding, Severity
from ov_gather.ir.errors import printable

_STYLE = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def render(findings: Sequence[Finding]) -> Iterator[Text]:
    """Two lines a finding, the second with the hint."""
    for finding in findings:
        place = finding.location
        yield Text.assemble(
            (printable(f"{place.path}:{place.line}: "), "bold"),
            (f"{finding.severity.value} {finding.rule}", _STYLE[finding.severity]),
            printable(f": {_layer(finding)}{finding.message}"),
        )
        if finding.hint:
            yield Text(f"    {printable(finding.hint)}", "dim")


def _layer(finding: Finding) -> str:
    place = finding.location
    if place.layer_id is None:
        return ""
    trail = "".join(f"{step} / " for step in place.trail)
    port = "" if place.port is None else f", port {place.port}"
    return f"{trail}{place.layer_type} '{place.layer_name}' (layer {place.layer_id}){port}: "
