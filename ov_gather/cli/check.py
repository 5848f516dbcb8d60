"""`ov-gather check`, the main job: parse, validate, execute every layer on every runtime, and compare."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.progress import track

from ov_gather.cases import DEFAULT_CASES, DEFAULT_SEED
from ov_gather.cli.files import IR_PATHS, find_irs
from ov_gather.cli.output import console, has_colour, print_table
from ov_gather.cli.runtimes import parse_runtimes
from ov_gather.comparison import cross_check
from ov_gather.divergences import DIVERGENCES, Observed
from ov_gather.findings import Finding, Severity
from ov_gather.ir.errors import IRError
from ov_gather.ir.reader import read_document
from ov_gather.report import text
from ov_gather.report.layers import LEGEND, failures, table
from ov_gather.results import CrossCheckResult, LayerResult, Status
from ov_gather.rules.validation import validate_document


@click.command(name="check")
@IR_PATHS
@click.option("--cases", default=DEFAULT_CASES, type=click.IntRange(min=1), show_default=True, help="At most so many a layer.")
@click.option("--seed", default=DEFAULT_SEED, type=click.IntRange(min=0), show_default=True, help="For the cases.")
@click.option("--runtimes", callback=parse_runtimes, metavar="NAME,...", help="Of kernel, openvino, extension, onnxruntime.")
def command(paths: tuple[Path, ...], cases: int, seed: int, runtimes: tuple[str, ...]) -> None:
    """Parse, validate, execute and cross-check every gather-family layer of OpenVINO IR files.

    PATH is an .xml file (a whole IR, or a bare <layer> fragment) or a directory, searched for *.xml. Each layer is executed
    alone, with its constants, in cases that are designed for it: indices at the bounds, beyond them, repeated, negative; values
    that are special for the type; sizes that are open at 0, 1, small and large; one thread and two. The NumPy reference says
    what is right, bit by bit, of each runtime: our compiled kernel, OpenVINO's CPU plugin as it is ("openvino") and with our
    operation in the layer's place ("extension"), onnxruntime with the operator of ONNX.

    A difference that a known divergence explains is named and accepted, a crash of a runtime included. A runtime that does not
    have a type or an operation is not asked; a layer that no other runtime can execute is a failure.

    Exit code: 0 clean (expected divergences included), 1 findings or unexplained differences, 2 a file could not be read, or
    there is no gather-family layer.
    """
    out = console()
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
        results.append(cross_check(document.model, runtimes=runtimes, seed=seed, cases=cases))

    layers = [layer for result in results for layer in result.layers]
    if layers:
        print_table(table(layers))
        _print_notes(results, layers)
    for line in text.lines(findings):
        click.echo(line, color=has_colour())
    for reason in unreadable:
        click.echo(f"error: {reason}", err=True)
    failed = sum(not layer.passed for layer in layers)
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    not_applicable = sum(it.status is Status.NOT_APPLICABLE for layer in layers for it in layer.comparisons)
    count = sum(len(layer.cases) for layer in layers)
    out.print(
        f"files: {len(results)}, layers: {len(layers)}, cases: {count}, passed: {len(layers) - failed}, failed: {failed}, "
        f"not applicable: {not_applicable}, errors found: {errors}"
    )
    if not layers and not unreadable:
        click.echo("error: there is no gather-family layer to check", err=True)
    if unreadable or not layers:
        sys.exit(2)
    sys.exit(1 if failed or errors else 0)


def _print_notes(results: list[CrossCheckResult], layers: list[LayerResult]) -> None:
    out = console()
    seen_with = results[0].environment
    versions = ", ".join(f"{name} {version}" for name, version in seen_with.versions.items())
    out.print(f"{LEGEND}\nCompared bit by bit with the NumPy reference: {versions}; seed {results[0].seed}.")
    for layer in layers:
        if layer.assumptions:
            out.print(f"{layer.path}: assumed, as the fragment does not say: {', '.join(layer.assumptions)}")
    seen = {name for result in results for name in result.divergences}
    for known in DIVERGENCES:
        if known.name in seen:
            kind = "not applicable" if Observed.LACKS in known.observed else "expected divergence"
            out.print(f"{kind} {known.name} ({', '.join(known.runtimes)}): {known.why}")
    for layer in layers:
        for line in failures(layer):
            out.print(line, style="red")
