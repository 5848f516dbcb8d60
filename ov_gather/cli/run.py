"""The command `ov-gather run`: execute one layer on our kernel."""

from __future__ import annotations

from pathlib import Path

import click

from ov_gather.cli.files import array_files, check_outputs
from ov_gather.cli.inputs import load_inputs, only_layer
from ov_gather.cli.options import FORCE, INPUTS, OPS, WRITTEN
from ov_gather.cli.output import tell
from ov_gather.cli.paths import FileOf, beside
from ov_gather.system.files import replacing
from ov_gather.system.kinds import IR


@click.command(name="run")
@click.argument("ir", type=FileOf(IR), metavar="IN.xml")
@INPUTS
@click.option("-o", "--output", type=WRITTEN, help="The .npy to write; default: IN.npy, beside IN.xml.")
@OPS
@FORCE
def command(ir: Path, inputs: tuple[str, ...], output: Path | None, force: bool) -> None:
    """Execute the gather-family layer of an OpenVINO IR, or a bare <layer> fragment, with our kernel.

    A layer of an operation that --ops declares is executed by its reference.

    \b
    ov-gather run layer.xml --input data=d.npy --input indices=i.npy -o out.npy

    Exit code: 0 done; 2 failed, and nothing is written.
    """
    import numpy as np

    from ov_gather.crosscheck.cases.designed import operands
    from ov_gather.ir.reader import read_ir
    from ov_gather.ops.fields import OperationError
    from ov_gather.runtimes.kernel import execute

    output = output or beside(ir, ".npy")
    check_outputs([output], [ir, *array_files(inputs)], force=force)
    model = read_ir(ir)
    view = only_layer(model, ir)
    arrays = operands(view, load_inputs(model, ir, inputs))
    try:
        (result,) = execute(view.layer, arrays)
    except OperationError:  # it has its own place
        raise
    except ValueError as error:
        raise ValueError(f"{ir}:{view.layer.line}: {error}") from None
    with replacing(output) as file:
        np.save(file, result)
    tell(f"{output}: {result.dtype}{list(result.shape)}")
