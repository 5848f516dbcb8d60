"""`check` on a Dask cluster: the results of a check here, whichever worker they come from."""

import json
import shlex
import shutil
from pathlib import Path

import pytest

from helpers.clusters import local_cluster
from ov_gather.crosscheck.check import check_paths
from ov_gather.crosscheck.progress import Progress
from ov_gather.crosscheck.sweep import sweep
from ov_gather.workers.checks import CheckOptions

RUNTIMES = ("kernel", "openvino")


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """A cluster of one worker in this process."""
    with local_cluster(tmp_path_factory.mktemp("dask"), processes=False) as cluster:
        yield cluster.scheduler_address


def told(results):
    """What results say, without how long it took."""
    return [
        (layer.path, layer.layer, case.name, comparison.runtime, comparison.status, comparison.detail)
        for result in results
        for layer in result.layers
        for case in layer.cases
        for comparison in case.comparisons
    ]


def test_files(scheduler, samples, tmp_path, monkeypatch):
    for name in ("valid/spec_layer", "invalid/OVG601/too_large", "invalid/OVG001/empty"):
        for file in samples.glob(f"{name}.*"):
            shutil.copy(file, tmp_path)
    (tmp_path / "broken.xml").write_text("<net")
    monkeypatch.chdir(tmp_path)
    here = check_paths([Path()], runtimes=RUNTIMES, cases=2)
    there = CheckOptions(RUNTIMES, here.results[0].seed, 2, "CPU", tmp_path / "failures").of_paths(
        [Path()], scheduler, Progress()
    )
    assert told(there.results) == told(here.results)
    assert there.findings == here.findings != ()
    assert there.unreadable == here.unreadable != ()
    assert not (tmp_path / "failures").exists()


def test_a_failure_comes_back_with_its_files(scheduler, samples, tmp_path):
    source = min(samples.rglob("*.expected.json"))
    for file in source.parent.glob(source.name.partition(".")[0] + ".*"):
        shutil.copy(file, tmp_path)
    expected = json.loads(source.read_text())
    wrong = {name: (-77 if isinstance(values, int) else [-77] * len(values)) for name, values in expected.items()}
    (tmp_path / source.name).write_text(json.dumps(wrong))
    failures = tmp_path / "what failed"
    outcome = CheckOptions(("kernel",), 1, 4, "CPU", failures).of_paths([tmp_path], scheduler, Progress())
    (replay, *_) = [case.replay for result in outcome.results for layer in result.layers for case in layer.cases if case.replay]
    words = shlex.split(replay)
    assert Path(words[2]).is_relative_to(failures)
    assert Path(words[2]).is_file()


@pytest.mark.exhaustive
def test_sweep(scheduler, tmp_path):
    here = sweep(RUNTIMES, seed=5, cases=90)
    (there,) = CheckOptions(RUNTIMES, 5, 90, "CPU", tmp_path).sweep(scheduler, Progress()).results
    assert told([there]) == told([here])
    assert len({row[1] for row in told([here])}) > 10
