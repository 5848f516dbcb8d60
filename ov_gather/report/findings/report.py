"""Report: what every output format of `ov-gather validate` is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ov_gather.rules.findings import Finding, Severity

if TYPE_CHECKING:
    from ov_gather.rules.suppression import Suppressed


@dataclass(frozen=True, slots=True)
class Report:
    """The files that `ov-gather validate` checked and what it found, both in the order in which the files were named or found.

    `skipped` is the number of XML files that are no IR; None if statistics were not asked for. What is suppressed is counted,
    and listed where people read it if they have asked for that. `unchanged` is the number of files that the cache knew; None
    without a cache.
    """

    files: Sequence[str]
    findings: Sequence[Finding]
    fail_on: Severity | None = Severity.ERROR
    skipped: int | None = None
    suppressed: Sequence[Suppressed] = ()
    show_suppressed: bool = False
    unchanged: int | None = None

    def fails(self, finding: Finding) -> bool:
        """Tell whether this finding makes the command exit 1."""
        return self.fail_on is not None and finding.severity.at_least(self.fail_on)

    @property
    def summary(self) -> str:
        """One line that counts the files, and the findings of each severity."""
        counts = Counter(finding.severity for finding in self.findings)
        skipped = "" if self.skipped is None else f", skipped: {self.skipped}"
        severities = ", ".join(f"{severity.value}s: {counts[severity]}" for severity in Severity)
        suppressed = f", suppressed: {len(self.suppressed)}" if self.suppressed else ""
        unchanged = "" if self.unchanged is None else f", unchanged: {self.unchanged}"
        return f"files: {len(self.files)}, {severities}{suppressed}{skipped}{unchanged}"

    @property
    def statistics(self) -> dict[str, int]:
        """How many files were skipped and how often each rule was violated; empty if that was not asked for."""
        if self.skipped is None:
            return {}
        return {"skipped": self.skipped} | dict(sorted(Counter(finding.rule for finding in self.findings).items()))
