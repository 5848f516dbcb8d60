"""Where `ov-gather validate` writes its report, and what a terminal, a pipe and a full disk see of it."""

import json
import os
import pty
import subprocess

import pytest

from helpers.command_server import COMMAND
from helpers.paths import VALID

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


@pytest.mark.parametrize("pipeline", ["| head -n 1", "| true", ">&-"])
@pytest.mark.parametrize("name", ["text", "json"])
def test_a_reader_that_goes_away(samples, pipeline, name):
    script = f"'{COMMAND}' validate ir_samples/invalid --format {name} {pipeline}"
    done = subprocess.run(["bash", "-c", script], cwd=samples.parent, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""


def on_terminal(*arguments, **environment):
    """What a terminal sees of stdout and stderr together."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, *map(str, arguments)], stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm", **environment}
    )
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 1 << 16):
            seen += chunk
    except OSError:  # a terminal says like this that nobody writes to it any more
        pass
    os.close(ours)
    process.wait(timeout=60)
    return seen.decode()


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
