"""`ov-gather bench`: our kernel beside torch, onnxruntime, NumPy, stock OpenVINO and the copy limit, in one run."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

import click
from rich.progress import track

from ov_gather.bench.cases import NAMES, make
from ov_gather.bench.measure import measure
from ov_gather.cli.output import console
from ov_gather.files import replacing
from ov_gather.report.bench import render


@click.command(name="bench")
@click.option("--case", "cases", multiple=True, type=click.Choice(NAMES), help="Only this case; may be repeated.")
@click.option("--threads", type=click.IntRange(1, 1024), default=os.cpu_count() or 1, show_default=True, help="For everyone.")
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write the measurements here, too.")
def command(cases: tuple[str, ...], threads: int, json_file: Path | None) -> None:
    """Measure our kernel beside torch, onnxruntime, NumPy and stock OpenVINO, in one run on the same work.

    Contenders that are not installed are left out and named. Times are medians of blocks of calls, contender after contender,
    round after round. Ratios above 1 mean that our kernel is faster. A contender whose result differs is not reported.

    Exit code: 0 measured, 1 a result differs, 2 it could not be done.
    """
    out = console()
    measurements = [
        measure(make(name), threads)
        for name in track(cases or NAMES, "measuring", console=out, disable=not out.is_terminal, transient=True)
    ]
    out.print(render(measurements))
    out.print(f"threads: {threads}")
    for it in measurements:
        for name, reason in it.excluded.items():
            out.print(f"{it.case}: {name} did not take part: {reason}")
    if json_file:
        with replacing(json_file) as file:
            file.write(json.dumps({"threads": threads, "cases": [asdict(it) for it in measurements]}, indent=2).encode())
    sys.exit(1 if any("differs" in reason for it in measurements for reason in it.excluded.values()) else 0)
