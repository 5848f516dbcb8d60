"""The command `ov-gather check`, the main job: parse, validate, execute every layer on every runtime, and compare."""

from __future__ import annotations

import shlex
import sys
from datetime import datetime
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_gather.cli.files import array_files, check_outputs, opened
from ov_gather.cli.inputs import load_inputs
from ov_gather.cli.options import (
    DEVICE,
    DIRECTORY,
    FORCE,
    INPUTS,
    SCHEDULER,
    TIMEOUT_OF_SERVERS,
    WRITTEN,
    PathOrUrl,
    with_tolerances,
)
from ov_gather.cli.output import print_all, say, show, shown, warn
from ov_gather.crosscheck.defaults import DEFAULT_CASES, DEFAULT_SEED, DEFAULT_SWEEP
from ov_gather.extension import extension_path
from ov_gather.ir.files import NoIRError, Place
from ov_gather.ir.remote import redacted
from ov_gather.ir.urls import Url
from ov_gather.runtimes.devices import CPU
from ov_gather.system.imports import require
from ov_gather.system.interrupts import exit_code

if TYPE_CHECKING:
    from ov_gather.crosscheck.tolerances import Tolerances

_FORMATS = ("json", "junit")


def _parse_runtimes(context: click.Context, option: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Parse the value of --runtimes, separated by commas; all installed runtimes if it is not given."""
    from ov_gather.runtimes.isolated import RUNTIMES

    if text is None:
        return _available_runtimes()
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in RUNTIMES:
            raise click.BadParameter(f"there is no runtime '{name}'; there are {', '.join(RUNTIMES)}")
    return names


@click.command(name="check")
@click.argument("paths", nargs=-1, metavar="PATH...", type=PathOrUrl(exists=True, path_type=Path))
@click.option("--sweep", "is_sweep", is_flag=True, help="Check generated layers of the whole family, instead of files.")
@click.option(
    "--cases", type=click.IntRange(min=1), help=f"Most cases; default: {DEFAULT_CASES} per layer, {DEFAULT_SWEEP} in a sweep."
)
@click.option("--seed", default=DEFAULT_SEED, type=click.IntRange(min=0), show_default=True, help="Seed of the cases.")
@click.option(
    "--runtimes", callback=_parse_runtimes, metavar="NAME,...", help="Any of kernel, openvino, extension, onnxruntime."
)
@INPUTS
@DEVICE
@click.option(
    "--failures",
    default="ov-gather-failures",
    show_default=True,
    type=DIRECTORY,
    help="Directory for failed cases.",
)
@click.option("--report", "page", type=WRITTEN, help="Also write an HTML page of everything.")
@FORCE
@click.option("--format", "format_", type=click.Choice(("text", *_FORMATS)), default="text", show_default=True)
@with_tolerances
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
    tolerances: Tolerances,
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
    onnxruntime, whole, and gather by gather on the operands of each. --atol and --rtol are for the outputs of these models,
    and for named outputs of IRs.

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
    from ov_gather.crosscheck.progress import Progress
    from ov_gather.report.check import html, text
    from ov_gather.report.check.report import CheckReport
    from ov_gather.report.findings import text as findings_text
    from ov_gather.workers.checks import CheckOptions

    if is_sweep == bool(paths) or (inputs and len(paths) != 1):
        raise click.UsageError("name files or directories to check, one file for --input; or --sweep without any")
    if is_sweep and tolerances:
        raise click.UsageError("--atol and --rtol are for outputs of models; the layers of a sweep are compared bit by bit")
    if device != CPU and any(path.suffix == ".onnx" for path in paths):
        raise click.UsageError("ONNX models are compared on the CPU; convert the model first, and check the IR with --device")
    if any(isinstance(path, Url) and path.suffix == ".onnx" for path in paths):
        raise click.UsageError("ONNX models are read from files: download the model first")
    if scheduler and inputs:
        raise click.UsageError("--input is for one file, and --scheduler for many")
    check_outputs([page], [*paths, *array_files(inputs)], force=force, are_reports=True)
    with opened(page) as file:
        with shown(progress := Progress()):
            number = cases or (DEFAULT_SWEEP if is_sweep else DEFAULT_CASES)
            checks = CheckOptions(runtimes, seed, number, device, failures, tolerances)
            inputs_for = partial(load_inputs, texts=inputs) if inputs else None
            try:
                if is_sweep:
                    outcome = checks.sweep(scheduler, progress)
                else:
                    outcome = checks.of_paths(paths, scheduler, progress, warn, inputs_for)
            except NoIRError as error:
                raise click.UsageError(str(error)) from None
        command_line = shlex.join(["ov-gather", *map(redacted, sys.argv[1:])])
        now = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
        findings = [*outcome.unreadable, *outcome.findings]
        report = CheckReport(outcome.results, findings, command_line, now, outcome.stopped)
        if file:
            file.write(html.render(report).encode())
    if format_ in _FORMATS:
        show(import_module(f"ov_gather.report.check.{format_}").render(report))
    else:
        print_all(text.render(report, by_operation=is_sweep))
        print_all(findings_text.lines(outcome.findings))
        print_all(text.totals(report))
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


def _available_runtimes() -> tuple[str, ...]:
    """Return the installed runtimes. Warn if the extension cannot be compiled; onnxruntime is optional.

    Raises ImportError if OpenVINO, the runtime under test, is not installed.
    """
    from ov_gather.runtimes.isolated import RUNTIMES

    require("openvino")
    absent = set() if find_spec("onnxruntime") and find_spec("onnx") else {"onnxruntime"}
    try:
        extension_path()
    except (ImportError, OSError) as reason:
        warn(reason)
        absent.add("extension")
    return tuple(name for name in RUNTIMES if name not in absent)
