"""The command `ov-gather validate`: find errors in IR files without any runtime."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_gather.cli import suppressions
from ov_gather.cli.config import ConfigurableCommand, configuration
from ov_gather.cli.files import check_outputs, opened
from ov_gather.cli.options import DIRECTORY, EXTENSION, FORCE, JOBS, OPS, SCHEDULER, TIMEOUT_OF_SERVERS, WRITTEN
from ov_gather.cli.output import FileProblem, show, tell, warn, with_progress, without_controls
from ov_gather.cli.validating import (
    BASELINE,
    EXCLUDE,
    FAIL_ON,
    IGNORE,
    MIN_SEVERITY,
    PATHS,
    SELECT,
    SKIP_OTHER_XML,
    TARGET_RELEASE,
    Filters,
    find,
)
from ov_gather.ir.files import STDIN, Place
from ov_gather.report.findings import FORMATS, render
from ov_gather.system.imports import require
from ov_gather.system.private import NotPrivateError, user_cache

if TYPE_CHECKING:
    from ov_gather.extension.users import UserExtension
    from ov_gather.rules.cache import Cache
    from ov_gather.rules.findings import Finding
    from ov_gather.rules.suppression import Ignore

_USER = Path("user")


@click.command(name="validate", cls=ConfigurableCommand)
@PATHS
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True, help="Report format.")
@click.option("-o", "--output", type=WRITTEN, help="File for the report, written whole or not at all.")
@FORCE
@SELECT
@IGNORE
@MIN_SEVERITY
@FAIL_ON
@BASELINE
@click.option("--write-baseline", is_flag=True, help="Write the findings to the --baseline file, and exit 0.")
@EXCLUDE
@SKIP_OTHER_XML
@click.option("--statistics/--no-statistics", help="Count violations of each rule, and the skipped XML files.")
@click.option("--infer/--no-infer", help="Also compare declared outputs with what OpenVINO infers (OVG407).")
@EXTENSION
@OPS
@TARGET_RELEASE
@click.option(
    "--cache",
    type=DIRECTORY,
    metavar="DIRECTORY|user",
    help="Keep results there, or in your cache directory ('user'), and skip unchanged files.",
)
@JOBS
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
    exclude: tuple[str, ...],
    skip_other_xml: bool,
    statistics: bool,
    infer: bool,
    extensions: tuple[UserExtension, ...],
    target: str | None,
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

    All options but --force, --extension and --ops can be set in the nearest pyproject.toml, under [tool.ov_gather]; the
    command line wins.

    Exit code: 0 no finding that --fail-on names, 1 there is one, 2 bad arguments or nothing to check.
    """
    from ov_gather.ops.users import are_declared
    from ov_gather.rules.selection import Chosen, select_rules
    from ov_gather.workers.validation import ValidateOptions

    chosen = Chosen(select, ignore, target or "")
    rules = [rule.id for rule in select_rules(select, ignore)]  # raises for unknown rules before any work
    found = find(paths, exclude, skip_other_xml)
    if scheduler and STDIN in found.files:
        raise click.UsageError("no worker of a cluster can read standard input")
    read = [*found.files, *configuration(), *([baseline] if baseline and not write_baseline else [])]
    check_outputs([output], read, force=force, are_reports=True)
    if baseline and write_baseline:
        suppressions.check_place(baseline, output, read)
    if extensions and not infer:
        raise click.UsageError("--extension is for --infer: without it no operation is loaded")
    if infer and not scheduler:
        require("openvino")
    filters = Filters(min_severity, fail_on, ignores, suppressions.read(baseline, write_baseline), rules)
    with opened(output) as file:
        results: list[Sequence[Finding] | None] = [()] * len(found.files)
        # OpenVINO reads more of a .bin than we hash, and the functions of users read what they like.
        kept = None if cache is None or infer or are_declared() else _cache(cache, paths)
        checks = ValidateOptions(chosen, infer, kept, extensions).run(found.files, jobs, scheduler)
        unchanged = 0
        for index, (findings, is_unchanged) in with_progress(checks, len(found.files), "validating"):
            results[index] = findings
            unchanged += is_unchanged
        checked = {place: result for place, result in zip(found.files, results, strict=True) if result is not None}
        skipped = len(found.skipped) + len(found.files) - len(checked) if statistics else None
        report = filters.report([*checked], [*checked.values()], skipped=skipped, unchanged=unchanged if kept else None)
        if baseline and write_baseline:
            suppressions.write(baseline, report.files, report.findings)
            sys.exit(0)
        text = render(report, format_)
        if file:
            file.write(without_controls(click.unstyle(text)).encode(errors="backslashreplace"))
    if output:
        tell(f"{output}: {report.summary}")
    else:
        show(text)
    sys.exit(1 if any(map(report.fails, report.findings)) else 0)


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
        raise FileProblem(f"--cache {directory}: {error.strerror}") from None
