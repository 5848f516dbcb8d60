"""`ov-gather check`, the main job: parse, validate, execute every layer on every runtime, and compare."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.progress import Progress, track

from ov_gather.cases import DEFAULT_CASES, DEFAULT_SEED
from ov_gather.cli.files import find_irs
from ov_gather.cli.inputs import INPUTS, load_inputs, only_layer
from ov_gather.cli.output import console, has_colour, print_table
from ov_gather.cli.runtimes import parse_runtimes
from ov_gather.comparison import cross_check, sweep
from ov_gather.findings import Finding, Severity
from ov_gather.ir.errors import IRError
from ov_gather.ir.reader import read_document
from ov_gather.report import text
from ov_gather.report.layers import operations_table, summary, table, verification_summary
from ov_gather.results import CrossCheckResult
from ov_gather.rules.validation import validate_document
from ov_gather.sweep import DEFAULT_SWEEP


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
def command(
    paths: tuple[Path, ...],
    is_sweep: bool,
    cases: int | None,
    seed: int,
    runtimes: tuple[str, ...],
    inputs: tuple[str, ...],
    failures: Path,
) -> None:
    """Parse, validate, execute and cross-check every gather-family layer of OpenVINO IR files.

    PATH is an .xml file (a whole IR, or a bare <layer> fragment) or a directory, searched for *.xml; or an .onnx file, which is
    converted and compared with onnxruntime, whole and gather by gather on its own operands. Each layer of an IR is executed
    alone, with its constants, in cases that are designed for it: indices at the bounds, beyond them, repeated, negative; values
    that are special for the type; sizes that are open at 0, 1, small and large; one thread and two. The NumPy reference says
    what is right, bit by bit, of each runtime: our compiled kernel, OpenVINO's CPU plugin as it is ("openvino") and with our
    operation in the layer's place ("extension"), onnxruntime with the operator of ONNX.

    A difference that a known divergence explains is named and accepted, a crash of a runtime included. A runtime that does not
    have a type or an operation is not asked; a layer that no other runtime can execute is a failure. A case that fails is made
    smaller and written to disk, with the command that runs it again.

    Exit code: 0 clean (expected divergences included), 1 findings or unexplained differences, 2 a file could not be read, or
    there is no gather-family layer.
    """
    if is_sweep == bool(paths) or (inputs and len(paths) != 1):
        raise click.UsageError("name files or directories to check, one file for --input; or --sweep without any")
    if is_sweep:
        _sweep(runtimes, seed, cases or DEFAULT_SWEEP, failures)
    out = console()
    onnx_files = [path for path in paths if path.suffix == ".onnx"]
    verified = [_verify(path, seed) for path in onnx_files]
    if len(onnx_files) == len(paths):
        sys.exit(0 if all(verified) else 1)
    paths = tuple(path for path in paths if path not in onnx_files)
    findings: list[Finding] = []
    results: list[CrossCheckResult] = []
    unreadable: list[IRError | OSError] = []
    for file in track(find_irs(paths).files, "checking", console=out, disable=not out.is_terminal, transient=True):
        try:
            document = read_document(file)
        except OSError as error:
            unreadable.append(error)
            continue
        if document.model is None or document.problems:
            unreadable.append(document.problems[0])
            continue
        findings += validate_document(document, str(file))
        given = load_inputs(only_layer(document.model, file), inputs) if inputs else None
        limit = cases or DEFAULT_CASES
        results.append(cross_check(document.model, given, runtimes=runtimes, seed=seed, cases=limit, failures=failures))

    layers = [layer for result in results for layer in result.layers]
    if layers:
        print_table(table(layers))
        for line in summary(results):
            out.print(line)
    for line in text.lines(findings):
        click.echo(line, color=has_colour())
    for reason in unreadable:
        click.echo(f"error: {reason}", err=True)
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    out.print(f"files: {len(results)}, {_counts(results)}, errors found: {errors}")
    if not layers and not unreadable:
        click.echo("error: there is no gather-family layer to check", err=True)
    if unreadable or not layers:
        sys.exit(2)
    sys.exit(1 if errors or not all(verified) or not all(layer.passed for layer in layers) else 0)


def _verify(path: Path, seed: int) -> bool:
    """An ONNX model: converted, then compared, whole and gather by gather."""
    from ov_gather.converters import convert_model
    from ov_gather.verification import verify_conversion

    with TemporaryDirectory() as directory:
        converted = Path(directory) / "model.xml"
        convert_model(path, output=converted)
        result = verify_conversion(path, converted, seed=seed)
    print_table(result.table())
    for line in verification_summary(result):
        console().print(line)
    return result.passed


def _sweep(runtimes: tuple[str, ...], seed: int, cases: int, failures: Path) -> None:
    out = console()
    with Progress(console=out, disable=not out.is_terminal, transient=True) as progress:
        task = progress.add_task("sweeping", total=cases)
        result = sweep(
            runtimes, seed=seed, cases=cases, failures=failures, progress=lambda done: progress.update(task, completed=done)
        )
    print_table(operations_table(result.layers))
    for line in summary([result]):
        out.print(line)
    out.print(_counts([result]))
    sys.exit(0 if result.passed else 1)


def _counts(results: list[CrossCheckResult]) -> str:
    layers = [layer for result in results for layer in result.layers]
    failed = sum(not layer.passed for layer in layers)
    cases = sum(len(layer.cases) for layer in layers)
    not_applicable = sum(layer.not_applicable for layer in layers)
    return (
        f"layers: {len(layers)}, cases: {cases}, passed: {len(layers) - failed}, failed: {failed}, "
        f"not applicable: {not_applicable}"
    )
