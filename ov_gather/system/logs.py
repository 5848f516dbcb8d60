"""Log messages to the loggers below `ov_gather`, without importing `logging`.

If the caller has not imported `logging`, no handler can be configured, so the message is skipped and nothing is slower.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

from ov_gather.system.tables import printable

if TYPE_CHECKING:
    import logging


def info(part: str, text: str, *values: object) -> None:
    """Log that something was changed or written, to the logger `ov_gather.<part>`."""
    if "logging" in sys.modules:
        _logger(part).info(text, *map(_harmless, values))


def debug(part: str, text: str, *values: object) -> None:
    """Log a detail that helps to diagnose a problem, to the logger `ov_gather.<part>`."""
    if "logging" in sys.modules:
        _logger(part).debug(text, *map(_harmless, values))


def _harmless(value: object) -> object:
    """Return numbers unchanged; escape anything else, since it may contain names from a model."""
    return value if isinstance(value, int | float) else printable(str(value))


@cache
def _logger(part: str) -> logging.Logger:
    """Return the logger of a part. It prints nothing unless the caller configures a handler."""
    import logging

    ours = logging.getLogger("ov_gather")
    if not ours.handlers:
        ours.addHandler(logging.NullHandler())
    return ours.getChild(part)
