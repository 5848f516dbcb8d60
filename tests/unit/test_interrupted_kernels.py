"""A signal ends a call of the kernel soon, on one thread or several; threads that are too many end."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from ov_gather import gather_elements, set_num_threads

pytestmark = [
    pytest.mark.sanitized,
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends signals"),
]
ENDLESS = 10**12
"""Updates that would take an hour and more; all of them are one in memory."""

IN_A_PROCESS = """
import json, signal, sys, threading, time
from contextlib import contextmanager
import numpy as np
from ov_gather import gather_elements, scatter_elements, scatter_nd, set_num_threads

class SignalError(Exception):
    pass

@contextmanager
def interrupted(seconds):
    def handle(number, frame):
        raise SignalError
    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except SignalError:
        return
    raise AssertionError("nothing was interrupted")

set_num_threads(int(sys.argv[1]))
"""
INTERRUPTED = """
data, shape, axis, reduction = json.loads(sys.argv[2])
indices, updates = (np.broadcast_to(np.ones((), kind), shape) for kind in (np.int64, np.float64))
with interrupted(0.3):
    scatter_elements(np.zeros(data), indices, updates, axis, reduction=reduction)
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("data", "shape", "axis"),
    [
        ((5,), (ENDLESS,), 0),
        ((5, 2), (ENDLESS, 2), 0),
        ((5, 3000), (ENDLESS, 3000), 0),
        ((3, 5), (3, ENDLESS), 1),
        ((200_000, 3), (ENDLESS, 3), 0),
    ],
)
@pytest.mark.parametrize("reduction", ["none", "add"])
@pytest.mark.parametrize("threads", [1, 3])
def test_scatter_elements(threads, data, shape, axis, reduction, tmp_path):
    """The thread that called works, or waits for others, which have longer parts.

    The call has a process of its own: the signal meets nothing that other tests have left there, and how a crash ended is seen.
    """
    given = [str(threads), json.dumps([data, shape, axis, reduction])]
    command = [sys.executable, "-X", "faulthandler", "-c", IN_A_PROCESS + INTERRUPTED, *given]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


WORKS_AFTERWARDS = """
for _ in range(3):
    with interrupted(0.1):
        endless = np.broadcast_to(np.int64(1), (10**12,))
        scatter_elements(np.zeros(5), endless, np.broadcast_to(np.float64(1), (10**12,)))
    indices = np.random.default_rng(0).integers(0, 1000, 500_000)
    np.testing.assert_array_equal(gather_elements(np.arange(1000), indices), indices)
"""
OTHER_THREAD = """
count = 3_000_000
results = []
updates = np.ones((count, 2))

def work():
    results.append(scatter_nd(np.zeros((2, 2)), np.zeros((count, 1), int), updates, reduction="add"))

other = threading.Thread(target=work)
other.start()
with interrupted(0.05):
    time.sleep(2)
other.join()
np.testing.assert_array_equal(results[0], [[count, count], [0, 0]])
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("code", [WORKS_AFTERWARDS, OTHER_THREAD], ids=["works afterwards", "another thread goes on"])
def test_after_and_beside_an_interrupted_call(code, threads, tmp_path):
    """A process of its own: where OpenVINO has used AMX, any signal for Python ends the process (Sapphire Rapids)."""
    command = [sys.executable, "-c", IN_A_PROCESS + code, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux to count threads")
def test_threads_end_when_fewer_are_asked_for(tmp_path):
    code = """
import os, time, numpy as np
from ov_gather import gather_elements, set_num_threads
def threads(count):
    set_num_threads(count)
    assert (gather_elements(data, indices) == indices).all()
    for _ in range(1000):
        if len(os.listdir("/proc/self/task")) - others == count - 1:
            return
        time.sleep(0.05)
    raise AssertionError((count, len(os.listdir("/proc/self/task")) - others))
data, indices = np.arange(1000), np.random.default_rng(0).integers(0, 1000, 2_000_000)
others = len(os.listdir("/proc/self/task"))
for count in (60, 2, 30, 1, 8, 3):
    threads(count)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, cwd=tmp_path)


def test_changes_of_the_number_of_threads_while_calls_run(rng):
    indices = np.random.default_rng(0).integers(0, 1000, 300_000)
    data = np.arange(1000)
    end = time.monotonic() + 2

    def call():
        while time.monotonic() < end:
            np.testing.assert_array_equal(gather_elements(data, indices), indices)

    others = [threading.Thread(target=call) for _ in range(3)]
    for other in others:
        other.start()
    while time.monotonic() < end:
        set_num_threads(int(rng.choice([1, 2, 5, 20])))
        time.sleep(0.001)
    for other in others:
        other.join(60)
        assert not other.is_alive()
