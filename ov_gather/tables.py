"""Results that people look at are tables, in a terminal and in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

_PRE = '<pre style="white-space:pre;overflow-x:auto;line-height:normal;font-family:monospace">{code}</pre>'
_WIDTH = 160
"""Columns of a table in a notebook; a longer name is folded."""


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


def printable(text: str) -> str:
    """Put a name or text on one line and without control characters."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


class InNotebooks(ABC):
    """Something that a notebook shows as the table that it has of itself."""

    __slots__ = ()

    @abstractmethod
    def table(self) -> Table:
        """Return the table, for `rich.print`."""

    def _repr_html_(self) -> str:
        from rich.console import Console

        console = Console(file=StringIO(), record=True, width=_WIDTH)
        console.print(self.table())
        return console.export_html(inline_styles=True, code_format=_PRE)
