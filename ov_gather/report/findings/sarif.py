"""`ov-gather validate` as SARIF 2.1.0, for code scanning services and editors."""

from __future__ import annotations

import json
import os
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ov_gather.ir.location import Location
from ov_gather.report.findings.report import Report
from ov_gather.report.places import message_text
from ov_gather.rules.base import Rule
from ov_gather.rules.findings import Finding
from ov_gather.rules.register import RULES

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_INDEX = {rule_id: index for index, rule_id in enumerate(RULES)}


def render(report: Report) -> str:
    """Return one run, which holds every rule with its documentation, and the findings."""
    run: dict[str, Any] = {
        "tool": {
            "driver": {"name": "ov-gather", "version": version("ov-gather"), "rules": [_rule(rule) for rule in RULES.values()]}
        },
        "invocations": [{"executionSuccessful": True}],
        "results": [_result(finding) for finding in report.findings],
    }
    if report.statistics:
        run["properties"] = {"statistics": report.statistics}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.name.split("_")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.documentation},
        "help": {"text": rule.documentation},
        "defaultConfiguration": {"level": rule.severity.value},
    }


def _result(finding: Finding) -> dict[str, Any]:
    place = finding.location
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": _uri(place.path)}}}
    if place.line:
        location["physicalLocation"]["region"] = {"startLine": place.line}
    if logical := _logical_locations(place):
        location["logicalLocations"] = logical
    hint = f"\n{finding.hint}" if finding.hint else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": _INDEX[finding.rule],
        "level": finding.severity.value,
        "message": {"text": _without_links(message_text(finding) + hint)},
        "locations": [location],
    }


def _without_links(text: str) -> str:
    """Return the text, its brackets escaped where a part of it, perhaps a name, could be read as a link (SARIF 2.1.0,
    3.11.6).
    """
    return re.sub(r"[\\\[\]]", r"\\\g<0>", text) if "](" in text else text


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


def _uri(path: str) -> str:
    """Return the URI of a file: relative to the working directory, which in CI is the repository, or absolute if it lies
    elsewhere.
    """
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links out of the repository
    directory = Path.cwd()
    if absolute.is_relative_to(directory):
        return quote(os.fsencode(absolute.relative_to(directory).as_posix()))
    return absolute.as_uri()
