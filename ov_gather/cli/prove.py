"""The command `ov-gather prove`: the gathers and scatters that can be out of bounds, and for which inputs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_gather.cli.files import check_outputs, find_irs, opened
from ov_gather.cli.options import ASSUME, FORCE, WRITTEN, Limits
from ov_gather.cli.output import is_verbose, print_all, show, with_progress
from ov_gather.cli.paths import paths_argument
from ov_gather.ir.files import Place

if TYPE_CHECKING:
    from ov_gather.ranges.proof import Proof
    from ov_gather.report.proofs.report import ProvedFile

_FORMATS = ("text", "json", "sarif", "github")
_NOT_IN_THE_WAY = ("OVG406", "OVG6", "OVG7")
"""Rules whose errors do not prevent a proof: indices are its subject, and OpenVINO itself writes Ifs that violate OVG406."""


@click.command(name="prove")
@paths_argument("paths", click.Path(exists=True, path_type=Path), "PATH...")
@click.option("--format", "format_", type=click.Choice(_FORMATS), default="text", show_default=True, help="Report format.")
@click.option("--report", "page", type=WRITTEN, help="Also write an HTML page with the way of each index.")
@FORCE
@click.option("--strict", is_flag=True, help="Also exit 1 if an index is not proved to be in bounds.")
@ASSUME
def command(
    paths: tuple[Path, ...],
    format_: str,
    page: Path | None,
    force: bool,
    strict: bool,
    assume: Mapping[str, Limits],
) -> None:
    """Prove for every gather and scatter whether its indices stay in bounds; no runtime is needed.

    PATH is an .xml file with a whole IR, a directory (searched for *.xml that are IRs), or an .onnx file, which is proved as
    ONNX specifies it. Each Gather, GatherElements, GatherND and Scatter*, in sub-graphs too, is one of these:

    \b
    proved       no index is out of bounds, whatever the inputs are
    refuted      an index is out of bounds in every run that reaches the layer
    conditional  no index is out of bounds if inputs and open dimensions are within the ranges that are printed
    unknown      none of these is shown; the report names the first value on which the proof fails

    --report writes an HTML page that opens without a network. It overwrites an earlier page of ov-gather, any other file only
    with --force.

    The report of a file ends with the ranges that all its conditional layers need: a server must enforce them. --assume must
    name an input, or an open dimension, of one of the files.

    Exit code: 0 nothing is refuted; 1 something is, with --strict also if something is not proved, or a file has errors, which
    are printed as by `ov-gather validate`; 2 bad arguments, an unreadable file, or nothing to do.
    """
    from ov_gather.report.findings import text as findings_text
    from ov_gather.report.proofs import text
    from ov_gather.report.proofs.report import ProofReport

    files = find_irs(paths).files
    check_outputs([page], files, force=force, are_reports=True)
    with opened(page) as stream:
        proved = _prove_all(files, assume, with_paths=page is not None)
        report = ProofReport([*with_progress(proved, len(files), "proving")], strict)
        if stream is not None:
            from ov_gather.report.proofs import html

            stream.write(html.render(report).encode())
    if format_ == "text":
        print_all(text.render(report, with_proved=is_verbose()))
    else:
        show(import_module(f"ov_gather.report.proofs.{format_}").render(report))
    for file in report.files:
        if not file.is_read:
            print_all(findings_text.lines(file.findings), err=True)
    sys.exit(report.exit_code)


def _prove_all(files: Sequence[Place], assume: Mapping[str, Limits], *, with_paths: bool) -> Iterator[ProvedFile]:
    """Yield the proofs of each file. Raises UsageError if an assumption fits no file, or contradicts one."""
    from ov_gather.report.proofs.report import ProvedFile

    unused = set(assume)
    for number, path in enumerate(files):
        found = _open_onnx(path) if path.suffix == ".onnx" else _open_ir(path)
        names = [] if isinstance(found, ProvedFile) else found.names
        unused.difference_update(names)
        if unused and number == len(files) - 1:
            known = f"{path} has {', '.join(names) or 'none'}"
            raise click.UsageError(f"--assume {min(unused)}: there is no such input or open dimension; {known}")
        if isinstance(found, ProvedFile):
            yield found
            continue
        try:
            given = {name: limits for name, limits in assume.items() if name in names}
            yield ProvedFile(str(path), found.prove(assume=given, with_paths=with_paths))
        except ValueError as error:
            raise click.UsageError(f"{path}: {error}") from None


@dataclass(frozen=True)
class _Provable:
    """A model that was read: the names that assumptions may constrain, and the function that proves under assumptions."""

    names: list[str]
    prove: Callable[..., list[Proof]]


def _open_ir(path: Place) -> _Provable | ProvedFile:
    from ov_gather.ranges.prove import graph_of, names_of, prove
    from ov_gather.report.proofs.report import ProvedFile
    from ov_gather.rules.findings import Severity
    from ov_gather.rules.validation import read_and_validate

    model, findings = read_and_validate(path, ignore=_NOT_IN_THE_WAY)
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if model is None or errors:
        return ProvedFile(str(path), (), errors, is_read=model is not None)
    return _Provable(names_of(graph_of(model)), partial(prove, model))


def _open_onnx(path: Place) -> _Provable | ProvedFile:
    from ov_gather.ranges.prove import names_of
    from ov_gather.report.proofs.report import ProvedFile
    from ov_gather.rules.validation import not_checked

    try:
        from ov_gather.converters.errors import ConversionError
        from ov_gather.converters.proofs import analysed, prove_graph
    except ModuleNotFoundError as error:
        raise ImportError(f"{path}: to read ONNX models, pip install onnx onnx-ir ({error})") from None
    try:
        graph = analysed(path)
    except ConversionError as error:
        findings = not_checked(str(path), str(error).removeprefix(f"{path}: "), "give a model that onnx.checker accepts")
        return ProvedFile(str(path), (), findings, is_read=False)
    return _Provable(names_of(graph), partial(prove_graph, graph))
