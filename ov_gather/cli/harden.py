"""The command `ov-gather harden`: an OpenVINO model that is safe for any indices."""

from __future__ import annotations

from pathlib import Path

import click

from ov_gather.acceleration.harden import POLICIES, Policy, harden
from ov_gather.cli.assumptions import Limits, assume_option
from ov_gather.cli.files import FORCE
from ov_gather.cli.models import check_ir_output, read_model, write_model
from ov_gather.cli.output import print_all, say


@click.command(name="harden")
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="IN.xml")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The .xml to write.")
@click.option("--policy", required=True, type=click.Choice(POLICIES), help="What an index out of bounds does.")
@click.option("--portable", is_flag=True, help="With --policy raise: without our operations.")
@assume_option
@FORCE
def command(model: Path, output: Path, policy: Policy, portable: bool, assume: dict[str, Limits], force: bool) -> None:
    """Make the gathers and scatters of an OpenVINO IR, and of its sub-graphs, safe for any integers.

    What is proved to be in bounds stays as it is. For indices in bounds the model computes the same in f32, bit by bit. An
    index out of bounds lets the inference fail (raise), becomes the nearest one in bounds (clamp), or reads 0 and writes
    nothing (zero). Of an empty axis every index raises.

    Prints what was done to each gather and scatter, and why. To read a result with --policy raise, a core needs our extension
    (`ov_gather.register`), unless --portable.

    Exit code: 0 done, 2 it could not be done; then nothing is written.
    """
    check_ir_output(output, [model], force=force)
    read = read_model(model)
    summary = harden(read, policy=policy, portable=portable, assume=assume)
    write_model(read, output)
    print_all([summary.table() if summary.sites else str(summary)])
    say(f"{output}: {len(summary.changed)} of {len(summary.sites)} gathers and scatters changed; guards: {summary.guards}")
