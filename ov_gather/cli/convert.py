"""The command `ov-gather convert`: an ONNX model or an exported PyTorch program to OpenVINO IR."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ov_gather.cli.convert_many import convert_many, outputs_for, written_files
from ov_gather.cli.files import array_files, check_outputs
from ov_gather.cli.options import ASSUME_IN_BOUNDS, EXTENSION, FORCE, JOBS, OPS, SCHEDULER, TARGET, with_tolerances
from ov_gather.cli.output import is_quiet, is_verbose, print_all, say, steps_shown, tell, warn
from ov_gather.cli.paths import FileOf, paths_argument
from ov_gather.system.imports import require
from ov_gather.system.interrupts import exit_code
from ov_gather.system.kinds import ONNX, PROGRAM

if TYPE_CHECKING:
    import openvino
    from numpy.typing import NDArray

    from ov_gather.converters.finishing import Conversion
    from ov_gather.crosscheck.results import CrossCheckResult
    from ov_gather.crosscheck.tolerances import Tolerances
    from ov_gather.extension.users import UserExtension


@dataclass(frozen=True)
class _Options:
    """The options of the command for a single model, by name."""

    target: str
    assume_in_bounds: bool
    lanes: bool
    accelerate: bool
    fp16: bool
    strict: bool
    verify: bool
    no_bisect: bool
    inputs: tuple[str, ...]
    trust: bool
    tolerances: Tolerances
    extensions: tuple[UserExtension, ...]


@click.command(name="convert")
@paths_argument("models", FileOf(ONNX, PROGRAM), "MODEL.onnx|MODEL.pt2...")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="The .xml to write, or a directory; default: beside the model."
)
@TARGET
@ASSUME_IN_BOUNDS
@click.option(
    "--lanes", is_flag=True, help="Pass 64-bit and complex numbers as int32, in one more dimension, where they are only moved."
)
@click.option("--accelerate", is_flag=True, help="Then make gathers faster; with --target stock, only by portable passes.")
@click.option("--fp16", is_flag=True, help="Write floating-point constants as float16.")
@click.option("--strict", is_flag=True, help="Write nothing if OpenVINO would not do what the original says.")
@click.option("--verify", is_flag=True, help="Compare the result on OpenVINO with the original on onnxruntime or PyTorch.")
@click.option("--no-bisect", is_flag=True, help="After a failed --verify, do not search for the first node that differs.")
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE.npy", help="An input for --verify; default: made up.")
@with_tolerances
@click.option("--trust", is_flag=True, help="Load a .pt2, which executes code that the file holds.")
@EXTENSION
@OPS
@FORCE
@JOBS
@SCHEDULER
def command(
    models: tuple[Path, ...], output: Path | None, force: bool, jobs: int, scheduler: str | None, **options: Any
) -> None:
    """Convert models to OpenVINO IRs whose gathers compute what ONNX or PyTorch specifies.

    \b
    ov-gather convert model.onnx --verify
    ov-gather convert program.pt2 -o program.xml --verify --trust
    ov-gather convert zoo/*.onnx -o irs/ --jobs auto

    Writes the .xml and, beside it, the .bin with the same stem. Tables list the gathers that were rewritten or could not be,
    and what OpenVINO will not execute as the original says. Several models are converted one by one.

    A .pt2 is a PyTorch program written by torch.export.save. Loading it executes code that the file holds, so it is refused
    without --trust. Trust only files whose author you know.

    Exit code: 0 done; 1 --verify found an unexplained difference, or --strict refused to write; 2 failed and nothing is
    written, also if onnxruntime or PyTorch accepts none of the inputs of --verify. If onnxruntime lacks an operator of the
    original, the exit code is 2, too, but the IR is written, unverified.
    """
    given = _Options(**options)
    if (given.inputs or given.tolerances or given.no_bisect) and not given.verify:
        raise click.UsageError("--input, --no-bisect, --atol and --rtol are for --verify")
    if given.inputs and len(models) > 1:
        raise click.UsageError("--input is for a single model")
    outputs = outputs_for(models, output, ".xml")
    if len(models) > 1 or scheduler:
        sys.exit(convert_many("convert", models, outputs, jobs, scheduler))
    (model,), (path,) = models, outputs
    if _is_program(model) and not given.trust:
        raise click.UsageError(f"{model}: to load a .pt2 executes code that the file holds: --trust, if you know who wrote it")
    check_outputs(written_files(path), [model, *array_files(given.inputs)], force=force)
    sys.exit(_convert(model, path, given))


def _is_program(model: Path) -> bool:
    return model.suffix in PROGRAM.suffixes


def _convert(source: Path, output: Path, options: _Options) -> int:
    """Convert a model, write it, and return the exit code."""
    from ov_gather.cli.inputs import load_array, split_input
    from ov_gather.report.convert import tables, verification

    if _is_program(source):
        require("torch")
        warn(f"{source}: code of this file is executed now, as --trust says")
    elif options.verify:
        require("onnxruntime")
    files = (split_input(text, "NAME=FILE.npy") for text in options.inputs)
    inputs = {name: load_array(file) for name, file in files}
    original = "PyTorch" if _is_program(source) else "ONNX"
    with _readable(source) as readable:
        conversion = _converted(source, readable, output, options)
        if not is_quiet():
            print_all(tables(conversion.rewrites, conversion.inexactness, original, every_place=is_verbose()))
        if options.strict and conversion.inexactness:
            say(f"error: {source}: OpenVINO would not do what {original} says, and --strict is given", err=True)
            return 1
        if options.accelerate:
            _accelerate(conversion.model, options)
        result = _written(source, readable, output, options, inputs, conversion)
    if result and result.no_reference:
        say(f"{source}: not verified: {result.not_run}", err=True)
    elif result:
        print_all(verification(result, every_row=is_verbose()))
    for name, (held, dtype) in conversion.in_lanes.items():
        tell(f"{output}: '{name}' holds {dtype} '{held}' in lanes")
    tell(f"{output}: {len(conversion.model.get_ops())} layers")
    if result is None:
        return 0
    if result.no_reference:
        return 2
    if not (result.passed or _is_program(source) or options.no_bisect or conversion.in_lanes):
        _bisect(source, output, options, inputs or result.inputs)
    return 0 if result.passed else 1


def _steps(first: str) -> AbstractContextManager[Callable[[str], None]]:
    return steps_shown(first, in_a_pipe=False)


@contextmanager
def _readable(source: Path) -> Iterator[Path | None]:
    """Yield what `weights_outside` yields for an ONNX model, to convert and verify; None for a program."""
    from ov_gather.converters.weights import weights_outside

    with ExitStack() as stack:
        with _steps("reading the weights"):
            readable = None if _is_program(source) else stack.enter_context(weights_outside(source))
        yield readable


def _converted(source: Path, readable: Path | None, output: Path, options: _Options) -> Conversion:
    with _steps("loading the converter") as step:
        from ov_gather.converters.models import convert

        return convert(
            source,
            target=options.target,
            assume_in_bounds=options.assume_in_bounds,
            lanes=options.lanes,
            output=output,
            trust=options.trust,
            readable=readable,
            extensions=options.extensions,
            step=step,
        )


def _written(
    source: Path,
    readable: Path | None,
    output: Path,
    options: _Options,
    inputs: Mapping[str, NDArray[Any]],
    conversion: Conversion,
) -> CrossCheckResult | None:
    """Write the IR, and return the result of its verification, if it is asked for.

    Raises ValueError, and writes nothing, for inputs that onnxruntime, or PyTorch, refuses.
    """
    from ov_gather.converters.models import written

    if options.verify and not _is_program(source):
        from ov_gather.crosscheck.models.verify import start_early

        start_early(options.target, options.extensions)
    with _steps(f"writing {output}") as step, written(conversion.model, output, fp16=options.fp16) as path:
        result = _verified(source, readable, path, options, inputs, conversion.in_lanes, step) if options.verify else None
        if result and result.not_run and not result.no_reference:
            raise ValueError(f"{source}: not verified: {result.not_run}")
        return result


def _verified(
    source: Path,
    readable: Path | None,
    ir: Path,
    options: _Options,
    inputs: Mapping[str, NDArray[Any]],
    lanes: Mapping[str, tuple[str, str]],
    step: Callable[[str], None],
) -> CrossCheckResult:
    """Compare the IR with the original. If onnxruntime cannot load it, no inputs would help, and `no_reference` is set."""
    shared: dict[str, Any] = {
        "target": options.target,
        "inputs": inputs or None,
        "tolerances": options.tolerances,
        "extensions": options.extensions,
    }
    step("loading the runtimes")
    if _is_program(source):
        from ov_gather.crosscheck.models.verify import verify_program

        return verify_program(source, ir, **shared)
    from ov_gather.crosscheck.models.verify import verify_conversion

    return verify_conversion(source, ir, lanes=lanes, readable=readable, step=step, **shared)


def _bisect(source: Path, ir: Path, options: _Options, inputs: Mapping[str, NDArray[Any]]) -> None:
    """Print the first node at which the IR differs from the original on these inputs.

    The IR is written before: the search takes minutes for thousands of nodes, and may be interrupted.
    """
    from ov_gather.crosscheck.bisect.run import bisect
    from ov_gather.report.bisect import text

    tell(f"{ir}: searching for the first node that differs; Ctrl+C ends the search, --no-bisect omits it", err=True)
    runtime, bounds, step = "extension" if options.target == "extension" else "openvino", options.tolerances, ""

    def progress(told: str) -> None:
        nonlocal step
        step = told
        show_step(told)

    try:
        with steps_shown("searching") as show_step:
            found = bisect(
                source,
                ir,
                inputs,
                runtime=runtime,
                atol=bounds.atol,
                rtol=bounds.rtol,
                extensions=options.extensions,
                progress=progress,
            )
    except BaseException:
        if exit_code() is not None:
            say(f"{ir}: the search was stopped at {step or 'its begin'}; the model is written", err=True)
        raise
    print_all([*text.found(found), *([] if found.culprits else text.notes(found))])


def _accelerate(model: openvino.Model, options: _Options) -> None:
    from ov_gather.acceleration.accelerate import accelerate

    portable = options.target == "stock"
    with _steps("making gathers faster"):
        summary = accelerate(model, portable=portable, assume_in_bounds=portable and options.assume_in_bounds)
    if summary.changes and not is_quiet():
        print_all([summary.table()] if is_verbose() else summary.briefly())
