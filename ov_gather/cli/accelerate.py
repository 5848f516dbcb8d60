"""The command `ov-gather accelerate`: faster gathers in any OpenVINO model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_gather.cli.files import array_files
from ov_gather.cli.inputs import named_arrays
from ov_gather.cli.models import check_ir_output, read_model, write_model
from ov_gather.cli.options import EXTENSION, FORCE, INPUTS, OPS, THREADS, WRITTEN
from ov_gather.cli.output import is_quiet, is_verbose, print_all, print_table, tell
from ov_gather.cli.paths import FileOf, OneOf, beside
from ov_gather.system.kinds import IR

if TYPE_CHECKING:
    from ov_gather.extension.users import UserExtension

# Names of the passes, repeated here so that --help does not import OpenVINO.
_PORTABLE = (
    *("fold-constants", "gather-tuples", "split-gathers", "assign-blocks", "scatter-rows", "scatter-slices"),
    *("shrink-constants", "join-gathers", "to-gather"),
)
_OTHERS = (
    *("scatter-elements", "fuse-aggregations", "gather-logits", "fold-broadcasts", "replace-elements"),
    *("absorb-transposes", "gather-halves"),
)


@click.command(name="accelerate")
@click.argument("model", type=FileOf(IR), metavar="IN.xml")
@click.option("-o", "--output", type=WRITTEN, help="The .xml to write; default: IN.accelerated.xml, beside IN.xml.")
@click.option("--portable", is_flag=True, help=f"Make only changes that need no extension: {', '.join(_PORTABLE)}.")
@click.option("--assume-in-bounds", is_flag=True, help="With --portable: assume that no index is out of bounds.")
@click.option("--pass", "passes", multiple=True, type=OneOf(_PORTABLE + _OTHERS), help="Run only this pass; may be repeated.")
@click.option("--tune", "tuned", is_flag=True, help="Time each kind of change on this machine, and keep those that gain.")
@THREADS
@INPUTS
@EXTENSION
@OPS
@FORCE
def command(
    model: Path,
    output: Path | None,
    portable: bool,
    assume_in_bounds: bool,
    passes: tuple[str, ...],
    tuned: bool,
    threads: int,
    inputs: tuple[str, ...],
    extensions: tuple[UserExtension, ...],
    force: bool,
) -> None:
    """Make the gathers and scatters of an OpenVINO IR faster, in sub-graphs too.

    Prints what was done to each gather and scatter, or why nothing was done. To read the result, a core needs our extension
    (`ov_gather.register`), unless --portable is given.

    Results in f32 stay the same, bit by bit. In f16, and in bf16 (OpenVINO's default on CPUs that have it), some values may be
    rounded at another place; the table says where. Outputs are no less accurate than before.

    --tune executes the model in OpenVINO's default precision, with and without each kind of change by turns, and drops each
    kind that does not gain. Inputs not given by --input are random, as in `ov-gather bench model`.

    Exit code: 0 done; 2 failed, and nothing is written.
    """
    from ov_gather.acceleration.accelerate import accelerate

    output = output or beside(model, ".accelerated.xml")
    check_ir_output(output, [model, *array_files(inputs)], force=force)
    if tuned and passes:
        raise click.UsageError("--tune chooses by itself: leave out --pass")
    if inputs and not tuned:
        raise click.UsageError("--input is for --tune: without it nothing is executed")
    read = read_model(model, extensions)
    if tuned:
        from ov_gather.bench.tuning import tune
        from ov_gather.report.bench import tuning_table

        tuning = tune(read, threads, named_arrays(inputs), portable=portable, assume_in_bounds=assume_in_bounds)
        summary = tuning.summary
        if not is_quiet():
            print_table(tuning_table(tuning))
        tell(f"{tuning.ratio:.2f}x on {threads} threads")
    else:
        summary = accelerate(read, portable=portable, assume_in_bounds=assume_in_bounds, passes=passes or None)
    write_model(read, output)
    if not is_quiet():
        print_all([str(summary)] if is_verbose() else summary.briefly())
    tell(f"{output}: {len(summary.changed)} of {len(summary.changes)} gathers and scatters changed")
