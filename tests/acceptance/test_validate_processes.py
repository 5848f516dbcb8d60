"""How `ov-gather validate` checks files in several processes, and what becomes of those that fail."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from click.testing import CliRunner

from helpers.command_server import COMMAND
from helpers.paths import VALID
from ov_gather.cli.validate import command

COUNT_VALID = len(list(VALID.glob("*.xml")))


def test_40_files_in_8_processes(cli, copied, tmp_path):
    for number in range(20):
        copied("valid/spec_layer", stem=f"{number:03}_good")
        copied("invalid/OVG204/axis_3", stem=f"{number:03}_bad")
    done = cli("validate", tmp_path, "--jobs", 8, "--format", "json", code=1)
    assert done.stdout == cli("validate", tmp_path, "--format", "json").stdout
    assert [finding["path"] for finding in json.loads(done.stdout)["findings"]] == [
        f"{tmp_path}/{number:03}_bad.xml" for number in range(20)
    ]


def test_processes_where_the_path_for_temporary_files_is_longer_than_that_of_a_socket_may_be(real_cli, tmp_path):
    directory = tmp_path / ("long" * 30)
    directory.mkdir()
    done = real_cli("validate", "ir_samples/valid", "--jobs", 2, env={**os.environ, "TMPDIR": str(directory)})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"files: {COUNT_VALID}, errors: 0")
    assert list(directory.iterdir()) == []


def test_a_fault_of_ours_is_a_finding_of_its_file(monkeypatch, samples):
    monkeypatch.setattr("ov_gather.workers.validation.validate", lambda source, **_: 1 // 0 if "axis" in source.name else [])
    files = [str(samples / "valid" / "spec_layer.xml"), str(samples / "invalid" / "OVG204" / "axis_3.xml")]
    done = CliRunner().invoke(command, [*files, "--select", "OVG6"])
    assert done.exit_code == 1
    assert done.output == (
        f"{files[1]}: error OVG099: the check failed: ZeroDivisionError: integer division or modulo by zero\n"
        "    this is a fault of ov-gather: report it\n"
        "files: 2, errors: 1, warnings: 0, notes: 0\n"
    )


def test_a_process_that_dies_is_a_finding_of_its_file(samples, tmp_path):
    """The process reads a pipe into which nothing is written, so that it waits until we kill it."""
    os.mkfifo(tmp_path / "pipe.xml")
    files = [samples / "valid" / "spec_layer.xml", tmp_path / "pipe.xml", samples / "invalid" / "OVG204" / "axis_3.xml"]
    process = subprocess.Popen(
        [COMMAND, "validate", *files, "--jobs", "2", "--format", "concise"], stdout=subprocess.PIPE, text=True
    )
    writer, reader = wait_for(lambda: open_pipe(tmp_path / "pipe.xml", process.pid))
    os.kill(reader, signal.SIGKILL)
    output, _ = process.communicate(timeout=60)
    os.close(writer)
    assert process.returncode == 1
    first, second, summary = output.splitlines()
    assert first == f"{tmp_path}/pipe.xml: error OVG099: the process that checked the file was killed by SIGKILL"
    assert ": error OVG204: " in second
    assert summary == "files: 3, errors: 2, warnings: 0, notes: 0"


def wait_for(attempt):
    deadline = time.monotonic() + 30
    while True:
        try:
            return attempt()
        except (OSError, StopIteration):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def open_pipe(pipe, ancestor):
    """Open a pipe for writing, and find the process that reads it; raises where no process does yet."""
    writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    return writer, next(
        process
        for process in descendants_of(ancestor)
        if pipe in [fd.readlink() for fd in Path(f"/proc/{process}/fd").iterdir()]
    )


def descendants_of(pid):
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield int(child)
        yield from descendants_of(child)
