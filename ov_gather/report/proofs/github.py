"""Report of `ov-gather prove` as annotations of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ov_gather.ranges.proof import Status, why
from ov_gather.report.findings import github as findings_github
from ov_gather.report.github import Level, annotation
from ov_gather.report.proofs.report import ProofReport
from ov_gather.report.proofs.text import summary


def render(report: ProofReport) -> str:
    """Return one command per finding and per site that is not proved, then the summary for readers of the log.

    Refuted sites are errors; others are notices, or warnings with --strict.
    """
    return "\n".join((*_commands(report), summary(report), ""))


def _commands(report: ProofReport) -> Iterator[str]:
    undecided: Level = "warning" if report.strict else "notice"
    levels: Mapping[Status, Level] = {"refuted": "error", "conditional": undecided, "unknown": undecided}
    for file in report.files:
        yield from map(findings_github.command, file.findings)
        for proof in file.proofs:
            if proof.status in levels:
                title = f"{proof.type} '{proof.layer}': {proof.status}"
                yield annotation(levels[proof.status], file.path, proof.line, title, why(proof))
