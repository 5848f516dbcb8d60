"""`ov-gather validate`: find what is wrong in IR files, without any runtime."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from ov_gather.cli.config import Configured
from ov_gather.cli.files import find_irs, opened
from ov_gather.cli.output import has_colour, with_progress
from ov_gather.ir.files import Found
from ov_gather.report.findings import FORMATS, render
from ov_gather.report.findings.report import Report
from ov_gather.rules.findings import Finding, Severity
from ov_gather.rules.selection import select_rules
from ov_gather.rules.validation import not_checked, validate

_STDIN = Path("-")
_SEVERITIES = [severity.value for severity in Severity]


@click.command(name="validate", cls=Configured)
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    metavar="PATH...",
    type=click.Path(exists=True, readable=False, allow_dash=True, path_type=Path),
)
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True, help="How to report.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the report here, whole or not at all."
)
@click.option("--select", multiple=True, metavar="RULE", help="Only this rule (OVG401) or group (OVG4); may be repeated.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Not this rule or group; may be repeated.")
@click.option("--min-severity", type=click.Choice(_SEVERITIES), default="note", show_default=True, help="Report nothing below.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "never"]),
    default="error",
    show_default=True,
    help="Exit 1 for a finding as bad as this, or worse.",
)
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave out files and directories of this name or path.")
@click.option("--skip-other-xml/--no-skip-other-xml", help="Pass over XML files that are no IR even where they are named.")
@click.option("--statistics/--no-statistics", help="Count violations of each rule, and the XML files passed over.")
@click.option("--infer/--no-infer", help="Compare declared outputs with what OpenVINO infers, too (OVG407).")
@click.option("--jobs", type=click.IntRange(1, 1024), default=1, show_default=True, help="Check files in this many processes.")
def command(
    paths: tuple[Path, ...],
    format_: str,
    output: Path | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    min_severity: str,
    fail_on: str,
    exclude: tuple[str, ...],
    skip_other_xml: bool,
    statistics: bool,
    infer: bool,
    jobs: int,
) -> None:
    """Find what is wrong in OpenVINO IR files; without --infer no runtime is needed.

    PATH is an .xml file (a whole IR, or a bare <layer> fragment), a directory, searched for *.xml that are IRs, or - for
    standard input, which has no .bin beside it. Every finding tells its rule, file, line and layer, what is wrong and what
    would be right. A file that cannot be read is a finding, too. `ov-gather explain RULE` tells more of a rule.

    The options may stand in the nearest pyproject.toml, under [tool.ov_gather]; the command line wins.

    Exit code: 0 no finding that --fail-on names, 1 there are such findings, 2 bad arguments or nothing to check.
    """
    select_rules(select, ignore)  # refuses unknown ones before any work
    found = _find(paths, exclude, skip_other_xml)
    with opened(output) as file:  # refuses a place that cannot be written, before any work, too
        least = Severity(min_severity)
        results: list[list[Finding]] = [[] for _ in found.files]
        checks = _check_all(found.files, select, ignore, infer, jobs)
        for index, findings in with_progress(checks, len(found.files), "validating"):
            results[index] = findings
        report = Report(
            files=["<stdin>" if path == _STDIN else str(path) for path in found.files],
            findings=[finding for findings in results for finding in findings if finding.severity.at_least(least)],
            fail_on=None if fail_on == "never" else Severity(fail_on),
            skipped=len(found.skipped) if statistics else None,
        )
        text = render(report, format_)
        if file:
            file.write(click.unstyle(text).encode(errors="backslashreplace"))
            text = f"{output}: {report.summary}\n"
    click.echo(text, nl=False, color=has_colour())
    sys.exit(1 if any(map(report.fails, report.findings)) else 0)


def _find(paths: tuple[Path, ...], exclude: tuple[str, ...], skip_other_xml: bool) -> Found:
    if _STDIN not in paths:
        return find_irs(paths, exclude=exclude, skip_other_xml=skip_other_xml)
    if len(paths) > 1:
        raise click.UsageError("- is standard input and must stand alone")
    return Found(paths, ())


def _check_all(
    files: Sequence[Path], select: tuple[str, ...], ignore: tuple[str, ...], infer: bool, jobs: int
) -> Iterator[tuple[int, list[Finding]]]:
    """Yield the index and the findings of each file, in the order in which the files are done."""
    check = partial(_check, select=select, ignore=ignore, infer=infer)
    if min(jobs, len(files)) < 2:
        yield from enumerate(map(check, files))
        return
    from ov_gather.cli.processes import Died, in_processes

    for index, result in in_processes(check, files, jobs):
        if isinstance(result, Died):
            reason = f"the process that checked the file {result}"
            result = not_checked(str(files[index]), reason, "was there enough memory? fewer --jobs need less")
        yield index, result


def _check(file: Path, *, select: tuple[str, ...], ignore: tuple[str, ...], infer: bool) -> list[Finding]:
    try:
        if file == _STDIN:
            return validate(sys.stdin.buffer, select=select, ignore=(*ignore, "OVG501"), infer=infer)
        return validate(file, select=select, ignore=ignore, infer=infer)
    except Exception as error:  # a fault of ours in one file must not hide what is wrong in the others
        return not_checked(
            str(file), f"the check failed: {type(error).__name__}: {error}", "this is a fault of ov-gather: report it"
        )
