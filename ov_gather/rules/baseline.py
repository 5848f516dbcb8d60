"""Baselines: files of known findings that are not fixed yet."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ov_gather.ir.remote import redacted
from ov_gather.ir.urls import is_url
from ov_gather.rules.findings import Finding
from ov_gather.system.files import replacing, resolved
from ov_gather.system.platforms import locked_directory

_FORMAT = 1
_ENTRY = ("path", "rule", "layer", "fingerprint")
_ESCAPED = re.compile(rb"\\(?:x([0-9a-f]{2})|\\)")
"""What stands for a byte that is not UTF-8, or for a backslash, in the names of files."""
_REMEDY = "write it anew with --write-baseline, after moving this one away"


class BaselineError(ValueError):
    """A file cannot be used as a baseline, and why."""


def relative(path: str, directory: Path) -> str:
    r"""Return a path relative to a directory, with slashes; bytes that are not UTF-8 are escaped as \xff. A URL stays."""
    return redacted(path) if is_url(path) else _bytes_of(path, directory).decode("utf-8", "backslashreplace")


def _bytes_of(path: str, directory: Path) -> bytes:
    return os.fsencode(Path(os.path.relpath(Path(path).absolute(), directory.absolute())).as_posix())


def _key(path: str, directory: Path) -> str:
    r"""Return the name of a file in a baseline: its relative path, with backslashes doubled, so that \xff is none of a byte."""
    if is_url(path):
        return redacted(path)
    return _bytes_of(path, directory).replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def _exists(key: str, directory: Path) -> bool:
    """Return True if the file is there that a baseline names so; what is at a URL is taken to be."""
    coded = key.encode("utf-8", "surrogatepass")
    name = _ESCAPED.sub(lambda found: b"\\" if found[1] is None else bytes.fromhex(found[1].decode()), coded)
    return is_url(key) or os.path.exists(os.path.join(os.fsencode(directory), name))  # noqa: PTH110, PTH118 - takes any name


@dataclass(frozen=True, slots=True)
class Baseline:
    """Known findings: path relative to the baseline's directory -> fingerprint -> entry."""

    path: Path
    known: Mapping[str, Mapping[str, Mapping[str, str]]]

    @property
    def directory(self) -> Path:
        """The directory to which paths are relative, so that the baseline can move with the models."""
        return self.path.parent

    def holds(self, finding: Finding) -> bool:
        """Return True if a finding is known."""
        return finding.fingerprint in self.known.get(_key(finding.location.path, self.directory), {})

    def knows(self, file: str) -> bool:
        """Return True if a file has known findings."""
        return _key(file, self.directory) in self.known

    def gone(self, files: Iterable[str], findings: Iterable[Finding]) -> int:
        """Count the entries for these files that no longer match a finding."""
        found = {(_key(finding.location.path, self.directory), finding.fingerprint) for finding in findings}
        checked = (_key(file, self.directory) for file in files)
        return sum((path, fingerprint) not in found for path in checked for fingerprint in self.known.get(path, ()))


def read_baseline(path: Path) -> Baseline:
    """Read a baseline.

    Raises:
        BaselineError: the file is damaged, not a baseline, or of another format version.
        OSError: the file cannot be read.
    """
    if not resolved(path).is_file() and path.exists():
        raise OSError(f"{path} is not a regular file")
    content = path.read_bytes()
    try:
        return Baseline(path, _known(path, json.loads(content)))
    except BaselineError:
        raise
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise BaselineError(f"{path} is damaged, or no baseline of ov-gather ({reason}); {_REMEDY}") from None


def _known(path: Path, document: Any) -> dict[str, dict[str, dict[str, str]]]:
    """Return the entries of a baseline. Raises ValueError, LookupError or TypeError if the document is not one."""
    if document["format"] != _FORMAT:
        found = str(document["format"])[:40]
        raise BaselineError(f"{path}: format {found} of a baseline is not known, only {_FORMAT}; {_REMEDY}")
    known: dict[str, dict[str, dict[str, str]]] = {}
    for number, entry in enumerate(document["findings"]):
        kept = {name: entry[name] for name in _ENTRY}
        if not all(isinstance(value, str) for value in kept.values()):
            raise ValueError(f"finding {number} holds something else than strings")
        kept["path"] = redacted(kept["path"])  # older releases wrote signatures, which have changed since
        known.setdefault(kept["path"], {})[kept["fingerprint"]] = kept
    return known


def write_baseline(path: Path, files: Iterable[str], findings: Iterable[Finding]) -> None:
    """Write the findings of these files, and keep the entries of an older baseline for other files that still exist.

    Safe for concurrent processes: none loses the entries of another.

    Raises:
        BaselineError: the existing file is not a baseline.
        OSError: the file cannot be read or written.
    """
    with locked_directory(resolved(path).parent):
        old = _read_if_there(path)
        checked = {_key(file, old.directory) for file in files}
        kept = (
            entry
            for name, entries in old.known.items()
            if name not in checked and _exists(name, old.directory)
            for entry in entries.values()
        )
        entries = [*kept, *(_entry(finding, old.directory) for finding in findings)]
        entries.sort(key=lambda entry: [entry[name] for name in _ENTRY])
        document = {"format": _FORMAT, "ov_gather": version("ov-gather"), "findings": entries}
        with replacing(path) as file:
            file.write((json.dumps(document, indent=2) + "\n").encode())


def _read_if_there(path: Path) -> Baseline:
    try:
        return read_baseline(path)
    except FileNotFoundError:
        return Baseline(path, {})


def _entry(finding: Finding, directory: Path) -> dict[str, str]:
    """Return the entry of a finding: its fingerprint, and texts for people."""
    place = finding.location
    layer = f"{place.layer_type} '{place.layer_name}'" if place.layer_type else ""
    return {
        "path": _key(place.path, directory),
        "rule": finding.rule,
        "layer": " / ".join(filter(None, (*place.subgraph_path, layer))),
        "fingerprint": finding.fingerprint,
    }
