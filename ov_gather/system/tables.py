"""Tables of results for terminals and notebooks, with names from the model escaped."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.table import Column, Table
    from rich.text import Text

T = TypeVar("T")

_PRE = '<pre style="white-space:pre;overflow-x:auto;line-height:normal;font-family:monospace">{code}</pre>'
_WIDTH = 160
"""Width of a table in a notebook, in columns; a longer name is folded."""
_LONGEST = 300
"""Longest headline in a `repr`, in characters."""
_MOST_ROWS = 200
"""Most rows of a list in a notebook. Formatting 1,000 takes 3 seconds on two cores of a Xeon."""
_MANY_ROWS = 500
"""Rows of a table beyond which `as_text` writes it itself: rich takes 1 ms a row."""
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
    """Render a table as text at its natural width, without trailing blanks."""
    from rich.console import Console

    if table.row_count > _MANY_ROWS and all(column.max_width is None for column in table.columns):
        return "\n".join(_lines(table))
    text = StringIO()
    Console(file=text, width=1_000_000).print(table)
    return as_lines(text.getvalue().rstrip())


def as_lines(rendered: str) -> str:
    """Return a rendered table without trailing blanks. "::" is escaped where folding moves it to the start of a line."""
    return "\n".join(_without_command(line.rstrip()) for line in rendered.splitlines())


def _lines(table: Table) -> Iterator[str]:
    """Yield the lines that rich prints of a table in our common style."""
    from rich.cells import cell_len

    columns = [[str(column.header).split("\n"), *(str(one).split("\n") for one in column.cells)] for column in table.columns]
    widths = [max(cell_len(line) for lines in column for line in lines) for column in columns]
    for row, cells in enumerate(zip(*columns, strict=True)):
        height = max(map(len, cells))
        blank = [[""] * (height - len(lines)) for lines in cells]
        filled = [(above + lines if row == 0 else lines + above) for above, lines in zip(blank, cells, strict=True)]
        for parts in zip(*filled, strict=True):
            padded = (part + " " * (width - cell_len(part)) for part, width in zip(parts, widths, strict=True))
            yield "  ".join(padded).rstrip()
        if row == 0:
            yield "─" * (sum(widths) + 2 * len(widths) - 1)
        elif table.rows[row - 1].end_section and row < table.row_count:
            yield ""


def shortened(text: str, longest: int = 1000) -> str:
    """Return a text with at most `longest` characters: its two ends if it is longer, as names of hostile models may be."""
    end = longest // 3 + 1
    return text if len(text) <= longest else f"{text[: longest - 3 - end]}...{text[-end:]}"


def printable(text: str) -> str:
    r"""Escape a text so that it is one line and neither a terminal nor a CI service obeys it.

    Control characters, line ends and direction marks become escapes such as \x1b, \n or \u202e. A text that a CI service would
    read as a command ("::" at the start, "##[" anywhere) has one character of the command escaped.
    """
    if not text.isprintable():
        text = "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
    return _MARKED_COMMAND.sub(r"#\\x23", _without_command(text))


def _without_command(line: str) -> str:
    return line.replace(":", r"\x3a", 1) if line.lstrip().startswith("::") else line


class Styled(str):
    """A line with our own colour codes; everything else in it is already printable."""

    __slots__ = ()


def one_line(value: object, headline: str) -> str:
    """Return a `repr` for a value: its class and a headline, escaped, and shortened if a name in it is long."""
    return f"<{type(value).__name__} {shortened(printable(headline), _LONGEST)}>"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, as in "1 layer" and "2 layers"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def and_others(names: Sequence[str]) -> str:
    """Return the first of several names, and the number of the others: "a and 2 others"."""
    return f"{names[0]} and {counted(len(names) - 1, 'other')}" if len(names) > 1 else names[0]


FEW = 10
"""Most gathers and scatters that are listed one by one in a brief account."""


def merged(rows: Iterable[Sequence[Any]]) -> list[Sequence[Any]]:
    """Merge rows that are alike but for the name in their first cell, in the order of the first ones."""
    names: dict[Sequence[Any], list[str]] = {}
    for name, *cells in rows:
        names.setdefault(tuple(cells), []).append(name)
    return [(and_others(alike), *cells) for cells, alike in names.items()]


def briefly(
    columns: Sequence[str], listed: Iterable[Sequence[Any]], unchanged: Iterable[str], what: str = "unchanged"
) -> Iterator[Table | str]:
    """Yield a table of the rows that are listed, alike ones merged, and how many are unchanged for each reason."""
    if rows := merged(listed):
        yield table_of(columns, rows)
    for reason, count in Counter(unchanged).most_common():
        yield f"{count} {what}: {printable(reason)}"
    yield "--verbose lists them"


def joined(texts: Iterable[str]) -> str:
    """Return the first of several texts, and how many others differ from it and each other: "a and 2 others"."""
    return and_others([*dict.fromkeys(texts)])


class HtmlTable(ABC):
    """Base of what a notebook shows as a table."""

    __slots__ = ()

    @abstractmethod
    def table(self) -> Table:
        """Return the table, for `rich.print`."""

    def _repr_html_(self) -> str:
        from rich.console import Console

        console = Console(file=StringIO(), record=True, width=_WIDTH)
        console.print(self.table())
        return console.export_html(inline_styles=True, code_format=_PRE)


class InNotebooks(HtmlTable):
    """Base of results that are one line as `repr`, and a table in notebooks. Their dataclasses have `repr=False`."""

    __slots__ = ()

    @property
    @abstractmethod
    def headline(self) -> str:
        """The result in a few words, without the name of its class; it need not be printable."""

    def __repr__(self) -> str:
        return one_line(self, self.headline)


class TableList(list[T], HtmlTable):
    """Base of lists that a notebook shows as one table. They are lists in every other way."""

    __slots__ = ()
    columns: tuple[str, ...] = ()

    @staticmethod
    @abstractmethod
    def row(entry: T) -> Sequence[str]:
        """Return the cells of an entry, one for each of `columns`."""

    def table(self) -> Table:
        """Return a table for `rich.print`: one row an entry, up to 200."""
        view = table_of(self.columns, map(self.row, self[:_MOST_ROWS]))
        if len(self) > _MOST_ROWS:
            view.caption = f"and {len(self) - _MOST_ROWS:,} more"
        return view
