"""Results that people look at are tables, in a terminal and in a notebook; names of a model are harmless in them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_PRE = '<pre style="white-space:pre;overflow-x:auto;line-height:normal;font-family:monospace">{code}</pre>'
_WIDTH = 160
"""Columns of a table in a notebook; a longer name is folded."""
_MARKED_COMMAND = re.compile(r"##(?=\w*\[)")
"""CI services obey these anywhere in a line: ##[error] (GitHub), ##vso[ (Azure), ##teamcity[ (TeamCity)."""


def table_of(columns: Sequence[str], rows: Iterable[Sequence[str | Sequence[str]]]) -> Table:
    """Make a table of texts, for `rich.print`. A cell that is no text has several lines."""
    from rich.table import Table

    view = Table(*columns)
    for row in rows:
        view.add_row(*(cell(one) if isinstance(one, str) else cell(*one) for one in row))
    return view


def cell(*lines: str, style: str = "") -> Text:
    """Return a cell of a table with these lines, each printable. A long line is folded, and nothing in it is markup."""
    from rich.text import Text

    return Text("\n".join(map(printable, lines)), style, overflow="fold")


def as_text(table: Table) -> str:
    """Print a table into a text, at its natural width."""
    from rich.console import Console

    text = StringIO()
    Console(file=text, width=1_000_000).print(table)
    return text.getvalue().rstrip()


def printable(text: str) -> str:
    """Return a text on one line that neither a terminal nor a CI service obeys.

    Control characters, ends of lines, and marks that turn the direction of text become escapes such as \\x1b, \\n or \\u202e.
    So does a character of what a service would take for a command in a log: "::" at the start, "##[" anywhere.
    """
    if not text.isprintable():
        text = "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
    if text.lstrip().startswith("::"):
        text = text.replace(":", r"\x3a", 1)
    return _MARKED_COMMAND.sub(r"#\\x23", text)


class Styled(str):
    """A line with colours of ours; all else in it is printable."""

    __slots__ = ()


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
