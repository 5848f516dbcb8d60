"""Divergences that a release of OpenVINO no longer shows, or shows first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def changed(before: Mapping[str, Sequence[int]], now: Mapping[str, Sequence[int]]) -> Iterator[tuple[str, str, str]]:
    """Compare counts of cases, [shown, absent] by divergence, of two releases.

    Yields the name of each divergence that only one of them shows, and what both did. Divergences without a case in one of
    them are left out.
    """
    for name in sorted(before.keys() & now.keys()):
        if sum(before[name]) and sum(now[name]) and bool(before[name][0]) is not bool(now[name][0]):
            yield name, *(f"shown in {shown} of {shown + absent} cases" for shown, absent in (before[name], now[name]))
