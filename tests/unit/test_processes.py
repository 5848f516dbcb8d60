"""One function over many items in processes, some of which die."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing.util import get_temp_dir
from pathlib import Path

import pytest

from helpers.loaded import is_within
from ov_gather.workers.processes import Died, in_processes

EXIT = "__import__('os')._exit(3)"
KILL = "__import__('os').kill(__import__('os').getpid(), 9)"


def run(items, count):
    return [result for _, result in sorted(in_processes(eval, items, count), key=lambda numbered: numbered[0])]


@pytest.mark.parametrize("count", [1, 3, 20])
def test_each_item_has_its_result(count):
    assert run([f"{number} ** 2" for number in range(12)], count) == [number**2 for number in range(12)]


def test_a_process_that_dies_costs_its_item_only():
    results = run(["1", KILL, "2", EXIT, "3", KILL, "4"], 2)
    assert results == [1, Died(-signal.SIGKILL), 2, Died(3), 3, Died(-signal.SIGKILL), 4]
    assert [str(results[1]), str(results[3])] == ["was killed by SIGKILL", "ended with exit code 3"]


def test_all_die():
    assert run([EXIT] * 4, 2) == [Died(3)] * 4


def test_nothing_to_do():
    assert run([], 4) == []


def test_processes_end_when_nobody_wants_the_rest():
    results = in_processes(eval, ["__import__('os').getpid()", *["__import__('time').sleep(60)"] * 3], 2)
    _, pid = next(results)
    results.close()  # waits for them
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


MAKE = "__import__('tempfile').mkdtemp()"
BLOCK = "__import__('signal').pthread_sigmask(0, [15])"
SLEEP = "__import__('time').sleep(60)"


@pytest.mark.parametrize("ending", [KILL, EXIT, SLEEP, f"({BLOCK}, {SLEEP})"], ids=["killed", "exits", "stopped", "stuck"])
def test_a_process_leaves_no_temporary_files(monkeypatch, ending):
    monkeypatch.setattr("ov_gather.workers.processes._GRACE", 0.5)
    results = in_processes(eval, [MAKE, f"({MAKE}, {ending})", MAKE], 1 if ending in (KILL, EXIT) else 2)
    (_, first), *_ = results if ending in (KILL, EXIT) else [next(results)]
    results.close()
    folder = Path(first).parent
    assert folder.parent == Path(get_temp_dir())
    assert list(folder.parent.glob("tmp*")) == []


ENDING = """
from ov_gather.workers.processes import in_processes
results = in_processes(eval, ["__import__('time').sleep(1)", {item!r}], 2)
next(results)
results.close()
"""


@pytest.mark.parametrize("then", ["pass", "raise RuntimeError('too late')"])
def test_a_function_that_catches_the_end_of_its_process_does_not_keep_it(then):
    """Nor does it say anything."""
    catching = f"try: {SLEEP}\nexcept BaseException: {then}"
    program = ENDING.format(item=f"exec({catching!r})")
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert is_within(time.monotonic() - start, 8)  # the process is killed after 10


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="this system cannot block signals")
def test_the_first_process_starts_without_seeing_ctrl_c():
    """The first of a whole program, as multiprocessing starts processes of its own before it."""
    blocked = "__import__('signal').pthread_sigmask(0, [])"
    program = f"from ov_gather.workers.processes import in_processes; print(list(in_processes(eval, [{blocked!r}], 1)))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said == "[(0, {<Signals.SIGINT: 2>})]\n"
