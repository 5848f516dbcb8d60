"""The command `ov-gather accelerate`: faster gathers in any OpenVINO model."""

from __future__ import annotations

from pathlib import Path

import click

from ov_gather.acceleration.accelerate import PASSES, PORTABLE, accelerate
from ov_gather.cli.files import FORCE, array_files
from ov_gather.cli.inputs import INPUTS, named_arrays
from ov_gather.cli.models import check_ir_output, read_model, write_model
from ov_gather.cli.output import print_all, print_table, say
from ov_gather.cli.threads import THREADS


@click.command(name="accelerate")
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="IN.xml")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The .xml to write.")
@click.option("--portable", is_flag=True, help=f"Only what needs no extension: {', '.join(PORTABLE)}.")
@click.option("--assume-in-bounds", is_flag=True, help="With --portable: as if no index were ever out of bounds.")
@click.option("--pass", "passes", multiple=True, type=click.Choice(tuple(PASSES)), help="Only this one; may be repeated.")
@click.option("--tune", "tuned", is_flag=True, help="Time each kind of change on this machine, and keep what gains.")
@THREADS
@INPUTS
@FORCE
def command(
    model: Path,
    output: Path,
    portable: bool,
    assume_in_bounds: bool,
    passes: tuple[str, ...],
    tuned: bool,
    threads: int,
    inputs: tuple[str, ...],
    force: bool,
) -> None:
    """Make the gathers and scatters of an OpenVINO IR, and of its sub-graphs, faster.

    What it computes in f32 stays the same, bit by bit. In bf16, which OpenVINO computes in by default where the CPU has it, and
    in f16 some values may be rounded elsewhere; the table says which. Outputs are no less accurate then than they were.

    Prints what was done to each gather and scatter, or why nothing. To read the result, a core needs our extension
    (`ov_gather.register`), unless --portable.

    With --tune the model is executed, in the precision that OpenVINO computes in by default, on so many --threads: with the
    changes of a kind and without them, by turns. What does not gain is left as it is. --input and random inputs are as for
    `ov-gather bench model`.

    Exit code: 0 done, 2 it could not be done; then nothing is written.
    """
    check_ir_output(output, [model, *array_files(inputs)], force=force)
    if tuned and passes:
        raise click.UsageError("--tune chooses by itself: leave out --pass")
    if inputs and not tuned:
        raise click.UsageError("--input is for --tune: without it nothing is executed")
    read = read_model(model)
    if tuned:
        from ov_gather.bench.tuning import tune
        from ov_gather.report.bench.tuning import render

        tuning = tune(read, threads, named_arrays(inputs), portable=portable, assume_in_bounds=assume_in_bounds)
        summary = tuning.summary
        print_table(render(tuning))
        say(f"{tuning.ratio:.2f}x on {threads} threads")
    else:
        summary = accelerate(read, portable=portable, assume_in_bounds=assume_in_bounds, passes=passes or None)
    write_model(read, output)
    print_all([summary.table() if summary.changes else str(summary)])
    say(f"{output}: {len(summary.changed)} of {len(summary.changes)} gathers and scatters changed")
