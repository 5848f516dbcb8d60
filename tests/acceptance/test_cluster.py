"""Work that is handed to a Dask cluster: what comes back, whatever dies meanwhile."""

import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import dask
import pytest

from helpers.clusters import local_cluster
from helpers.command_server import COMMAND
from ov_gather import validate
from ov_gather.rules.cache import Cache
from ov_gather.rules.selection import Chosen
from ov_gather.workers import cluster as module
from ov_gather.workers.cluster import ClusterError, in_cluster
from ov_gather.workers.processes import Died
from ov_gather.workers.validation import ValidateOptions

KILL = "__import__('os').kill(__import__('os').getpid(), 9)"
SQUARES = [f"{number} ** 2" for number in range(12)]


@pytest.fixture
def threads(tmp_path):
    """A cluster of one worker in this process."""
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        local_cluster(tmp_path / "dask", processes=False) as made,
    ):
        yield made


@pytest.fixture
def zoo(samples, tmp_path):
    """Sound and faulty models in a directory."""
    for name in ("valid", "invalid/OVG402", "invalid/OVG601"):
        shutil.copytree(samples / name, tmp_path / "models" / name)
    return tmp_path


def run(cluster, items):
    done = list(in_cluster(eval, items, cluster.scheduler_address))
    assert sorted(index for index, _ in done) == list(range(len(items))), "an item came twice, or never"
    return [result for _, result in sorted(done, key=lambda numbered: numbered[0])]


def pids(cluster):
    return [nanny.pid for nanny in cluster.workers.values()]


def test_each_item_has_its_result(threads):
    assert run(threads, [f"{number} ** 2" for number in range(1000)]) == [number**2 for number in range(1000)]


def test_a_worker_that_dies_costs_the_item_that_it_died_of(cluster):
    results = run(cluster, [*SQUARES[:5], KILL, *SQUARES[6:], KILL])
    died = Died(None, 1)
    assert results == [*(n**2 for n in range(5)), died, *(n**2 for n in range(6, 12)), died]
    assert str(died) == "died, on 1 workers of the cluster one after another"


def test_a_worker_that_is_killed_costs_nothing(cluster):
    items = ["__import__('time').sleep(0.05)"] * 40
    results = in_cluster(eval, items, cluster.scheduler_address)
    done = [next(results)]
    os.kill(pids(cluster)[0], signal.SIGKILL)
    done += results
    assert sorted(done) == [(index, None) for index in range(40)]


@pytest.mark.timeout(60)
def test_a_result_that_is_lost_with_its_worker_and_fails_when_it_is_computed_again(cluster, tmp_path):
    """The worker ends while it sends a large result; the next one that computes it dies of it."""
    flag = str(tmp_path / "computed")
    later = f"(open({flag!r}, 'w').close(), __import__('threading').Timer(0.1, lambda: {KILL}).start(), bytes(200_000_000))[-1]"
    item = f"{KILL} if __import__('os').path.exists({flag!r}) else {later}"
    assert run(cluster, [item, *SQUARES]) == [Died(None, 1), *(number**2 for number in range(12))]


def test_items_are_taken_as_they_are_needed(threads):
    taken = []
    items = (taken.append(text) or text for text in SQUARES * 1000)
    results = in_cluster(eval, items, threads.scheduler_address)
    for number in range(1000):
        next(results)
        assert len(taken) < number + 1000
    results.close()


def test_an_error_of_the_function_is_raised(threads):
    with pytest.raises(ZeroDivisionError):
        run(threads, ["1", "1 // 0"])


def test_a_cluster_that_ends_in_the_middle(threads):
    results = in_cluster(eval, ["__import__('time').sleep(0.01)"] * 1000, threads.scheduler_address)
    next(results)
    threading.Thread(target=threads.close).start()
    with pytest.raises(ClusterError, match=r"is lost: .*; with --cache the next run goes on from here"):
        list(results)


def test_a_cluster_without_workers(threads):
    threads.scale(0)
    while threads.scheduler.workers:
        time.sleep(0.01)
    with pytest.raises(ClusterError, match="has no workers, and none came in 1 s"):
        run(threads, SQUARES)


def test_another_version(threads, monkeypatch):
    monkeypatch.setattr(module, "_ours", lambda: "9.9")
    with pytest.raises(
        ClusterError, match=r"worker inproc://\S+ of the Dask cluster has ov-gather \d+\.\d+\.\d+: install ov-gather 9.9"
    ):
        run(threads, SQUARES)


def test_no_address():
    with pytest.raises(ClusterError, match="Dask's configuration has no scheduler-address"):
        next(in_cluster(eval, SQUARES, "config"))


def test_the_address_in_the_configuration(threads):
    with dask.config.set({"scheduler-address": threads.scheduler_address}):
        assert dict(in_cluster(eval, ["1 + 1"], "config")) == {0: 2}


def test_a_file_that_kills_workers_is_a_finding(monkeypatch):
    monkeypatch.setattr(module, "in_cluster", lambda *_, **__: iter([(0, Died(None, 4))]))
    ((index, (findings, is_known)),) = ValidateOptions(Chosen()).run([Path("m.xml")], 1, "tcp://elsewhere:1")
    assert (index, is_known, [finding.rule for finding in findings]) == (0, False, ["OVG099"])
    assert findings[0].message == "the process that checked the file died, on 4 workers of the cluster one after another"
    assert findings[0].location.path == "m.xml"


def test_an_interrupted_run_goes_on(threads, zoo):
    files = sorted((zoo / "models").rglob("*.xml"))
    checks = ValidateOptions(Chosen(), cache=Cache(zoo / "cache"))
    first = checks.run(files, 1, threads.scheduler_address)
    done = {next(first)[0] for _ in range(20)}
    first.close()
    again = dict(checks.run(files, 1, threads.scheduler_address))
    assert done <= {index for index, (_, is_known) in again.items() if is_known}
    assert [again[index][0] for index in range(len(files))] == [validate(file) for file in files]


def test_a_cluster_that_ends_is_one_line(zoo):
    """The command waits for a file that never ends, a pipe, when the cluster is closed."""
    os.mkfifo(zoo / "pipe.xml")
    with local_cluster(zoo / "dask") as doomed:
        command = [COMMAND, "validate", "models", "pipe.xml", "--cache", "cache", "--output", "report.txt"]
        options = {"cwd": zoo, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen([*command, "--scheduler", doomed.scheduler_address], **options) as process:
            while not [*(zoo / "cache").glob("*.json")]:
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.05)
            doomed.close()
            out, error = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert error.startswith("error: the Dask cluster at ")
    assert error.count("\n") == 1, error
    assert not (zoo / "report.txt").exists()


def test_the_same_findings_as_with_jobs(cli, zoo, cluster):
    """Paths are seen from where the command runs, which is elsewhere than where the workers are."""
    expected = cli("validate", "models", "--format", "json", "--jobs", "2", cwd=zoo)
    done = cli("validate", "models", "--format", "json", "--scheduler", cluster.scheduler_address, cwd=zoo)
    assert (done.returncode, done.stdout, done.stderr) == (1, expected.stdout, "")


def test_the_cache_is_where_the_command_runs(cli, zoo, cluster):
    command = ("validate", "models", "--format", "concise", "--cache", "cache", "--scheduler", cluster.scheduler_address)
    first = cli(*command, cwd=zoo)
    again = cli(*command, cwd=zoo)
    count = len([*(zoo / "models").rglob("*.xml")])
    assert first.stdout.replace("unchanged: 0", f"unchanged: {count}") == again.stdout
    assert cli("validate", "models", "--format", "concise", "--cache", "cache", cwd=zoo).stdout == again.stdout
