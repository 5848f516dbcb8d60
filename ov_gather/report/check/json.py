"""The records of a cross-check (`ov_gather.crosscheck.results`) for programs, field by field."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from ov_gather.crosscheck.results import LayerResult, Status
from ov_gather.report.check.report import CheckReport, outcome, word
from ov_gather.report.findings.base import path_text
from ov_gather.report.findings.json import finding_object


def render(report: CheckReport) -> str:
    """One object: the verdict, how many comparisons came out how, the layers, the outputs of whole models,
    which of these failed or were not run, why layers diverge, findings, environment."""
    document = {
        "version": version("ov-gather"),
        "passed": report.passed,
        "counts": {word(status): report.counts[status] for status in Status},
        "layers": [_layer(layer) for layer in report.layers],
        "outputs": [{"path": path_text(path), **asdict(it, dict_factory=_plain)} for path, it in report.outputs],
        "problems": {path_text(path): problem for path, problem in report.problems},
        "not_run": {path_text(it.path): it.not_run for it in report.results if it.not_run},
        "divergences": report.divergences,
        "findings": [finding_object(finding) for finding in report.findings],
        "seed": report.seed,
        "environment": asdict(report.environment),
    }
    return json.dumps(document, indent=2) + "\n"


def _layer(layer: LayerResult) -> dict[str, Any]:
    fields = asdict(layer, dict_factory=_plain)
    return fields | {"path": path_text(layer.path), "outcome": word(outcome(layer))}


def _plain(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """Without the pictures, which say nothing to a program."""
    return {name: word(it) if isinstance(it, Status) else it for name, it in fields if name != "picture"}
