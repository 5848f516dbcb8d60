"""Measure `validate` on COUNT generated IRs, on a Dask cluster of this machine and with --jobs: one and two of each.

One file in fifty has an axis that is out of range. With `--kill`, compare the findings of a cluster that loses a worker midway
with those of --jobs 2 instead.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from helpers.clusters import local_cluster
from helpers.paths import VALID
from tools.measurements.costs import OV_GATHER, Cost, cost_of

COLUMNS = ("", "time", "CPU time, ms a file", "memory of the command")
FAULTY = 50


def generate(directory: Path, count: int) -> None:
    """Write small IRs that differ in the layer's name."""
    text = (VALID / "spec_layer.xml").read_text()
    for number in range(count):
        own = text.replace('name="gather"', f'name="gather_{number}"')
        if number % FAULTY == 0:
            own = own.replace('axis="1"', 'axis="7"')
            assert own != text
        folder = directory / "models" / f"{number // 1000}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.xml").write_text(own)


def validated(directory: Path, *options: str) -> Cost:
    cost = cost_of(OV_GATHER, "validate", "models", "--format", "json", *options, directory=directory)
    assert cost.exit_code == 1, cost.stderr
    return cost


def killed_midway(directory: Path, count: int) -> str:
    """Compare the findings of a cluster that loses a worker with those of two jobs."""
    expected = validated(directory, "--jobs", "2").stdout
    with local_cluster(directory / "dask", 2) as cluster:
        victim = next(iter(cluster.workers.values())).pid
        tasks = cluster.scheduler.transition_counter

        def kill() -> None:
            while cluster.scheduler.transition_counter - tasks < count // 16:  # about a third of the transitions
                time.sleep(0.01)
            os.kill(victim, signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        found = validated(directory, "--scheduler", cluster.scheduler_address).stdout
        thread.join()
    if found != expected:
        sys.exit(f"worker process {victim} was killed: the findings are others than those of --jobs 2")
    return f"worker process {victim} was killed: {len(json.loads(found)['findings'])} findings, as with --jobs 2"


def measure(count: int, *, kill: bool = False) -> Iterator[tuple[object, ...] | str]:
    with TemporaryDirectory() as name:
        directory = Path(name)
        generate(directory, count)
        if kill:
            yield killed_midway(directory, count)
            return
        for jobs in (1, 2):
            cost = validated(directory, "--jobs", str(jobs))
            yield f"--jobs {jobs}", f"{cost.seconds:.1f} s", f"{1000 * cost.processor / count:.2f}", f"{cost.megabytes:.0f} MB"
        for workers in (1, 2):
            yield on_cluster(directory, workers, count)


def on_cluster(directory: Path, workers: int, count: int) -> tuple[object, ...]:
    with local_cluster(directory / "dask", workers) as cluster:
        processes = [*(psutil.Process(nanny.pid) for nanny in cluster.workers.values()), psutil.Process()]
        before = [sum(process.cpu_times()[:2]) for process in processes]
        cost = validated(directory, "--scheduler", cluster.scheduler_address)
        after = [sum(process.cpu_times()[:2]) for process in processes]
    *there, scheduler = (1000 * (late - early) / count for early, late in zip(before, after, strict=True))
    each = f"workers {sum(there):.2f}, scheduler {scheduler:.2f}, command {1000 * cost.processor / count:.2f}"
    return f"{workers} worker processes", f"{cost.seconds:.1f} s", each, f"{cost.megabytes:.0f} MB"
