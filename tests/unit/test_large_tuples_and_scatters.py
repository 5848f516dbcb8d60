"""Tuples and updates by the thousand, against NumPy indexing; scatters touch nothing behind their arrays."""

import os
import re

import numpy as np
import pytest

from helpers.pairwise import pairs
from ov_gather import gather_nd, scatter_elements, scatter_nd, set_num_threads

pytestmark = pytest.mark.sanitized

DTYPES = [np.uint8, np.float32, np.complex128]
INDEX_DTYPES = [np.int32, np.int64]
UPDATES = {"none": None, "sum": np.add, "max": np.maximum}


@pytest.fixture
def set_threads():
    """Set the number of threads until the end of a test."""
    yield set_num_threads
    set_num_threads(os.cpu_count() or 1)


def updated(data, places, values, reduction):
    """NumPy makes updates in order: of those of one place the last one stays."""
    expected = data.copy()
    if UPDATES[reduction] is None:
        expected[places] = values
    else:
        UPDATES[reduction].at(expected, places, values)
    return expected


@pairs(dtype=DTYPES, slice_shape=[(), (3,), (4,), (5, 7)], index_dtype=INDEX_DTYPES, ids=str)
def test_tuples_in_batches(dtype, slice_shape, index_dtype, rng):
    data = rng.integers(0, 250, (3, 40, 50, *slice_shape)).astype(dtype)
    tuples = (rng.integers(-40, 40, (3, 7001, 2)) * [1, 1.25]).astype(index_dtype)
    batch = np.arange(3)[:, None]
    np.testing.assert_array_equal(gather_nd(data, tuples, 1), data[batch, tuples[..., 0], tuples[..., 1]])
    out = np.empty((3, 7001, *slice_shape), dtype)
    assert gather_nd(data[:, :, ::-1], tuples, 1, out=out) is out
    np.testing.assert_array_equal(out, data[:, :, ::-1][batch, tuples[..., 0], tuples[..., 1]])


@pytest.mark.parametrize("index_dtype", INDEX_DTYPES)
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 6])
def test_tuples_of_every_length(depth, index_dtype):
    rng, shape = np.random.default_rng(0), (5, 3, 4, 2, 3, 2, 3)
    data = rng.random(shape, np.float32)
    tuples = np.stack([rng.integers(-size, size, 1500) for size in shape[:depth]], -1).astype(index_dtype)
    np.testing.assert_array_equal(gather_nd(data, tuples), data[tuple(tuples.T)])
    tuples[1200, -1], tuples[1400, 0] = shape[depth - 1], -9
    with pytest.raises(IndexError, match=rf"indices\[1200, {depth - 1}\] = {shape[depth - 1]} is out of bounds"):
        gather_nd(data, tuples)


@pytest.mark.parametrize("value", [50, -51, 2**31, 2**32, -(2**63)])
def test_the_first_tuple_that_is_out_of_bounds(value):
    tuples = np.zeros((3, 70_001, 2), np.int64)
    tuples[1, 7, 1] = tuples[1, 8, 0] = tuples[2, -1, 1] = value
    with pytest.raises(IndexError) as caught:
        gather_nd(np.zeros((3, 40, 50), np.float32), tuples, 1)
    assert f"indices[1, 7, 1] = {value} is out of bounds for axis 2 of size 50" in str(caught.value)


@pairs(
    dtype=[np.float32, np.int64],
    axis=[0, 1],
    updates=[2, 900],
    updates_are=["beside every element", "smaller than data"],
    reduction=UPDATES,
)
def test_data_is_copied_and_updated(dtype, axis, updates, updates_are, reduction, rng):
    shape = [700, 600]
    data = rng.integers(0, 250, shape).astype(dtype)
    shape[1 - axis] -= 0 if updates_are == "beside every element" else 5
    shape[axis] = updates
    indices, values = rng.integers(-data.shape[axis], data.shape[axis], shape), rng.integers(0, 250, shape).astype(dtype)
    places = [*np.indices(shape)]
    places[axis] = indices
    expected = updated(data, tuple(places), values, reduction)
    before = data.copy()
    np.testing.assert_array_equal(scatter_elements(data, indices, values, axis, reduction=reduction), expected)
    np.testing.assert_array_equal(data, before)


# shape of data, shape of updates, axis, dimensions along which one index names all
ROWS = {
    "of two dimensions": ((300, 70), (500, 70), 0, (1,)),
    "narrower than data": ((300, 70), (500, 61), 0, (1,)),
    "shorter than a cache line": ((300, 2), (500, 2), 0, (1,)),
    "of three dimensions": ((90, 5, 14), (200, 5, 14), 0, (1, 2)),
    "in batches": ((3, 90, 14), (3, 200, 14), 1, (2,)),
    "in fewer batches than data has": ((4, 90, 14), (2, 200, 14), 1, (2,)),
    "that an inner index names": ((90, 5, 14), (200, 5, 14), 0, (2,)),
    "of fewer inner indices than data has": ((90, 5, 14), (200, 3, 14), 0, (2,)),
    "one update": ((90, 14), (1, 14), 0, (1,)),
}


FORMS = ["a view", "a copy", "a copy with another index", "an index out of bounds"]


@pairs(name=ROWS, dtype=DTYPES, index_dtype=INDEX_DTYPES, reduction=["none", "sum"], form=FORMS)
def test_one_index_for_a_row(name, dtype, index_dtype, reduction, form, rng):
    """A view and a copy of it give the same; one index that differs goes where it says."""
    shape, update_shape, axis, along = ROWS[name]
    data, updates = rng.integers(0, 250, shape).astype(dtype), rng.integers(0, 250, update_shape).astype(dtype)
    own = [1 if i in along else size for i, size in enumerate(update_shape)]
    indices = np.broadcast_to(rng.integers(-shape[axis], shape[axis], own).astype(index_dtype), update_shape)
    if form != "a view":
        indices = indices.copy()
    last = (-1,) * len(shape)
    if form == "a copy with another index":
        indices[last] = (indices[last] + 1) % shape[axis]
    if form == "an index out of bounds":
        indices[last] = shape[axis]
        place = ", ".join(str(size - 1) for size in update_shape)
        with pytest.raises(IndexError, match=re.escape(f"indices[{place}] = {shape[axis]} is out of bounds")):
            scatter_elements(data, indices, updates, axis, reduction=reduction)
        return
    places = [*np.indices(update_shape)]
    places[axis] = indices
    expected = updated(data, tuple(places), updates, reduction)
    np.testing.assert_array_equal(scatter_elements(data, indices, updates, axis, reduction=reduction), expected)
    turned = np.ascontiguousarray(updates.T).T  # the same values, strides the other way round
    np.testing.assert_array_equal(scatter_elements(data, indices, turned, axis, reduction=reduction), expected)


# shape of data, shape of updates, axis: lines that are updated in batches, or beyond the caches, or that threads share
LINES = {
    "short lines": ((3000, 32), (3000, 8), 1),
    "lines of one update": ((3000, 5), (3000, 1), 1),
    "more updates than elements": ((3000, 5), (3000, 33), 1),
    "no updates": ((3000, 5), (3000, 0), 1),
    "few updates in a line": ((300, 1000), (300, 3), 1),
    "half a block": ((70, 400), (70, 128), 1),
    "a line beyond the caches": ((2, 2_000_000), (2, 9000), 1),
    "rows that share sets of a cache": ((1000, 2048), (600, 2048), 0),
    "columns for each thread": ((40_000, 40), (900, 40), 0),
    "columns narrower than a cache line": ((40_000, 7), (10_000, 7), 0),
}


@pytest.mark.sampled(22)
@pairs(name=LINES, dtype=[np.uint8, np.float32, np.complex128], index_dtype=INDEX_DTYPES, reduction=UPDATES, threads=[1, 3])
def test_lines(name, dtype, index_dtype, reduction, threads, rng, set_threads):
    shape, update_shape, axis = LINES[name]
    set_threads(threads)
    data, updates = (rng.uniform(0, 250, of).astype(dtype) for of in (shape, update_shape))
    indices = rng.integers(-shape[axis], shape[axis], update_shape).astype(index_dtype)
    places = [*np.indices(update_shape)]
    places[axis] = indices
    expected = updated(data, tuple(places), updates, reduction)
    assert scatter_elements(data, indices, updates, axis, reduction=reduction).tobytes() == expected.tobytes()
    if indices.size:
        indices[-1, -1] = shape[axis]
        with pytest.raises(IndexError, match=f"= {shape[axis]} is out of bounds for axis {axis}"):
            scatter_elements(data, indices, updates, axis, reduction=reduction)


@pytest.mark.sampled(8)
@pairs(count=[0, 1, 1700, 9000], dtype=[np.int8, np.float32, np.complex128], reduction=UPDATES, threads=[1, 3])
def test_rows_beyond_the_caches(count, dtype, reduction, threads, rng, set_threads):
    """Updates of such rows are sorted; sums round in the order of updates all the same."""
    set_threads(threads)
    data, updates = (rng.uniform(0, 120, (rows, 600)).astype(dtype) for rows in (5000, count))
    tuples = rng.integers(-5000, 5000, (count, 1))
    expected = updated(data, tuple(tuples.T), updates, reduction)
    assert scatter_nd(data, tuples, updates, reduction=reduction).tobytes() == expected.tobytes()


def test_few_rows_beyond_the_caches_without_updates():
    data = np.arange(3_000_000, dtype=np.float32).reshape(3, -1)
    result = scatter_nd(data, np.empty((0, 1), np.int64), np.empty((0, data.shape[1]), np.float32), out=np.zeros_like(data))
    np.testing.assert_array_equal(result, data)


def test_a_type_without_this_reduction_is_not_replaced():
    data = np.zeros(4, np.longdouble)
    with pytest.raises(TypeError, match="has no reduction add"):
        scatter_elements(data, np.array([1]), np.ones(1, np.longdouble), reduction="sum")


@pytest.mark.parametrize("columns", [3, 8])
def test_an_output_that_overlaps_the_updates(columns):
    memory = np.arange(4.0 * columns).reshape(4, columns)
    with pytest.raises(ValueError, match="overlaps"):
        scatter_elements(np.zeros((4, columns)), np.zeros((1, columns), np.int64), memory[:1], out=memory)


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


@pairs(name=PATTERNS, dtype=[np.uint8, np.float32, np.float64], index_dtype=[np.int32, np.int64], reduction=UPDATES)
def test_scatter_elements_touches_nothing_behind_its_arrays(name, dtype, index_dtype, reduction, at_the_end_of_a_page, rng):
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
def test_scatter_nd_touches_nothing_behind_its_arrays(slice_shape, index_dtype, reduction, at_the_end_of_a_page, rng):
    data, values = rng.random((9, 7, *slice_shape), np.float32), rng.random((90, *slice_shape), np.float32)
    tuples = rng.integers([-9, -7], [9, 7], (90, 2)).astype(index_dtype)
    tuples[-1] = -1
    expected = updated(data, tuple(tuples.T), values, reduction)
    guarded = [at_the_end_of_a_page(array) for array in (data, tuples, values, np.zeros_like(data))]
    scatter_nd(*guarded[:3], reduction=reduction, out=guarded[3])
    np.testing.assert_array_equal(guarded[3], expected)
