"""`ov-gather check`, the main job: parse, validate, execute every layer on every runtime, and compare."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.progress import Progress, track

from ov_gather.cli.files import find_irs, opened
from ov_gather.cli.inputs import INPUTS, load_inputs, only_layer
from ov_gather.cli.output import console, has_colour, print_table
from ov_gather.cli.runtimes import parse_runtimes
from ov_gather.crosscheck.cases.designed import DEFAULT_CASES, DEFAULT_SEED
from ov_gather.crosscheck.cases.swept import DEFAULT_SWEEP
from ov_gather.crosscheck.check import cross_check, sweep
from ov_gather.crosscheck.models.verify import VerificationResult, require_onnxruntime
from ov_gather.crosscheck.results import CrossCheckResult
from ov_gather.report.check import html as check_html
from ov_gather.report.check import json as check_json
from ov_gather.report.check import junit as check_junit
from ov_gather.report.check.report import CheckReport
from ov_gather.report.check.tables import operations_table, outputs_table, summary, table, verification_summary
from ov_gather.report.findings import text
from ov_gather.rules.findings import Finding
from ov_gather.rules.validation import open_document, validate_document

_FORMATS = {"json": check_json.render, "junit": check_junit.render}


@click.command(name="check")
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path(exists=True, path_type=Path))
@click.option("--sweep", "is_sweep", is_flag=True, help="Check made-up layers of the whole family instead.")
@click.option("--cases", type=click.IntRange(min=1), help=f"A layer at most {DEFAULT_CASES}; a sweep in all {DEFAULT_SWEEP}.")
@click.option("--seed", default=DEFAULT_SEED, type=click.IntRange(min=0), show_default=True, help="For the cases.")
@click.option("--runtimes", callback=parse_runtimes, metavar="NAME,...", help="Of kernel, openvino, extension, onnxruntime.")
@INPUTS
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
@click.option("--format", "format_", type=click.Choice(("text", *_FORMATS)), default="text", show_default=True)
def command(
    paths: tuple[Path, ...],
    is_sweep: bool,
    cases: int | None,
    seed: int,
    runtimes: tuple[str, ...],
    inputs: tuple[str, ...],
    failures: Path,
    page: Path | None,
    format_: str,
) -> None:
    """Parse, validate, execute and cross-check every gather-family layer of OpenVINO IR files.

    PATH is an .xml file (a whole IR, or a bare <layer> fragment) or a directory, searched for *.xml; or an .onnx file, which is
    converted and compared with onnxruntime, whole and gather by gather on its own operands. Each layer of an IR is executed
    alone, with its constants, in cases that are designed for it: indices at the bounds, beyond them, repeated, negative; values
    that are special for the type; sizes that are open at 0, 1, small and large; one thread and two. The NumPy reference says
    what is right, bit by bit, of each runtime: our compiled kernel, OpenVINO's CPU plugin as it is ("openvino") and with our
    operation in the layer's place ("extension"), onnxruntime with the operator of ONNX.

    An IR with more than one layer to execute is run as a whole too, on made-up inputs: each layer gets the operands that it has
    in the model as one more case, and the outputs of the model with our gathers must be those without.

    A difference that a known divergence explains is named and accepted, a crash of a runtime included. A runtime that does not
    have a type or an operation is not asked; a layer that no other runtime can execute is a failure. A case that fails is made
    smaller and written to disk, with the command that runs it again.

    --report writes an HTML page of everything, beside what is printed; it opens without a network.

    Exit code: 0 clean (expected divergences included), 1 findings or unexplained differences, 2 a file could not be read, there
    is no gather-family layer, or onnxruntime accepts none of the inputs that were made up for an ONNX model (`convert --verify`
    takes yours).
    """
    if is_sweep == bool(paths) or (inputs and len(paths) != 1):
        raise click.UsageError("name files or directories to check, one file for --input; or --sweep without any")
    models = [path for path in paths if path.suffix == ".onnx"]
    if models:
        require_onnxruntime()
    with opened(page) as file:  # refuses a place that cannot be written, before any work
        pairs = [_verify(path, seed) for path in models]
        verified = [it for it, _ in pairs]
        results = [_as_result(*it) for it in pairs]
        findings: list[Finding] = []
        unreadable: list[Finding] = []
        if is_sweep:
            results.append(_sweep(runtimes, seed, cases or DEFAULT_SWEEP, failures))
        for path in _irs(paths):
            document = open_document(path)
            found = validate_document(document, str(path))
            if document.model is None or document.problems:
                unreadable += found
                continue
            findings += found
            given = load_inputs(only_layer(document.model, path), inputs) if inputs else None
            limit = cases or DEFAULT_CASES
            results.append(cross_check(document.model, given, runtimes=runtimes, seed=seed, cases=limit, failures=failures))
        command_line = shlex.join(["ov-gather", *sys.argv[1:]])
        now = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
        report = CheckReport(results, [*unreadable, *findings], command_line, now)
        if file:
            file.write(check_html.render(report).encode())
    if format_ in _FORMATS:
        click.echo(_FORMATS[format_](report), nl=False)
    else:
        _print(report, verified, findings, is_sweep)
    for line in text.lines(unreadable):
        click.echo(line, err=True)
    if page:
        click.echo(f"{page}: the report", err=format_ in _FORMATS)
    nothing = not report.layers and not verified
    if nothing and not unreadable:
        click.echo("error: there is no gather-family layer to check", err=True)
    undone = unreadable or nothing or any(it.not_verified for it in verified)
    sys.exit(2 if undone else 0 if report.passed and all(it.passed for it in verified) else 1)


def _irs(paths: Sequence[Path]) -> Iterable[Path]:
    """Of IRs and directories, with progress."""
    paths = [path for path in paths if path.suffix != ".onnx"]
    if not paths:
        return []
    out = console()
    return track(find_irs(paths).files, "checking", console=out, disable=not out.is_terminal, transient=True)


def _verify(path: Path, seed: int) -> tuple[VerificationResult, tuple[str, ...]]:
    """An ONNX model: converted, then compared, whole and gather by gather; with what the conversion loses."""
    from ov_gather.converters.losses import summaries
    from ov_gather.converters.models import convert, written
    from ov_gather.crosscheck.models.verify import verify_conversion

    with TemporaryDirectory() as directory:
        converted = Path(directory) / "model.xml"
        conversion = convert(path, output=converted)
        losses = tuple(summaries(conversion.losses))
        for loss in losses:
            click.echo(f"warning: {loss}", err=True)
        with written(conversion.model, converted):
            pass
        return verify_conversion(path, converted, seed=seed), losses


def _as_result(verified: VerificationResult, losses: tuple[str, ...]) -> CrossCheckResult:
    """As reports take it."""
    return CrossCheckResult(
        verified.gathers,
        verified.seed,
        verified.environment,
        verified.outputs,
        verified.not_verified,
        verified.path,
        verified.problem,
        losses,
    )


def _sweep(runtimes: tuple[str, ...], seed: int, cases: int, failures: Path) -> CrossCheckResult:
    out = console()
    with Progress(console=out, disable=not out.is_terminal, transient=True) as progress:
        task = progress.add_task("sweeping", total=cases)
        return sweep(
            runtimes, seed=seed, cases=cases, failures=failures, progress=lambda done: progress.update(task, completed=done)
        )


def _print(report: CheckReport, verified: Sequence[VerificationResult], findings: Sequence[Finding], is_sweep: bool) -> None:
    out = console()
    for it in verified:
        print_table(it.table())
        for line in verification_summary(it):
            out.print(line)
    results = report.results[len(verified) :]
    layers = [layer for result in results for layer in result.layers]
    if layers:
        print_table(operations_table(layers) if is_sweep else table(layers))
        if any(result.outputs for result in results):
            print_table(outputs_table(results))
        for line in summary(results):
            out.print(line)
    for line in text.lines(findings):
        click.echo(line, color=has_colour())
    failed = sum(not layer.passed for layer in layers)
    counts = {
        "files": len(results),
        "layers": len(layers),
        "cases": sum(len(layer.cases) for layer in layers),
        "passed": len(layers) - failed,
        "failed": failed,
        "not applicable": sum(layer.not_applicable for layer in layers),
        "errors found": report.errors,
    }
    if results:
        out.print(", ".join(f"{name}: {count}" for name, count in counts.items()))
