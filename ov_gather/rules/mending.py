"""`validate --fix`: what is mechanical to mend is mended, and all else stays byte for byte as it was."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from pathlib import Path

from ov_gather.files import replacing_together
from ov_gather.ir.patched import PatchedWeights
from ov_gather.ir.weights import Weights
from ov_gather.rules.applying import applied
from ov_gather.rules.findings import Finding
from ov_gather.rules.suppression import Ignore
from ov_gather.rules.validation import validate

_ROUNDS = 20
"""Dims that are declared anew may show others that do not fit, downstream. A chain of so many is followed."""

_AMBIGUOUS = ("OVG101", "OVG102", "OVG103", "OVG116")
"""Rules of ids and edges. Where one is broken, nobody knows what feeds what, and what types and dims should be."""

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
        """Put the files in the place of the old ones, both or none. Raises OSError."""
        with replacing_together(self.path) as path:
            path.write_bytes(self.document)
            shutil.copymode(self.path, path)
            if self.weights.is_patched:
                self.weights.write(path.with_suffix(".bin"))

    def diff(self) -> Iterator[str]:
        """Yield the lines of a unified diff of the document, and what changes in the .bin."""
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
    wanted = (found for found in state.left if not any(entry.covers(found) for entry in ignores))
    ready = [found for found in wanted if found.fix and (unsafe or found.fix.safe)]
    if ready and validate(before, weights=weights, select=_AMBIGUOUS):
        return state
    # All at once is what nearly always works; where it does not, each is tried alone.
    if ready and not _apply(state, ready, check):
        for finding in ready:
            _apply(state, [finding], check)
    return state


def _apply(state: Mended, ready: list[Finding], check: Check) -> bool:
    """Apply the fixes of some findings, and those of findings that come up then. Returns whether that was good.

    It is if fewer findings are left, and of no rule more; else nothing is changed.
    """
    document, weights, left, mended = state.document, state.weights, state.left, list[Finding]()
    known = {finding.fingerprint for finding in left}
    for _ in range(_ROUNDS):
        try:
            document, weights = applied(document, weights, ready)
        except ValueError:  # which says that a fix has no certain place
            return False
        left, mended = check(document, weights), [*mended, *ready]
        ready = [found for found in left if found.fix and found.fix.safe and found.fingerprint not in known]
        known |= {finding.fingerprint for finding in ready}
        if not ready:
            break
    before, after = (Counter(finding.rule for finding in findings) for findings in (state.left, left))
    if after == before or not after <= before:
        return False
    state.document, state.weights, state.left = document, weights, left
    state.mended += mended
    return True
