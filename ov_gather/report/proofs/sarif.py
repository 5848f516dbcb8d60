"""SARIF 2.1.0 report of `ov-gather prove`, for code scanning services and editors."""

from __future__ import annotations

from typing import Any

from ov_gather.ranges.proof import Proof, why
from ov_gather.report import sarif
from ov_gather.report.findings import sarif as findings_sarif
from ov_gather.report.proofs.report import ProofReport

_RULES = {
    "refuted": "An index is out of bounds in every run that gets to the layer.",
    "conditional": "No index is out of bounds if inputs and open dimensions are within ranges.",
    "unknown": "Nothing is proved of the indices of the layer.",
}


def render(report: ProofReport) -> str:
    """Return one run. Refuted sites are errors; other sites that are not proved are notes, or warnings with --strict."""
    open_level = "warning" if report.strict else "note"
    levels = {"refuted": "error", "conditional": open_level, "unknown": open_level}
    rules = [
        sarif.described(name, f"{name}_index", text, text, levels[name], "howto/prove.html") for name, text in _RULES.items()
    ]
    results = [_result(file.path, proof, levels) for file in report.files for proof in file.proofs if proof.status != "proved"]
    results += [findings_sarif.result(finding, len(rules)) for file in report.files for finding in file.findings]
    return sarif.document(rules + findings_sarif.rules(), results)


def _result(path: str, proof: Proof, levels: dict[str, str]) -> dict[str, Any]:
    name = f"{proof.type} '{proof.layer}'"
    where = sarif.location(path, proof.line, [{"name": proof.layer, "fullyQualifiedName": name, "kind": "element"}])
    index = list(levels).index(proof.status)
    return sarif.result(proof.status, index, levels[proof.status], f"{name}: {proof.status}: {why(proof)}", where)
