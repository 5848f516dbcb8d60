"""What validation found is kept here, so that files that have not changed since are not checked again.

An entry says for which bytes of the .xml it holds, and for which bytes of the .bin: only those that were read are compared, as
there may be gigabytes of others that validation never looks at.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, replace
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ov_gather.files import replacing
from ov_gather.ir.location import Location
from ov_gather.ir.weights import Weights
from ov_gather.rules.findings import Finding, Severity
from ov_gather.rules.validation import validate


class _Recorded(Weights):
    """Weights that remember which parts of them were read, and a hash of those."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.parts: list[tuple[int, int]] = []
        self._hash = blake2b()

    def read(self, offset: int, size: int) -> memoryview:
        part = super().read(offset, size)
        self.parts.append((offset, size))
        self._hash.update(part)
        return part

    def state(self, parts: Iterable[tuple[int, int]] = ()) -> dict[str, Any]:
        """Read some parts, and tell the size of the file, all parts that were read, and the hash of them."""
        try:
            size = self.size()
            for offset, length in parts:
                self.read(offset, length)
        except (OSError, EOFError):
            return {"size": None, "parts": [], "hash": ""}
        return {"size": size, "parts": [list(part) for part in self.parts], "hash": self._hash.hexdigest()}


class Cache:
    """A Cache keeps findings in a directory, one entry for each file and each choice of options."""

    def __init__(self, directory: Path) -> None:
        """Make the directory if there is none, with files that keep it out of backups and repositories. Raises OSError."""
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in (("CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"), (".gitignore", "*\n")):
            if not (directory / name).exists():
                (directory / name).write_text(text)
        self._directory = directory

    def validate(
        self, path: Path, *, select: tuple[str, ...], ignore: tuple[str, ...], target: str
    ) -> tuple[list[Finding], bool]:
        """Return what `validate` finds in a file, and whether the cache knew it."""
        key = repr((version("ov-gather"), str(path), select, ignore, target))
        entry = self._directory / f"{blake2b(key.encode(errors='surrogateescape'), digest_size=16).hexdigest()}.json"
        before = _digest(path)
        known = _known(entry, before, _Recorded(path.with_suffix(".bin"))) if before else None
        if known is not None:
            return known, True
        weights = _Recorded(path.with_suffix(".bin"))
        findings = validate(path, weights=weights, select=select, ignore=ignore, target=target)
        if before and _digest(path) == before:
            document = {
                "xml": before,
                "bin": weights.state(),
                "findings": [asdict(replace(finding, fix=None)) for finding in findings],
            }
            with suppress(OSError), replacing(entry) as file:  # A cache that is full or gone makes nothing wrong, only slower.
                file.write(json.dumps(document, default=_value).encode())
        return findings, False


def _digest(path: Path) -> str:
    """Hash the bytes of a file; nothing for one that cannot be read."""
    try:
        return blake2b(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _known(entry: Path, digest: str, weights: _Recorded) -> list[Finding] | None:
    """Return the findings of an entry; None if there is none, if it is of other bytes, or if it is damaged."""
    try:
        kept = json.loads(entry.read_bytes())
        if kept["xml"] != digest or weights.state(kept["bin"]["parts"]) != kept["bin"]:
            return None
        return list(map(_finding, kept["findings"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _value(severity: Severity) -> str:
    return severity.value


def _finding(kept: dict[str, Any]) -> Finding:
    place = Location(**kept["location"] | {"subgraph_path": tuple(kept["location"]["subgraph_path"])})
    return Finding(**kept | {"severity": Severity(kept["severity"]), "location": place})
