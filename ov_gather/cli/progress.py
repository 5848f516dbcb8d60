"""Display of progress on stderr: a bar on a terminal, or a line every ten seconds in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from ov_gather.cli.output import error_console, say
from ov_gather.crosscheck.progress import Progress
from ov_gather.system.tables import printable

_IN_A_PIPE = 10.0
_ON_A_TERMINAL = 0.2


@contextmanager
def shown(progress: Progress) -> Iterator[None]:
    """Show the progress until the block ends."""
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
            text = printable(f"{progress.source}{progress.longest}")
            bar.update(task, description=text[-100:], completed=progress.done, total=progress.total or None)
