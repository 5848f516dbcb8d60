"""`ov-gather validate`: find what is wrong in IR files, without any runtime."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.progress import track

from ov_gather.cli.files import IR_PATHS, find_irs
from ov_gather.cli.output import console
from ov_gather.findings import Severity
from ov_gather.report import text
from ov_gather.rules.validation import validate


@click.command(name="validate")
@IR_PATHS
def command(paths: tuple[Path, ...]) -> None:
    """Find what is wrong in OpenVINO IR files, without any runtime.

    PATH is an .xml file (a whole IR, or a bare <layer> fragment) or a directory, searched for *.xml. Every finding tells its
    rule, file, line and layer, what is wrong and what would be right. A file that cannot be read is a finding, too.

    Exit code: 0 no error found (warnings and notes are printed), 1 errors found, 2 nothing to do.
    """
    files = find_irs(paths)
    out = console()
    counts = dict.fromkeys(Severity, 0)
    for file in track(files, "validating", console=out, disable=not out.is_terminal, transient=True):
        findings = validate(file)
        for line in text.render(findings):
            out.print(line)
        for finding in findings:
            counts[finding.severity] += 1
    total = ", ".join(f"{severity.value}s: {count}" for severity, count in counts.items())
    out.print(f"files: {len(files)}, {total}")
    sys.exit(1 if counts[Severity.ERROR] else 0)
