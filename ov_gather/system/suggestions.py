"""Suggestions for names that are not known."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches


def did_you_mean(name: str, known: Collection[str], listed: Collection[str] | None = None) -> str:
    """Return "did you mean X?" with the known name that is nearest; without a near one, all of `listed`, by default `known`."""
    by_folded = {each.casefold(): each for each in known}
    close = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.5)
    return f"did you mean {by_folded[close[0]]}?" if close else f"there are {', '.join(known if listed is None else listed)}"
