"""Indices that another thread changes during the call: the result of valid ones or an IndexError, and nothing else."""

import numpy as np
import pytest

from helpers.changing import POISON, changing, race
from ov_gather import gather, gather_elements, gather_nd, gather_scatter, scatter_elements, scatter_nd

pytestmark = pytest.mark.sanitized

ROWS = 1000
RNG = np.random.default_rng(0)
DATA = RNG.random((ROWS, 64), np.float32)
# The compiled kernel has loops of its own for each axis.
ELEMENTS = {axis: RNG.integers(-DATA.shape[axis], DATA.shape[axis], (600, 64), np.int64) for axis in (0, 1)}
SLICES = RNG.integers(-ROWS, ROWS, 20_000)
TUPLES = np.stack([RNG.integers(-size, size, 40_000) for size in DATA.shape], -1)
TUPLE_UPDATES = RNG.random(len(TUPLES), np.float32)
UPDATES = {axis: RNG.random(ELEMENTS[axis].shape, np.float32) for axis in (0, 1)}

CALLS = {
    "elements, axis 0": (ELEMENTS[0], lambda indices, out: gather_elements(DATA, indices, 0, out=out)),
    "elements, axis 1": (ELEMENTS[1], lambda indices, out: gather_elements(DATA, indices, 1, out=out)),
    "elements, i32": (ELEMENTS[1].astype(np.int32), lambda indices, out: gather_elements(DATA, indices, 1, out=out)),
    "slices": (SLICES, lambda indices, out: gather(DATA, indices, out=out)),
    "columns": (SLICES[:300], lambda indices, out: gather(DATA.T, indices, 1, out=out)),
    "tuples": (TUPLES, lambda indices, out: gather_nd(DATA, indices, out=out)),
    "sources": (SLICES, lambda indices, out: gather_scatter(DATA, indices, SLICES, ROWS, out=out)),
    "targets": (SLICES, lambda indices, out: gather_scatter(DATA, SLICES, indices, ROWS, out=out)),
    "scatter of tuples": (
        TUPLES,
        lambda indices, out: scatter_nd(DATA, indices, TUPLE_UPDATES, reduction="sum", out=out),
    ),
    "scatter": (ELEMENTS[0], lambda indices, out: scatter_elements(DATA, indices, UPDATES[0], 0, out=out)),
    "sum": (ELEMENTS[1], lambda indices, out: scatter_elements(DATA, indices, UPDATES[1], 1, reduction="sum", out=out)),
    "mean": (ELEMENTS[0], lambda indices, out: scatter_elements(DATA, indices, UPDATES[0], 0, reduction="mean", out=out)),
    "maximum of updates alone": (
        ELEMENTS[1],
        lambda indices, out: scatter_elements(DATA, indices, UPDATES[1], 1, reduction="max", use_init_val=False, out=out),
    ),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", CALLS)
def test_a_result_is_that_of_valid_indices(name, kernel):
    given, call = CALLS[name]
    indices = given.copy()
    expected = call(indices, None)
    out = np.empty_like(expected)
    assert any(race(lambda: call(indices, out), indices, out, IndexError, expected))


@pytest.mark.sampled(1)
def test_zeros_take_the_place_of_what_is_out_of_bounds(kernel):
    expected, out, indices = gather(DATA, SLICES), np.empty((SLICES.size, DATA.shape[1]), np.float32), SLICES.copy()
    with changing(indices, narrowed=False):
        for _ in range(100):
            out.fill(POISON)
            gather(DATA, indices, bounds="zero", out=out)
            assert ((out == expected).all(1) | (out == 0).all(1)).all()
