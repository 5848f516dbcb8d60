"""This module tells how commands print: with the colours and width of a terminal, or into a pipe without colours and at natural
width.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

T = TypeVar("T")


def console() -> Console:
    """Make a console for results, on stdout."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=not terminal, width=None if terminal else 1_000_000)


def print_table(table: Table) -> None:
    """Print a table without the blanks at the ends of its lines."""
    out = console()
    with out.capture() as captured:
        out.print(table)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()), color=has_colour())


def print_all(parts: Iterable[Table | str]) -> None:
    """Print tables, and lines of text."""
    out = console()
    for part in parts:
        if isinstance(part, str):
            out.print(part)
        else:
            print_table(part)


def has_colour() -> bool:
    """Tell whether stdout takes colours: a terminal does, unless NO_COLOR is set (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def with_progress(results: Iterable[T], total: int, doing: str) -> Iterable[T]:
    """Yield the same results, with a progress bar if stderr is a terminal and there is more than one to wait for."""
    if total < 2 or not sys.stderr.isatty():
        return results
    from rich.console import Console
    from rich.progress import track

    return track(results, doing, total=total, console=Console(stderr=True), transient=True)
