"""What the package does is told to loggers below `ov_gather`, for those who configure `logging`.

Nobody can have configured it before it was imported, so the package does not import it, and is not slower for it.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging


def info(part: str, text: str, *values: object) -> None:
    """Tell the logger of a part of the package that something was changed or written."""
    if "logging" in sys.modules:
        _logger(part).info(text, *values)


def debug(part: str, text: str, *values: object) -> None:
    """Tell the logger of a part of the package what is of interest only where something is wrong."""
    if "logging" in sys.modules:
        _logger(part).debug(text, *values)


@cache
def _logger(part: str) -> logging.Logger:
    """Return the logger of a part. Nothing is printed unless the caller has a handler."""
    import logging

    ours = logging.getLogger("ov_gather")
    if not ours.handlers:
        ours.addHandler(logging.NullHandler())
    return ours.getChild(part)
