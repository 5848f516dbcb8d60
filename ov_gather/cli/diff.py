"""The command `ov-gather diff`: differences of two IRs, regardless of the ids, names and order of layers."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import click

from ov_gather.cli.options import OPS
from ov_gather.cli.output import is_verbose, print_all, show
from ov_gather.cli.paths import FileOf
from ov_gather.ir.differences.diff import diff
from ov_gather.report.diff import text
from ov_gather.system.kinds import IR

_FORMATS = ("text", "json", "github")


@click.command(name="diff")
@click.argument("a", metavar="A.xml", type=FileOf(IR))
@click.argument("b", metavar="B.xml", type=FileOf(IR))
@click.option("--format", "format_", type=click.Choice(_FORMATS), default="text", show_default=True, help="Report format.")
@OPS
def command(a: Path, b: Path, format_: str) -> None:
    """List the differences between two IRs: operations, attributes, connections, types, shapes and constants.

    Layers are matched by what they compute and how they are connected, also in the bodies of If, Loop and TensorIterator. Ids,
    names and the order of layers do not count. Constants are compared byte by byte. More than three changes that are alike are
    one row, and types and shapes that follow from another change are only counted; --verbose lists all.

    Exit code: 0 no difference, 1 there are differences, 2 bad arguments or an unreadable file.
    """
    found = diff(a, b)
    if format_ != "text":
        show(import_module(f"ov_gather.report.diff.{format_}").render(str(a), str(b), found))
    else:
        print_all(text.render(found, verbose=is_verbose()))
    sys.exit(0 if found.passed else 1)
