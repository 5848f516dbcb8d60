"""The command `ov-gather bench`: our kernel, its peers and its limit measured in one run.

`bench validate` compares whole validation with OpenVINO's reader, `bench model` a model with its accelerated form.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from ov_gather.cli.files import check_outputs, find_irs
from ov_gather.cli.inputs import named_arrays
from ov_gather.cli.options import DEVICE, EXTENSION, FORCE, INPUTS, THREADS, WRITTEN
from ov_gather.cli.output import print_table, say, with_progress
from ov_gather.cli.paths import FileOf
from ov_gather.system.files import replacing
from ov_gather.system.kinds import IR
from ov_gather.system.suggestions import did_you_mean

if TYPE_CHECKING:
    from ov_gather.bench.measure import Measurement, Runs
    from ov_gather.extension.users import UserExtension


def _parse_cases(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[str]:
    """Return the cases to measure, each once; all if none is given. Their names are imported here: NumPy comes with them."""
    from ov_gather.bench.cases import NAMES

    for name in given:
        if name not in NAMES:
            raise click.BadParameter(f"there is no case '{name}'; {did_you_mean(name, NAMES)}")
    return list(dict.fromkeys(given)) or list(NAMES)


def _complete_cases(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    from ov_gather.bench.cases import NAMES

    return [name for name in NAMES if name.startswith(incomplete)]


@click.group(name="bench", invoke_without_command=True)
@click.option(
    "--case",
    "cases",
    multiple=True,
    callback=_parse_cases,
    shell_complete=_complete_cases,
    metavar="NAME",
    help="Measure only this case, e.g. vector_1m; may be repeated.",
)
@THREADS
@click.option("--runs", type=click.IntRange(1), default=1, show_default=True, help="Whole runs, each in a new process.")
@click.option("--index-type", type=click.Choice(["i64", "i32"]), default="i64", show_default=True, help="Type of indices.")
@click.option(
    "--device-precision",
    type=click.Choice(["default", "f32"]),
    default="f32",
    show_default=True,
    help="Precision in which OpenVINO computes; 'default' is bf16 on some CPUs.",
)
@click.option("--json", "json_file", type=WRITTEN, help="Also write the measurements here.")
@FORCE
@click.pass_context
def command(
    context: click.Context,
    cases: list[str],
    threads: int,
    runs: int,
    index_type: str,
    device_precision: str,
    json_file: Path | None,
    force: bool,
) -> None:
    """Measure our kernel, its peers and stock OpenVINO on the same work, by turns.

    The peers are torch, torch.compile, jax.jit (filling elements whose index is out of bounds, and unchecked), onnxruntime and
    NumPy. Prints their times divided by ours, medians over rounds in which they take turns: above 1, ours is faster. After ± is
    half the distance of the quartiles; with several runs, of the least and the greatest of their medians. The limit is the time
    of a copy that reads and writes as many bytes as the case must. Lookups in one dimension from 1 MB on have two more limits:
    as many loads at random, none waiting for another ("loads"); and a tenth of them, each waiting for the one before: ten times
    "latency" is the number of loads that ours overlaps. Contenders that are not installed, or whose result differs, are left
    out and named.

    OV_GATHER_ISA=avx2 or baseline limits the instructions of the peers, too, except those of onnxruntime and NumPy.

    Exit code: 0 measured, 1 a result differs, 2 failed.
    """
    if context.invoked_subcommand:
        return
    from ov_gather.bench.contenders import BenchConditions
    from ov_gather.bench.measure import Runs
    from ov_gather.bench.runs import run_once
    from ov_gather.report.bench import cases_table

    check_outputs([json_file], [], force=force, are_reports=True)
    if device_precision == "default":
        from ov_gather.bench.model import default_precision

        device_precision = default_precision()
    conditions = BenchConditions(threads, device_precision, index_type)
    measured: dict[str, list[Measurement]] = {name: [] for name in cases}
    every = (measurement for _ in range(runs) for measurement in run_once(cases, conditions))
    for measurement in with_progress(every, runs * len(cases), "measuring"):
        measured[measurement.case].append(measurement)
    results = list(map(Runs, measured.values()))
    print_table(cases_table(results))
    say(f"threads: {threads}, runs: {runs}, indices: {index_type}, OpenVINO in {conditions.precision}")
    for line in _left_out(results):
        say(line)
    if json_file:
        document = {"generator": "ov-gather", **asdict(conditions), "runs": runs, "cases": list(map(_case, results))}
        with replacing(json_file) as file:
            file.write(json.dumps(document, indent=2).encode())
    sys.exit(1 if any(exclusion.differs for result in results for exclusion in result.excluded.values()) else 0)


def _left_out(results: Sequence[Runs]) -> list[str]:
    """Return one line for each contender and reason, with the cases unless it is all of them."""
    cases: dict[tuple[str, str], list[str]] = {}
    for result in results:
        for name, exclusion in result.excluded.items():
            cases.setdefault((name, exclusion.reason), []).append(result.first.case)
    return [
        f"{'all cases' if len(found) == len(results) > 1 else ', '.join(found)}: {name} did not take part: {reason}"
        for (name, reason), found in cases.items()
    ]


def _case(result: Runs) -> dict[str, Any]:
    """Return the case as JSON: medians and ratios, and the seconds of each contender in each round of each run."""
    ours = dict.fromkeys(result.seconds, "kernel") | {"openvino": "extension"}
    ratios = {name: ratio for name in ours if (ratio := result.ratio(name, ours[name]))}
    return {
        "case": result.first.case,
        "group": result.first.group,
        "bytes": result.first.bytes,
        "seconds": result.seconds,
        "ratios": {name: {"to": ours[name], **asdict(ratio)} for name, ratio in ratios.items()},
        "runs": [run.rounds for run in result.runs],
        "excluded": {name: exclusion.reason for name, exclusion in result.excluded.items()},
    }


@command.command(name="validate")
@click.argument("model", type=FileOf(IR, dir_okay=True), metavar="[M.xml|DIRECTORY]", required=False)
@click.option("--layers", type=click.IntRange(100), default=50_000, show_default=True, help="Layers of the generated model.")
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True, help="Processes of each contender, by turns.")
def validate(model: Path | None, layers: int, rounds: int) -> None:
    """Measure the time and peak memory of validation against OpenVINO's read_model. Linux only.

    The model is M.xml or, without it, a generated one. A ratio below 1 means that validation takes less. Imports count in
    memory, but not in time. For a DIRECTORY, prints the distribution over its IRs; those with errors are left out and named.

    Exit code: 0 measured, 2 failed.
    """
    from ov_gather.bench.validation import generate, measure

    if model is not None and model.is_dir():
        _validate_each(model, rounds)
        return
    with TemporaryDirectory() as directory:
        path = model or Path(directory) / "generated.xml"
        if model is None:
            generate(path, layers)
        time, memory = measure(path, rounds)
    say(f"time: {time.ratio:.2f}x (validate {time.validate:.3g} s, read_model {time.read_model:.3g} s)")
    say(f"peak memory: {memory.ratio:.2f}x (validate {memory.validate:.0f} MiB, read_model {memory.read_model:.0f} MiB)")


def _validate_each(directory: Path, rounds: int) -> None:
    """Print the distribution of the costs of the IRs in a directory."""
    from ov_gather.bench.validation import Cost, Distribution, measure

    paths = [Path(path) for path in find_irs([directory]).files]
    times: dict[Path, Cost] = {}
    memories: dict[Path, Cost] = {}
    for path in with_progress(paths, len(paths), "measuring"):
        try:
            times[path], memories[path] = measure(path, rounds)
        except ValueError as error:
            say(f"left out: {error}")
    if len(times) < 2:
        raise ValueError(f"{directory}: {len(times)} of {len(paths)} IRs can be measured; a distribution needs two")
    say(f"models: {len(times)}")
    say(f"time: {Distribution.over(times)}")
    say(f"peak memory: {Distribution.over(memories)}")


@command.command(name="model")
@click.argument("model", type=FileOf(IR), metavar="M.xml")
@click.argument("other", type=FileOf(IR), metavar="[N.xml]", required=False)
@THREADS
@INPUTS
@DEVICE
@EXTENSION
def model(
    model: Path,
    other: Path | None,
    threads: int,
    inputs: tuple[str, ...],
    device: str,
    extensions: tuple[UserExtension, ...],
) -> None:
    """Measure M.xml against N.xml; without N.xml, against M.xml after `accelerate`.

    Measures in f32, and in bf16 if that is OpenVINO's default. Both models infer the same inputs by turns: those of --input,
    and random ones for the rest, with open dimensions of 128. Ratios above 1 mean that the second model is faster.

    Exit code: 0 measured; 1 outputs differ in f32, or are less accurate in bf16; 2 failed.
    """
    from ov_gather import accelerate
    from ov_gather.bench.model import measure
    from ov_gather.cli.models import read_model
    from ov_gather.report.bench import model_summary, model_table

    before, after = (read_model(path, extensions) for path in (model, other or model))
    if other is None:
        accelerate(after)
    measurements = measure(before, after, threads, device, named_arrays(inputs))
    for measurement in measurements:
        print_table(model_table(measurement))
        say(f"{measurement.precision}: {model_summary(measurement)}, threads: {threads}")
    if any(measurement.is_worse for measurement in measurements):
        sys.exit(1)
