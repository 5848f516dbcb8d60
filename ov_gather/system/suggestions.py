"""Suggestions for names that are not known."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches


def did_you_mean(name: str, known: Collection[str], listed: Collection[str] | None = None) -> str:
    """Return "did you mean X?" with the nearest known name, or those that begin so; else the names `listed`, or all."""
    by_folded = {each.casefold(): each for each in known}
    longer = [each for each in by_folded if each.startswith(f"{name.casefold()}-")]
    close = longer or get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(by_folded[each] for each in close)}?"
    return f"there are {', '.join(known if listed is None else listed)}"
