"""Printing of lines, tables and reports for all commands. Names from models and files are sanitized.

A terminal gets colours and tables of its width; a pipe gets no colours, and tables of their natural width.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ov_gather.ir.remote import redacted
from ov_gather.system.tables import Styled, as_lines, as_text, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ov_gather.crosscheck.progress import Progress

T = TypeVar("T")

QUIET, VERBOSE, COLOR = "quiet", "verbose", "color"
"""Options of all commands, which keep their values under these names in the context."""
_IN_A_PIPE = 10.0
"""Seconds between two lines of progress."""
_ON_A_TERMINAL = 0.2
"""Seconds between two updates of a bar."""

_PART = re.compile(r"(\x1b\[[0-9;]*m|[\n\t])")
"""Unprintable text that a report may have: the colours that click adds, line ends and tabs."""


class FileProblem(click.ClickException):
    """A file that a command cannot work with. The usage of the command would not help, and is not printed."""

    exit_code = 2


def say(line: object, *, err: bool = False) -> None:
    """Print one sanitized line, on stderr if `err`."""
    click.echo(harmless(str(line)), err=err)


def tell(*lines: object, err: bool = False) -> None:
    """Print lines about what was done, unless --quiet is given."""
    for line in () if is_quiet() else lines:
        say(line, err=err)


def is_quiet() -> bool:
    """Return True if --quiet is given."""
    return bool(_given(QUIET))


def is_verbose() -> bool:
    """Return True if --verbose is given."""
    return bool(_given(VERBOSE))


def _given(option: str) -> Any:
    context = click.get_current_context(silent=True)
    return context.meta.get(option) if context else None


def harmless(line: str) -> str:
    """Escape control characters and commands of CI services in a line, and redact secrets in URLs."""
    return printable(redacted(line))


def warn(reason: object) -> None:
    """Print a warning on stderr, unless --quiet is given."""
    if not is_quiet():
        say(f"warning: {reason}", err=True)


def show(report: str, *, end: str = "", err: bool = False) -> None:
    """Print the lines of a report of ours, whose names are escaped already. A pipe gets no colours."""
    click.echo(without_controls(report) + end, nl=False, err=err, color=None if err else has_colour())


def without_controls(report: str) -> str:
    """Escape control characters in a report, except colours, line ends and tabs."""
    parts = enumerate(_PART.split(report))
    return "".join(part if i % 2 or part.isprintable() else printable(part) for i, part in parts)


def console() -> Console:
    """Return a console for results, on stdout."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    colour = has_colour()
    return Console(
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=not terminal,
        width=None if terminal else 1_000_000,
        force_terminal=terminal or colour,
        no_color=not colour,
    )


def error_console() -> Console:
    """Return a console for progress, on stderr."""
    from rich.console import Console

    return Console(stderr=True)


def print_table(table: Table) -> None:
    """Print a table without trailing blanks; if its words need more than the width of the terminal, a block for each row."""
    if not sys.stdout.isatty() and not has_colour():
        show(as_text(table), end="\n")
        return
    out = console()
    if _least_width(table) > out.width:
        for line in _blocks(table):
            say(line)
        return
    with out.capture() as captured:
        out.print(table)
    show(as_lines(captured.get()), end="\n")


def _least_width(table: Table) -> int:
    """Return the width in which no word of a table is broken: the longest word of each column, and 2 between columns."""
    from rich.cells import cell_len

    texts = [[str(column.header), *map(str, column.cells)] for column in table.columns]
    return sum(2 + max((cell_len(word) for text in column for word in text.split()), default=0) for column in texts) - 2


def _blocks(table: Table) -> Iterator[str]:
    """Yield the lines of each row: the first cell, and below it the others, each after the header of its column."""
    first, *others = ([str(cell).splitlines() for cell in column.cells] for column in table.columns)
    headers = [str(column.header).replace("\n", "") for column in table.columns[1:]]
    for row, head in enumerate(first):
        yield from head
        for header, cells in zip(headers, others, strict=True):
            if lines := cells[row]:
                yield f"    {header}: {lines[0].strip()}"
                yield from (f"        {line.strip()}" for line in lines[1:])


def print_all(parts: Iterable[Table | str], *, err: bool = False) -> None:
    """Print tables and lines. Lines alone do not import rich, which would take longer than most models."""
    for part in parts:
        if isinstance(part, Styled):
            show(part, end="\n", err=err)
        elif isinstance(part, str):
            say(part, err=err)
        else:
            print_table(part)


def has_colour() -> bool:
    """Return True if results have colours: as --color says, else if FORCE_COLOR is set, else on a terminal without NO_COLOR."""
    if (given := _given(COLOR)) in ("always", "never"):
        return bool(given == "always")
    if os.environ.get("NO_COLOR"):  # https://no-color.org
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def with_progress(results: Iterable[T], total: int, doing: str) -> Iterable[T]:
    """Yield the same results, with a progress bar if stderr is a terminal and `total` is at least 2."""
    if total < 2 or is_quiet() or not sys.stderr.isatty():
        return results
    from rich.progress import track

    return track(results, doing, total=total, console=error_console(), transient=True)


@contextmanager
def steps_shown(first: str, *, in_a_pipe: bool = True) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the step that is being done on stderr: on a terminal, or now and then as a line in a pipe."""
    if is_quiet() or not (in_a_pipe or sys.stderr.isatty()):
        yield lambda told: None
    elif sys.stderr.isatty():
        from rich.markup import escape

        with error_console().status(first) as status:
            yield lambda told: status.update(escape(printable(told)))
    else:
        since = monotonic()

        def line(told: str) -> None:
            nonlocal since
            if monotonic() - since >= _IN_A_PIPE:
                since = monotonic()
                say(told, err=True)

        yield line


@contextmanager
def shown(progress: Progress) -> Iterator[None]:
    """Show the progress on stderr until the block ends: as a bar on a terminal, as lines in a pipe."""
    if is_quiet():
        yield
        return
    stop = Event()
    thread = Thread(target=_bar if sys.stderr.isatty() else _lines, args=(progress, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _lines(progress: Progress, stop: Event) -> None:
    while not stop.wait(_IN_A_PIPE):
        say(f"checking {progress}", err=True)


def _bar(progress: Progress, stop: Event) -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Bar(*columns, console=error_console(), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("checking", total=None)
        while not stop.wait(_ON_A_TERMINAL):
            file = f"file {progress.file} of {progress.files}, " if progress.files else ""
            text = printable(f"{progress.source}{progress.current}")
            bar.update(task, description=file + text[-100:], completed=progress.done, total=progress.total or None)
