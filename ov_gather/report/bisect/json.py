"""JSON report of a bisection."""

from __future__ import annotations

from dataclasses import asdict

from ov_gather.crosscheck.bisect.results import BisectResult
from ov_gather.report import json


def render(result: BisectResult) -> str:
    """Return the whole result and its verdict as JSON, without the graphs, which are only for display."""
    document = {"passed": result.passed, "node": result.node, **asdict(result)}
    for culprit in document["culprits"]:
        del culprit["surroundings"]
    return json.document(document)
