"""Baselines that several processes write, that are damaged, or that would hold what was never checked."""

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from helpers.command_server import COMMAND
from ov_gather.rules.baseline import read_baseline, write_baseline
from ov_gather.rules.validation import not_checked, validate

BROKEN = "invalid/OVG204/axis_3.xml"


def test_two_writers_lose_nothing(samples, tmp_path):
    """Each of 8 processes writes the findings of its own files, one after the other."""
    files = [tmp_path / f"{number}.xml" for number in range(24)]
    for file in files:
        shutil.copy(samples / BROKEN, file)
    baseline = tmp_path / "baseline.json"

    def write(part: list[Path]) -> int:
        command = [COMMAND, "validate", *part, "--baseline", baseline, "--write-baseline"]
        return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(write, [files[start::8] for start in range(8)])) == {0}
    assert set(read_baseline(baseline).known) == {file.name for file in files}


@pytest.mark.parametrize(
    "content",
    [
        "[" * 200_000,
        '{"a":' * 200_000,
        "[]",
        "null",
        '{"format": 1}',
        '{"format": 1, "findings": [1]}',
        '{"format": 1, "findings": [{"path": 5, "rule": "OVG204", "layer": "", "fingerprint": "0"}]}',
        '{"format": 1, "findings": [{"path": [], "rule": "OVG204", "layer": "", "fingerprint": "0"}]}',
        '{"format": 1e999, "findings": []}',
        "\udcff",
    ],
)
@pytest.mark.parametrize("option", [[], ["--write-baseline"]])
def test_damaged_baselines(cli, samples, tmp_path, content, option):
    path = tmp_path / "baseline.json"
    path.write_text(content, errors="surrogateescape")
    done = cli("validate", samples / BROKEN, "--baseline", path, *option)
    assert (done.returncode, done.stdout) == (2, "")
    assert "after moving this one away" in done.stderr
    assert "Traceback" not in done.stderr
    assert path.read_text(errors="surrogateescape") == content


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "../" * 3000, "\ud800", ""])
def test_odd_paths_in_a_baseline(samples, tmp_path, name):
    path = tmp_path / "baseline.json"
    entry = {"path": name, "rule": "OVG204", "layer": "", "fingerprint": "0"}
    path.write_text(json.dumps({"format": 1, "findings": [entry]}))
    write_baseline(path, [str(samples / BROKEN)], validate(samples / BROKEN))
    assert read_baseline(path).known


def test_what_was_not_checked_is_not_known(tmp_path, cli, samples, monkeypatch):
    from ov_gather.cli import suppressions

    with pytest.raises(ValueError, match=r"baseline.json is not written: m.xml: the check failed"):
        suppressions.write(tmp_path / "baseline.json", ["m.xml"], not_checked("m.xml", "the check failed", ""))
    assert not (tmp_path / "baseline.json").exists()


def test_a_device_is_no_baseline(cli, samples):
    done = cli("validate", samples / BROKEN, "--baseline", "/dev/zero")
    assert (done.returncode, done.stderr) == (2, "error: /dev/zero is not a regular file\n")
