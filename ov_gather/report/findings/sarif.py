"""`ov-gather validate` as SARIF 2.1.0, for code scanning services and editors."""

from __future__ import annotations

from typing import Any

from ov_gather.ir.location import Location
from ov_gather.report import sarif
from ov_gather.report.findings.report import Report
from ov_gather.report.places import message_text
from ov_gather.rules.base import Rule
from ov_gather.rules.findings import Finding
from ov_gather.rules.register import RULES

_INDEX = {rule_id: index for index, rule_id in enumerate(RULES)}


def render(report: Report) -> str:
    """Return one run, which holds every rule with its documentation, and the findings, those that are suppressed, too."""
    more = {"properties": {"statistics": report.statistics}} if report.statistics else {}
    results = [result(finding) for finding in report.findings]
    results += [result(each.finding) | _suppressed(each.reason) for each in report.suppressed]
    return sarif.document(rules(), results, **more)


def rules() -> list[dict[str, Any]]:
    """Return every rule with its documentation."""
    return [_rule(rule) for rule in RULES.values()]


def _rule(rule: Rule) -> dict[str, Any]:
    return sarif.described(rule.id, rule.name, rule.summary, rule.documentation, rule.severity.value)


def result(finding: Finding, before: int = 0) -> dict[str, Any]:
    """Return a finding; so many other rules stand `before` ours in the run."""
    place = finding.location
    text = message_text(finding) + (f"\n{finding.hint}" if finding.hint else "")
    where = sarif.location(place.path, place.line, _logical_locations(place))
    described = sarif.result(finding.rule, before + _INDEX[finding.rule], finding.severity.value, text, where)
    return described | ({"partialFingerprints": {"ovGather/v1": finding.fingerprint}} if finding.fingerprint else {})


def _suppressed(reason: str) -> dict[str, Any]:
    return {"suppressions": [{"kind": "external", "justification": reason}]}


def _logical_locations(place: Location) -> list[dict[str, str]]:
    """Return the layer, and the sub-graph that it stands in."""
    found = []
    if place.layer_id is not None:
        found.append({"name": place.layer_name, "fullyQualifiedName": place.layer_text, "kind": "element"})
    if place.subgraph_path:
        found.append(
            {"name": place.subgraph_path[-1], "fullyQualifiedName": " / ".join(place.subgraph_path), "kind": "element"}
        )
    return found
