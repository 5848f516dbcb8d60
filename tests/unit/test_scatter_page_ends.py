"""Scatters touch nothing behind their arrays, however many updates are fetched ahead."""

import numpy as np
import pytest

from helpers.pairwise import pairs
from ov_gather import scatter_elements, scatter_nd

pytestmark = pytest.mark.sanitized

# shape of data, shape of updates, axis, own shape of indices
PATTERNS = {
    "one dimension": ((37,), (1003,), 0, (1003,)),
    "the last axis": ((37, 90), (37, 35), 1, (37, 35)),
    "the last axis, smaller than data": ((37, 9), (30, 5), 1, (30, 5)),
    "the first axis": ((33, 7), (29, 7), 0, (29, 7)),
    "columns that are packed": ((700, 300), (900, 300), 0, (900, 300)),
    "rows": ((50, 13), (70, 13), 0, (70, 1)),
    "rows that threads share": ((300, 70), (500, 70), 0, (500, 1)),
    "rows whose columns threads share": ((20, 1000), (60, 1000), 0, (60, 1)),
}
UPDATES = {"none": None, "sum": np.add, "max": np.maximum}


@pairs(name=PATTERNS, dtype=[np.uint8, np.float32, np.float64], index_dtype=[np.int32, np.int64], reduction=UPDATES)
def test_scatter_elements(name, dtype, index_dtype, reduction, at_the_end_of_a_page, rng):
    shape, update_shape, axis, own = PATTERNS[name]
    data, values = rng.integers(0, 250, shape).astype(dtype), rng.integers(0, 250, update_shape).astype(dtype)
    indices = rng.integers(-shape[axis], shape[axis], own).astype(index_dtype)
    indices.flat[-1] = -1
    places = [*np.indices(update_shape)]
    places[axis] = np.broadcast_to(indices, update_shape)
    expected = updated(data, tuple(places), values, reduction)
    guarded = [at_the_end_of_a_page(array) for array in (data, indices, values, np.zeros_like(data))]
    every = np.broadcast_to(guarded[1], update_shape)
    scatter_elements(guarded[0], every, guarded[2], axis, reduction=reduction, out=guarded[3])
    np.testing.assert_array_equal(guarded[3], expected)


@pairs(slice_shape=[(), (3,), (64,), (2000,)], index_dtype=[np.int32, np.int64], reduction=UPDATES, ids=str)
def test_scatter_nd(slice_shape, index_dtype, reduction, at_the_end_of_a_page, rng):
    data, values = rng.random((9, 7, *slice_shape), np.float32), rng.random((90, *slice_shape), np.float32)
    tuples = rng.integers([-9, -7], [9, 7], (90, 2)).astype(index_dtype)
    tuples[-1] = -1
    expected = updated(data, tuple(tuples.T), values, reduction)
    guarded = [at_the_end_of_a_page(array) for array in (data, tuples, values, np.zeros_like(data))]
    scatter_nd(*guarded[:3], reduction=reduction, out=guarded[3])
    np.testing.assert_array_equal(guarded[3], expected)


def updated(data, places, values, reduction):
    """NumPy makes updates in order: of those of one place the last one stays."""
    expected = data.copy()
    if UPDATES[reduction] is None:
        expected[places] = values
    else:
        UPDATES[reduction].at(expected, places, values)
    return expected
