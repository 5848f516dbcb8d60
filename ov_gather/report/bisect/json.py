"""A bisection for programs."""

from __future__ import annotations

import json
from dataclasses import asdict

from ov_gather.crosscheck.bisect.results import BisectResult


def render(result: BisectResult) -> str:
    """Return the whole result as JSON, with its verdict."""
    return json.dumps({"passed": result.passed, "node": result.node, **asdict(result)}, indent=2) + "\n"
