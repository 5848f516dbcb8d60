"""The command `ov-gather validate`: find errors in IR files without any runtime."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_gather.cli import suppressions
from ov_gather.cli.config import ConfigurableCommand, configuration
from ov_gather.cli.files import check_outputs, find_irs, opened
from ov_gather.cli.options import (
    DIRECTORY,
    FORCE,
    SCHEDULER,
    TIMEOUT_OF_SERVERS,
    WRITTEN,
    PathOrUrl,
    given_besides,
    parse_release,
)
from ov_gather.cli.output import say, show, warn, with_progress, without_controls
from ov_gather.ir.files import STDIN, Found, Place
from ov_gather.ir.urls import Url
from ov_gather.report.findings import FORMATS, Report, render
from ov_gather.rules.findings import Severity
from ov_gather.system.imports import require
from ov_gather.system.private import NotPrivateError, user_cache
from ov_gather.system.tables import printable

if TYPE_CHECKING:
    from ov_gather.rules.cache import Cache
    from ov_gather.rules.findings import Finding
    from ov_gather.rules.mending import Mended
    from ov_gather.rules.oldest import OldestRelease
    from ov_gather.rules.selection import Chosen
    from ov_gather.rules.suppression import Ignore, Suppressed

_WITH_OLDEST = ("paths", "exclude", "skip_other_xml", "jobs", "timeout", "oldest")
_USER = Path("user")
_SEVERITIES = [severity.value for severity in Severity]


@click.command(name="validate", cls=ConfigurableCommand)
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    metavar="PATH...",
    type=PathOrUrl(exists=True, readable=False, allow_dash=True, path_type=Path),
)
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True, help="Report format.")
@click.option("-o", "--output", type=WRITTEN, help="File for the report, written whole or not at all.")
@FORCE
@click.option("--select", multiple=True, metavar="RULE", help="Check only this rule (OVG401) or group (OVG4); may be repeated.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Skip this rule or group; may be repeated.")
@click.option("--min-severity", type=click.Choice(_SEVERITIES), default="note", show_default=True, help="Hide findings below.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "never"]),
    default="error",
    show_default=True,
    help="Exit 1 for a finding of this severity, or worse.",
)
@click.option("--baseline", type=WRITTEN, help="Ignore the findings that this file holds.")
@click.option("--write-baseline", is_flag=True, help="Write the findings to the --baseline file, and exit 0.")
@click.option("--show-suppressed/--no-show-suppressed", help="Also list findings that ignores or the baseline suppress.")
@click.option("--fix", is_flag=True, help="Fix what is mechanical and keeps what OpenVINO computes.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also fix what may change the meaning.")
@click.option("--diff", is_flag=True, help="Show what --fix would change; exit 1 if anything.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Skip files and directories of this name or path.")
@click.option("--skip-other-xml/--no-skip-other-xml", help="Skip XML files that are not IRs, even if PATH names them.")
@click.option("--statistics/--no-statistics", help="Count violations of each rule, and the skipped XML files.")
@click.option("--infer/--no-infer", help="Also compare declared outputs with what OpenVINO infers (OVG407).")
@click.option(
    "--target",
    callback=parse_release,
    metavar="RELEASE",
    help="Also find what this OpenVINO lacks, e.g. 2025.4 (OVG708, OVG709).",
)
@click.option("--oldest", is_flag=True, help="Print the oldest OpenVINO that has what each file needs, and no findings.")
@click.option(
    "--cache",
    type=DIRECTORY,
    metavar="DIRECTORY|user",
    help="Keep results there, or in your cache directory ('user'), and skip unchanged files.",
)
@click.option("--jobs", type=click.IntRange(1, 1024), default=1, show_default=True, help="Number of processes.")
@TIMEOUT_OF_SERVERS
@SCHEDULER
@click.pass_obj
def command(
    ignores: tuple[Ignore, ...],
    paths: tuple[Place, ...],
    format_: str,
    output: Path | None,
    force: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    min_severity: str,
    fail_on: str,
    baseline: Path | None,
    write_baseline: bool,
    show_suppressed: bool,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    exclude: tuple[str, ...],
    skip_other_xml: bool,
    statistics: bool,
    infer: bool,
    target: str | None,
    oldest: bool,
    cache: Path | None,
    jobs: int,
    scheduler: str | None,
) -> None:
    """Find errors in OpenVINO IR files; without --infer no runtime is needed.

    PATH is an .xml file (a whole IR, or a bare <layer> fragment), a directory (searched for *.xml that are IRs), a URL of
    either (s3://, gs://, https://, hf://), or - (standard input, without a .bin). A .bin means the .xml beside it.

    Each finding names its rule, file, line and layer, and says what is wrong and what would be right. A file that cannot be
    read is a finding, too. `ov-gather explain RULE` explains a rule.

    --output overwrites an earlier report of ov-gather in JSON, SARIF or JUnit XML; any other file only with --force; never a
    file that is read.

    All options but --force can be set in the nearest pyproject.toml, under [tool.ov_gather]; the command line wins.

    Exit code: 0 no finding that --fail-on names, 1 there is one, 2 bad arguments or nothing to check. With --oldest, 1 if a
    file cannot be read, or no release has what it needs.
    """
    from ov_gather.rules.selection import Chosen, select_rules
    from ov_gather.workers.validation import ValidateOptions

    chosen = Chosen(select, ignore, target or "")
    rules = [rule.id for rule in select_rules(select, ignore)]  # raises for unknown rules before any work
    found = _find(paths, exclude, skip_other_xml)
    if oldest:
        for option in given_besides(_WITH_OLDEST):
            raise click.UsageError(f"--oldest prints no findings, which {option.opts[-1]} is about")
        sys.exit(_print_oldest(found.files, jobs))
    if scheduler and STDIN in found.files:
        raise click.UsageError("no worker of a cluster can read standard input")
    read = [*found.files, *configuration(), *([baseline] if baseline and not write_baseline else [])]
    check_outputs([output], read, force=force, are_reports=True)
    if baseline and write_baseline:
        suppressions.check_place(baseline, output, read)
    if infer and not scheduler:
        require("openvino")
    known = suppressions.read(baseline, write_baseline)
    _check_fixes(fix, diff, unsafe_fixes, found.files)
    left: dict[Place, list[Finding]] = {}
    if fix or diff:
        done = _mend(found.files, chosen, write=not diff, unsafe=unsafe_fixes, ignores=ignores)
        if diff:
            sys.exit(1 if any(mended.mended for mended in done.values()) else 0)
        left = {} if infer else {file: mended.left for file, mended in done.items()}  # fixing has validated these
    with opened(output) as file:
        least = Severity(min_severity)
        results: list[list[Finding] | None] = [left.get(file, []) for file in found.files]
        rest = [index for index, file in enumerate(found.files) if file not in left]
        kept = None if cache is None or infer else _cache(cache, paths)  # OpenVINO reads more of a .bin than we hash
        checks = ValidateOptions(chosen, infer, kept).run([found.files[index] for index in rest], jobs, scheduler)
        unchanged = 0
        for index, (findings, is_unchanged) in with_progress(checks, len(rest), "validating"):
            results[rest[index]] = findings
            unchanged += is_unchanged
        files = [_name(file) for file, findings in zip(found.files, results, strict=True) if findings is not None]
        bad = [finding for findings in results for finding in findings or () if finding.severity.at_least(least)]
        suppressed: Sequence[Suppressed] = ()
        if ignores or known:
            separated = suppressions.sort(bad, files, ignores, known, rules)
            bad, suppressed = list(separated.findings), separated.suppressed
        if baseline and write_baseline:
            suppressions.write(baseline, files, bad)
            sys.exit(0)
        report = Report(
            files=files,
            findings=bad,
            fail_on=None if fail_on == "never" else Severity(fail_on),
            skipped=len(found.skipped) + results.count(None) if statistics else None,
            suppressed=suppressed,
            show_suppressed=show_suppressed,
            unchanged=unchanged if kept else None,
        )
        text = render(report, format_)
        if file:
            file.write(without_controls(click.unstyle(text)).encode(errors="backslashreplace"))
            text = printable(f"{output}: {report.summary}") + "\n"
    show(text)
    sys.exit(1 if any(map(report.fails, report.findings)) else 0)


def _check_fixes(fix: bool, diff: bool, unsafe: bool, files: Sequence[Place]) -> None:
    """Raise UsageError for contradictory options."""
    if unsafe and not (fix or diff):
        raise click.UsageError("--unsafe-fixes is about --fix or --diff, and neither is given")
    if (fix or diff) and Path("-") in files:
        raise click.UsageError("standard input cannot be mended")
    if (fix or diff) and any(isinstance(file, Url) for file in files):
        raise click.UsageError("files at URLs cannot be mended")


def _mend(
    files: Sequence[Place], chosen: Chosen, *, write: bool, unsafe: bool, ignores: Sequence[Ignore]
) -> dict[Place, Mended]:
    """Fix files, or show the changes instead, and print the number of fixes on stderr.

    Returns the outcome for each file, except those that could not be read or written.
    """
    from ov_gather.rules.mending import mend

    done: dict[Place, Mended] = {}
    for file in with_progress(files, len(files), "mending"):
        try:
            mended = mend(Path(file), unsafe=unsafe, ignores=ignores, **asdict(chosen))
            if write and mended.mended:
                mended.write()
        except OSError as error:
            say(f"{file}: not mended: {error.strerror or error}", err=True)
            continue
        done[file] = mended
        for line in () if write else mended.diff():
            show("\t".join(map(printable, line.split("\t"))), end="\n")
    counts = [len(mended.mended) for mended in done.values() if mended.mended]
    say(f"{'mended' if write else 'to be mended'}: {sum(counts)} in {len(counts)} of {len(files)} files", err=True)
    return done


def _find(paths: tuple[Place, ...], exclude: tuple[str, ...], skip_other_xml: bool) -> Found:
    if STDIN not in paths:
        return find_irs(paths, exclude=exclude, skip_other_xml=skip_other_xml)
    if len(paths) > 1:
        raise click.UsageError("- is standard input and must stand alone")
    return Found(paths, ())


def _cache(directory: Path, paths: Sequence[Place]) -> Cache | None:
    """Open the cache; None, with a warning, if it is in a checked directory, or others could have written to it."""
    from ov_gather.rules.cache import Cache, is_below

    directory = user_cache() / "validate" if directory == _USER else directory
    if root := is_below(directory, paths):
        warn(f"--cache {directory} is not used: it lies in {root}, which is checked; --cache user keeps it apart")
        return None
    try:
        return Cache(directory)
    except NotPrivateError as error:
        warn(f"--cache is not used: {error}")
        return None
    except OSError as error:
        raise click.UsageError(f"--cache {directory}: {error.strerror}") from None


def _print_oldest(files: Sequence[Place], jobs: int) -> int:
    """Print a line per file, in order. Return the exit code."""
    from ov_gather.report.findings.text import oldest_line
    from ov_gather.rules.oldest import OldestRelease
    from ov_gather.workers import each, processes_for

    def died(index: int, how: str) -> OldestRelease:
        return OldestRelease("", f"the process that read the file {how}")

    results = each(_oldest, files, died, processes=processes_for(files, jobs))
    found = dict(with_progress(results, len(files), "reading"))
    for index, file in enumerate(files):
        say(oldest_line(_name(file), found[index]))
    return 0 if all(result.release for result in found.values()) else 1


def _oldest(file: Place) -> OldestRelease:
    from ov_gather.rules.oldest import oldest_release

    return oldest_release(sys.stdin.buffer if file == STDIN else file)


def _name(file: Place) -> str:
    return "<stdin>" if file == STDIN else str(file)
