"""What the commands print on: colour and width of a terminal, natural width and no colour in a pipe."""

from __future__ import annotations

import sys

from rich.console import Console


def console() -> Console:
    """For results, on stdout."""
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty(), width=None if sys.stdout.isatty() else 4096)
