"""Lines of `ov-gather validate --oldest`."""

from __future__ import annotations

from ov_gather.report.places import path_text
from ov_gather.rules.oldest import OldestRelease
from ov_gather.rules.releases import RELEASES
from ov_gather.system.tables import printable


def line(path: str, oldest: OldestRelease) -> str:
    """Return the file, the oldest release that supports it, and the first feature that older ones lack, with its place."""
    release = oldest.release or "no release"
    if oldest.release == RELEASES[0]:
        release += " or older"
    if oldest.extension:
        release += f", with an extension for {oldest.extension}"
    words = [path_text(path), release]
    if oldest.reason:
        place = oldest.place
        at = [] if place is None else [place.layer_text, f"line {place.line}" if place.line else ""]
        words.append(", ".join(filter(None, [oldest.reason, *at])))
    return printable(": ".join(words))
