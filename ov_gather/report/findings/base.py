"""What every output format is given, and the words that they share."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ov_gather.rules.findings import Finding, Location, Severity


@dataclass(frozen=True, slots=True)
class Report:
    """What `ov-gather validate` found. Files and findings are in the order in which the files were given or found.

    `skipped` counts XML files that are no IR; None, like the absence of other statistics: they were not asked for.
    """

    files: Sequence[str]
    findings: Sequence[Finding]
    fail_on: Severity | None = Severity.ERROR
    skipped: int | None = None

    def fails(self, finding: Finding) -> bool:
        """Whether this finding makes the command exit 1."""
        return self.fail_on is not None and finding.severity.at_least(self.fail_on)

    @property
    def summary(self) -> str:
        """One line: how many files, and how many findings of each severity."""
        count = Counter(finding.severity for finding in self.findings)
        skipped = "" if self.skipped is None else f", skipped: {self.skipped}"
        return f"files: {len(self.files)}, " + ", ".join(f"{it.value}s: {count[it]}" for it in Severity) + skipped

    @property
    def statistics(self) -> dict[str, int]:
        """How many files were skipped and how often each rule was violated; empty if that was not asked for."""
        if self.skipped is None:
            return {}
        return {"skipped": self.skipped} | dict(sorted(Counter(finding.rule for finding in self.findings).items()))


def path_text(path: str) -> str:
    """The path in Unicode: a byte of a file name that is not UTF-8 becomes \\xff."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def place_text(place: Location) -> str:
    """File and line; the line only where there is one (an unopened file has none)."""
    return path_text(place.path) + (f":{place.line}" if place.line else "")


def layer_text(place: Location) -> str:
    """The layer with the way to it through sub-graphs: "If 'x' / then_body / GatherElements 'y' (layer 2), port 1"."""
    if place.layer_id is None:
        return " / ".join(place.trail)
    port = "" if place.port is None else f", port {place.port}"
    return " / ".join((*place.trail, f"{place.layer_type} '{place.layer_name}' (layer {place.layer_id}){port}"))


def message_text(finding: Finding) -> str:
    """Where in the document, and what is wrong."""
    layer = layer_text(finding.location)
    return f"{layer}: {finding.message}" if layer else finding.message
