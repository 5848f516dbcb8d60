"""The command `ov-gather legalize`: an ONNX model rewritten so that OpenVINO computes what it says."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ov_gather.cli.convert_many import convert_many, outputs_for, written_files
from ov_gather.cli.files import check_outputs
from ov_gather.cli.options import ASSUME_IN_BOUNDS, FORCE, JOBS, SCHEDULER, TARGET
from ov_gather.cli.output import is_quiet, is_verbose, print_all, tell
from ov_gather.cli.paths import FileOf, paths_argument
from ov_gather.system.kinds import ONNX


@click.command(name="legalize")
@paths_argument("models", FileOf(ONNX), "MODEL.onnx...")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The .onnx to write, or a directory; default: MODEL.legal.onnx, beside the model.",
)
@TARGET
@ASSUME_IN_BOUNDS
@FORCE
@JOBS
@SCHEDULER
def command(
    models: tuple[Path, ...],
    output: Path | None,
    target: str,
    assume_in_bounds: bool,
    force: bool,
    jobs: int,
    scheduler: str | None,
) -> None:
    """Rewrite the gathers of ONNX models that OpenVINO would refuse or compute wrongly, and write ONNX.

    \b
    ov-gather legalize model.onnx
    ovc model.legal.onnx

    For tools of OpenVINO that read ONNX themselves; `ov-gather convert` does the same rewrites. Tables list the gathers that
    were rewritten or could not be.

    Exit code: 0 done; 2 failed, and nothing is written.
    """
    from ov_gather.converters.models import legalize_file
    from ov_gather.report.convert import tables

    outputs = outputs_for(models, output, ".legal.onnx")
    if len(models) > 1 or scheduler:
        sys.exit(convert_many("legalize", models, outputs, jobs, scheduler))
    (model,), (path,) = models, outputs
    check_outputs(written_files(path), [model], force=force)
    rewrites = legalize_file(model, path, target=target, assume_in_bounds=assume_in_bounds)
    if not is_quiet():
        print_all(tables(rewrites, every_place=is_verbose()))
    tell(f"{path}: written")
