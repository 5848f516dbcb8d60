"""The command `ov-gather sweep`: made-up layers of all operations, on every runtime."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_gather.cli.checking import FAILURES, FORMAT, REPORT, RUNTIMES, SEED, run
from ov_gather.cli.files import check_outputs
from ov_gather.cli.options import DEVICE, EXTENSION, FORCE, OPS, SCHEDULER
from ov_gather.crosscheck.defaults import DEFAULT_SWEEP

if TYPE_CHECKING:
    from ov_gather.extension.users import UserExtension


@click.command(name="sweep")
@click.option("--cases", type=click.IntRange(min=1), default=DEFAULT_SWEEP, show_default=True, help="Number of cases.")
@SEED
@RUNTIMES
@DEVICE
@OPS
@EXTENSION
@FAILURES
@REPORT
@FORCE
@FORMAT
@SCHEDULER
def command(
    cases: int,
    seed: int,
    runtimes: tuple[str, ...],
    device: str,
    failures: Path,
    page: Path | None,
    force: bool,
    format_: str,
    scheduler: str | None,
    extensions: tuple[UserExtension, ...],
) -> None:
    """Execute made-up layers of the whole gather family on several runtimes, and compare the results.

    As `ov-gather check`, without a model: layers of all versions, element types, ranks and layouts, from a seed. What it finds
    on a new OpenVINO, or on another CPU, is a new divergence or a fault of ours.

    With --ops and --extension, the layers are those of your operations, and your library is compared with your references.

    Exit code: 0 clean (expected divergences included), 1 unexplained differences, 2 failed.
    """
    from ov_gather.ops.users import declared_files
    from ov_gather.workers.checks import CheckOptions

    if bool(declared_files()) != bool(extensions):
        raise click.UsageError("give both --ops, which declares operations, and --extension, which executes them")
    check_outputs([page], [], force=force, are_reports=True)
    checks = CheckOptions(runtimes, seed, cases, device, failures, extensions=extensions)
    sys.exit(run(lambda progress: checks.sweep(scheduler, progress), page, format_, by_operation=True))
