"""A baseline is a file of findings that a team knows of and has not mended yet."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from ov_gather.files import replacing
from ov_gather.ir.remote import redacted
from ov_gather.ir.urls import is_url
from ov_gather.rules.findings import Finding

_FORMAT = 1
_ENTRY = ("path", "rule", "layer", "fingerprint")
_REMEDY = "write it anew with --write-baseline, after moving this one away"


class BaselineError(ValueError):
    """A BaselineError says why a file is no baseline that can be used."""


def relative(path: str, directory: Path) -> str:
    """Return a path as seen from a directory, with slashes; a byte that is not UTF-8 becomes \\xff. A URL stays."""
    if is_url(path):
        return redacted(path)
    seen = os.path.relpath(Path(path).absolute(), directory.absolute())
    return os.fsencode(Path(seen).as_posix()).decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class Baseline:
    """A Baseline holds, for each path as seen from its own directory, what is known: each fingerprint with the whole entry."""

    path: Path
    known: Mapping[str, Mapping[str, Mapping[str, str]]]

    @property
    def directory(self) -> Path:
        """Paths are told as seen from this directory, so that the baseline can move with the models."""
        return self.path.parent

    def holds(self, finding: Finding) -> bool:
        """Tell whether a finding is known."""
        return finding.fingerprint in self.known.get(relative(finding.location.path, self.directory), {})

    def knows(self, file: str) -> bool:
        """Tell whether there is any known finding of a file."""
        return relative(file, self.directory) in self.known

    def gone(self, files: Iterable[str], findings: Iterable[Finding]) -> int:
        """Count what is known of these files and was not found in them."""
        found = {(relative(finding.location.path, self.directory), finding.fingerprint) for finding in findings}
        checked = (relative(file, self.directory) for file in files)
        return sum((path, fingerprint) not in found for path in checked for fingerprint in self.known.get(path, ()))


def read_baseline(path: Path) -> Baseline:
    """Read a baseline.

    Raises:
        BaselineError: the file is damaged, is no baseline, or was written by a release of another format.
        OSError: the file cannot be read.
    """
    try:
        document = json.loads(path.read_bytes())
        known: dict[str, dict[str, dict[str, str]]] = {}
        if document["format"] != _FORMAT:
            raise BaselineError(f"{path}: format {document['format']} of a baseline is not known, only {_FORMAT}; {_REMEDY}")
        for entry in document["findings"]:
            entry["path"] = redacted(entry["path"])  # older releases wrote signatures, which are others now
            known.setdefault(entry["path"], {})[entry["fingerprint"]] = {name: str(entry[name]) for name in _ENTRY}
    except (ValueError, LookupError, TypeError) as error:
        if isinstance(error, BaselineError):
            raise
        raise BaselineError(f"{path} is damaged, or no baseline of ov-gather ({error}); {_REMEDY}") from None
    return Baseline(path, known)


def write_baseline(path: Path, files: Iterable[str], findings: Iterable[Finding]) -> None:
    """Write what was found in these files; what an older baseline at this path says of other files that exist is kept.

    Raises:
        BaselineError: what stands there is no baseline.
        OSError: the file cannot be read or written.
    """
    old = read_baseline(path) if path.exists() else Baseline(path, {})
    checked = {relative(file, old.directory) for file in files}
    kept = (
        entry
        for name, entries in old.known.items()
        if name not in checked and (is_url(name) or (old.directory / name).exists())
        for entry in entries.values()
    )
    entries = [*kept, *(_entry(finding, old.directory) for finding in findings)]
    entries.sort(key=lambda entry: [entry[name] for name in _ENTRY])
    document = {"format": _FORMAT, "ov_gather": version("ov-gather"), "findings": entries}
    with replacing(path) as file:
        file.write((json.dumps(document, indent=2) + "\n").encode())


def _entry(finding: Finding, directory: Path) -> dict[str, str]:
    """Return what is known of a finding: the fingerprint that tells it from others, and what people read."""
    place = finding.location
    layer = f"{place.layer_type} '{place.layer_name}'" if place.layer_type else ""
    return {
        "path": relative(place.path, directory),
        "rule": finding.rule,
        "layer": " / ".join(filter(None, (*place.subgraph_path, layer))),
        "fingerprint": finding.fingerprint,
    }
