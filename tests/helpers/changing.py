"""Indices that another thread changes while a call reads them: what tests of the kernel and of OpenVINO share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

SECONDS = 0.5  # of processor time, of all threads together: on a busy machine a race takes longer, and is as hard
CALLS = 10  # at least
POISON = -77.0  # data does not hold this value
WILD = 10_000_000  # an index at least this far from 0 is out of bounds of any data, and of its memory


@contextmanager
def changing(indices: NDArray[Any], narrowed: bool) -> Iterator[None]:
    """Meanwhile a thread makes some indices invalid, and valid again; if `narrowed`, the invalid ones fit in 32 bits."""
    valid, flat, stop = indices.ravel().copy(), indices.reshape(-1), Event()
    limits = np.iinfo(np.int32 if narrowed else indices.dtype)
    wild = (limits.min, -WILD, WILD, limits.max)

    def change() -> None:
        rng = np.random.default_rng(1)
        while not stop.is_set():
            for at in rng.integers(0, flat.size, 64).tolist():
                flat[at] = wild[at % 4]
                flat[at] = valid[at]
            flat[::97] = wild[0]
            flat[::97] = valid[::97]

    thread = Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def race(
    call: Callable[[], Any],
    indices: NDArray[Any],
    out: NDArray[Any],
    error: type[Exception],
    expected: NDArray[Any],
    narrowed: bool = False,
) -> tuple[int, int]:
    """Call again and again while indices change; returns how many calls had a result, and how many did not.

    Asserts that a result is that of the valid indices, in full, and that an error names an index that is out of bounds, or
    says that the indices have changed.
    """
    done = refused = 0
    end = process_time() + SECONDS
    with changing(indices, narrowed):
        while process_time() < end or done + refused < CALLS:  # because the other thread may use all the time at first
            out.fill(POISON)
            try:
                call()
            except error as refusal:
                refused += 1
                assert_right(str(refusal))
            else:
                done += 1
                np.testing.assert_array_equal(out, expected)
    return done, refused


def assert_right(message: str) -> None:
    place, named, _ = message.partition(" is out of bounds for axis ")
    if named:
        assert abs(int(place.rpartition(" = ")[2])) >= WILD, message
    else:
        assert "another thread has changed the indices" in message
