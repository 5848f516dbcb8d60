"""Fixes of `ov-gather validate --fix` and `--diff`, applied before validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_gather.cli.output import say, show, with_progress
from ov_gather.ir.files import Place
from ov_gather.ir.urls import Url
from ov_gather.system.tables import printable

if TYPE_CHECKING:
    from ov_gather.rules.mending import Mended
    from ov_gather.rules.selection import Chosen
    from ov_gather.rules.suppression import Ignore


def check_options(fix: bool, diff: bool, unsafe: bool, files: Sequence[Place]) -> None:
    """Raise UsageError for contradictory options."""
    if unsafe and not (fix or diff):
        raise click.UsageError("--unsafe-fixes is about --fix or --diff, and neither is given")
    if (fix or diff) and Path("-") in files:
        raise click.UsageError("standard input cannot be mended")
    if (fix or diff) and any(isinstance(file, Url) for file in files):
        raise click.UsageError("files at URLs cannot be mended")


def mend_files(
    files: Sequence[Place], chosen: Chosen, *, write: bool, unsafe: bool, ignores: Sequence[Ignore]
) -> dict[Place, Mended]:
    """Fix files, or show the changes instead, and print the number of fixes on stderr.

    Returns the outcome for each file, except those that could not be read or written.
    """
    from ov_gather.rules.mending import mend

    done: dict[Place, Mended] = {}
    for file in with_progress(files, len(files), "mending"):
        try:
            mended = mend(Path(file), unsafe=unsafe, ignores=ignores, **asdict(chosen))
            if write and mended.mended:
                mended.write()
        except OSError as error:
            say(f"{file}: not mended: {error.strerror or error}", err=True)
            continue
        done[file] = mended
        for line in () if write else mended.diff():
            show("\t".join(map(printable, line.split("\t"))), end="\n")
    counts = [len(mended.mended) for mended in done.values() if mended.mended]
    say(f"{'mended' if write else 'to be mended'}: {sum(counts)} in {len(counts)} of {len(files)} files", err=True)
    return done
