"""The command `ov-gather lower`: an IR rewritten for an older release of OpenVINO."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ov_gather.cli.completion import complete_releases
from ov_gather.cli.models import check_ir_output
from ov_gather.cli.options import FORCE, WRITTEN, parse_release
from ov_gather.cli.output import say, tell
from ov_gather.cli.paths import FileOf, beside
from ov_gather.system.kinds import IR


@click.command(name="lower")
@click.argument("model", type=FileOf(IR), metavar="IN.xml")
@click.option(
    "--target",
    "release",
    required=True,
    callback=parse_release,
    shell_complete=complete_releases,
    metavar="RELEASE",
    help="The OpenVINO that is to read it, e.g. 2025.4.",
)
@click.option("-o", "--output", type=WRITTEN, help="The .xml to write; default: IN.RELEASE.xml, beside IN.xml.")
@FORCE
def command(model: Path, release: str, output: Path | None, force: bool) -> None:
    """Rewrite an IR for an older OpenVINO.

    \b
    ov-gather lower new.xml --target 2025.4 -o old.xml

    Each operation gets a version that the release has, if one means the same. Layers without such a version are left as they
    are, and named. `ov-gather oldest` prints the oldest release that needs no change.

    Exit code: 0 done; 1 written, but a layer is left as it is; 2 failed, and nothing is written.
    """
    from ov_gather.converters.older_releases import lower
    from ov_gather.ir.reader import read_ir
    from ov_gather.ir.writer import write_ir

    output = output or beside(model, f".{release}.xml")
    check_ir_output(output, [model], force=force)
    lowered = lower(read_ir(model), release)
    write_ir(lowered.model, output)
    tell(*(f"{layer}: {layer.version} became {opset}" for layer, opset in lowered.changes))
    for left in lowered.left:
        say(f"{left.location.layer_text}: left: {left.message}; {left.hint}", err=True)
    tell(f"{output}: written; layers changed: {len(lowered.changes)}, left: {len(lowered.left)}")
    sys.exit(1 if lowered.left else 0)
