"""Runtimes in worker processes: what they pass on, how they die, and what is left of them."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from helpers.paths import ROOT, VALID
from ov_gather.ir.element_types import ELEMENT_TYPES
from ov_gather.runtimes import isolated
from ov_gather.runtimes.base import RefusedError
from ov_gather.runtimes.isolated import IsolatedRuntime, borrowed
from ov_gather.system import interrupts, worker
from ov_gather.system.worker import CrashedError

SAMPLE = VALID / "spec_layer.xml"


@pytest.fixture
def moody(monkeypatch):
    for name in ("Moody", "Absent", "Dying"):
        monkeypatch.setitem(isolated.RUNTIMES, name.lower(), ("helpers.artificial", name))
    runtime = IsolatedRuntime("moody")
    yield runtime
    runtime.stop()


def ask(runtime, model, *inputs):
    with runtime:
        runtime.activate(model)
        return runtime.execute(inputs)


def process_of(runtime):
    return int(ask(runtime, "pid")[0])


def has_ended(pid):
    """Whether a process has ended, and not even a zombie is left."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("row", [row for row in ELEMENT_TYPES if row.numpy_name], ids=str)
def test_arrays_of_every_type_go_and_come_back(moody, row):
    array = np.zeros((2, 3), row.dtype)
    array[1] = "элемент" if row.name == "string" else 1
    (same,) = ask(moody, "echo", array)
    assert same.dtype == array.dtype
    assert (same == array).all()


def test_version_refusals_and_errors_come_through(moody):
    assert moody.version == "1.2.3"
    pid = process_of(moody)
    with pytest.raises(RefusedError, match=r"^no$"):
        ask(moody, "refuse")
    with pytest.raises(KeyError, match="a bug"):
        ask(moody, "bug")
    assert process_of(moody) == pid


def test_a_runtime_that_cannot_start(moody):
    for name, reason in (("absent", "it is not installed"), ("dying", "a worker process cannot start: crashes: SIGABRT")):
        runtime = IsolatedRuntime(name)
        for _ in range(2):
            with pytest.raises(ImportError, match=reason):
                runtime.activate("echo")
            with pytest.raises(ImportError, match=reason):
                _ = runtime.version
        runtime.stop()


def test_a_crash_when_a_model_is_freed_is_one_of_this_model(moody):
    with pytest.raises(CrashedError, match="crashes: SIGABRT"):
        ask(moody, "abort when freed")
    assert ask(moody, "echo", np.array(1)) == [1]


@pytest.mark.parametrize("ending", ["SIGSEGV", "SIGABRT", "exit"])
def test_a_crash_is_said_and_the_next_model_gets_a_new_process(moody, ending):
    before = process_of(moody)
    with pytest.raises(CrashedError, match="crashes: exit code 3" if ending == "exit" else f"crashes: {ending}"):
        ask(moody, ending)
    assert has_ended(before)
    assert process_of(moody) != before


def test_a_hang_is_said_and_the_next_model_gets_a_new_process(moody, monkeypatch):
    before = process_of(moody)
    monkeypatch.setattr(worker, "TIME_LIMIT", 0.3)
    with pytest.raises(CrashedError, match=r"hangs: no answer within 0\.3 s"):
        ask(moody, "hang")
    assert has_ended(before)
    monkeypatch.undo()


def test_a_process_that_was_killed_while_idle_costs_nothing(moody):
    before = process_of(moody)
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: not moody._worker.alive)
    assert process_of(moody) != before


def test_an_answer_that_was_not_awaited_is_not_taken_for_the_next(moody, monkeypatch):
    process_of(moody)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(moody._worker._connection, "poll", lambda limit: signal.default_int_handler(signal.SIGINT, None))
        ask(moody, "echo", np.array(1))
    assert ask(moody, "echo", np.array(2)) == [2]


def test_borrowed_runtimes_are_ones_own_and_stay(moody):
    with borrowed(["moody"]) as (first,), borrowed(["moody"]) as (second,):
        assert first is not second
        processes = {process_of(first), process_of(second)}
    with borrowed(["moody", "moody"]) as again:
        assert {process_of(runtime) for runtime in again} == processes
    for runtime in again:
        runtime.stop()
    isolated._idle.pop(("moody", ()))
    assert all(map(has_ended, processes))


def test_a_new_process_has_the_environment_of_its_start(moody, monkeypatch):
    monkeypatch.setenv("KEPT", "as before")
    for value in ("first", "second"):
        monkeypatch.setenv("CHANGED", value)
        moody.stop()
        assert [str(ask(moody, name)[0]) for name in ("$KEPT", "$CHANGED")] == ["as before", value]
    monkeypatch.delenv("CHANGED")
    moody.stop()
    assert str(ask(moody, "$CHANGED")[0]) == "not set"


def test_a_new_process_finds_the_modules_that_we_find(moody, monkeypatch, tmp_path):
    (tmp_path / "found_there.py").write_text("from helpers.artificial import Moody\nclass Found(Moody): version = '4.5.6'\n")
    monkeypatch.setitem(isolated.RUNTIMES, "found", ("found_there", "Found"))
    assert moody.version == "1.2.3"
    monkeypatch.syspath_prepend(tmp_path)
    runtime = IsolatedRuntime("found")
    assert runtime.version == "4.5.6"
    assert ask(moody, "echo", np.array(1)) == [1], "the process from before goes on"
    moody.stop()
    runtime.stop()


def test_without_the_process_that_starts_them_runtimes_go_on(moody):
    before = process_of(moody)
    launcher = int(ask(moody, "parent")[0])
    os.kill(launcher, signal.SIGKILL)
    assert process_of(moody) != before
    assert int(ask(moody, "parent")[0]) != launcher
    wait_until(lambda: has_ended(before))


SCRIPT = f"""
import sys
import ov_gather
result = ov_gather.cross_check({str(SAMPLE)!r}, runtimes=["openvino", "extension"])
from ov_gather.runtimes import isolated
print(result.passed, *(runtime._worker._process.pid for many in isolated._idle.values() for runtime in many), flush=True)
"""


def processes_in(line):
    passed, *pids = line.split()
    assert passed == "True"
    assert len(pids) == 2
    return list(map(int, pids))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("closed", ["", "<&-", "<&- 2>&-"])
def test_a_script_needs_no_guard_and_no_stdin_and_leaves_nothing(tmp_path, closed):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = f"{sys.executable} {tmp_path / 'script.py'} {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert all(map(has_ended, processes_in(done.stdout)))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("busy", [False, True])
def test_processes_end_with_a_parent_that_is_killed(tmp_path, busy):
    code = f"""
import sys
sys.path.insert(0, {str(ROOT / "tests")!r})
from ov_gather.runtimes import isolated
isolated.RUNTIMES["moody"] = ("helpers.artificial", "Moody")
runtime = isolated.IsolatedRuntime("moody")
runtime.activate("pid")
print(runtime.execute([])[0], flush=True)
runtime.close()
runtime.activate("hang")
{"runtime.execute([])" if busy else "input()"}
"""
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        pid = int(parent.stdout.readline())
        time.sleep(0.2)
        parent.kill()
    wait_until(lambda: has_ended(pid))


def test_a_fork_leaves_the_processes_to_its_parent():
    code = f"""
import os, sys
sys.path.insert(0, {str(ROOT / "tests")!r})
from ov_gather.runtimes import isolated
isolated.RUNTIMES["moody"] = ("helpers.artificial", "Moody")

def pid():
    with isolated.borrowed(["moody"]) as (runtime,), runtime:
        runtime.activate("pid")
        return int(runtime.execute([])[0])

before = pid()
child = os.fork()
if child == 0:
    os._exit(len(isolated._idle["moody", ()]))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), pid() == before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("0 True\n", "")


def test_a_worker_that_starts_while_a_signal_ends_the_process_is_killed(moody, monkeypatch):
    """The signal comes in the main thread, after another thread has begun to start a worker, and kills those it knows of."""
    start = worker.start

    def start_late(*arguments):
        process = start(*arguments)
        monkeypatch.setattr(interrupts, "_ended_by", [130])
        worker._kill_all()
        return process

    monkeypatch.setattr(worker, "start", start_late)
    late = IsolatedRuntime("moody")
    with pytest.raises((ImportError, CrashedError), match="SIGKILL"):  # the former where it has not said its version yet
        late._worker.ask("execute")
    late.stop()
