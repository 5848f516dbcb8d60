"""`ov-gather fix`: mechanical repairs that leave all other bytes unchanged."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from pathlib import Path
from typing import IO

from ov_gather.ir.weights import PatchedWeights, Weights
from ov_gather.rules.applying import applied
from ov_gather.rules.findings import Finding
from ov_gather.rules.suppression import Ignore
from ov_gather.rules.validation import validate
from ov_gather.system.files import identity, replacing_all, resolved

_ROUNDS = 20
"""Most rounds of fixes: new dims may reveal other errors downstream. Fixes that have not settled by then are dropped."""

_LEAST_TRIES = 50
_MOST_TRIED = 200_000
"""How often groups of fixes are tried, each with a validation of the document: this often in all, or as often as they have
this many fixes together. So the time does not grow with the square of the number of findings that cannot be fixed."""

_AMBIGUOUS = ("OVG101", "OVG102", "OVG103", "OVG116")
"""Rules of ids and edges. If one is violated, producers are ambiguous, and so are the types and dims to declare."""

_DIGEST = re.compile(r"[0-9a-f]{30,}")
"""File names in the caches of huggingface_hub, DVC and others: a hash of the content, which therefore must not change."""

Check = Callable[[bytes, Weights], list[Finding]]


@dataclass(slots=True)
class Mended:
    """The result for one file: the document and weights with all fixes, the fixed findings, and the remaining ones."""

    path: Path
    before: bytes
    document: bytes
    weights: PatchedWeights
    left: list[Finding]
    mended: list[Finding] = field(default_factory=list)

    def write(self) -> None:
        """Replace the files that change, both or none. Raises OSError.

        The .bin is the one beside the given path, as for OpenVINO, even if the .xml is a link.
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
        """Yield the lines of a unified diff of the document, and the changes of the .bin."""
        if self.document != self.before:  # it is in UTF-8 then: documents in other encodings are never changed
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
    """Apply fixes until none is left. A fix that leads to other findings is not applied.

    Args:
        path: the .xml; nothing is written before `Mended.write`.
        unsafe: also apply fixes that may change the meaning.
        ignores: findings that these suppress are not fixed.
        select, ignore, target: as for `validate`.

    Raises OSError if the file cannot be read.
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
    # Apply all at once, which nearly always works; otherwise search by halves for those that cannot be applied.
    groups = deque([ready] if ready else [])
    for _ in range(max(_LEAST_TRIES, _MOST_TRIED // max(len(ready), 1))):
        if not groups:
            break
        group = groups.popleft()
        if not _apply(state, group, check, wanted) and len(group) > 1:
            groups += (group[: len(group) // 2], group[len(group) // 2 :])
    return state


def _apply(state: Mended, ready: list[Finding], check: Check, wanted: Callable[[Finding], bool]) -> bool:
    """Apply some fixes, then the safe fixes of what remains, until there are none. Return True if the result is accepted.

    It is accepted if there are fewer findings, and of no rule more; else nothing changes. A fix may be applied again: dims
    copied from another port are wrong if that port was wrong, and right in the next round.
    """
    document, weights, left, mended = state.document, state.weights, state.left, dict[str, Finding]()
    first = {finding.fingerprint for finding in ready}
    others = {finding.fingerprint for finding in left} - first
    for _ in range(_ROUNDS):
        try:
            document, weights = applied(document, weights, ready)
        except ValueError:  # the place of a fix is ambiguous
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
    """Return the real path of a file to replace. Raises OSError if a cache shares the file, or it is read-only."""
    place = resolved(path)
    if path.is_symlink() and _DIGEST.fullmatch(place.name):
        raise OSError(f"it is a link to {place}, which a cache names by its content: mend a copy of the model")
    if not place.stat().st_mode & 0o222:
        raise OSError(f"{place} is read-only")
    return place


def _weights_place(path: Path) -> Path:
    """Return the real path of the .bin of an .xml. Raises OSError as `_own_place` does, and for the .bin of another .xml."""
    place = _own_place(path.with_suffix(".bin"))
    other = place.with_suffix(".xml")
    if other.exists() and identity(other) != identity(path):
        raise OSError(f"its .bin is a link to {place}, which is the .bin of {other}, too: mend a copy of the model")
    return place
