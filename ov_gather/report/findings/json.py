"""JSON report of `ov-gather validate`."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from ov_gather.report import json
from ov_gather.report.findings import Report
from ov_gather.report.places import path_text
from ov_gather.rules.findings import Finding


def render(report: Report) -> str:
    """Return one object with our version, the number of files, the findings, and suppressed findings and statistics, if any."""
    document = {
        "generator": "ov-gather",
        "version": version("ov-gather"),
        "files": len(report.files),
        "findings": [finding_object(finding) for finding in report.findings],
    }
    if report.suppressed:
        document["suppressed"] = [finding_object(each.finding) | {"reason": each.reason} for each in report.suppressed]
    if report.statistics:
        document["statistics"] = report.statistics
    return json.document(document)


def finding_object(finding: Finding) -> dict[str, Any]:
    """Return a finding as a JSON object. `trail` is the path of the sub-graph that contains the layer, if any."""
    place = finding.location
    layer = {"id": place.layer_id, "name": place.layer_name, "type": place.layer_type}
    trail = {"trail": place.subgraph_path} if place.subgraph_path else {}
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": finding.message,
        "path": path_text(place.path),
        "line": place.line,
        "layer": None if place.layer_id is None else layer,
        "port": place.port,
        "hint": finding.hint,
        "fingerprint": finding.fingerprint,
    } | trail
