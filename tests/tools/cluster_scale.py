"""Measure `validate` on generated IRs, on a Dask cluster of this machine and with --jobs.

    python tests/tools/cluster_scale.py 2000 --kill      compare findings with --jobs 2, with a worker killed midway
    python tests/tools/cluster_scale.py 20000 --measure  time and memory with 1 and 2 workers, and with 1 and 2 jobs

One file in fifty has an axis that is out of range.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/, where the helpers are
from helpers.clusters import local_cluster
from helpers.paths import VALID

FAULTY = 50
COMMAND = (
    "import resource, sys; from ov_gather.cli import main; import atexit; "
    "used = resource.getrusage; own, others = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN; "
    "atexit.register(lambda: print(sum(sum(used(who)[:2]) for who in (own, others)), used(own).ru_maxrss, file=sys.stderr)); "
    "main()"
)


def generate(directory: Path, count: int) -> None:
    """Write small IRs that differ in the layer's name."""
    text = (VALID / "spec_layer.xml").read_text()
    for number in range(count):
        own = text.replace('name="gather"', f'name="gather_{number}"')
        if number % FAULTY == 0:
            own = own.replace('axis="1"', 'axis="7"')
            assert own != text
        folder = directory / f"{number // 1000}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.xml").write_text(own)


def run(directory: Path, *options: str) -> tuple[str, float, str]:
    """Validate all. Return a text of the cost, the CPU time in seconds, and the report."""
    start = time.monotonic()
    arguments = [sys.executable, "-c", COMMAND, "validate", "models", "--format", "json", *options]
    done = subprocess.run(arguments, cwd=directory, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    processor, memory = done.stderr.split()[-2:]
    return f"{time.monotonic() - start:.1f} s, client {int(memory) >> 10} MiB", float(processor), done.stdout


def killed_midway(directory: Path, count: int) -> None:
    """Compare the findings of a cluster that loses a worker with those of two jobs."""
    expected = run(directory, "--jobs", "2")[2]
    with local_cluster(directory / "dask", 2) as cluster:
        victim = next(iter(cluster.workers.values())).pid
        tasks = cluster.scheduler.transition_counter

        def kill() -> None:
            while cluster.scheduler.transition_counter - tasks < count // 16:  # about a third of the transitions
                time.sleep(0.01)
            os.kill(victim, signal.SIGKILL)
            print(f"worker process {victim} was killed", flush=True)

        thread = threading.Thread(target=kill)
        thread.start()
        found = run(directory, "--scheduler", cluster.scheduler_address)[2]
        thread.join()
    number = len(json.loads(found)["findings"])
    print(f"files: {count}, findings: {number}; the same as with --jobs 2: {found == expected}")
    sys.exit(found != expected)


def measured(directory: Path, count: int) -> None:
    """Print speed and memory of jobs and workers."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores before the first run")
    for jobs in (1, 2):
        told, processor, _ = run(directory, "--jobs", str(jobs))
        # For several jobs, the CPU time would include that of the process from which they are forked.
        print(f"--jobs {jobs}: {told}" + (f"; processor time {1000 * processor / count:.2f} ms a file" if jobs == 1 else ""))
    for workers in (1, 2):
        with local_cluster(directory / "dask", workers) as cluster:
            processes = [psutil.Process(nanny.pid) for nanny in cluster.workers.values()]
            before = [sum(process.cpu_times()[:2]) for process in (*processes, psutil.Process())]
            told, client, _ = run(directory, "--scheduler", cluster.scheduler_address)
            after = [sum(process.cpu_times()[:2]) for process in (*processes, psutil.Process())]
            *there, scheduler = (1000 * (late - early) / count for early, late in zip(before, after, strict=True))
            peak = psutil.Process().memory_info().rss >> 20
        each = f"workers {sum(there):.2f}, scheduler {scheduler:.2f}, client {1000 * client / count:.2f}"
        print(f"{workers} workers: {told}, scheduler {peak} MiB; processor time: {each} ms a file", flush=True)
    print(f"load {os.getloadavg()[0]:.1f} after the last run")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--kill", action="store_true")
    way.add_argument("--measure", action="store_true")
    given = parser.parse_args()
    with TemporaryDirectory() as directory:
        models = Path(directory, "models")
        models.mkdir()
        generate(models, given.count)
        (killed_midway if given.kill else measured)(Path(directory), given.count)


if __name__ == "__main__":
    main()
