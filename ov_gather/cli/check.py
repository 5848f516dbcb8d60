"""The command `ov-gather check`, the main job: parse, validate, execute every layer on every runtime, and compare."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

import click

from ov_gather.cli.files import FORCE, TIMEOUT_OF_SERVERS, PathOrUrl, array_files, check_outputs, opened
from ov_gather.cli.inputs import INPUTS, load_inputs
from ov_gather.cli.output import print_all, say, show, warn
from ov_gather.cli.progress import shown
from ov_gather.cli.runtimes import parse_runtimes
from ov_gather.cli.scheduler import SCHEDULER
from ov_gather.crosscheck.cases.designed import DEFAULT_CASES, DEFAULT_SEED
from ov_gather.crosscheck.cases.swept import DEFAULT_SWEEP
from ov_gather.crosscheck.paths import CheckOutcome, check_paths
from ov_gather.crosscheck.progress import Progress
from ov_gather.crosscheck.sweep import sweep
from ov_gather.interrupts import exit_code
from ov_gather.ir.files import NoIRError, Place
from ov_gather.ir.remote import redacted
from ov_gather.ir.urls import Url
from ov_gather.report.check import html as check_html
from ov_gather.report.check import json as check_json
from ov_gather.report.check import junit as check_junit
from ov_gather.report.check import text as check_text
from ov_gather.report.check.report import CheckReport
from ov_gather.report.findings import text as findings_text
from ov_gather.runtimes.devices import CPU

_FORMATS = {"json": check_json.render, "junit": check_junit.render}


@click.command(name="check")
@click.argument("paths", nargs=-1, metavar="PATH...", type=PathOrUrl(exists=True, path_type=Path))
@click.option("--sweep", "is_sweep", is_flag=True, help="Check made-up layers of the whole family instead.")
@click.option("--cases", type=click.IntRange(min=1), help=f"A layer at most {DEFAULT_CASES}; a sweep in all {DEFAULT_SWEEP}.")
@click.option("--seed", default=DEFAULT_SEED, type=click.IntRange(min=0), show_default=True, help="For the cases.")
@click.option("--runtimes", callback=parse_runtimes, metavar="NAME,...", help="Of kernel, openvino, extension, onnxruntime.")
@INPUTS
@click.option("--device", default=CPU, show_default=True, help="Where OpenVINO executes: AUTO, HETERO:CPU, BATCH:CPU, GPU.")
@click.option(
    "--failures",
    default="ov-gather-failures",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where cases that fail are written.",
)
@click.option(
    "--report", "page", type=click.Path(dir_okay=False, path_type=Path), help="Write everything as an HTML page, too."
)
@FORCE
@click.option("--format", "format_", type=click.Choice(("text", *_FORMATS)), default="text", show_default=True)
@TIMEOUT_OF_SERVERS
@SCHEDULER
def command(
    paths: tuple[Place, ...],
    is_sweep: bool,
    cases: int | None,
    seed: int,
    runtimes: tuple[str, ...],
    inputs: tuple[str, ...],
    device: str,
    failures: Path,
    page: Path | None,
    force: bool,
    format_: str,
    scheduler: str | None,
) -> None:
    """Parse, validate, execute and cross-check every gather-family layer of OpenVINO IR files.

    PATH is an .xml file (a whole IR, or a bare <layer> fragment), a directory, searched for *.xml, or a URL of these; or an
    .onnx file, which is converted and compared with onnxruntime, whole and gather by gather on its own operands. Each layer of
    an IR is executed alone, with its constants, in cases that are designed for it: indices at the bounds, beyond them,
    repeated, negative; values that are special for the type; sizes that are open at 0, 1, small and large; one thread and two.
    The NumPy reference says what is right, bit by bit, of each runtime: our compiled kernel, OpenVINO's CPU plugin as it is
    ("openvino") and with our operation in the layer's place ("extension"), onnxruntime with the operator of ONNX.

    An IR with more than one layer to execute is run as a whole too, on made-up inputs: each layer gets the operands that it has
    in the model as one more case, and the outputs of the model with our gathers must be those without.

    A difference that a known divergence explains is named and accepted, a crash of a runtime included. A runtime that does not
    have a type or an operation is not asked; a layer that no other runtime can execute is a failure. A case that fails is made
    smaller and written to disk, with the command that runs it again.

    --report writes an HTML page of everything, beside what is printed; it opens without a network. It takes the place of an
    earlier page of ov-gather; over any other file only with --force.

    Ctrl+C prints and writes what is done so far, and says that it is partial.

    Exit code: 0 clean (expected divergences included), 1 findings or unexplained differences, 2 a file could not be read, there
    is no gather-family layer, or onnxruntime accepts none of the inputs that were made up for an ONNX model (`convert --verify`
    takes yours).
    """
    if is_sweep == bool(paths) or (inputs and len(paths) != 1):
        raise click.UsageError("name files or directories to check, one file for --input; or --sweep without any")
    if device != CPU and any(path.suffix == ".onnx" for path in paths):
        raise click.UsageError("ONNX models are compared on the CPU; convert the model first, and check the IR with --device")
    if any(isinstance(path, Url) and path.suffix == ".onnx" for path in paths):
        raise click.UsageError("ONNX models are read from files: download the model first")
    if scheduler and inputs:
        raise click.UsageError("--input is for one file, and --scheduler for many")
    check_outputs([page], [*paths, *array_files(inputs)], force=force, are_reports=True)
    with opened(page) as file:
        with shown(progress := Progress()):
            if scheduler:
                outcome = _on_cluster(scheduler, paths, runtimes, seed, cases, device, failures, progress)
            elif is_sweep:
                outcome = _sweep(runtimes, seed, cases or DEFAULT_SWEEP, device, failures, progress)
            else:
                outcome = _check(paths, runtimes, seed, cases or DEFAULT_CASES, device, failures, inputs, progress)
        report = _report(outcome)
        if file:
            file.write(check_html.render(report).encode())
    if format_ in _FORMATS:
        show(_FORMATS[format_](report))
    else:
        print_all(check_text.render(report, by_operation=is_sweep))
        print_all(findings_text.lines(outcome.findings))
        print_all(check_text.totals(report))
    print_all(findings_text.lines(outcome.unreadable), err=True)
    if page:
        say(f"{page}: the report", err=format_ in _FORMATS)
    if (code := exit_code()) is not None:
        sys.exit(code)
    nothing = not report.layers and not report.onnx_results
    if nothing and not outcome.unreadable:
        say("error: there is no gather-family layer to check", err=True)
    undone = outcome.unreadable or nothing or any(result.not_run for result in report.onnx_results)
    sys.exit(2 if undone else 0 if report.passed and all(result.passed for result in report.onnx_results) else 1)


def _on_cluster(
    scheduler: str,
    paths: Sequence[Place],
    runtimes: tuple[str, ...],
    seed: int,
    cases: int | None,
    device: str,
    failures: Path,
    progress: Progress,
) -> CheckOutcome:
    """Check the paths on a Dask cluster, or run a sweep there if there are none."""
    from ov_gather.cli.check_there import CheckOptions

    checks = CheckOptions(runtimes, seed, cases or (DEFAULT_CASES if paths else DEFAULT_SWEEP), device, failures)
    return checks.of_paths(paths, scheduler, progress) if paths else checks.sweep(scheduler, progress)


def _check(
    paths: Sequence[Place],
    runtimes: Sequence[str],
    seed: int,
    cases: int,
    device: str,
    failures: Path,
    inputs: tuple[str, ...],
    progress: Progress,
) -> CheckOutcome:
    """Check the paths in this process."""
    inputs_for = partial(load_inputs, texts=inputs) if inputs else None
    try:
        return check_paths(
            paths,
            runtimes=runtimes,
            seed=seed,
            cases=cases,
            device=device,
            failures=failures,
            inputs_for=inputs_for,
            progress=progress,
            warn=warn,
        )
    except NoIRError as error:
        raise click.UsageError(str(error)) from None


def _sweep(runtimes: Sequence[str], seed: int, cases: int, device: str, failures: Path, progress: Progress) -> CheckOutcome:
    """Check generated layers."""
    try:
        result = sweep(runtimes, seed=seed, cases=cases, device=device, failures=failures, progress=progress)
        return CheckOutcome((result,))
    except BaseException:  # as in `check_paths`
        if exit_code() is None:
            raise
        return CheckOutcome(tuple(filter(None, [progress.partial()])), stopped=str(progress))


def _report(outcome: CheckOutcome) -> CheckReport:
    """Return the report with the command line and the time."""
    command_line = shlex.join(["ov-gather", *map(redacted, sys.argv[1:])])
    now = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
    return CheckReport(outcome.results, [*outcome.unreadable, *outcome.findings], command_line, now, outcome.stopped)
