"""The command `ov-gather bisect`: the first node at which two models differ."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ov_gather.cli.files import array_files, check_outputs, opened
from ov_gather.cli.inputs import load_array
from ov_gather.cli.options import DIRECTORY, EXTENSION, FORCE, OPS, WRITTEN, with_tolerances
from ov_gather.cli.output import print_all, show, steps_shown
from ov_gather.cli.paths import FileOf
from ov_gather.crosscheck.defaults import DEFAULT_SEED
from ov_gather.system.kinds import ARRAYS, IR, ONNX

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ov_gather.crosscheck.tolerances import Tolerances

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def _bytes(context: click.Context, option: click.Parameter, given: str | None) -> int:
    """Parse a size in bytes such as 500MB."""
    if given is None:
        from ov_gather.crosscheck.bisect.run import MEMORY

        return MEMORY
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMG]?)i?B?", given, re.ASCII | re.IGNORECASE)
    if match is None or not (count := int(float(match[1]) * _UNITS[match[2].upper()])):
        raise click.BadParameter(f"{given} is no size; write such as 500MB or 2GB")
    return count


@click.command(name="bisect")
@click.argument("reference", type=FileOf(ONNX, IR, ARRAYS))
@click.argument("model", type=FileOf(IR))
@click.option(
    "--input", "inputs", multiple=True, metavar="NAME=FILE.npy", help="An input, or FILE.npz with all; default: made up."
)
@click.option("--seed", default=DEFAULT_SEED, type=click.IntRange(min=0), show_default=True, help="Seed of made-up inputs.")
@click.option(
    "--runtime",
    type=click.Choice(["openvino", "extension", "accelerated"]),
    default="openvino",
    show_default=True,
    help="What executes MODEL: OpenVINO, OpenVINO with our extension, or OpenVINO after `accelerate`.",
)
@click.option("--device", default="CPU", show_default=True, help="OpenVINO device that executes MODEL.")
@click.option(
    "--precision", type=click.Choice(["f32", "bf16", "f16"]), default="f32", show_default=True, help="Precision of MODEL."
)
@click.option("--memory", callback=_bytes, metavar="SIZE", help="Limit for the values observed at once.  [default: 1GB]")
@click.option("--all", "every", is_flag=True, help="Find all places that differ, each on the values of the reference.")
@click.option(
    "-o",
    "--output",
    default="ov-gather-bisect",
    show_default=True,
    type=DIRECTORY,
    help="Directory for the smallest model that shows the difference.",
)
@click.option("--report", "page", type=WRITTEN, help="Also write an HTML page.")
@FORCE
@EXTENSION
@OPS
@with_tolerances
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    reference: Path,
    model: Path,
    inputs: tuple[str, ...],
    output: Path,
    page: Path | None,
    force: bool,
    format_: str,
    tolerances: Tolerances,
    **options: Any,
) -> None:
    """Find the first node at which MODEL differs from REFERENCE.

    \b
    ov-gather bisect model.onnx model.xml
    ov-gather bisect model.xml model.xml --precision bf16
    ov-gather bisect expected.npz model.xml --input x=x.npy

    REFERENCE is an .onnx, executed by onnxruntime; an .xml, executed by OpenVINO in f32; or a .npz with the expected outputs
    and values inside the model, by name. MODEL is an .xml.

    Both get the same inputs, and a few values inside both are compared at a time. The search ends at a value that differs by
    more than rounding explains, although all values it is computed from are equal. The nodes that compute it are then executed
    alone, on the values of the reference, reduced to the smallest model that differs, and written with the command that runs
    it.

    With --atol or --rtol, a value differs if it is further off than these permit, whatever rounding explains.

    If a runtime refuses a model, or crashes, the search finds the node that causes it.

    Exit code: 0 the models compute the same, 1 they differ, 2 they could not be compared.
    """
    from ov_gather.crosscheck.bisect.run import bisect
    from ov_gather.report.bisect import html, json, text

    if reference.suffix not in (".onnx", ".xml", ".npz"):
        raise click.UsageError(f"REFERENCE must be an .onnx, an .xml or a .npz, not {reference}")
    if model.suffix != ".xml":
        raise click.UsageError(f"MODEL must be an .xml, not {model}")
    check_outputs([page], [reference, model, *array_files(inputs)], force=force, are_reports=True)
    given = _load(inputs)
    with opened(page) as file, steps_shown("reading the models") as progress:
        options |= {"reproducers": output, "progress": progress, "atol": tolerances.atol, "rtol": tolerances.rtol}
        result = bisect(reference, model, given, **options)
        if file is not None:
            file.write(html.render(result).encode())
    if format_ == "json":
        show(json.render(result))
    else:
        print_all(text.render(result))
    sys.exit(2 if result.not_run else 0 if result.passed else 1)


def _load(inputs: tuple[str, ...]) -> dict[str, NDArray[Any]] | None:
    from ov_gather.crosscheck.bisect.inputs import load_arrays

    found: dict[str, NDArray[Any]] = {}
    for given in inputs:
        name, separator, file = given.partition("=")
        if separator and name:
            found[name] = load_array(Path(file))
        elif given.endswith(".npz"):
            found |= load_arrays(Path(given))
        else:
            raise click.UsageError(f"--input {given}: write NAME=FILE.npy, or FILE.npz with all inputs by name")
    return found or None
