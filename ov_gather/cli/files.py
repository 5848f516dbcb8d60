"""Input files of commands, and the check that decides whether an output may be overwritten."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import IO

import click

from ov_gather.cli.output import FileProblem
from ov_gather.ir import files
from ov_gather.ir.files import Found, NoIRError, Place
from ov_gather.system.files import identity, overwritten, place_of, replacing

_URL_AS_PATH = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_READ = f"{__name__}.read"
"""Key of the files that a command reads, in its context."""
_HEAD = 4096
"""Number of bytes at the start of a file that identify a report of ours."""
_REPORT = re.compile(
    rb'<!DOCTYPE html>\s*<html lang="en"><head><meta name="generator" content="ov-gather">'
    rb'|<\?xml [^>]*>\s*<testsuites\b[^>]*>\s*<testsuite\b[^>]* name="ov-gather (?:validate|check)"'
    rb'|\{\s*"generator": "ov-gather"'
    rb'|\{\s*"\$schema": "[^"]*sarif[^"]*",\s*"version": "2\.1\.0",\s*"runs": \[\s*'
    rb'\{\s*"tool": \{\s*"driver": \{\s*"name": "ov-gather"'
)


def find_irs(paths: Iterable[Place], *, exclude: Collection[str] = (), skip_other_xml: bool = False) -> Found:
    """Return the result of `ov_gather.ir.files.find_irs`; raise FileProblem instead of NoIRError."""
    try:
        return files.find_irs(paths, exclude=exclude, skip_other_xml=skip_other_xml)
    except NoIRError as error:
        raise FileProblem(str(error)) from None


def reads(*paths: Path | None) -> None:
    """Keep in the context that the command reads these files, so that `check_outputs` refuses to overwrite them."""
    click.get_current_context().meta.setdefault(_READ, []).extend(path for path in paths if path is not None)


def check_outputs(outputs: Sequence[Path | None], inputs: Iterable[Place], *, force: bool, are_reports: bool = False) -> None:
    """Raise UsageError or FileProblem unless a command may write all these outputs.

    An output must not be an input, through any links: neither a named file nor one that is read with it (.bin, .expected.json,
    external data), nor one that `reads` has named. Any other existing file is overwritten only with `force`, or if a report
    replaces a report of ours.

    Raises OSError for an output that cannot be written: it is a directory or a device, or its directory does not exist.
    """
    wanted = [output for output in outputs if output is not None]
    for output in wanted:
        if str(output) == "-":
            raise click.UsageError("- is the name of no file to write to; ./- is")
        if url := _URL_AS_PATH.match(str(output)):
            raise click.UsageError(f"{url[0]}...: outputs are files, and no URLs")
        place_of(output)
    context = click.get_current_context(silent=True)
    inputs = [*inputs, *(context.meta.get(_READ, ()) if context else ())]
    read = list(_read_with(inputs, data=any(output.exists() for output in wanted))) if wanted else []
    if found := overwritten(wanted, read):
        raise click.UsageError(f"{_named_twice(*found)}, which is read: choose another name to write to")
    written: dict[object, Path] = {}
    for output in wanted:
        if (other := written.setdefault(identity(output), output)) is not output:
            raise click.UsageError(f"{_named_twice(output, other)}, which is written, too: choose another name")
        if output.exists() and not (force or (are_reports and _is_report(output))):
            raise FileProblem(f"{output} exists; --force overwrites it")


def array_files(texts: Iterable[str]) -> list[Place]:
    """Return the files named by values of --input."""
    return [Path(text.partition("=")[2] or text) for text in texts]


def opened(output: Path | None) -> AbstractContextManager[IO[bytes] | None]:
    """Return a file that replaces `output` on success; a null context if `output` is None."""
    return nullcontext() if output is None else replacing(output)


def _named_twice(output: Path, other: Path) -> str:
    return f"the output is {output}" if output == other else f"the output {output} is the same file as {other}"


def _read_with(inputs: Iterable[Place], *, data: bool) -> Iterator[Path]:
    """Yield the inputs and the files that are read with them; `data` also searches directories and external data."""
    for path in inputs:
        if not isinstance(path, Path):
            continue
        yield path
        if path.suffix == ".xml":
            yield from map(path.with_suffix, (".bin", ".expected.json"))
        elif path.suffix == ".onnx" and data:
            from ov_gather.converters.weights import data_files

            yield from data_files(path)
        elif data and path.is_dir():
            with suppress(NoIRError):
                yield from _read_with(files.find_irs([path]).files, data=False)


def _is_report(path: Path) -> bool:
    with path.open("rb") as file:
        return _REPORT.match(file.read(_HEAD)) is not None
