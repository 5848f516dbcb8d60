"""Check of free memory before arrays are allocated."""

from __future__ import annotations

import re
from pathlib import Path

COPIES = 8
"""Estimated number of simultaneous copies of a case: as inputs and as outputs, in this process and in each runtime's process.
"""


def require_memory(place: str, needed: int) -> None:
    """Raise ValueError if COPIES times `needed` bytes exceed the free memory."""
    free = _available()
    if free is not None and needed * COPIES > free:
        raise ValueError(f"{place}: a case takes {_gigabytes(needed)}, and {COPIES} times that; {_gigabytes(free)} are free")


def _available() -> int | None:
    """Return the bytes that a new program can allocate, reclaimable caches included; None if the system does not say."""
    try:
        found = re.search(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
