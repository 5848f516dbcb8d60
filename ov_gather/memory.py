"""Whether arrays fit into memory, before they are made."""

from __future__ import annotations

import os

COPIES = 8
"""How often a case is there at once: in this process and in those of the runtimes, as inputs and as outputs."""


def require_memory(place: str, needed: int) -> None:
    """Raise ValueError where `needed` bytes, and their copies, exceed the memory that is free."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed * COPIES > free:
        raise ValueError(f"{place}: a case takes {_gigabytes(needed)}, and {COPIES} times that; {_gigabytes(free)} are free")


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
