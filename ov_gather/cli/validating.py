"""What `validate`, `fix` and `oldest` share: options, the search for IRs, and the report of findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_gather.cli import suppressions
from ov_gather.cli.completion import complete_releases, complete_rules
from ov_gather.cli.files import find_irs
from ov_gather.cli.options import WRITTEN, parse_release
from ov_gather.cli.output import is_verbose
from ov_gather.cli.paths import PathOrUrl, paths_argument
from ov_gather.ir.files import STDIN, Found, Place
from ov_gather.report.findings import Report
from ov_gather.rules.findings import Severity

if TYPE_CHECKING:
    from ov_gather.rules.baseline import Baseline
    from ov_gather.rules.findings import Finding
    from ov_gather.rules.suppression import Ignore, Suppressed


def _split(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts for name in text.split(","))


PATHS = paths_argument("paths", PathOrUrl(exists=True, readable=False, allow_dash=True, path_type=Path), "PATH...")
SELECT = click.option(
    "--select",
    multiple=True,
    metavar="RULE",
    callback=_split,
    shell_complete=complete_rules,
    help="Check only this rule (OVG401) or group (OVG4), or several (OVG4,OVG5); may be repeated.",
)
IGNORE = click.option(
    "--ignore",
    multiple=True,
    metavar="RULE",
    callback=_split,
    shell_complete=complete_rules,
    help="Skip this rule or group, or several; may be repeated.",
)
MIN_SEVERITY = click.option(
    "--min-severity",
    type=click.Choice([severity.value for severity in Severity]),
    default="note",
    show_default=True,
    help="Hide findings below.",
)
FAIL_ON = click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "never"]),
    default="error",
    show_default=True,
    help="Exit 1 for a finding of this severity, or worse.",
)
BASELINE = click.option("--baseline", type=WRITTEN, help="Ignore the findings that this file holds.")
EXCLUDE = click.option("--exclude", multiple=True, metavar="GLOB", help="Skip files and directories of this name or path.")
SKIP_OTHER_XML = click.option(
    "--skip-other-xml/--no-skip-other-xml", help="Skip XML files that are not IRs, even if PATH names them."
)
TARGET_RELEASE = click.option(
    "--target",
    callback=parse_release,
    shell_complete=complete_releases,
    metavar="RELEASE",
    help="Also find what this OpenVINO lacks or does wrong, e.g. 2025.4 (OVG708 to OVG712).",
)


def find(paths: tuple[Place, ...], exclude: tuple[str, ...], skip_other_xml: bool) -> Found:
    """Return the IRs among the paths; standard input, which must stand alone, is one. Raises UsageError, FileProblem."""
    if STDIN not in paths:
        return find_irs(paths, exclude=exclude, skip_other_xml=skip_other_xml)
    if len(paths) > 1:
        raise click.UsageError("- is standard input and must stand alone")
    return Found(paths, ())


def shown_name(file: Place) -> str:
    """Return the name of a file in reports."""
    return "<stdin>" if file == STDIN else str(file)


@dataclass(frozen=True)
class Filters:
    """What decides which findings are shown, and which of them fail: options, ignores, and the baseline."""

    min_severity: str
    fail_on: str
    ignores: Sequence[Ignore]
    baseline: Baseline | None
    rules: Sequence[str]

    def report(
        self,
        files: Sequence[Place],
        results: Sequence[Sequence[Finding]],
        *,
        skipped: int | None = None,
        unchanged: int | None = None,
    ) -> Report:
        """Return the report of the findings of each file."""
        names = list(map(shown_name, files))
        least = Severity(self.min_severity)
        findings = [finding for found in results for finding in found if finding.severity.at_least(least)]
        suppressed: Sequence[Suppressed] = ()
        if self.ignores or self.baseline:
            separated = suppressions.sort(findings, names, self.ignores, self.baseline, self.rules)
            findings, suppressed = list(separated.findings), separated.suppressed
        fail_on = None if self.fail_on == "never" else Severity(self.fail_on)
        return Report(names, findings, fail_on, skipped, suppressed, is_verbose(), unchanged)
