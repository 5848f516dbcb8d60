"""What the package does is told to loggers below `ov_gather`, for those who configure `logging`.

Nobody can have configured it before it was imported, so the package does not import it, and is not slower for it.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

from ov_gather.tables import printable

if TYPE_CHECKING:
    import logging


def info(part: str, text: str, *values: object) -> None:
    """Tell the logger of a part of the package that something was changed or written."""
    if "logging" in sys.modules:
        _logger(part).info(text, *map(_harmless, values))


def debug(part: str, text: str, *values: object) -> None:
    """Tell the logger of a part of the package what is of interest only where something is wrong."""
    if "logging" in sys.modules:
        _logger(part).debug(text, *map(_harmless, values))


def _harmless(value: object) -> object:
    """Return a number as it is, and anything else, which may hold names, as a printable text."""
    return value if isinstance(value, int | float) else printable(str(value))


@cache
def _logger(part: str) -> logging.Logger:
    """Return the logger of a part. Nothing is printed unless the caller has a handler."""
    import logging

    ours = logging.getLogger("ov_gather")
    if not ours.handlers:
        ours.addHandler(logging.NullHandler())
    return ours.getChild(part)
