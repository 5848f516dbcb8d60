"""Findings that a team knows of are suppressed here: by entries of its pyproject.toml, or because a baseline holds them."""

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
    """An Ignore suppresses findings of some rules or groups, for a reason, in files, layers and operations that globs name.

    `path` is matched with the name of a file, and with its path as seen from `directory`.
    """

    rules: tuple[str, ...]
    reason: str
    directory: Path
    path: str = "*"
    layer: str = "*"
    type: str = "*"

    def covers(self, finding: Finding) -> bool:
        """Tell whether a finding is to be suppressed."""
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
    """A Suppressed is a finding that is known, and the reason why it does not count."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class Sorted:
    """A Sorted holds findings that count, those that are suppressed, and what of the suppressions was of no use."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    unused: tuple[Ignore, ...]


def suppress(findings: Iterable[Finding], ignores: Sequence[Ignore], baseline: Baseline | None) -> Sorted:
    """Sort findings into those that count and those that the first fitting entry, or else the baseline, suppresses."""
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
