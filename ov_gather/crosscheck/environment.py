"""Description of the runtimes and the machine behind a result."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

from ov_gather.crosscheck.results import Environment
from ov_gather.divergences import cpu
from ov_gather.runtimes.base import Runtime
from ov_gather.system.platforms import core_count


def environment(runtimes: Sequence[Runtime[Any]]) -> Environment:
    """Return the versions of the runtimes and a description of this machine; `cores` counts those that this process may use."""
    return Environment(
        versions={runtime.name: runtime.version for runtime in runtimes},
        cpu=cpu.model_name(),
        cores=core_count(),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
    )
