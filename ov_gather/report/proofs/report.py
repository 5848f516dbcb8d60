"""Report: what every output format of `ov-gather prove` is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from ov_gather.ranges.proofs import Proof, Status
from ov_gather.rules.findings import Finding


@dataclass(frozen=True, slots=True)
class ProvedFile:
    """What is known of one file.

    Attributes:
        proofs: one for each gather and scatter; none where `findings` are so bad that nothing can be proved.
        findings: errors in the document, because of which nothing was proved.
        is_read: whether the document could be read.
    """

    path: str
    proofs: Sequence[Proof] = ()
    findings: Sequence[Finding] = ()
    is_read: bool = True

    @property
    def counts(self) -> Mapping[Status, int]:
        """How many gathers and scatters have each status."""
        return count(self.proofs)


@dataclass(frozen=True, slots=True)
class Report:
    """What is known of all files, in the order in which they were named or found; `strict`: only "proved" is good enough."""

    files: Sequence[ProvedFile]
    strict: bool = False

    @property
    def counts(self) -> Mapping[Status, int]:
        """How many gathers and scatters of all files have each status."""
        return count([proof for file in self.files for proof in file.proofs])

    @property
    def exit_code(self) -> int:
        """2 where a file could not be read; 1 where one has errors, an index is refuted, or not proved while that is asked."""
        if not all(file.is_read for file in self.files):
            return 2
        failed = self.counts["refuted"] or (self.strict and sum(self.counts.values()) > self.counts["proved"])
        return 1 if failed or any(file.findings for file in self.files) else 0


def count(proofs: Sequence[Proof]) -> dict[Status, int]:
    """Count the proofs of each status, those that there are none of included."""
    counted = Counter(proof.status for proof in proofs)
    return {status: counted[status] for status in get_args(Status)}
