"""`validate --fix`: what is mechanical to mend is mended, and all else stays byte for byte as it was."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from pathlib import Path
from typing import IO

from ov_gather.files import identity, replacing_all, resolved
from ov_gather.ir.patched import PatchedWeights
from ov_gather.ir.weights import Weights
from ov_gather.rules.applying import applied
from ov_gather.rules.findings import Finding
from ov_gather.rules.suppression import Ignore
from ov_gather.rules.validation import validate

_ROUNDS = 20
"""Dims that are declared anew may show others that do not fit, downstream. Fixes that do not settle by then are not applied."""

_AMBIGUOUS = ("OVG101", "OVG102", "OVG103", "OVG116")
"""Rules of ids and edges. Where one is broken, nobody knows what feeds what, and what types and dims should be."""

_DIGEST = re.compile(r"[0-9a-f]{30,}")
"""The names of files in caches of huggingface_hub, DVC and others: a hash of the content, which must stay what it says."""

Check = Callable[[bytes, Weights], list[Finding]]


@dataclass(slots=True)
class Mended:
    """What became of a file: the document and the weights with all fixes, what was mended, and what is left."""

    path: Path
    before: bytes
    document: bytes
    weights: PatchedWeights
    left: list[Finding]
    mended: list[Finding] = field(default_factory=list)

    def write(self) -> None:
        """Put the files that change in the place of the old ones, both or none. Raises OSError.

        As OpenVINO finds the .bin, it is the one beside the path that was given, also where the .xml is a link.
        """
        writers: dict[Path, Callable[[IO[bytes]], object]] = {}
        if self.weights.is_patched:
            writers[_weights_place(self.path)] = self.weights.write
        if self.document != self.before:
            writers[_own_place(self.path)] = lambda file: file.write(self.document)
        with replacing_all(list(writers)) as files:
            for write, file in zip(writers.values(), files, strict=True):
                write(file)

    def diff(self) -> Iterator[str]:
        """Yield the lines of a unified diff of the document, and what changes in the .bin."""
        if self.document != self.before:  # then it is in UTF-8; one in another encoding is never changed
            before, after = (text.decode().splitlines() for text in (self.before, self.document))
            yield from unified_diff(before, after, str(self.path), str(self.path), lineterm="")
        for offset, content in self.weights.patches.items():
            yield f"{self.weights.path}: bytes {offset}..{offset + len(content)} are written anew"
        if self.weights.cut is not None:
            yield f"{self.weights.path}: cut off behind {self.weights.cut} bytes"


def mend(
    path: Path,
    *,
    unsafe: bool,
    ignores: Sequence[Ignore] = (),
    select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    target: str = "",
) -> Mended:
    """Apply fixes until none is left. A fix after which anything else is wrong is not applied.

    Args:
        path: the .xml; nothing is written before `Mended.write`.
        unsafe: apply also what may change the meaning.
        ignores: what these suppress stays as it is.
        select, ignore, target: as for `validate`.

    Raises OSError where the file cannot be read.
    """

    def check(document: bytes, weights: Weights) -> list[Finding]:
        found = validate(document, weights=weights, select=select, ignore=ignore, target=target)
        return [replace(finding, location=replace(finding.location, path=str(path))) for finding in found]

    before, weights = path.read_bytes(), PatchedWeights(path.with_suffix(".bin"))
    state = Mended(path, before, before, weights, check(before, weights))

    def wanted(finding: Finding) -> bool:
        return finding.fix is not None and not any(entry.covers(finding) for entry in ignores)

    ready = [found for found in state.left if wanted(found) and found.fix and (unsafe or found.fix.safe)]
    if ready and validate(before, weights=weights, select=_AMBIGUOUS):
        return state
    # All at once is what nearly always works; where it does not, each is tried alone.
    if ready and not _apply(state, ready, check, wanted):
        for finding in ready:
            _apply(state, [finding], check, wanted)
    return state


def _apply(state: Mended, ready: list[Finding], check: Check, wanted: Callable[[Finding], bool]) -> bool:
    """Apply the fixes of some findings, and then safe fixes of what is found, until nothing is. Return whether that was good.

    It is if fewer findings are left, and of no rule more; else nothing is changed. A fix may be applied again: dims that were
    taken from another port are wrong if those were wrong, too, and right in the next round.
    """
    document, weights, left, mended = state.document, state.weights, state.left, dict[str, Finding]()
    first = {finding.fingerprint for finding in ready}
    others = {finding.fingerprint for finding in left} - first
    for _ in range(_ROUNDS):
        try:
            document, weights = applied(document, weights, ready)
        except ValueError:  # which says that a fix has no certain place
            return False
        mended |= {finding.fingerprint: finding for finding in ready}
        left = check(document, weights)
        following = [found for found in left if found.fingerprint not in others and wanted(found)]
        ready = [found for found in following if found.fingerprint in first or (found.fix and found.fix.safe)]
        if not ready:
            break
    before, after = (Counter(finding.rule for finding in findings) for findings in (state.left, left))
    if ready or after == before or not after <= before:
        return False
    state.document, state.weights, state.left = document, weights, left
    state.mended += mended.values()
    return True


def _own_place(path: Path) -> Path:
    """Return the place that a path leads to. Raises OSError for a file that a cache shares, or that is read-only."""
    place = resolved(path)
    if path.is_symlink() and _DIGEST.fullmatch(place.name):
        raise OSError(f"it is a link to {place}, which a cache names by its content: mend a copy of the model")
    if not place.stat().st_mode & 0o222:
        raise OSError(f"{place} is read-only")
    return place


def _weights_place(path: Path) -> Path:
    """Return the place of the .bin of an .xml. Raises OSError as `_own_place` does, and for the .bin of another .xml."""
    place = _own_place(path.with_suffix(".bin"))
    other = place.with_suffix(".xml")
    if other.exists() and identity(other) != identity(path):
        raise OSError(f"its .bin is a link to {place}, which is the .bin of {other}, too: mend a copy of the model")
    return place
