"""What the commands print on: colour and width of a terminal, natural width and no colour in a pipe."""

from __future__ import annotations

import sys

from rich.console import Console


def console() -> Console:
    """For results, on stdout."""
    terminal = sys.stdout.isatty()
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=not terminal, width=None if terminal else 1_000_000)
