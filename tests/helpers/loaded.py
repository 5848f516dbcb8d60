"""Limits of time on a machine that does other work."""

import time


def is_within(seconds: float, limit: float) -> bool:
    """Return True if something took less than a limit, or than it would take on a machine as loaded as this one."""
    return seconds < limit or seconds < limit * _slowdown()


def _slowdown() -> float:
    """Return how many times longer than alone half a second of work takes now."""
    start, end = time.monotonic(), time.process_time() + 0.5
    while time.process_time() < end:
        pass
    return (time.monotonic() - start) / 0.5
