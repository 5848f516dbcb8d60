"""Tables of results for terminals and notebooks, with names from the model escaped."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Column, Table
    from rich.text import Text

_PRE = '<pre style="white-space:pre;overflow-x:auto;line-height:normal;font-family:monospace">{code}</pre>'
_WIDTH = 160
"""Width of a table in a notebook, in columns; a longer name is folded."""
_MARKED_COMMAND = re.compile(r"##(?=\w*\[)")
"""Markers that CI services obey anywhere in a line: ##[error] (GitHub), ##vso[ (Azure), ##teamcity[ (TeamCity)."""


def table_of(columns: Sequence[str], rows: Iterable[Sequence[str | Sequence[str]]]) -> Table:
    """Build a table for `rich.print`. A cell is one string, or a sequence of lines."""
    view = new_table(*columns)
    for row in rows:
        view.add_row(*(cell(one) if isinstance(one, str) else cell(*one) for one in row))
    return view


def new_table(*columns: str | Column) -> Table:
    """Return an empty table in our common style: a line below the headers, and no other."""
    from rich import box
    from rich.table import Table

    return Table(*columns, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)


def cell(*lines: str, style: str = "") -> Text:
    """Return a table cell with these lines, each escaped. Long lines are folded, and rich markup is not interpreted."""
    from rich.text import Text

    return Text("\n".join(map(printable, lines)), style, overflow="fold")


def as_text(table: Table) -> str:
    """Render a table as text at its natural width."""
    from rich.console import Console

    text = StringIO()
    Console(file=text, width=1_000_000).print(table)
    return text.getvalue().rstrip()


def printable(text: str) -> str:
    r"""Escape a text so that it is one line and neither a terminal nor a CI service obeys it.

    Control characters, line ends and direction marks become escapes such as \x1b, \n or \u202e. A text that a CI service would
    read as a command ("::" at the start, "##[" anywhere) has one character of the command escaped.
    """
    if not text.isprintable():
        text = "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
    if text.lstrip().startswith("::"):
        text = text.replace(":", r"\x3a", 1)
    return _MARKED_COMMAND.sub(r"#\\x23", text)


class Styled(str):
    """A line with our own colour codes; everything else in it is already printable."""

    __slots__ = ()


class InNotebooks(ABC):
    """Base of results that a notebook shows as a table."""

    __slots__ = ()

    @abstractmethod
    def table(self) -> Table:
        """Return the table, for `rich.print`."""

    def _repr_html_(self) -> str:
        from rich.console import Console

        console = Console(file=StringIO(), record=True, width=_WIDTH)
        console.print(self.table())
        return console.export_html(inline_styles=True, code_format=_PRE)
