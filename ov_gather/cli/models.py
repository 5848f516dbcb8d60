"""Reading and writing of OpenVINO models for commands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_gather.cli.files import check_outputs
from ov_gather.extension import lacks_operation, reason
from ov_gather.extension.users import UserExtension, core_for_reading
from ov_gather.ir.files import Place
from ov_gather.system.files import replacing_together

if TYPE_CHECKING:
    import openvino as ov


def check_ir_output(output: Path, inputs: Sequence[Place], *, force: bool) -> None:
    """Raise UsageError if the output is not an .xml, and as `check_outputs` for its two files. Raises OSError."""
    if output.suffix != ".xml":
        raise click.UsageError(f"--output {output}: the name of an IR ends in .xml")
    check_outputs([output, output.with_suffix(".bin")], inputs, force=force)


def read_model(path: Path, extensions: tuple[UserExtension, ...]) -> ov.Model:
    """Read a model, with our extension if it is available, and those of users.

    Raises IRError, or ValueError if OpenVINO refuses the model.
    """
    from ov_gather.ir.reader import read_ir

    read_ir(path)
    core = core_for_reading(extensions)
    try:
        return core.read_model(path)
    except RuntimeError as error:
        hint = ": give the library that has the operation by --extension" if lacks_operation(error) else ""
        raise ValueError(f"{path}: OpenVINO cannot read it: {reason(error)}{hint}") from None


def write_model(model: ov.Model, output: Path) -> None:
    """Write a model as an IR atomically. Raises OSError."""
    import openvino as ov

    with replacing_together(output) as path:
        try:
            ov.serialize(model, path)
        except RuntimeError as error:
            raise OSError(f"{output} cannot be written: {error}") from None
