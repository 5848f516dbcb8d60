"""`ov-gather convert`: an ONNX model to OpenVINO IR."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from ov_gather.cli.output import console, print_table
from ov_gather.converters.models import to_ir
from ov_gather.ir.model import Model
from ov_gather.ir.writer import write_ir


@click.command(name="convert")
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="MODEL.onnx")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The .xml to write.")
@click.option("--verify", is_flag=True, help="Cross-check the result with onnxruntime and OpenVINO.")
def command(model: Path, output: Path, verify: bool) -> None:
    """Convert an ONNX model that is made of GatherElements, Identity, Constant and initializers to OpenVINO IR.

    Writes the .xml and, beside it, the .bin of the same stem. No OpenVINO is needed to convert.

    Exit code: 0 done, 1 --verify found an unexplained difference, 2 it could not be done; then nothing is written.
    """
    if output.suffix != ".xml":
        raise click.UsageError(f"--output {output}: the name of an IR ends in .xml")
    converted = to_ir(model, output=output)
    verified = _verify(model, converted) if verify else True
    write_ir(converted, output)
    click.echo(f"{output}: {len(converted.layers)} layers")
    sys.exit(0 if verified else 1)


def _verify(model: Path, converted: Model) -> bool:
    from ov_gather.report.layers import verification_summary
    from ov_gather.verification import verify_conversion

    with TemporaryDirectory() as directory:
        copy = Path(directory) / "model.xml"
        write_ir(converted, copy)
        result = verify_conversion(model, copy)
    print_table(result.table())
    for line in verification_summary(result):
        console().print(line)
    return result.passed
