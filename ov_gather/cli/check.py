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
from ov_gather.system.interrupts import exit_code

_FORMATS = {"json": check_json.render, "junit": check_junit.render}


@click.command(name="check")
@click.argument("paths", nargs=-1, metavar="PATH...", type=PathOrUrl(exists=True, path_type=Path))
@click.option("--sweep", "is_sweep", is_flag=True, help="Check generated layers of the whole family, instead of files.")
@click.option(
    "--cases", type=click.IntRange(min=1), help=f"Most cases; default: {DEFAULT_CASES} per layer, {DEFAULT_SWEEP} in a sweep."
)
@click.option("--seed", default=DEFAULT_SEED, type=click.IntRange(min=0), show_default=True, help="Seed of the cases.")
@click.option(
    "--runtimes", callback=parse_runtimes, metavar="NAME,...", help="Any of kernel, openvino, extension, onnxruntime."
)
@INPUTS
@click.option("--device", default=CPU, show_default=True, help="Device for OpenVINO: AUTO, HETERO:CPU, BATCH:CPU, GPU.")
@click.option(
    "--failures",
    default="ov-gather-failures",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory for failed cases.",
)
@click.option(
    "--report", "page", type=click.Path(dir_okay=False, path_type=Path), help="Also write an HTML page of everything."
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
    """Execute every gather-family layer of OpenVINO IR files on several runtimes, and compare the results.

    PATH is an .xml file (a whole IR, or a bare <layer> fragment), a directory (searched for *.xml), a URL of either, or an
    .onnx file. IRs are validated first.

    Each layer of an IR is executed alone, with its constants, in cases designed for it: indices at the bounds, out of bounds,
    repeated and negative; special values of the type; open dimensions of size 0, 1, small and large; one thread and two. The
    runtimes are our compiled kernel ("kernel"), OpenVINO's CPU plugin ("openvino"), the plugin with our operation in place of
    the layer ("extension"), and onnxruntime with the ONNX operator ("onnxruntime"). Each result must equal the NumPy reference,
    bit by bit.

    An IR with several such layers is also executed whole, on made-up inputs: each layer gets its operands in the model as one
    more case, and the outputs with our gathers must equal those without. An .onnx file is converted and compared with
    onnxruntime, whole, and gather by gather on the operands of each.

    A difference or crash that a known divergence explains is accepted and named. Types and operations that a runtime lacks are
    skipped, but a layer that only our kernel can execute is a failure. A failed case is made smaller and written to disk, with
    the command that runs it again.

    --report writes an HTML page that opens without a network. It overwrites an earlier page of ov-gather, any other file only
    with --force.

    Ctrl+C prints and writes the results so far, marked as partial.

    Exit code: 0 clean (expected divergences included), 1 findings or unexplained differences, 2 a file could not be read, there
    is no gather-family layer, or onnxruntime accepts none of the inputs made up for an .onnx file (`convert --verify` takes
    yours).
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
