"""Reports of `ov-gather validate`: one file per format, each with a function `render` from a Report to text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from ov_gather.rules.findings import Finding, Severity

if TYPE_CHECKING:
    from ov_gather.rules.suppression import Suppressed

# A new format needs its name here and a module of that name, which is imported on demand.
FORMATS = ("text", "concise", "json", "sarif", "junit", "github", "markdown")


@dataclass(frozen=True, slots=True)
class Report:
    """Checked files and their findings, both in the order in which the files were named or found.

    `skipped` is the number of XML files that are not IRs; None without --statistics. `unchanged` is the number of files found
    in the cache; None without a cache. `suppressed` findings are counted, and listed in text formats if `show_suppressed`.
    """

    files: Sequence[str]
    findings: Sequence[Finding]
    fail_on: Severity | None = Severity.ERROR
    skipped: int | None = None
    suppressed: Sequence[Suppressed] = ()
    show_suppressed: bool = False
    unchanged: int | None = None

    def fails(self, finding: Finding) -> bool:
        """Return True if this finding causes exit code 1."""
        return self.fail_on is not None and finding.severity.at_least(self.fail_on)

    @property
    def summary(self) -> str:
        """One line with the number of files, and of findings by severity."""
        counts = Counter(finding.severity for finding in self.findings)
        skipped = "" if self.skipped is None else f", skipped: {self.skipped}"
        severities = ", ".join(f"{severity.value}s: {counts[severity]}" for severity in Severity)
        suppressed = f", suppressed: {len(self.suppressed)}" if self.suppressed else ""
        unchanged = "" if self.unchanged is None else f", unchanged: {self.unchanged}"
        return f"files: {len(self.files)}, {severities}{suppressed}{skipped}{unchanged}"

    @property
    def statistics(self) -> dict[str, int]:
        """Number of skipped files, and of violations by rule; empty unless requested."""
        if self.skipped is None:
            return {}
        return {"skipped": self.skipped} | dict(sorted(Counter(finding.rule for finding in self.findings).items()))


def render(report: Report, name: str) -> str:
    """Return a report in one of FORMATS, with terminal colours if the format has them."""
    text: str = import_module(f"ov_gather.report.findings.{name}").render(report)
    return text
