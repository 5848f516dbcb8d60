"""The processor of this machine, as Linux describes it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path


def model_name() -> str:
    """Return the processor's name as Linux shows it, or its architecture on other systems."""
    return _described().get("model name", platform.machine())


def flags() -> frozenset[str] | None:
    """Return the instruction sets that the processor has and the system enables; None if unknown."""
    named = _described().get("flags")
    return None if named is None else frozenset(named.split())


@cache
def _described() -> Mapping[str, str]:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return {}
    first = lines[: lines.index("") if "" in lines else len(lines)]
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in first)}
