"""With what a result is seen: versions, and the machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import Any

from ov_gather.crosscheck.results import Environment
from ov_gather.divergences import cpu
from ov_gather.runtimes.base import Runtime


def environment(runtimes: Sequence[Runtime[Any]]) -> Environment:
    """Of these runtimes, on this machine, where we may use so many cores."""
    return Environment(
        versions={runtime.name: runtime.version for runtime in runtimes},
        cpu=cpu.model_name(),
        cores=len(os.sched_getaffinity(0)),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
    )
