"""What `ov-gather check` and `ov-gather sweep` share: options, runtimes, and the report with its exit code."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_gather.cli.files import opened
from ov_gather.cli.options import DIRECTORY, WRITTEN
from ov_gather.cli.output import is_verbose, print_all, say, show, shown, tell, warn
from ov_gather.crosscheck.defaults import DEFAULT_SEED
from ov_gather.extension import extension_path
from ov_gather.ir.remote import redacted
from ov_gather.system.imports import require
from ov_gather.system.interrupts import exit_code
from ov_gather.system.suggestions import did_you_mean

if TYPE_CHECKING:
    from ov_gather.crosscheck.check import CheckOutcome
    from ov_gather.crosscheck.progress import Progress

_FORMATS = ("json", "junit")


def _parse_runtimes(context: click.Context, option: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Parse the value of --runtimes, separated by commas; all installed runtimes if it is not given."""
    from ov_gather.runtimes.isolated import RUNTIMES

    if text is None:
        return _available_runtimes()
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in RUNTIMES:
            raise click.BadParameter(f"there is no runtime '{name}'; {did_you_mean(name, RUNTIMES)}")
    return names


SEED = click.option("--seed", default=DEFAULT_SEED, type=click.IntRange(min=0), show_default=True, help="Seed of the cases.")
RUNTIMES = click.option(
    "--runtimes", callback=_parse_runtimes, metavar="NAME,...", help="Any of kernel, openvino, extension, onnxruntime."
)
FAILURES = click.option(
    "--failures", default="ov-gather-failures", show_default=True, type=DIRECTORY, help="Directory for failed cases."
)
REPORT = click.option("--report", "page", type=WRITTEN, help="Also write an HTML page of everything.")
FORMAT = click.option("--format", "format_", type=click.Choice(("text", *_FORMATS)), default="text", show_default=True)


def run(
    execute: Callable[[Progress], CheckOutcome],
    page: Path | None,
    format_: str,
    *,
    by_operation: bool = False,
    needs_models: bool = False,
) -> int:
    """Execute a check with progress on stderr, write and print its report, and return the exit code.

    That is 2 if a converted model is not executed; with `needs_models`, also if an IR with several layers is not.
    """
    from ov_gather.crosscheck.progress import Progress
    from ov_gather.report.check import html, text
    from ov_gather.report.check.report import CheckReport
    from ov_gather.report.findings import text as findings_text

    with opened(page) as file:
        with shown(progress := Progress()):
            outcome = execute(progress)
        command_line = shlex.join(["ov-gather", *map(redacted, sys.argv[1:])])
        now = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
        findings = [*outcome.unreadable, *outcome.findings]
        report = CheckReport(outcome.results, findings, command_line, now, outcome.stopped)
        if file:
            file.write(html.render(report).encode())
    if format_ in _FORMATS:
        show(import_module(f"ov_gather.report.check.{format_}").render(report))
    else:
        print_all(text.render(report, by_operation=by_operation, every_row=is_verbose()))
        print_all(findings_text.lines(outcome.findings))
        print_all(text.totals(report))
    print_all(findings_text.lines(outcome.unreadable), err=True)
    if page:
        tell(f"{page}: the report", err=format_ in _FORMATS)
    if (code := exit_code()) is not None:
        return code
    nothing = not report.layers and not report.onnx_results
    if nothing and not outcome.unreadable:
        say("error: there is no gather-family layer to check", err=True)
    needed = outcome.results if needs_models else report.onnx_results
    undone = outcome.unreadable or nothing or any(result.not_run for result in needed)
    return 2 if undone else 0 if report.passed and all(result.passed for result in report.onnx_results) else 1


def _available_runtimes() -> tuple[str, ...]:
    """Return the installed runtimes. Warn if the extension cannot be compiled; onnxruntime is optional.

    Raises ImportError if OpenVINO, the runtime under test, is not installed.
    """
    from ov_gather.runtimes.isolated import RUNTIMES

    require("openvino")
    absent = set() if find_spec("onnxruntime") and find_spec("onnx") else {"onnxruntime"}
    try:
        extension_path()
    except (ImportError, OSError) as reason:
        warn(reason)
        absent.add("extension")
    return tuple(name for name in RUNTIMES if name not in absent)
