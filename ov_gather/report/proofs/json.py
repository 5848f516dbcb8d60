"""JSON report of `ov-gather prove`, for example for a server that must refuse inputs that break a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from ov_gather.ranges.proof import Proof
from ov_gather.ranges.proofs import Requirement, requirements
from ov_gather.report import json
from ov_gather.report.findings.json import finding_object
from ov_gather.report.places import path_text
from ov_gather.report.proofs.report import ProofReport, ProvedFile


def render(report: ProofReport) -> str:
    """Return one object: our version, the number of sites by status, and each file.

    docs/reference/json.md describes the fields.
    """
    document = {
        "version": version("ov-gather"),
        "counts": report.counts,
        "files": [_file(file) for file in report.files],
    }
    return json.document(document)


def _file(file: ProvedFile) -> dict[str, Any]:
    return {
        "path": path_text(file.path),
        "counts": file.counts,
        "requires": _requires(requirements(file.conditions)),
        "example": _example(file.proofs),
        "proofs": [_proof(proof) for proof in file.proofs],
        "findings": [finding_object(finding) for finding in file.findings],
    }


def _requires(found: Iterable[Requirement]) -> dict[str, Any]:
    return {requirement.name: {"at_least": requirement.lows, "at_most": requirement.highs} for requirement in found}


def _example(proofs: Iterable[Proof]) -> dict[str, Any] | None:
    """Merge the examples of all conditional sites; None if they differ, because no common one was found."""
    found: dict[str, Any] = {}
    for name, value in ((name, value) for proof in proofs for name, value in proof.example.items()):
        if found.setdefault(name, value) != value:
            return None
    return found


def _proof(proof: Proof) -> dict[str, Any]:
    low, high = proof.index_range
    return {
        "layer": proof.layer,
        "type": proof.type,
        "line": proof.line,
        "status": proof.status,
        "axis": proof.axis,
        "axis_size": proof.axis_size,
        "lowest_index": low,
        "highest_index": high,
        "reason": proof.reason,
        "requires": _requires(requirements(proof.conditions)),
        "example": dict(proof.example) or None,
        "alternatives": [_requires(requirements(other)) for other in proof.others],
        "witness": None if proof.witness is None else asdict(proof.witness),
    }
