"""Where `ov-gather validate` writes its report, who sees what of it, and what becomes of files checked in several processes."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from helpers.command_server import COMMAND
from helpers.paths import VALID
from helpers.terminals import on_terminal
from ov_gather.cli.validate import command

AXIS_3 = "ir_samples/invalid/OVG204/axis_3.xml"
COUNT_VALID = len(list(VALID.glob("*.xml")))
CLEAN = "errors: 0, warnings: 0, notes: 0\n"


def test_output(cli, tmp_path):
    file = tmp_path / "report.json"
    done = cli("validate", AXIS_3, "--format", "json", "--output", file)
    assert (done.returncode, done.stdout) == (1, f"{file}: files: 1, errors: 1, warnings: 0, notes: 0\n")
    assert json.loads(file.read_text())["files"] == 1
    cli("validate", "ir_samples/valid", "--format", "concise", "--output", file)
    assert file.read_text() == f"files: {COUNT_VALID}, {CLEAN}"
    assert [file.name for file in tmp_path.iterdir()] == ["report.json"]


def test_output_through_a_link(cli, tmp_path):
    (tmp_path / "latest.txt").symlink_to("report.txt")
    cli("validate", "ir_samples/valid", "--output", tmp_path / "latest.txt")
    assert (tmp_path / "latest.txt").is_symlink()
    assert (tmp_path / "report.txt").read_text() == f"files: {COUNT_VALID}, {CLEAN}"


def test_a_failure_leaves_the_last_output(cli, tmp_path):
    (tmp_path / "report.txt").write_text("the last one")
    cli("validate", "ir_samples/valid", "--select", "nonsense", "--output", tmp_path / "report.txt", code=2)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["the last one"]


def test_output_that_cannot_be_written(cli, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for output in (tmp_path, tmp_path / "nowhere" / "report.txt", "/proc/report.txt", tmp_path / "pipe"):
        done = cli("validate", AXIS_3, "--output", output)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr
        assert done.stderr.lower().splitlines()[-1].startswith("error: ")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("pipeline", ["| head -n 1", "| true", ">&-"])
@pytest.mark.parametrize("name", ["text", "json"])
def test_a_reader_that_goes_away(samples, pipeline, name):
    script = f"'{COMMAND}' validate ir_samples/invalid --format {name} {pipeline}"
    done = subprocess.run(["bash", "-c", script], cwd=samples.parent, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""


def test_colour_only_on_a_terminal_and_never_with_no_color(cli, samples, tmp_path):
    path = samples / "invalid" / "OVG204" / "axis_3.xml"
    assert "\x1b[31m\x1b[1merror OVG204\x1b[0m" in on_terminal("validate", path, NO_COLOR="")
    assert "\x1b" not in on_terminal("validate", path, NO_COLOR="1")
    assert "\x1b" not in cli("validate", path).stdout
    on_terminal("validate", path, "--output", tmp_path / "report.txt", NO_COLOR="")
    assert "\x1b" not in (tmp_path / "report.txt").read_text()


def test_progress_bar_only_on_a_terminal(cli, samples):
    assert "validating" in on_terminal("validate", samples / "valid")
    assert cli("validate", "ir_samples/valid").stderr == ""


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
    deadline = time.monotonic() + 60
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
