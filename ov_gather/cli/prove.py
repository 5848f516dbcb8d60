"""The command `ov-gather prove`: the gathers and scatters that can be out of bounds, and for which inputs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_gather.cli.files import check_outputs, find_irs, opened
from ov_gather.cli.options import ASSUME, FORCE, OPS, WRITTEN, Limits
from ov_gather.cli.output import FileProblem, is_verbose, print_all, show, tell, with_progress
from ov_gather.cli.paths import paths_argument
from ov_gather.ir.files import Place
from ov_gather.system.files import replacing
from ov_gather.system.tables import counted

if TYPE_CHECKING:
    from ov_gather.ranges.graph import AnalysedGraph
    from ov_gather.ranges.proof import Proof
    from ov_gather.ranges.requests import RequestTerms
    from ov_gather.report.proofs.report import ProvedFile

_FORMATS = ("text", "json", "sarif", "github")


@click.command(name="prove")
@paths_argument("paths", click.Path(exists=True, path_type=Path), "PATH...")
@click.option("--format", "format_", type=click.Choice(_FORMATS), default="text", show_default=True, help="Report format.")
@click.option("--report", "page", type=WRITTEN, help="Also write an HTML page with the way of each index.")
@click.option(
    "--guard",
    "guard_file",
    type=WRITTEN,
    callback=lambda context, option, path: _checked_suffix(path),
    help="Also write a check of requests: guard.py (NumPy), guard.json (JSON Schema) or guard.hpp (C++17).",
)
@FORCE
@click.option("--strict", is_flag=True, help="Also exit 1 if an index is not proved to be in bounds.")
@ASSUME
@OPS
def command(
    paths: tuple[Path, ...],
    format_: str,
    page: Path | None,
    guard_file: Path | None,
    force: bool,
    strict: bool,
    assume: Mapping[str, Limits],
) -> None:
    """Prove for every gather and scatter whether its indices stay in bounds; no runtime is needed.

    PATH is an .xml file with a whole IR, a directory (searched for *.xml that are IRs), or an .onnx file, which is proved as
    ONNX specifies it. Each gather and scatter, and what else reads at an index, in sub-graphs too, is one of these:

    \b
    proved       no index is out of bounds, whatever the inputs are
    refuted      an index is out of bounds in every run that reaches the layer
    conditional  no index is out of bounds if inputs and open dimensions are within the ranges that are printed
    unknown      none of these is shown; the report names the first value on which the proof fails

    --report writes an HTML page that opens without a network. It overwrites an earlier page of ov-gather, any other file only
    with --force.

    --guard takes one model, and writes a file that refuses each request that would break a conditional layer, and says why. It
    names the layers that it does not protect: `ov-gather harden --guarded` makes them safe. Nothing is written for a model with
    errors.

    Layers with the same condition are one row; --verbose lists each, and proved ones. The report of a file ends with the ranges
    that all its conditional layers need: a server must enforce them. --assume must name an input, or an open dimension, of one
    of the files.

    Exit code: 0 nothing is refuted; 1 something is, with --strict also if something is not proved, or a file has errors, which
    are printed as by `ov-gather validate`; 2 bad arguments, an unreadable file, or nothing to do.
    """
    from ov_gather.report.findings import text as findings_text
    from ov_gather.report.proofs import text
    from ov_gather.report.proofs.report import ProofReport

    files = find_irs(paths).files
    if guard_file is not None and len(files) != 1:
        raise click.UsageError(f"--guard {guard_file}: a guard is that of one model, not of {len(files)}")
    if guard_file is not None and not isinstance(files[0], Path):
        raise click.UsageError(f"--guard {guard_file}: a guard names the digest of a file; download {files[0]} first")
    check_outputs([page], files, force=force, are_reports=True)
    check_outputs([guard_file], files, force=force)
    check_outputs([page, guard_file], files, force=True)  # they are two files
    guards: list[RequestTerms] = []
    with opened(page) as stream:
        proved = _prove_all(files, assume, guards if guard_file is not None else None, with_paths=page is not None)
        report = ProofReport([*with_progress(proved, len(files), "proving")], strict, bool(guards))
        if guard_file is not None and guards:
            _write_guard(guards[0], Path(str(files[0])), guard_file)
        if stream is not None:
            from ov_gather.report.proofs import html

            stream.write(html.render(report).encode())
    if format_ == "text":
        print_all(text.render(report, verbose=is_verbose()))
    else:
        show(import_module(f"ov_gather.report.proofs.{format_}").render(report))
    for file in report.files:
        if not file.is_read:
            print_all(findings_text.lines(file.findings), err=True)
    sys.exit(report.exit_code)


def _checked_suffix(path: Path | None) -> Path | None:
    if path is not None and path.suffix not in (".py", ".json", ".hpp"):
        raise click.BadParameter(f"{path}: the suffix is the format: .py, .json or .hpp")
    return path


def _write_guard(terms: RequestTerms, model: Path, output: Path) -> None:
    from ov_gather.guards.files import render

    if model.suffix == ".onnx":
        from ov_gather.converters.weights import data_files

        text = render(terms, model, data_files(model), output)
    else:
        text = render(terms, model, (), output)
    with replacing(output) as file:
        file.write(text.encode())
    tell(f"{output}: {counted(len(terms.conditions), 'condition')}; {counted(len(terms.uncovered), 'layer')} not covered")


def _prove_all(
    files: Sequence[Place], assume: Mapping[str, Limits], guards: list[RequestTerms] | None, *, with_paths: bool
) -> Iterator[ProvedFile]:
    """Yield the proofs of each file, and add to `guards` what it needs of requests.

    Raises UsageError if an assumption fits no file, or contradicts one.
    """
    from ov_gather.ops.fields import OperationError
    from ov_gather.ranges.requests import request_terms
    from ov_gather.report.proofs.report import ProvedFile
    from ov_gather.rules.validation import wrong_declaration

    unused = set(assume)
    for number, path in enumerate(files):
        found = _open(path)
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
            proofs = found.prove(assume=given, with_paths=with_paths)
            if guards is not None:
                guards.append(request_terms(found.graph, proofs, given))
            yield ProvedFile(str(path), proofs)
        except OperationError as error:
            yield ProvedFile(str(path), (), wrong_declaration(str(path), error), is_read=False)
        except ValueError as error:
            raise FileProblem(f"{path}: {error}") from None


@dataclass(frozen=True)
class _Provable:
    """A model that was read: the names that assumptions may constrain, and the function that proves under assumptions."""

    graph: AnalysedGraph
    names: Collection[str]
    prove: Callable[..., list[Proof]]


def _open(path: Place) -> _Provable | ProvedFile:
    from ov_gather.ops.fields import OperationError
    from ov_gather.report.proofs.report import ProvedFile
    from ov_gather.rules.validation import wrong_declaration

    try:
        return _open_onnx(path) if path.suffix == ".onnx" else _open_ir(path)
    except OperationError as error:
        return ProvedFile(str(path), (), wrong_declaration(str(path), error), is_read=False)


def _open_ir(path: Place) -> _Provable | ProvedFile:
    from ov_gather.ranges.prove import graph_of, names_of, prove_in
    from ov_gather.report.proofs.report import ProvedFile
    from ov_gather.rules.validation import read_for_proofs

    model, errors = read_for_proofs(path)
    if model is None or errors:
        return ProvedFile(str(path), (), errors, is_read=model is not None)
    graph = graph_of(model)
    return _Provable(graph, names_of(graph), partial(prove_in, graph))


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
    return _Provable(graph, names_of(graph), partial(prove_graph, graph))
