"""`ov-gather run`: execute one layer on our kernel."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from ov_gather.cases import operands
from ov_gather.cli.arrays import load_array
from ov_gather.files import replacing
from ov_gather.ir.reader import read_ir
from ov_gather.ops.layer_view import family_layers
from ov_gather.runtimes.kernel import execute


@click.command(name="run")
@click.argument("ir", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE.npy", help="An input that is not constant; once for each.")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The .npy to write.")
def command(ir: Path, inputs: tuple[str, ...], output: Path) -> None:
    """Execute the gather-family layer of an OpenVINO IR, or a bare <layer> fragment, on our kernel.

    \b
    ov-gather run layer.xml --input data=d.npy --input indices=i.npy -o out.npy

    Exit code: 0 done, 2 it could not be done; then nothing is written.
    """
    model = read_ir(ir)
    views = [view for _, graph in model.walk() for view in family_layers(graph)]
    if len(views) != 1:
        found = ", ".join(str(view.layer) for view in views) or "none"
        raise click.UsageError(f"{ir} must hold exactly one gather-family layer; it holds {found}")
    view = views[0]
    names = [given.name for given in view.operation.inputs]
    if not view.has_all_ports:
        raise click.UsageError(f"{view.layer}: {view.operation.name} has the inputs {', '.join(names)} and one output")
    given = [_parse(names, text) for text in inputs]
    wanted = [name for position, name in enumerate(names) if view.constant(position) is None]
    if sorted(name for name, _ in given) != sorted(wanted):
        raise click.UsageError(f"{view.layer} needs --input for {' and '.join(wanted) or 'nothing'}, each once")
    files = dict(given)
    arrays = operands(view, [load_array(files[name]) for name in wanted])
    (result,) = execute(view.layer, arrays)
    with replacing(output) as file:
        np.save(file, result)
    click.echo(f"{output}: {result.dtype}{list(result.shape)}")


def _parse(names: list[str], text: str) -> tuple[str, Path]:
    name, separator, file = text.partition("=")
    if not separator or name not in names:
        raise click.UsageError(f"--input {text}: write NAME=FILE.npy with NAME one of {', '.join(names)}")
    return name, Path(file)
