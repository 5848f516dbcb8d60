"""`validate` of many generated IRs on a Dask cluster of this machine, beside --jobs.

    python tests/tools/cluster_scale.py 2000 --kill      the same findings as --jobs 2, though a worker is killed midway
    python tests/tools/cluster_scale.py 20000 --measure  time and memory with 1 and 2 workers, and with 1 and 2 jobs

One file of fifty has an axis that is out of range.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from distributed import LocalCluster

from helpers.paths import VALID

FAULTY = 50
COMMAND = (
    "import resource, sys; from ov_gather.cli import main; import atexit; "
    "atexit.register(lambda: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)); main()"
)


def generate(directory: Path, count: int) -> None:
    """Write small IRs that differ in the name of their layer."""
    text = (VALID / "spec_layer.xml").read_text()
    for number in range(count):
        own = text.replace('name="gather"', f'name="gather_{number}"')
        if number % FAULTY == 0:
            own = own.replace('axis="1"', 'axis="7"')
            assert own != text
        folder = directory / f"{number // 1000}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.xml").write_text(own)


def run(directory: Path, *options: str) -> tuple[float, int, str]:
    """Validate all. Returns the seconds, the peak of the client's memory in KiB, and the report."""
    start = time.monotonic()
    arguments = [sys.executable, "-c", COMMAND, "validate", "models", "--format", "json", *options]
    done = subprocess.run(arguments, cwd=directory, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    return time.monotonic() - start, int(done.stderr.split()[-1]), done.stdout


def killed_midway(directory: Path, count: int) -> None:
    """Compare the findings of a cluster that loses a worker with those of two processes."""
    expected = run(directory, "--jobs", "2")[2]
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
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
    """Print the speed and the memory of each way."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores before the first run")
    for jobs in (1, 2):
        seconds, memory, _ = run(directory, "--jobs", str(jobs))
        print(f"--jobs {jobs}: {seconds:.1f} s, {1000 * seconds / count:.2f} ms a file, client {memory >> 10} MiB", flush=True)
    for workers in (1, 2):
        with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster:
            seconds, memory, _ = run(directory, "--scheduler", cluster.scheduler_address)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        told = f"{seconds:.1f} s, {1000 * seconds / count:.2f} ms a file, client {memory >> 10} MiB, scheduler {peak} MiB"
        print(f"{workers} workers: {told}; load {os.getloadavg()[0]:.1f}", flush=True)


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
