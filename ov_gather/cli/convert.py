"""The command `ov-gather convert`: an ONNX model or an exported PyTorch program to OpenVINO IR."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ov_gather.cli.convert_many import convert_many, written_files
from ov_gather.cli.files import array_files, check_outputs
from ov_gather.cli.options import DIRECTORY, FORCE, READ, SCHEDULER, given_besides, parse_release, with_tolerances
from ov_gather.cli.output import print_all, print_table, say, warn
from ov_gather.system.imports import require

if TYPE_CHECKING:
    import openvino
    from numpy.typing import NDArray

    from ov_gather.crosscheck.tolerances import Tolerances

_WRITTEN = (".xml", ".onnx")


@dataclass(frozen=True)
class _Options:
    """The arguments and options of the command, by name."""

    models: tuple[Path, ...]
    output: Path | None
    target: str
    assume_in_bounds: bool
    lanes: bool
    accelerate: bool
    fp16: bool
    strict: bool
    verify: bool
    no_bisect: bool
    inputs: tuple[str, ...]
    legalize_only: bool
    nodes: Path | None
    target_release: str | None
    trust: bool
    force: bool
    jobs: int
    scheduler: str | None
    tolerances: Tolerances

    @property
    def is_program(self) -> bool:
        """Whether the model is an exported PyTorch program."""
        return self.models[0].suffix == ".pt2"


@click.command(name="convert")
@click.argument(
    "models",
    type=READ,
    nargs=-1,
    required=True,
    metavar="MODEL.onnx|MODEL.pt2|IN.xml...",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The .xml to write; with --legalize-only, the .onnx; for several models, the directory.",
)
@click.option(
    "--target",
    type=click.Choice(["stock", "extension"]),
    default="stock",
    show_default=True,
    help="stock: only OpenVINO's own operations; extension: gathers of ov-gather, which raise out of bounds and take strings.",
)
@click.option("--assume-in-bounds", is_flag=True, help="Assume that no index of a gather is out of bounds.")
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
@click.option("--legalize-only", is_flag=True, help="Only rewrite what OpenVINO would get wrong, and write ONNX.")
@click.option("--nodes", type=DIRECTORY, help="Write each gather and scatter as an IR of its own.")
@click.option(
    "--target-release", callback=parse_release, metavar="RELEASE", help="Rewrite IN.xml for this OpenVINO, e.g. 2025.4."
)
@click.option("--trust", is_flag=True, help="Load a .pt2, which executes code that the file holds.")
@FORCE
@click.option("--jobs", type=click.IntRange(1, 1024), default=1, help="Number of processes, for several models.")
@SCHEDULER
def command(**given: Any) -> None:
    """Convert a model to an OpenVINO IR whose gathers compute what ONNX or PyTorch specifies.

    \b
    ov-gather convert model.onnx -o model.xml --verify
    ov-gather convert program.pt2 -o program.xml --verify --trust
    ov-gather convert model.onnx -o legal.onnx --legalize-only
    ov-gather convert model.onnx --nodes gathers/
    ov-gather convert new.xml -o old.xml --target-release 2025.4
    ov-gather convert zoo/*.onnx -o irs/ --jobs 4

    Writes the .xml and, beside it, the .bin with the same stem. Tables list the gathers that were rewritten or could not be,
    and what OpenVINO will not execute as the original says. Several models are converted one by one, into a directory.

    A .pt2 is a PyTorch program written by torch.export.save. Loading it executes code that the file holds, so it is refused
    without --trust. Trust only files whose author you know.

    With --target-release an IR is rewritten for an older OpenVINO: each operation gets a version that this release has, if one
    means the same. Layers without such a version are left as they are, and named.

    Exit code: 0 done; 1 --verify found an unexplained difference, --target-release left a layer as it is, or --strict refused
    to write; 2 failed and nothing is written, also if onnxruntime or PyTorch accepts none of the inputs of --verify. If
    onnxruntime lacks an operator of the original, the exit code is 2, too, but the IR is written, unverified.
    """
    options = _Options(**given)
    model, output = options.models[0], options.output
    if len(options.models) > 1 or (output is not None and output.suffix not in _WRITTEN and output.is_dir()):
        sys.exit(_convert_many(options))
    if options.jobs > 1 or options.scheduler:
        name = "--scheduler" if options.scheduler else "--jobs"
        raise click.UsageError(f"{name} is for several models, and --output DIRECTORY")
    if output is not None and output.is_dir():
        raise click.UsageError(f"{output} is a directory, and is to be a file")
    if options.target_release is not None:
        sys.exit(_lower(model, output, options.target_release, options.force))
    if options.is_program and (options.nodes is not None or options.legalize_only or options.lanes):
        raise click.UsageError("--lanes, --legalize-only and --nodes are for ONNX models")
    if options.is_program and not options.trust:
        raise click.UsageError(f"{model}: to load a .pt2 executes code that the file holds: --trust, if you know who wrote it")
    if options.nodes is not None:
        if output is not None or options.verify or options.legalize_only:
            raise click.UsageError("--nodes writes single gathers and nothing else")
        _write_nodes(model, options.nodes, options)
        return
    if (options.inputs or options.no_bisect or options.tolerances) and not options.verify:
        option = "--input" if options.inputs else "--no-bisect" if options.no_bisect else "a tolerance"
        raise click.UsageError(f"{option} is for --verify")
    suffix = ".onnx" if options.legalize_only else ".xml"
    if output is None or output.suffix != suffix:
        raise click.UsageError(f"--output NAME{suffix} is needed{'' if output is None else f', not {output}'}")
    if options.legalize_only and (options.accelerate or options.fp16 or options.strict or options.verify or options.lanes):
        raise click.UsageError("--legalize-only writes ONNX: --accelerate, --fp16, --lanes, --strict and --verify are for IR")
    check_outputs(written_files(output), [model, *array_files(options.inputs)], force=options.force)
    if options.legalize_only:
        _legalize(model, output, options)
    else:
        sys.exit(_convert(model, output, options))


def _convert_many(options: _Options) -> int:
    if options.output is None or options.output.suffix in _WRITTEN:
        raise click.UsageError("--output DIRECTORY is needed for several models")
    if options.inputs or options.nodes is not None:
        raise click.UsageError(f"{'--input' if options.inputs else '--nodes'} is for a single model")
    suffix = ".onnx" if options.legalize_only else ".xml"
    return convert_many(options.models, options.output, suffix, options.jobs, options.scheduler)


def _lower(source: Path, output: Path | None, release: str, force: bool) -> int:
    """Write an IR for a release, print the changed and the unsupported layers, and return the exit code."""
    from ov_gather.converters.older_releases import lower
    from ov_gather.ir.reader import read_ir
    from ov_gather.ir.writer import write_ir

    if source.suffix != ".xml" or output is None or output.suffix != ".xml":
        raise click.UsageError("--target-release reads an IR, and writes one: IN.xml -o OUT.xml")
    for option in given_besides(("models", "output", "target_release", "force")):
        raise click.UsageError(f"{option.opts[-1]} is for ONNX models, and not for --target-release")
    check_outputs([output, output.with_suffix(".bin")], [source], force=force)
    lowered = lower(read_ir(source), release)
    write_ir(lowered.model, output)
    for layer, opset in lowered.changes:
        say(f"{layer}: {layer.version} became {opset}")
    for left in lowered.left:
        say(f"{left.location.layer_text}: left: {left.message}; {left.hint}", err=True)
    say(f"{output}: written; layers changed: {len(lowered.changes)}, left: {len(lowered.left)}")
    return 1 if lowered.left else 0


def _convert(source: Path, output: Path, options: _Options) -> int:
    """Convert a model, write it, and return the exit code."""
    from ov_gather.cli.inputs import load_array, split_input
    from ov_gather.converters.models import convert, written
    from ov_gather.report.convert import tables

    if options.is_program:
        require("torch")
        warn(f"{source}: code of this file is executed now, as --trust says")
    elif options.verify:
        require("onnxruntime")
    files = (split_input(text, "NAME=FILE.npy") for text in options.inputs)
    inputs = {name: load_array(file) for name, file in files}
    target, assume_in_bounds = options.target, options.assume_in_bounds
    conversion = convert(
        source, target=target, assume_in_bounds=assume_in_bounds, lanes=options.lanes, output=output, trust=options.trust
    )
    original = "PyTorch" if options.is_program else "ONNX"
    print_all(tables(conversion.rewrites, conversion.inexactness, original))
    if options.strict and conversion.inexactness:
        say(f"error: {source}: OpenVINO would not do what {original} says, and --strict is given", err=True)
        return 1
    if options.accelerate:
        _accelerate(conversion.model, options)
    with written(conversion.model, output, fp16=options.fp16) as path:
        code = _verify(source, path, output, options, inputs, conversion.in_lanes) if options.verify else 0
    for name, (original, dtype) in conversion.in_lanes.items():
        say(f"{output}: '{name}' holds {dtype} '{original}' in lanes")
    say(f"{output}: {len(conversion.model.get_ops())} layers")
    return code


def _verify(
    source: Path,
    ir: Path,
    output: Path,
    options: _Options,
    inputs: Mapping[str, NDArray[Any]],
    lanes: Mapping[str, tuple[str, str]],
) -> int:
    """Compare the IR with the original, print the result, and return the exit code. `ir` moves to `output` afterwards.

    Raises ValueError for inputs that onnxruntime, or PyTorch, refuses. If onnxruntime cannot load the original, no inputs would
    help, and the IR is kept.

    A difference is bisected to its first node, unless inputs or outputs of the IR are in lanes, which the original lacks.
    """
    from ov_gather.report.convert import verification_summary

    if options.is_program:
        from ov_gather.crosscheck.models.verify import verify_program

        result = verify_program(source, ir, target=options.target, inputs=inputs or None, tolerances=options.tolerances)
    else:
        from ov_gather.crosscheck.models.verify import verify_conversion

        result = verify_conversion(
            source, ir, target=options.target, inputs=inputs or None, lanes=lanes, tolerances=options.tolerances
        )
    if result.no_reference:
        say(f"{source}: not verified: {result.not_run}", err=True)
        return 2
    if result.not_run:
        raise ValueError(f"{source}: not verified: {result.not_run}")
    print_all([result.table(), *verification_summary(result)])
    if not (result.passed or options.is_program or options.no_bisect or lanes):
        _bisect(source, ir, output, options, inputs or result.inputs)
    return 0 if result.passed else 1


def _bisect(source: Path, ir: Path, output: Path, options: _Options, inputs: Mapping[str, NDArray[Any]]) -> None:
    """Print the first node at which the IR differs from the original on these inputs."""
    from ov_gather.crosscheck.bisect.run import bisect
    from ov_gather.report.bisect import text

    runtime, bounds = "extension" if options.target == "extension" else "openvino", options.tolerances
    found = bisect(source, ir, inputs, runtime=runtime, atol=bounds.atol, rtol=bounds.rtol)
    found = replace(found, model=str(output))
    print_all([*text.found(found), *([] if found.culprits else text.notes(found))])


def _accelerate(model: openvino.Model, options: _Options) -> None:
    from ov_gather.acceleration.accelerate import accelerate

    portable = options.target == "stock"
    summary = accelerate(model, portable=portable, assume_in_bounds=portable and options.assume_in_bounds)
    if summary.changes:
        print_table(summary.table())


def _legalize(source: Path, output: Path, options: _Options) -> None:
    from ov_gather.converters.models import legalize_file
    from ov_gather.report.convert import tables

    print_all(tables(legalize_file(source, output, target=options.target, assume_in_bounds=options.assume_in_bounds)))
    say(f"{output}: written")


def _write_nodes(source: Path, directory: Path, options: _Options) -> None:
    from ov_gather.converters.nodes import gathers_of
    from ov_gather.ir.writer import write_ir

    gathers = gathers_of(source, target=options.target, assume_in_bounds=options.assume_in_bounds)
    if not gathers:
        raise click.UsageError(f"{source} has no gather or scatter")
    if directory.exists():  # a new directory has no files to overwrite
        files = [file for name in gathers for file in written_files(directory / name)]
        check_outputs(files, [source], force=options.force)
    directory.mkdir(parents=True, exist_ok=True)
    for name, gather in gathers.items():
        write_ir(gather, directory / name)
    say(f"{directory}: {len(gathers)} gathers and scatters; ov-gather check {directory} executes them")
