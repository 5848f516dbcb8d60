"""`ov-gather convert`: an ONNX model to OpenVINO IR."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ov_gather.cli.output import console
from ov_gather.converters.models import to_ir
from ov_gather.ir.writer import write_ir


@click.command(name="convert")
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="MODEL.onnx")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The .xml to write.")
@click.option("--verify", is_flag=True, help="Cross-check what was written with onnxruntime and OpenVINO.")
def command(model: Path, output: Path, verify: bool) -> None:
    """Convert an ONNX model that is made of GatherElements, Identity, Constant and initializers to OpenVINO IR.

    Writes the .xml and, beside it, the .bin of the same stem. No OpenVINO is needed to convert.

    Exit code: 0 done, 1 --verify found an unexplained difference, 2 it could not be done; then nothing is written.
    """
    if output.suffix != ".xml":
        raise click.UsageError(f"--output {output}: the name of an IR ends in .xml")
    converted = to_ir(model)
    write_ir(converted, output)
    click.echo(f"{output}: {len(converted.layers)} layers")
    if verify:
        sys.exit(0 if _verify(model, output) else 1)


def _verify(model: Path, output: Path) -> bool:
    from ov_gather.comparison import cross_check, verify_conversion
    from ov_gather.ir.reader import read_ir

    out = console()
    written = read_ir(output)
    whole = verify_conversion(model, written)
    for name, comparison in whole.items():
        out.print(f"output {name}: kernel against {comparison.runtime}: {comparison}")
    layers = cross_check(written)
    if layers.layers:
        out.print(layers.table())
    return all(comparison.passed for comparison in whole.values()) and (layers.passed or not layers.layers)
