"""The command `ov-gather extract`: each gather and scatter of an ONNX model as an IR of its own."""

from __future__ import annotations

from pathlib import Path

import click

from ov_gather.cli.convert_many import written_files
from ov_gather.cli.files import check_outputs
from ov_gather.cli.options import ASSUME_IN_BOUNDS, DIRECTORY, FORCE, TARGET
from ov_gather.cli.output import FileProblem, tell
from ov_gather.cli.paths import FileOf, beside
from ov_gather.system.files import replacing_together
from ov_gather.system.kinds import ONNX


@click.command(name="extract")
@click.argument("model", type=FileOf(ONNX), metavar="MODEL.onnx")
@click.option("-o", "--output", type=DIRECTORY, help="The directory to write; default: MODEL.gathers, beside the model.")
@TARGET
@ASSUME_IN_BOUNDS
@FORCE
def command(model: Path, output: Path | None, target: str, assume_in_bounds: bool, force: bool) -> None:
    """Write each gather and scatter of an ONNX model as an IR of its own, with its constants.

    \b
    ov-gather extract model.onnx -o gathers
    ov-gather check gathers

    For `ov-gather check`, bug reports and tests.

    Exit code: 0 done; 2 failed, or there is no gather or scatter.
    """
    from ov_gather.converters.nodes import gathers_of
    from ov_gather.ir.writer import write_ir

    directory = output or beside(model, ".gathers")
    gathers = gathers_of(model, target=target, assume_in_bounds=assume_in_bounds)
    if not gathers:
        raise FileProblem(f"{model} has no gather or scatter")
    if directory.exists():  # a new directory has no files to overwrite
        files = [file for name in gathers for file in written_files(directory / name)]
        check_outputs(files, [model], force=force)
    directory.mkdir(parents=True, exist_ok=True)
    with replacing_together(directory / next(iter(gathers))) as path:
        for name, gather in gathers.items():
            write_ir(gather, path.with_name(name))
    tell(f"{directory}: {len(gathers)} gathers and scatters; ov-gather check {directory} executes them")
