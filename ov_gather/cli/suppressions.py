"""Suppressions of `ov-gather validate`: the baseline, ignores, and reports of unused ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_gather.cli.files import check_outputs
from ov_gather.cli.output import FileProblem, say
from ov_gather.ir.files import Place

if TYPE_CHECKING:
    from ov_gather.rules.baseline import Baseline
    from ov_gather.rules.findings import Finding
    from ov_gather.rules.suppression import Ignore, Sorted


def read(path: Path | None, write: bool) -> Baseline | None:
    """Return the baseline to compare with, if any. Raises FileProblem if it is unusable."""
    if write and path is None:
        raise click.UsageError("--write-baseline needs --baseline FILE, the file to write")
    if path is None or write:
        return None
    from ov_gather.rules.baseline import BaselineError, read_baseline

    try:
        return read_baseline(path)
    except FileNotFoundError:
        raise FileProblem(f"there is no baseline {path}; --write-baseline makes it") from None
    except BaselineError as error:
        raise FileProblem(str(error)) from None


def check_place(path: Path, output: Path | None, read: Sequence[Place]) -> None:
    """Raise UsageError, or FileProblem, if the baseline would overwrite an input, the report, or a file of another kind."""
    from ov_gather.rules.baseline import BaselineError, read_baseline

    check_outputs([path, output], read, force=True)
    try:
        read_baseline(path)
    except FileNotFoundError:
        pass
    except BaselineError as error:
        raise FileProblem(str(error)) from None


def write(path: Path, files: Sequence[str], findings: Sequence[Finding]) -> None:
    """Write findings as the baseline. Raises FileProblem if another file would be lost; ValueError for unchecked files."""
    from ov_gather.rules.baseline import BaselineError, write_baseline
    from ov_gather.rules.validation import NOT_CHECKED

    if unchecked := [finding for finding in findings if finding.rule == NOT_CHECKED]:
        raise ValueError(f"{path} is not written: {unchecked[0].location.path}: {unchecked[0].message}")
    try:
        write_baseline(path, files, findings)
    except BaselineError as error:
        raise FileProblem(str(error)) from None
    say(f"{path}: findings written: {len(findings)}")


def sort(
    findings: Sequence[Finding],
    files: Sequence[str],
    ignores: Sequence[Ignore],
    baseline: Baseline | None,
    rules: Sequence[str],
) -> Sorted:
    """Separate suppressed findings, and print unused ignores and obsolete baseline entries on stderr.

    Ignores of rules that were not checked are not reported.
    """
    from ov_gather.rules.suppression import suppress

    found = suppress(findings, ignores, baseline)
    for ignore in found.unused:
        if any(rule.startswith(ignore.rules) for rule in rules):
            say(f"{ignore.directory / 'pyproject.toml'}: an ignore suppresses nothing: {ignore}", err=True)
    if baseline:
        _compare(baseline, files, findings)
    return found


def _compare(baseline: Baseline, files: Sequence[str], findings: Sequence[Finding]) -> None:
    """Print the number of obsolete baseline entries, or that the baseline is for other files."""
    if baseline.known and not any(baseline.knows(file) for file in files):
        say(f"{baseline.path}: knows none of the files that were checked; its paths start at {baseline.directory}", err=True)
    gone = baseline.gone(files, findings)
    if gone:
        say(f"{baseline.path}: known findings that are gone: {gone}; --write-baseline leaves them out", err=True)
