"""Which IR files a command line names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

IR_PATHS = click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(exists=True, path_type=Path))


def find_irs(paths: Iterable[Path]) -> list[Path]:
    """Files as they are named; of directories, every *.xml below them. Raises UsageError where that is nothing."""
    found = [file for path in paths for file in _below(path)]
    if not found:
        raise click.UsageError("no .xml below the given directories: there is nothing to do")
    return found


def _below(path: Path) -> Iterator[Path]:
    if path.is_dir():
        # Not only regular files: a broken link is found, too, but no directory, and no pipe that would block.
        yield from (file for file in sorted(path.rglob("*.xml")) if file.is_file() or not file.exists())
    else:
        yield path
