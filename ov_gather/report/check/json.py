"""JSON report of `ov-gather check`: the records of `ov_gather.crosscheck.results`, field by field."""

from __future__ import annotations

from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from ov_gather.crosscheck.results import Definitions, LayerResult, OutputResult, Status
from ov_gather.report import json
from ov_gather.report.check.report import CheckReport, outcome, word
from ov_gather.report.findings.json import finding_object
from ov_gather.report.places import path_text


def render(report: CheckReport) -> str:
    """Return one object.

    It holds the verdict, the progress if interrupted, counts by status, layers, outputs and values between layers, the layers
    with a reference, models that failed or were not run, reasons of divergences, findings of validation, and the environment.
    """
    document = {
        "version": version("ov-gather"),
        "passed": report.passed,
        "partial": report.stopped,
        "counts": {word(status): report.counts[status] for status in Status},
        "layers": [_layer(layer) for layer in report.layers],
        "outputs": [_output(path, output) for path, output in report.outputs],
        "values": [_output(path, value) for path, value in report.values],
        "definitions": {
            path_text(result.path): _definitions(result.definitions)
            for result in report.ir_results
            if result.definitions != Definitions()
        },
        "problems": {path_text(path): problem for path, problem in report.problems},
        "not_run": {path_text(result.path): result.not_run for result in report.results if result.not_run},
        "divergences": report.divergences,
        "findings": [finding_object(finding) for finding in report.findings],
        "seed": report.seed,
        "environment": asdict(report.environment),
    }
    return json.document(document)


def _output(path: str, output: OutputResult) -> dict[str, Any]:
    return {"path": path_text(path), **asdict(output, dict_factory=_plain)}


def _definitions(definitions: Definitions) -> dict[str, Any]:
    """Return how many layers have a reference, by type, and why nothing was compared."""
    fields = asdict(definitions)
    del fields["values"]
    return fields


def _layer(layer: LayerResult) -> dict[str, Any]:
    fields = asdict(layer, dict_factory=_plain)
    return fields | {"path": path_text(layer.path), "outcome": word(outcome(layer))}


def _plain(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a record as JSON values, without what is only for display, and what `detail` says."""
    left_out = ("picture", "hangs", "surroundings")
    return {name: word(value) if isinstance(value, Status) else value for name, value in fields if name not in left_out}
