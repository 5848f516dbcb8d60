"""Cache of findings, so that unchanged files are not validated again.

An entry holds for the bytes of the .xml, and for those bytes of the .bin that validation read: comparing others, maybe
gigabytes, would be in vain.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any

from ov_gather.ir.files import Place
from ov_gather.ir.location import Location
from ov_gather.ir.urls import Url, fetched, is_url
from ov_gather.ir.weights import Weights
from ov_gather.rules.findings import Finding, Severity
from ov_gather.rules.selection import Chosen, select_rules
from ov_gather.rules.validation import NOT_CHECKED, validate
from ov_gather.system.files import replacing
from ov_gather.system.private import make_private, read_private

_ROOMS = ("system", "ir", "ops", "ranges", "divergences", "rules")


class _Recorded(Weights):
    """Weights that record which parts were read, and a hash of them."""

    def __init__(self, weights: Weights) -> None:
        super().__init__(None)
        self.path, self.is_far = weights.path, weights.is_far
        self._weights = weights
        self.parts: list[tuple[int, int]] = []
        self._hash = blake2b()
        self.size, self.was_cut, self.trouble = weights.size, weights.was_cut, weights.trouble  # type: ignore[method-assign]

    def read(self, offset: int, size: int) -> memoryview:
        part = self._weights.read(offset, size)
        self.parts.append((offset, size))
        self._hash.update(part)
        return part

    def state(self, parts: Iterable[tuple[int, int]] = ()) -> dict[str, Any]:
        """Read these parts; return the size of the file, all parts read so far, and their hash."""
        try:
            size = self.size()
            for offset, length in parts:
                self.read(offset, length)
        except (OSError, EOFError):
            return {"size": None, "parts": [], "hash": ""}
        return {"size": size, "parts": [list(part) for part in self.parts], "hash": self._hash.hexdigest()}


class Cache:
    """Findings in a directory, one entry for each file and choice of options."""

    def __init__(self, directory: Path) -> None:
        """Create the directory if missing, with files that exclude it from backups and repositories.

        Raises NotPrivateError if another user could write to it; OSError.
        """
        directory = make_private(directory)
        for name, text in (("CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"), (".gitignore", "*\n")):
            if not (directory / name).exists():
                (directory / name).write_text(text)
        self._directory = directory

    def entry(self, name: str, chosen: Chosen) -> bytes:
        """Return the entry of a file; b"" if there is none."""
        try:
            return _whole(read_private(self._place(name, chosen)))
        except OSError:
            return b""

    def keep(self, name: str, chosen: Chosen, entry: bytes) -> None:
        """Write an entry. Errors are ignored: a cache that is full or gone only costs time."""
        with suppress(OSError), replacing(self._place(name, chosen), private=True) as file:
            file.write(_digest(entry) + entry)

    def _place(self, name: str, chosen: Chosen) -> Path:
        path = name if is_url(name) else os.path.abspath(name)  # noqa: PTH100 - resolve() would follow links
        key = repr((_rules(), path, chosen.select, chosen.ignore, chosen.target))
        return self._directory / f"{blake2b(key.encode(errors='surrogateescape'), digest_size=16).hexdigest()}.json"


def is_below(directory: Path, checked: Iterable[Place]) -> Path | None:
    """Return the checked path, or the repository around it, that contains a directory; None if none does.

    Whoever wrote the checked files could have put cache entries there, too.
    """
    directory = directory.resolve()
    for place in checked:
        if isinstance(place, Path):
            real = place.resolve()
            repositories = (above for above in (real, *real.parents) if (above / ".git").exists())
            for root in (real, *repositories):
                if directory.is_relative_to(root):
                    return root
    return None


@cache
def _rules() -> str:
    """Hash the sources that determine the findings: another version of ov-gather may find something else."""
    package = Path(__file__).parents[1]
    sources = sorted(path for room in _ROOMS for path in (package / room).rglob("*.py"))
    contents = (blake2b(path.read_bytes()).digest() for path in sources)
    return blake2b(b"".join(contents), digest_size=16).hexdigest()


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).hexdigest().encode()


def _whole(kept: bytes) -> bytes:
    """Return the content of an entry; b"" if it is damaged."""
    digest, entry = kept[:32], kept[32:]
    return entry if digest == _digest(entry) else b""


def validate_unless_known(path: Place, chosen: Chosen, entry: bytes) -> tuple[list[Finding], bytes | None]:
    """Return what `validate` finds in a file, and a new entry: None if the old one holds, b"" if there is none to keep."""
    try:
        document = _Document(path)
    except OSError:
        return validate(path, **asdict(chosen)), b""
    known = _known(entry, document)
    if known is not None:
        return known, None
    weights = _Recorded(document.weights)
    findings = validate(document, weights=weights, **asdict(chosen))
    if any(finding.rule == NOT_CHECKED for finding in findings):
        return findings, b""
    kept = [asdict(replace(finding, fix=None)) for finding in findings]
    content = {"xml": document.digest, "bin": weights.state(), "findings": kept}
    return findings, json.dumps(content, default=lambda severity: severity.value).encode()


class _Document(BytesIO):
    """The bytes of an .xml, with its name for findings and its .bin. Raises OSError."""

    def __init__(self, path: Place) -> None:
        self.weights: Weights
        if isinstance(path, Url):
            content, self.weights = fetched(path)
        else:
            content, self.weights = path.read_bytes(), Weights(path.with_suffix(".bin"))
        super().__init__(content)
        self.name = str(path)
        self.digest = blake2b(content).hexdigest()


def _known(entry: bytes, document: _Document) -> list[Finding] | None:
    """Return the findings of an entry; None if there is no entry for these bytes."""
    try:
        kept, weights = json.loads(entry), _Recorded(document.weights)
        if kept["xml"] != document.digest or weights.state(kept["bin"]["parts"]) != kept["bin"]:
            return None
        return [_finding(finding, document.name) for finding in kept["findings"]]
    except (OSError, ValueError, LookupError, TypeError):
        return None  # written by another version, which a cluster may have


def _finding(kept: dict[str, Any], name: str) -> Finding:
    """Rebuild a finding. A worker of a cluster may have written another path of the same file."""
    place = Location(**kept["location"] | {"path": name, "subgraph_path": tuple(kept["location"]["subgraph_path"])})
    texts = (kept["rule"], kept["message"], kept["hint"], kept["fingerprint"], place.layer_name, place.layer_type)
    numbers = (place.line, 0 if place.layer_id is None else place.layer_id, 0 if place.port is None else place.port)
    if not all(isinstance(text, str) for text in (*texts, *place.subgraph_path)) or {*map(type, numbers)} != {int}:
        raise TypeError("an entry of the cache is damaged")
    select_rules([kept["rule"]])  # raises ValueError for an unknown rule
    return Finding(**kept | {"severity": Severity(kept["severity"]), "location": place, "fix": None})
