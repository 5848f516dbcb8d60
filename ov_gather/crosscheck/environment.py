"""The versions and the machine that a result is obtained with."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

from ov_gather.crosscheck.results import Environment
from ov_gather.divergences import cpu
from ov_gather.platforms import core_count
from ov_gather.runtimes.base import Runtime


def environment(runtimes: Sequence[Runtime[Any]]) -> Environment:
    """Describe these runtimes, and this machine with as many cores as this process may use."""
    return Environment(
        versions={runtime.name: runtime.version for runtime in runtimes},
        cpu=cpu.model_name(),
        cores=core_count(),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
    )
