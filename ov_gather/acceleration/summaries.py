"""What was done to the gathers of a model is shown here as a table, with a row for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def table_of(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Make a table of texts, for `rich.print`."""
    from rich.table import Table
    from rich.text import Text

    view = Table(*columns)
    for row in rows:
        view.add_row(*map(Text, row))
    return view


def as_text(table: Table) -> str:
    """Print a table into a text, at its natural width."""
    from rich.console import Console

    text = StringIO()
    Console(file=text, width=1_000_000).print(table)
    return text.getvalue().rstrip()
