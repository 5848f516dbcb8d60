"""The five functions on arrays of any layout, type and number of threads, compared with NumPy's indexing.

Outputs lie in buffers of random bytes; results and the memory around them are compared bit by bit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.array_calls import Call, random_call
from helpers.array_layouts import OBJECTS, Target, interleaved, overlapping, placed, random_layout
from ov_gather import set_num_threads
from ov_gather.kernels import native

TRIALS = 40
SECONDS = 120
CALLS = 50
"""Number of calls in one attack."""


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Make calls, sequentially or concurrently, and rarely on the NumPy reference."""
    set_num_threads(int(rng.choice([1, 2, 3, 8])))
    calls = [_prepare(rng) for _ in range(CALLS)]
    if rng.random() < 0.1:
        with patch.object(native, "load", return_value=None):
            for call in calls:
                call()
    else:
        with ThreadPoolExecutor(int(rng.choice([1, 3]))) as pool:
            for done in [pool.submit(call) for call in calls]:
                done.result()


def _prepare(rng: np.random.Generator) -> Callable[[], None]:
    """Return a call on arrays of random layout; it raises AssertionError if the result is wrong."""
    call = random_call(rng)
    inputs = [placed(rng, value) for value in call.inputs]
    dtype = call.inputs[0].dtype
    if dtype in OBJECTS or rng.random() < 0.2:
        return lambda: _without_out(call, inputs)
    layout = random_layout(rng, call.shape, dtype.itemsize)
    choice, is_shared = rng.random(), False
    if choice < 0.05 and (shared := overlapping(rng, call.shape, dtype.itemsize)):
        layout, is_shared = shared, True
    if choice > 0.95:
        layout = interleaved(rng, call.shape, dtype.itemsize) or layout
    target = Target(rng, layout, call.shape, dtype)
    return lambda: (_refused if is_shared else _with_out)(call, inputs, target)


def _without_out(call: Call, inputs: list[NDArray[Any]]) -> None:
    result = _result(call, inputs, None)
    if result is not None:
        expected = call.expected()
        assert (result.dtype, result.shape) == (expected.dtype, call.shape) == (expected.dtype, expected.shape), call
        same = (result == expected).all() if expected.dtype in OBJECTS else result.tobytes() == expected.tobytes()
        assert same, call


def _with_out(call: Call, inputs: list[NDArray[Any]], target: Target) -> None:
    result = _result(call, inputs, target.array)
    if result is None:
        assert target.has_clean_margins(), call
    else:
        assert result is target.array, call
        assert target.holds(call.expected()), call


def _refused(call: Call, inputs: list[NDArray[Any]], target: Target) -> None:
    with pytest.raises(ValueError, match="elements of out overlap each other"):
        call.function(*inputs, **call.options, out=target.array)
    assert target.is_untouched(), call


def _result(call: Call, inputs: list[NDArray[Any]], out: NDArray[Any] | None) -> NDArray[Any] | None:
    """Return the result; None if an index is out of bounds, which the error must name. Inputs must not change."""
    try:
        result = call.function(*inputs, **call.options, out=out)
    except IndexError as error:
        assert call.bad is not None, (call, error)
        place, index = ", ".join(map(str, call.bad)), int(call.inputs[1][call.bad])
        assert re.search(rf"indices\[{place}\] = {index} is out of bounds", str(error)), (call, error)
        result = None
    else:
        assert call.bad is None, call
    for given, value in zip(inputs, call.inputs, strict=True):
        assert given.dtype in OBJECTS or given.tobytes() == value.tobytes(), call
    return result
