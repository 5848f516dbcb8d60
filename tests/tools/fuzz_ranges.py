"""Fuzz the range analysis with random models: python tests/tools/fuzz_ranges.py --graphs 10000 --seed 1 [--of onnx]

Models of OpenVINO run on its CPU plugin, tensor by tensor, and are compared with the bounds from the adapters for IRs and for
models in memory. ONNX models run on onnxruntime, node by node. The exit code is 1 if a value lies outside its bounds, a proved
index is out of bounds, or a refuted one is in bounds. `--graphs 1` with a seed runs one model alone.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import set_forkserver_preload
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/, where the helpers are

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from helpers.range_judgements import Judgement, confirmed, totals
from helpers.range_subjects import judge, judge_onnx

TESTS = str(Path(__file__).parents[1])
PART = 50
SHOWN = 60
IMPORTED = ["helpers.range_subjects", "rich.console", "rich.progress", "rich.table"]
"""Modules imported once, not by each process that starts after a crash."""


def tried(judge: Callable[..., Judgement], seeds: range, processes: int, console: Console) -> list[Judgement]:
    """Judge the models of seeds; print violations immediately."""
    parts = [seeds[i : i + PART] for i in range(0, len(seeds), PART)]
    found: list[Judgement] = []
    with Progress(console=console) as progress, ThreadPoolExecutor(processes) as pool:
        task = progress.add_task("models", total=len(seeds))

        def part_tried(part: Sequence[int]) -> None:
            for one in confirmed(part, judge):
                found.append(one)
                for violation in one.violations:
                    console.print(f"seed {one.seed}: {violation}", markup=False, highlight=False, soft_wrap=True)
                progress.advance(task)

        for _ in pool.map(part_tried, parts):
            pass
    return sorted(found, key=lambda one: one.seed)


def table(found: Sequence[Judgement]) -> Table:
    shown = Table("", "number", "seeds")
    for name, number in sorted(totals(found).items()):
        shown.add_row(name, f"{number:,}", "")
    listed = {
        "models with violations": [one.seed for one in found if one.violations],
        "models that crash OpenVINO": [one.seed for one in found if one.crashes],
        "models with bounds without a witness": [one.seed for one in found if one.unwitnessed],
    }
    for name, seeds in listed.items():
        more = f" and {len(seeds) - SHOWN} more" if len(seeds) > SHOWN else ""
        shown.add_row(name, f"{len(seeds):,}", " ".join(map(str, seeds[:SHOWN])) + more)
    return shown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--of", choices=["openvino", "onnx"], default="openvino", help="whose models")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    console = Console()
    os.environ["PYTHONPATH"] = os.pathsep.join([TESTS, *filter(None, [os.environ.get("PYTHONPATH")])])
    os.environ.setdefault("GLIBC_TUNABLES", "glibc.malloc.tcache_count=60000")  # makes OpenVINO compile a fifth faster
    set_forkserver_preload(IMPORTED)
    chosen = judge if arguments.of == "openvino" else judge_onnx
    found = tried(chosen, range(arguments.seed, arguments.seed + arguments.graphs), arguments.processes, console)
    console.print(table(found))
    for one in found:
        for bound in one.unwitnessed if arguments.graphs <= PART else ():
            console.print(f"seed {one.seed}: no witness beyond {bound}", markup=False, highlight=False, soft_wrap=True)
    return int(any(one.violations for one in found))


if __name__ == "__main__":
    sys.exit(main())
