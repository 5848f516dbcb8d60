"""The command `ov-gather fix`: mend what is mechanical in IR files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_gather.cli import suppressions, validate
from ov_gather.cli.config import ConfigurableCommand
from ov_gather.cli.options import OPS
from ov_gather.cli.output import say, show, with_progress
from ov_gather.cli.validating import (
    BASELINE,
    EXCLUDE,
    FAIL_ON,
    IGNORE,
    MIN_SEVERITY,
    PATHS,
    SELECT,
    SKIP_OTHER_XML,
    TARGET_RELEASE,
    Filters,
    find,
)
from ov_gather.ir.files import Place
from ov_gather.ir.urls import Url
from ov_gather.report.findings import render
from ov_gather.system.tables import printable

if TYPE_CHECKING:
    from ov_gather.rules.findings import Finding
    from ov_gather.rules.mending import Mended
    from ov_gather.rules.selection import Chosen
    from ov_gather.rules.suppression import Ignore


@click.command(name="fix", cls=ConfigurableCommand, like=validate.command)
@PATHS
@click.option("--diff", is_flag=True, help="Only show what would change; exit 1 if anything.")
@click.option("--unsafe", is_flag=True, help="Also mend what may change the meaning.")
@SELECT
@IGNORE
@MIN_SEVERITY
@FAIL_ON
@BASELINE
@EXCLUDE
@SKIP_OTHER_XML
@OPS
@TARGET_RELEASE
@click.pass_obj
def command(
    ignores: tuple[Ignore, ...],
    paths: tuple[Place, ...],
    diff: bool,
    unsafe: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    min_severity: str,
    fail_on: str,
    baseline: Path | None,
    exclude: tuple[str, ...],
    skip_other_xml: bool,
    target: str | None,
) -> None:
    """Mend what is mechanical in IR files, in place, and list the findings that are left.

    \b
    ov-gather fix models/ --diff
    ov-gather fix models/

    PATH is as for `ov-gather validate`, but no URL. What OpenVINO computes stays the same, by the positions and names of inputs
    and outputs, unless --unsafe is given. All other bytes of a file stay as they are.

    Exit code: 0 no finding is left that --fail-on names, 1 there is one, 2 bad arguments or nothing to do.
    """
    from ov_gather.rules import validation
    from ov_gather.rules.selection import Chosen, select_rules

    chosen = Chosen(select, ignore, target or "")
    rules = [rule.id for rule in select_rules(select, ignore)]
    if Path("-") in paths:
        raise click.UsageError("standard input cannot be mended")
    if any(isinstance(path, Url) for path in paths):
        raise click.UsageError("files at URLs cannot be mended")
    filters = Filters(min_severity, fail_on, ignores, suppressions.read(baseline, write=False), rules)
    files = find(paths, exclude, skip_other_xml).files
    mended = _mend(files, chosen, write=not diff, unsafe=unsafe, ignores=ignores)
    if diff:
        sys.exit(1 if any(each.mended for each in mended.values()) else 0)

    def left(file: Place) -> Sequence[Finding]:
        return mended[file].left if file in mended else validation.validate(file, **asdict(chosen))

    report = filters.report(files, [left(file) for file in files])
    show(render(report, "text"))
    sys.exit(1 if any(map(report.fails, report.findings)) else 0)


def _mend(
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
