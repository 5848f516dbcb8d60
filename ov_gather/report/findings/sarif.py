"""SARIF 2.1.0 report of `ov-gather validate`, for code scanning services and editors."""

from __future__ import annotations

from typing import Any

from ov_gather.ir.location import Location
from ov_gather.report import sarif
from ov_gather.report.findings import Report
from ov_gather.report.places import message_text
from ov_gather.rules.findings import Finding
from ov_gather.rules.register import RULES

_INDEX = {rule_id: index for index, rule_id in enumerate(RULES)}


def render(report: Report) -> str:
    """Return one run with every rule and its documentation, and all findings, including suppressed ones."""
    more = {"properties": {"statistics": report.statistics}} if report.statistics else {}
    results = [result(finding) for finding in report.findings]
    results += [result(each.finding) | _suppressed(each.reason) for each in report.suppressed]
    return sarif.document(rules(), results, **more)


def rules() -> list[dict[str, Any]]:
    """Return every rule with its documentation."""
    return [
        sarif.described(
            rule.id, rule.name, rule.summary, rule.documentation, rule.severity.value, f"reference/rules/{rule.id}.html"
        )
        for rule in RULES.values()
    ]


def result(finding: Finding, before: int = 0) -> dict[str, Any]:
    """Return a finding; `before` is the number of other rules in the run that precede ours."""
    place = finding.location
    text = message_text(finding) + (f"\n{finding.hint}" if finding.hint else "")
    where = sarif.location(place.path, place.line, _logical_locations(place))
    described = sarif.result(finding.rule, before + _INDEX[finding.rule], finding.severity.value, text, where)
    return described | ({"partialFingerprints": {"ovGather/v1": finding.fingerprint}} if finding.fingerprint else {})


def _suppressed(reason: str) -> dict[str, Any]:
    return {"suppressions": [{"kind": "external", "justification": reason}]}


def _logical_locations(place: Location) -> list[dict[str, str]]:
    """Return the layer, and the sub-graph that contains it."""
    found = []
    if place.layer_id is not None:
        found.append({"name": place.layer_name, "fullyQualifiedName": place.layer_text, "kind": "element"})
    if place.subgraph_path:
        found.append(
            {"name": place.subgraph_path[-1], "fullyQualifiedName": " / ".join(place.subgraph_path), "kind": "element"}
        )
    return found
