"""The command `ov-gather check`, the main job: parse, validate, execute every layer on every runtime, and compare."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_gather.cli.checking import FAILURES, FORMAT, REPORT, RUNTIMES, SEED, run
from ov_gather.cli.files import array_files, check_outputs
from ov_gather.cli.inputs import inputs_of_ir
from ov_gather.cli.options import DEVICE, EXTENSION, FORCE, INPUTS, OPS, SCHEDULER, TIMEOUT_OF_SERVERS, with_tolerances
from ov_gather.cli.output import FileProblem, warn
from ov_gather.cli.paths import PathOrUrl, paths_argument
from ov_gather.crosscheck.defaults import DEFAULT_CASES
from ov_gather.ir.files import NoIRError, Place
from ov_gather.ir.urls import Url
from ov_gather.runtimes.devices import CPU

if TYPE_CHECKING:
    from ov_gather.crosscheck.tolerances import Tolerances
    from ov_gather.extension.users import UserExtension


@click.command(name="check")
@paths_argument("paths", PathOrUrl(exists=True, path_type=Path), "PATH...")
@click.option("--cases", type=click.IntRange(min=1), default=DEFAULT_CASES, show_default=True, help="Most cases of a layer.")
@SEED
@RUNTIMES
@INPUTS
@DEVICE
@EXTENSION
@OPS
@FAILURES
@REPORT
@FORCE
@FORMAT
@with_tolerances
@TIMEOUT_OF_SERVERS
@SCHEDULER
def command(
    paths: tuple[Place, ...],
    cases: int,
    seed: int,
    runtimes: tuple[str, ...],
    inputs: tuple[str, ...],
    device: str,
    extensions: tuple[UserExtension, ...],
    failures: Path,
    page: Path | None,
    force: bool,
    format_: str,
    scheduler: str | None,
    tolerances: Tolerances,
) -> None:
    """Execute every gather-family layer of OpenVINO IR files on several runtimes, and compare the results.

    PATH is an .xml file (a whole IR, or a bare <layer> fragment), a directory (searched for *.xml), a URL of either, or an
    .onnx file. IRs are validated first.

    Each layer of an IR is executed alone, with its constants, in cases designed for it: indices at the bounds, out of bounds,
    repeated and negative; special values of the type; open dimensions of size 0, 1, small and large; one thread and two. The
    runtimes are our compiled kernel ("kernel"), OpenVINO's CPU plugin ("openvino"), the plugin with our operation in place of
    the layer ("extension"), and onnxruntime with the ONNX operator ("onnxruntime"). Each result must equal the NumPy reference,
    bit by bit.

    An IR with other layers is also executed whole, on made-up inputs: each layer gets its operands in the model as one more
    case, and the outputs with our gathers must equal those without. Other layers whose results are exact, such as slices and
    comparisons, are compared with what they compute by their definitions. --input names inputs of the model instead, or, for an
    IR of one layer, those of the layer: data, indices. An .onnx file is converted and compared with
    onnxruntime, whole, and gather by gather on the operands of each. --atol and --rtol are for the outputs of these models,
    and for named outputs of IRs.

    A difference or crash that a known divergence explains is accepted and named. Types and operations that a runtime lacks are
    skipped, but a layer that only our kernel can execute is a failure. A failed case is made smaller and written to disk, with
    the command that runs it again.

    Layers of operations that --ops declares are executed by OpenVINO with the library that --extension names, and compared with
    the reference of the declaration, within its tolerance. The library is probed first: what it infers and writes, attributes,
    threads, memory.

    --report writes an HTML page that opens without a network. It overwrites an earlier page of ov-gather, any other file only
    with --force.

    Ctrl+C prints and writes the results so far, marked as partial.

    Exit code: 0 clean (expected divergences included), 1 findings or unexplained differences, 2 a file could not be read, there
    is no gather-family layer, a model with operations of --extension is not executed as a whole, or onnxruntime accepts none of
    the inputs made up for an .onnx file (`convert --verify` takes yours).
    """
    from ov_gather.workers.checks import CheckOptions

    if inputs and len(paths) != 1:
        raise click.UsageError("--input is for one file")
    if inputs and paths[0].suffix == ".onnx":
        raise click.UsageError("--input is for IRs: `convert --verify` takes inputs of an ONNX model")
    if device != CPU and any(path.suffix == ".onnx" for path in paths):
        raise click.UsageError("ONNX models are compared on the CPU; convert the model first, and check the IR with --device")
    if any(isinstance(path, Url) and path.suffix == ".onnx" for path in paths):
        raise click.UsageError("ONNX models are read from files: download the model first")
    if scheduler and inputs:
        raise click.UsageError("--input is for one file, and --scheduler for many")
    check_outputs([page], [*paths, *array_files(inputs)], force=force, are_reports=True)
    checks = CheckOptions(runtimes, seed, cases, device, failures, tolerances, extensions)
    inputs_for = partial(inputs_of_ir, texts=inputs) if inputs else None
    try:
        execute = partial(checks.of_paths, paths, scheduler, warn=warn, inputs_for=inputs_for)
        sys.exit(run(execute, page, format_, needs_models=bool(extensions)))
    except NoIRError as error:
        raise FileProblem(str(error)) from None
