"""The command `ov-gather sweep`: made-up layers of all operations, on every runtime."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ov_gather.cli.checking import FAILURES, FORMAT, REPORT, RUNTIMES, SEED, run
from ov_gather.cli.files import check_outputs
from ov_gather.cli.options import DEVICE, FORCE, SCHEDULER
from ov_gather.crosscheck.defaults import DEFAULT_SWEEP


@click.command(name="sweep")
@click.option("--cases", type=click.IntRange(min=1), default=DEFAULT_SWEEP, show_default=True, help="Number of cases.")
@SEED
@RUNTIMES
@DEVICE
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
) -> None:
    """Execute made-up layers of the whole gather family on several runtimes, and compare the results.

    As `ov-gather check`, without a model: layers of all versions, element types, ranks and layouts, from a seed. What it finds
    on a new OpenVINO, or on another CPU, is a new divergence or a fault of ours.

    Exit code: 0 clean (expected divergences included), 1 unexplained differences, 2 failed.
    """
    from ov_gather.workers.checks import CheckOptions

    check_outputs([page], [], force=force, are_reports=True)
    checks = CheckOptions(runtimes, seed, cases, device, failures)
    sys.exit(run(lambda progress: checks.sweep(scheduler, progress), page, format_, by_operation=True))
