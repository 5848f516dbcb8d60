"""Input of all output formats of `ov-gather prove`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import get_args

from ov_gather.ranges.proof import Proof, Status
from ov_gather.ranges.terms import Condition
from ov_gather.report.places import path_text
from ov_gather.rules.findings import Finding


@dataclass(frozen=True, slots=True)
class ProvedFile:
    """Proofs and errors of one file.

    Attributes:
        proofs: one per gather and scatter; none if the document has errors.
        findings: errors in the document that prevent proofs.
        is_read: whether the document could be read.
    """

    path: str
    proofs: Sequence[Proof] = ()
    findings: Sequence[Finding] = ()
    is_read: bool = True

    @property
    def conditions(self) -> list[Condition]:
        """The conditions of all gathers and scatters."""
        return [condition for proof in self.proofs for condition in proof.conditions]

    @property
    def counts(self) -> Mapping[Status, int]:
        """Number of gathers and scatters, by status."""
        return count(self.proofs)


@dataclass(frozen=True, slots=True)
class ProofReport:
    """All files, in the order in which they were named or found.

    Attributes:
        files: the files.
        strict: every status but "proved" fails.
        is_guarded: a guard of the conditions was written.
    """

    files: Sequence[ProvedFile]
    strict: bool = False
    is_guarded: bool = False

    @property
    def counts(self) -> Mapping[Status, int]:
        """Number of gathers and scatters of all files, by status."""
        return count([proof for file in self.files for proof in file.proofs])

    @property
    def exit_code(self) -> int:
        """2 if a file is unreadable; 1 if one has errors, or a site is refuted or, with `strict`, not proved; else 0."""
        if not all(file.is_read for file in self.files):
            return 2
        failed = self.counts["refuted"] or (self.strict and sum(self.counts.values()) > self.counts["proved"])
        return 1 if failed or any(file.findings for file in self.files) else 0


def next_steps(report: ProofReport) -> Iterator[tuple[str, str]]:
    """Yield the commands for what is not proved, each for the first file that needs it, and what it is for."""
    conditional = [path for file in report.files if file.counts["conditional"] and (path := path_text(file.path))]
    for path in () if report.is_guarded else conditional[:1]:
        yield f"ov-gather prove {quote(path)} --guard guard.py", "to refuse requests that break a condition"
    open_ = [path for file in report.files if len(file.proofs) > file.counts["proved"] and (path := path_text(file.path))]
    for path in [path for path in open_ if not path.endswith(".onnx")][:1]:
        yield f"ov-gather harden {quote(path)} --policy raise", "to make what is not proved safe for any index"


def count(proofs: Sequence[Proof]) -> dict[Status, int]:
    """Count proofs by status, including statuses with none."""
    counted = Counter(proof.status for proof in proofs)
    return {status: counted[status] for status in get_args(Status)}
