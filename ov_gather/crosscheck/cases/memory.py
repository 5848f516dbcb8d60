"""This module tells whether arrays fit into memory, before they are made."""

from __future__ import annotations

import re
from pathlib import Path

COPIES = 8
"""The number of copies of a case at one time: in this process and in those of the runtimes, as inputs and as outputs."""


def require_memory(place: str, needed: int) -> None:
    """Raise ValueError where `needed` bytes, and their copies, exceed the memory that is free."""
    free = _available()
    if free is not None and needed * COPIES > free:
        raise ValueError(f"{place}: a case takes {_gigabytes(needed)}, and {COPIES} times that; {_gigabytes(free)} are free")


def _available() -> int | None:
    """Read how many bytes programs can have, what caches hold included; None where the system does not tell."""
    try:
        found = re.search(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
