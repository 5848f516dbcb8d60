"""Ctrl+C, SIGTERM and a closed terminal in the middle of every command that takes time."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from helpers.command_server import COMMAND
from helpers.loaded import is_within
from helpers.saved_models import saved

HEEDING = [
    sys.executable,
    "-c",
    "import os, signal, sys; [signal.signal(each, signal.SIG_DFL) for each in (1, 2)]; os.execvp(sys.argv[1], sys.argv[1:])",
]
"""Start a command that Ctrl+C and SIGHUP end, also where the tests run in the background or below nohup, which ignore them."""


@pytest.fixture
def model(tmp_path):
    """An ONNX model with 200 gathers, which take a while to verify."""
    nodes = " ".join(f"x{i + 1} = Gather (x{i}, i)" for i in range(200))
    text = f"(float[300, 300] x0) => (float[300, 300] x200) {{ {nodes} }}"
    return saved(tmp_path / "m.onnx", text, i=np.arange(300)[::-1].copy())


def processes_of(group):
    """The ids of all processes of a process group that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # the process has ended
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def interrupt(arguments, directory, when, number):
    """Start a command in a process group of its own, and send a signal once `when` holds: Ctrl+C to the whole group.

    Returns the exit code and what the command said; no process of the group may be left.
    """
    environment = os.environ | {"TMPDIR": str(directory / "tmp")}
    (directory / "tmp").mkdir()
    command = [*HEEDING, COMMAND, *map(str, arguments)]
    output = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **output, start_new_session=True, env=environment) as process:
        end = time.monotonic() + 60
        while not when(process.pid):
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < end
            time.sleep(0.01)
        os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
        start = time.monotonic()
        error = process.communicate(timeout=60)[1].decode()
    assert is_within(time.monotonic() - start, 20)
    assert "Traceback" not in error
    end = time.monotonic() + 60
    while processes_of(process.pid):
        assert time.monotonic() < end
        time.sleep(0.05)
    left = {path.name for path in (directory / "tmp").iterdir()}
    assert left <= {".ses"}  # onnxruntime writes this file
    return process.returncode, error


EACH = pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])


@pytest.mark.sampled(1)
@EACH
def test_verify(model, tmp_path, number, code):
    """The signal comes in the middle of the verification, when all is written under temporary names; what is there stays."""
    for name in ("m.xml", "m.bin"):
        (tmp_path / name).write_text("old")

    def verifies(pid):
        return len(processes_of(pid)) > 2 and any((tmp_path / "tmp").glob("*/model.onnx"))

    arguments = ["convert", model, "-o", tmp_path / "m.xml", "--verify", "--force"]
    assert interrupt(arguments, tmp_path, verifies, number) == (code, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.bin", "m.onnx", "m.xml", "tmp"]
    assert [(tmp_path / name).read_text() for name in ("m.xml", "m.bin")] == ["old", "old"]


@pytest.mark.sampled(1)
@EACH
def test_check(model, tmp_path, samples, number, code):
    """The signal comes while processes execute layers: the page tells what is done, and no folder of failures is left."""
    arguments = ["check", samples / "valid", "--report", tmp_path / "page.html", "--failures", tmp_path / "failures"]
    returned, _ = interrupt(arguments, tmp_path, lambda pid: len(processes_of(pid)) > 2, number)
    assert returned == code
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.onnx", "page.html", "tmp"]
    assert "This is partial: the check was stopped at" in (tmp_path / "page.html").read_text()


@pytest.mark.sampled(1)
@EACH
def test_validate_in_processes(tmp_path, samples, number, code):
    (tmp_path / "many").mkdir()
    text = (samples / "valid" / "deberta_bias.xml").read_bytes()
    for i in range(3000):
        (tmp_path / "many" / f"{i}.xml").write_bytes(text)
    arguments = ["validate", tmp_path / "many", "--jobs", "2", "-o", tmp_path / "report.txt"]
    returned, _ = interrupt(arguments, tmp_path, lambda pid: len(processes_of(pid)) > 3, number)
    assert returned == code
    assert sorted(path.name for path in tmp_path.iterdir()) == ["many", "tmp"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)])
def test_convert_in_processes(model, tmp_path, number, code):
    """The signal comes while two processes convert: each has moved the weights to TMPDIR, and writes beside the output."""
    shutil.copy(model, tmp_path / "n.onnx")

    def converts(pid):
        return len(list((tmp_path / "tmp").rglob("weights"))) == 2

    arguments = ["convert", model, tmp_path / "n.onnx", "-o", tmp_path / "irs", "--jobs", "2", "--verify"]
    assert interrupt(arguments, tmp_path, converts, number) == (code, "")
    assert list((tmp_path / "irs").iterdir()) == []


def test_a_pair_of_files_takes_its_place_undisturbed(tmp_path):
    """The signal comes between the moves of the .bin and of the .xml."""
    program = f"""
import os, signal, sys
from pathlib import Path
from ov_gather.system.files import replacing_together
from ov_gather.system.interrupts import end_cleanly
end_cleanly()
replace = Path.replace
def replacing(self, target):
    replace(self, target)
    os.kill(os.getpid(), signal.SIGTERM)
Path.replace = replacing
with replacing_together(Path({str(tmp_path / "m.xml")!r})) as path:
    path.write_text("new")
    path.with_suffix(".bin").write_text("new")
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == 143
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.bin", "m.xml"]
