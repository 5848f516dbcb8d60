"""Count the causes of crashes of random models: python tests/tools/crash_causes.py FILE [--graphs 1000] [--seed 1]

Judges the models of seeds as fuzz_ranges.py does, until OpenVINO crashes, and reduces each crash to the smallest part of the
model that still shows it. Adds a line for each model to FILE, and prints a table of all lines there: the cause, how the process
ends, in how many models, and one of them. A cause is a report in docs/evidence/upstream/, or what the part looks like; those
that have no report are also printed in full, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import set_forkserver_preload
from pathlib import Path
from signal import Signals
from tempfile import TemporaryDirectory
from typing import Any

import openvino as ov

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/

from helpers.crash_reduction import Ending, Part, described, ending_in_turn, reduced
from helpers.crash_search import Crash, crashes
from helpers.random_index_models import sample
from tools.upstream.measured import Measured
from tools.upstream.registry import FAULTS
from tools.upstream.running import versions

MEASURED = Measured()
PART = 50
OUT_OF_BOUNDS = {
    "ScatterUpdate": "short_scatter_update_out_of_bounds",
    "ScatterElementsUpdate": "scatter_elements_below_bounds",
    "ScatterNDUpdate": "scatter_nd_checks_flat_place",
    "GatherND": "gather_nd_out_of_bounds",
    "Gather": "short_gather_out_of_bounds",
}
"""The reports of operations that do not check their indices."""
IMPORTED = ["helpers.crash_search", "helpers.crash_reduction"]


def model_of(seed: int) -> ov.Model:
    model: ov.Model = sample(seed).model
    return model


def found(seed: int, crash: Crash | int) -> Mapping[str, Any]:
    """Return what is recorded of the model of a seed."""
    if not isinstance(crash, Crash):
        return {"seed": seed}
    record = {
        "seed": seed,
        "stage": crash.stage,
        "ending": "",
        "operations": [],
        "lines": [],
        "reports": [],
        "has_bad_index": False,
    }
    if not crash.steps or crash.stage.startswith(("making", "the analysis", "inferring")):
        return record
    names = [(given.name, 0) for given in sample(seed).inputs]
    parts = [Part(partial(model_of, seed), one, (dict(zip(names, arrays, strict=True)),)) for one, arrays in crash.steps]
    feeds = tuple(part.feeds[0] for part in parts if part.outputs == parts[-1].outputs)
    part, ending = reduced(replace(parts[-1], feeds=feeds))
    if ending is None:
        return {**record, **_in_turn(parts)}
    if (what := described(part)) is None:
        return record
    shown = {"operations": what.names, "lines": what.lines, "reports": what.reports, "has_bad_index": what.has_bad_index}
    return {**record, "ending": _text(ending), **shown}


def _in_turn(parts: Sequence[Part]) -> Mapping[str, Any]:
    """Return what is recorded of a crash that shows after earlier inferences only."""
    ending = ending_in_turn(parts)
    if ending is None:
        return {}
    clamped = ending_in_turn([replace(part, is_hardened=True) for part in parts])
    return {"ending": f"{_text(ending)}, after other inferences", "has_bad_index": clamped is None}


def _text(ending: Ending) -> str:
    code = ending.exit_code
    how = "does not end" if code is None else Signals(-code).name if code < 0 else f"exit code {code}"
    return f"{how} in {ending.phase}"


def tried(seeds: range, processes: int) -> Iterator[Mapping[str, Any]]:
    """Judge the models of seeds, and reduce their crashes."""
    with TemporaryDirectory() as folder, ThreadPoolExecutor(processes) as pool:
        parts = [seeds[i : i + PART] for i in range(0, len(seeds), PART)]

        def of_part(part: Sequence[int]) -> list[Mapping[str, Any]]:
            return [found(seed, crash) for seed, crash in zip(part, crashes(part, Path(folder)), strict=True)]

        for records in pool.map(of_part, parts):
            yield from records


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--graphs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    os.environ.setdefault("GLIBC_TUNABLES", "glibc.malloc.tcache_count=60000")  # as fuzz_ranges.py has it
    set_forkserver_preload(IMPORTED)
    with arguments.file.open("a") as file:
        for record in tried(range(arguments.seed, arguments.seed + arguments.graphs), arguments.processes):
            print(json.dumps(record), file=file, flush=True)
    records = [json.loads(line) for line in arguments.file.read_text().splitlines()]
    print("\n".join(table(records)))
    unknown = [record for record in records if "stage" in record and cause(record)[0] not in FAULTS]
    for record in unknown:
        print("", f"seed {record['seed']}: {record['stage']}: {record['ending']}", *record["lines"], sep="\n")
    return int(bool(unknown))


def cause(record: Mapping[str, Any]) -> tuple[str, str]:
    """Return the cause of a crash and how the process ended."""
    types = {line.strip().partition("(")[0] for line in record["lines"]}
    unchecked = [report for layer_type, report in OUT_OF_BOUNDS.items() if layer_type in types]
    if record["reports"]:
        return max(record["reports"], key=_ends_processes), record["ending"]
    if record["has_bad_index"]:
        return next(iter(unchecked), "an index out of bounds in an earlier inference"), record["ending"]
    if not record["ending"]:
        return f"not shown again: {record['stage'].partition(' ')[0]}", ""
    return " ".join(record["operations"]), record["ending"]


def _ends_processes(report: str) -> bool:
    return any(kind.startswith("SIG") for kinds in MEASURED.of(FAULTS[report]).values() for kind in kinds)


def table(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, the most frequent causes first."""
    crashed = [record for record in records if "stage" in record]
    yield f"{len(crashed)} of {len(records)} models crash OpenVINO {versions()['openvino']}."
    yield from ("", "| cause | the process ends | models | a seed |", "| --- | --- | --- | --- |")
    counts = Counter(map(cause, crashed))
    for (name, ending), count in counts.most_common():
        seed = next(record["seed"] for record in crashed if cause(record) == (name, ending))
        shown = f"[{FAULTS[name].title}](upstream/{name}.md)" if name in FAULTS else name
        yield f"| {shown} | {ending} | {count} | {seed} |"


if __name__ == "__main__":
    sys.exit(main())
