"""`ov-gather accelerate`: faster gathers in any OpenVINO model."""

from __future__ import annotations

from pathlib import Path

import click

from ov_gather.acceleration.accelerate import PASSES, PORTABLE, accelerate
from ov_gather.cli.models import read_model, refuse_output, write_model
from ov_gather.cli.output import console


@click.command(name="accelerate")
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="IN.xml")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The .xml to write.")
@click.option("--portable", is_flag=True, help=f"Only what needs no extension: {', '.join(PORTABLE)}.")
@click.option("--assume-in-bounds", is_flag=True, help="With --portable: as if no index were ever out of bounds.")
@click.option("--pass", "passes", multiple=True, type=click.Choice(tuple(PASSES)), help="Only this one; may be repeated.")
@click.option("--force", is_flag=True, help="Overwrite the output.")
def command(model: Path, output: Path, portable: bool, assume_in_bounds: bool, passes: tuple[str, ...], force: bool) -> None:
    """Make the gathers and scatters of an OpenVINO IR, and of its sub-graphs, faster.

    What it computes in f32 stays the same, bit by bit. In bf16, which OpenVINO computes in by default where the CPU has it, and
    in f16 some values may be rounded elsewhere; the table says which. Outputs are no less accurate then than they were.

    Prints what was done to each gather and scatter, or why nothing. To read the result, a core needs our extension
    (`ov_gather.register`), unless --portable.

    Exit code: 0 done, 2 it could not be done; then nothing is written.
    """
    refuse_output(output, force)
    read = read_model(model)
    summary = accelerate(read, portable=portable, assume_in_bounds=assume_in_bounds, passes=passes or None)
    write_model(read, output)
    out = console()
    out.print(summary.table() if summary.changes else str(summary))
    out.print(f"{output}: {len(summary.changed)} of {len(summary.changes)} gathers and scatters changed")
