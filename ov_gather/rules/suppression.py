"""Suppression of known findings, by entries of pyproject.toml or by a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from ov_gather.rules.baseline import Baseline, relative
from ov_gather.rules.findings import Finding

IN_BASELINE = "in the baseline"


@dataclass(frozen=True, slots=True)
class Ignore:
    """A reasoned suppression of findings by rules or groups, and by globs for the file, layer and operation.

    `path` matches the name of a file, or its path relative to `directory`.
    """

    rules: tuple[str, ...]
    reason: str
    directory: Path
    path: str = "*"
    layer: str = "*"
    type: str = "*"

    def covers(self, finding: Finding) -> bool:
        """Return True if the entry suppresses a finding."""
        place = finding.location
        return (
            finding.rule.startswith(self.rules)
            and any(fnmatchcase(path, self.path) for path in (Path(place.path).name, relative(place.path, self.directory)))
            and fnmatchcase(place.layer_name, self.layer)
            and fnmatchcase(place.layer_type, self.type)
        )

    def __str__(self) -> str:
        globs = {"path": self.path, "layer": self.layer, "type": self.type}
        named = ", ".join(f"{name} '{glob}'" for name, glob in globs.items() if glob != "*")
        return f"{', '.join(self.rules)} for {named or 'everything'}"


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A suppressed finding and the reason."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class Sorted:
    """The findings that count, those that are suppressed, and the entries that suppressed nothing."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    unused: tuple[Ignore, ...]


def suppress(findings: Iterable[Finding], ignores: Sequence[Ignore], baseline: Baseline | None) -> Sorted:
    """Separate the findings that count from those that the first matching entry, or else the baseline, suppresses."""
    counting, suppressed, used = [], [], set()
    for finding in findings:
        index = next((i for i, ignore in enumerate(ignores) if ignore.covers(finding)), None)
        if index is not None:
            used.add(index)
            suppressed.append(Suppressed(finding, ignores[index].reason))
        elif baseline is not None and baseline.holds(finding):
            suppressed.append(Suppressed(finding, IN_BASELINE))
        else:
            counting.append(finding)
    unused = tuple(ignore for i, ignore in enumerate(ignores) if i not in used)
    return Sorted(tuple(counting), tuple(suppressed), unused)
