"""The command `ov-gather bench`: our kernel, its peers and its limit measured in one run.

`bench validate` compares whole validation with OpenVINO's reader, `bench model` a model with its accelerated form.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from ov_gather.bench.cases import NAMES, make
from ov_gather.cli.files import check_outputs
from ov_gather.cli.inputs import named_arrays
from ov_gather.cli.options import DEVICE, FORCE, INPUTS, READ, THREADS, WRITTEN
from ov_gather.cli.output import console, print_table, say
from ov_gather.system.files import replacing

if TYPE_CHECKING:
    from ov_gather.bench.measure import Measurement


@click.group(name="bench", invoke_without_command=True)
@click.option("--case", "cases", multiple=True, type=click.Choice(NAMES), help="Measure only this case; may be repeated.")
@THREADS
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
    context: click.Context, cases: tuple[str, ...], threads: int, device_precision: str, json_file: Path | None, force: bool
) -> None:
    """Measure our kernel, torch, onnxruntime, NumPy and stock OpenVINO on the same work, in one run.

    Prints median times of blocks of calls; the contenders take turns, round after round. Ratios above 1 mean that our kernel is
    faster. Contenders that are not installed, or whose result differs, are left out and named. The limit is the time of a
    copy that reads and writes as many bytes as the case must.

    Exit code: 0 measured, 1 a result differs, 2 failed.
    """
    if context.invoked_subcommand:
        return
    from rich.progress import track

    from ov_gather.bench.measure import BenchConditions
    from ov_gather.bench.measure import measure as measure_case
    from ov_gather.report.bench import cases_table

    check_outputs([json_file], [], force=force, are_reports=True)
    if device_precision == "default":
        from ov_gather.bench.model import default_precision

        device_precision = default_precision()
    conditions = BenchConditions(threads, device_precision)
    out = console()
    measurements = [
        measure_case(make(name), conditions)
        for name in track(cases or NAMES, "measuring", console=out, disable=not out.is_terminal, transient=True)
    ]
    print_table(cases_table(measurements))
    say(f"threads: {threads}, OpenVINO in {conditions.precision}")
    for measurement in measurements:
        for name, exclusion in measurement.excluded.items():
            say(f"{measurement.case}: {name} did not take part: {exclusion.reason}")
    if json_file:
        document = {"generator": "ov-gather", **asdict(conditions), "cases": list(map(_case, measurements))}
        with replacing(json_file) as file:
            file.write(json.dumps(document, indent=2).encode())
    sys.exit(1 if any(exclusion.differs for measurement in measurements for exclusion in measurement.excluded.values()) else 0)


def _case(measurement: Measurement) -> dict[str, Any]:
    return asdict(measurement) | {"excluded": {name: each.reason for name, each in measurement.excluded.items()}}


@command.command(name="validate")
@click.option("--layers", type=click.IntRange(100), default=50_000, show_default=True, help="Layers of the generated model.")
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True, help="Processes of each contender, by turns.")
def validate(layers: int, rounds: int) -> None:
    """Measure the time and peak memory of validation against OpenVINO's read_model, on a generated model. Linux only.

    A ratio below 1 means that validation takes less. Imports count in memory, but not in time.

    Exit code: 0 measured, 2 failed.
    """
    from ov_gather.bench.validation import generate, measure

    with TemporaryDirectory() as directory:
        path = Path(directory) / "generated.xml"
        generate(path, layers)
        time, memory = measure(path, rounds)
    say(f"time: {time.ratio:.2f}x (validate {time.validate:.2f} s, read_model {time.read_model:.2f} s)")
    say(f"peak memory: {memory.ratio:.2f}x (validate {memory.validate:.0f} MiB, read_model {memory.read_model:.0f} MiB)")


@command.command(name="model")
@click.argument("model", type=READ, metavar="M.xml")
@click.argument("other", type=READ, metavar="[N.xml]", required=False)
@THREADS
@INPUTS
@DEVICE
def model(model: Path, other: Path | None, threads: int, inputs: tuple[str, ...], device: str) -> None:
    """Measure M.xml against N.xml; without N.xml, against M.xml after `accelerate`.

    Measures in f32, and in bf16 if that is OpenVINO's default. Both models infer the same inputs by turns: those of --input,
    and random ones for the rest, with open dimensions of 128. Ratios above 1 mean that the second model is faster.

    Exit code: 0 measured; 1 outputs differ in f32, or are less accurate in bf16; 2 failed.
    """
    from ov_gather import accelerate
    from ov_gather.bench.model import measure
    from ov_gather.cli.models import read_model
    from ov_gather.report.bench import model_summary, model_table

    before, after = read_model(model), read_model(other or model)
    if other is None:
        accelerate(after)
    measurements = measure(before, after, threads, device, named_arrays(inputs))
    for measurement in measurements:
        print_table(model_table(measurement))
        say(f"{measurement.precision}: {model_summary(measurement)}, threads: {threads}")
    if any(measurement.is_worse for measurement in measurements):
        sys.exit(1)
