"""gather, gather_nd and scatter_elements against NumPy indexing, on the compiled kernel and on the reference."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.pairwise import KERNELS, pairs
from helpers.reductions import scattered
from ov_gather import gather, gather_elements, gather_nd, scatter_elements

pytestmark = [pytest.mark.sanitized, pytest.mark.usefixtures("kernel")]

DTYPES = [np.bool_, np.int8, np.uint16, np.float16, np.float32, np.int64, np.float64, np.complex128, object, "U3"]


def values(rng, shape, dtype=np.float32):
    return rng.integers(0, 100, shape).astype(dtype)


@pairs(kernel=KERNELS, dtype=DTYPES, axis=[0, 1, -1], ids=str)
def test_gather_every_dtype(dtype, axis, rng):
    data = values(rng, (4, 5, 6), dtype)
    indices = rng.integers(-data.shape[axis], data.shape[axis], (2, 3)).astype(np.int32)
    assert np.array_equal(gather(data, indices, axis), np.take(data, indices, axis))


@st.composite
def batched(draw):
    batch = draw(st.lists(st.integers(0, 3), max_size=2))
    outer = draw(st.lists(st.integers(0, 3), max_size=2))
    inner = draw(st.lists(st.integers(0, 3), max_size=2))
    own = draw(st.lists(st.integers(0, 4), max_size=2))
    return batch, outer, draw(st.integers(1, 5)), own, inner


@settings(max_examples=150, deadline=None)
@given(batched(), st.booleans(), st.integers(0, 2**32))
def test_gather_with_batch_dims(shapes, strided, seed):
    batch, outer, size, own, inner = shapes
    rng = np.random.default_rng(seed)
    data = values(rng, (*batch, *outer, size, *inner))
    data = np.asfortranarray(data) if strided else data
    indices = rng.integers(-size, size, (*batch, *own))
    axis = len(batch) + len(outer)
    output = gather(data, indices, axis - data.ndim, len(batch))
    assert output.shape == (*batch, *outer, *own, *inner)
    for place in np.ndindex(*batch):
        assert np.array_equal(output[place], np.take(data[place], indices[place], len(outer)))


@pairs(
    kernel=KERNELS,
    place=[((6, 2000), 0), ((2000,), 0), ((3, 700, 2), 1), ((40, 3), 1)],
    dtype=[np.float32, np.uint8, np.complex128],
    ids=str,
)
def test_gather_fills_zeros_where_the_index_is_out_of_bounds(place, dtype, rng):
    shape, axis = place
    data = values(rng, shape, dtype) + dtype(1)
    size = shape[axis]
    indices = rng.integers(-2 * size, 2 * size, 1500)
    inside = (indices >= -size) & (indices < size)
    expected = np.take(data, np.where(inside, indices, 0), axis)
    expected[(slice(None),) * axis + (~inside,)] = 0
    assert np.array_equal(gather(data, indices, axis, bounds="zero"), expected)
    assert not gather(data[(slice(None),) * axis + (slice(0),)], indices, axis, bounds="zero").any()


def test_an_empty_output_of_valid_indices():
    indices = np.array([[0], [2]])
    assert gather(np.ones((3, 0)), indices).shape == (2, 1, 0)
    assert gather(np.ones((3, 0)), indices + 97, bounds="zero").shape == (2, 1, 0)
    assert gather_nd(np.ones((3, 0)), indices).shape == (2, 0)
    assert gather_elements(np.ones((3, 0)), np.full((9, 0), 99)).shape == (9, 0)


def test_records_with_objects():
    data = np.array([("a", 1), ("b", 2), ("c", 3)], [("name", "O"), ("value", "f4")])
    assert gather(data, [2, 0]).tolist() == [("c", 3), ("a", 1)]
    assert gather(data, [1, 3], bounds="zero").tolist() == [("b", 2), (0, 0)]
    assert gather_nd(data, [[-1], [1]]).tolist() == [("c", 3), ("b", 2)]
    assert scatter_elements(data, [0], data[2:]).tolist() == [("c", 3), ("b", 2), ("c", 3)]
    with pytest.raises(TypeError, match="has no reduction add"):
        scatter_elements(data, [0], data[2:], reduction="sum")


def test_gather_fills_empty_strings():
    words = np.array(["a", "b"], object)
    assert gather(words, [1, 2, -2, -3], bounds="zero").tolist() == ["b", "", "a", ""]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((np.ones(3), [0.5]), TypeError, "indices must be int32 or int64, not float64"),
        ((np.ones(3), np.array([1], np.uint32)), TypeError, "not uint32"),
        ((np.float64(3), [0]), ValueError, "data is a scalar"),
        ((np.ones((3, 4)), [0], 2), ValueError, r"axis 2 is out of range for rank 2 \(valid -2..1\)"),
        ((np.ones((3, 4)), [0], 0, 1), ValueError, "batch_dims 1 exceeds axis 0"),
        ((np.ones((3, 4)), [0], 1, 2), ValueError, "batch_dims 2 is out of range for rank 1"),
        ((np.ones((3, 4)), [[0]], 1, 1), ValueError, r"the first 1 dimensions \(batch_dims\) of data .* differ"),
        ((np.ones((3, 4)), [[0, 1], [4, -5]], 1), IndexError, r"indices\[1, 0\] = 4 is out of bounds for axis 1 of size 4"),
        (
            (np.ones((2, 9, 4)), [[0, 1], [-5, 4]], 2, 1),
            IndexError,
            r"indices\[1, 0\] = -5 is out of bounds for axis 2 of size 4",
        ),
        ((np.ones((3, 0)), [0], 1), IndexError, r"size 0 \(no index is valid\)"),
        # An index out of bounds raises also where the output is empty.
        ((np.ones((3, 0)), [0, 99]), IndexError, r"indices\[1\] = 99 is out of bounds for axis 0 of size 3 \(valid -3..2\)"),
        ((np.ones((3, 0)), np.int64(-4)), IndexError, r"indices\[\] = -4 is out of bounds for axis 0 of size 3"),
        ((np.ones((0, 3)), [[0], [3]], 1), IndexError, r"indices\[1, 0\] = 3 is out of bounds for axis 1 of size 3"),
        ((np.ones((2, 3, 0)), [[0], [3]], 1, 1), IndexError, r"indices\[1, 0\] = 3 is out of bounds for axis 1 of size 3"),
        ((np.ones((3, 0), object), [99]), IndexError, r"indices\[0\] = 99 is out of bounds"),
    ],
)
def test_gather_refuses(arguments, error, text):
    with pytest.raises(error, match=text):
        gather(*arguments)


@pairs(kernel=KERNELS, dtype=DTYPES, depth=range(4), ids=str)
def test_gather_nd_every_dtype(dtype, depth, rng):
    data = values(rng, (4, 5, 6), dtype)
    tuples = np.zeros((7, 2, depth), np.int64)
    for k in range(depth):
        tuples[..., k] = rng.integers(-data.shape[k], data.shape[k], (7, 2))
    expected = data[tuple(np.moveaxis(tuples, -1, 0))] if depth else np.broadcast_to(data, (7, 2, 4, 5, 6))
    assert np.array_equal(gather_nd(data, tuples), expected)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_gather_nd_with_batch_dims(data):
    batch = data.draw(st.lists(st.integers(1, 3), max_size=2))
    dims = data.draw(st.lists(st.integers(1, 4), max_size=3))
    own = data.draw(st.lists(st.integers(0, 3), max_size=2))
    inner = data.draw(st.lists(st.integers(0, 3), min_size=0 if dims else 1, max_size=2))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    table = values(rng, (*batch, *dims, *inner))
    tuples = np.zeros((*batch, *own, len(dims)), data.draw(st.sampled_from([np.int32, np.int64])))
    for k, size in enumerate(dims):
        tuples[..., k] = rng.integers(-size, size, tuples.shape[:-1])
    output = gather_nd(table, tuples, len(batch))
    assert output.shape == (*batch, *own, *inner)
    for place in np.ndindex(*batch, *own):
        assert np.array_equal(output[place], table[place[: len(batch)]][tuple(tuples[place])])


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((np.ones((3, 4)), [[0, 1, 2]]), ValueError, "tuples of 3 coordinates index data of rank 2"),
        ((np.ones((3, 4)), [[0, 1]], 1), ValueError, "first 1 dimensions"),
        ((np.ones((3, 4)), [[0], [1], [2]], 2), ValueError, "batch_dims 2 is out of range for rank 2"),
        ((np.ones((3, 4)), [[0]], -1), ValueError, "batch_dims -1 is negative"),
        ((np.ones((3, 4)), np.int64(1)), ValueError, "rank of at least 1"),
        (
            (np.ones((3, 4)), [[0, 1], [2, -5], [3, 9]]),
            IndexError,
            r"indices\[1, 1\] = -5 is out of bounds for axis 1 of size 4",
        ),
        ((np.ones((2, 3, 4)), [[[0]], [[3]]], 1), IndexError, r"indices\[1, 0, 0\] = 3 is out of bounds for axis 1 of size 3"),
        ((np.ones((0, 4)), [[0, 1]]), IndexError, r"axis 0 of size 0 \(no index is valid\)"),
        ((np.ones((3, 4)), [[2**40, 0]]), IndexError, r"indices\[0, 0\] = 1099511627776"),
        ((np.ones((3, 4, 0)), [[0, 3], [-3, 4]]), IndexError, r"indices\[1, 1\] = 4 is out of bounds for axis 1 of size 4"),
    ],
)
def test_gather_nd_refuses(arguments, error, text):
    with pytest.raises(error, match=text):
        gather_nd(*arguments)


@pairs(kernel=KERNELS, dtype=DTYPES, axis=range(3), ids=str)
def test_scatter_elements_every_dtype(dtype, axis, rng):
    data = values(rng, (4, 5, 6), dtype)
    shape = tuple(9 if i == axis else size - i % 2 for i, size in enumerate(data.shape))  # smaller off the axis, duplicates
    indices = rng.integers(-data.shape[axis], data.shape[axis], shape)
    updates = values(rng, shape, dtype)
    expected = scattered(data, indices, updates, axis)
    assert np.array_equal(scatter_elements(data, indices, updates, axis - 3), expected)


REDUCED = [np.bool_, np.int8, np.uint8, np.int32, np.uint64, np.float32, np.float64]
FUNCTIONS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}


@pairs(reduction=FUNCTIONS, dtype=REDUCED, axis=[0, 1])  # with each kernel
def test_reductions(reduction, dtype, axis, rng):
    data = values(rng, (6, 700), dtype)
    shape = (9, 700) if axis == 0 else (6, 900)
    indices = rng.integers(0, data.shape[axis], shape).astype(np.int32)
    updates = values(rng, shape, dtype)
    with np.errstate(all="ignore"):
        expected = scattered(data, indices, updates, axis, FUNCTIONS[reduction])
        assert np.array_equal(scatter_elements(data, indices, updates, axis, reduction=reduction), expected)


def test_reductions_without_the_initial_value():
    data, indices, updates = np.array([10.0, 20, 30, 40]), np.array([1, 1, -1]), np.array([2.0, 5, 7])
    results = {
        name: scatter_elements(data, indices, updates, reduction=name, use_init_val=False).tolist()
        for name in ("sum", "prod", "min", "max", "mean")
    }
    assert results == {
        "sum": [10, 7, 30, 7],
        "prod": [10, 10, 30, 7],
        "min": [10, 2, 30, 7],
        "max": [10, 5, 30, 7],
        "mean": [10, 3.5, 30, 7],
    }
    assert scatter_elements(data, indices, updates, reduction="mean").tolist() == [10, 9, 30, 23.5]
    whole = scatter_elements(np.array([-1, 4]), np.array([0, 1]), np.array([-2, 5]), reduction="mean")
    assert whole.tolist() == [-2, 4]  # rounded down


def test_a_nan_stays_and_half_floats_are_reduced_in_float32():
    assert np.isnan(scatter_elements(np.array([1.0]), [0, 0], np.array([np.nan, 5]), reduction="min"))
    half = scatter_elements(np.zeros(1, np.float16), np.zeros(3000, np.int64), np.ones(3000, np.float16), reduction="sum")
    assert half.tolist() == [3000]  # one by one in float16 it would stop at 2048


@pairs(kernel=KERNELS, columns=[100, 300], update=[("f4", "none"), ("i8", "none"), ("u1", "none"), ("i4", "sum")], ids=str)
def test_scatter_into_long_columns(columns, update, rng):
    """The compiled kernel packs such columns piece by piece, where rows are long."""
    dtype, reduction = update
    data, updates = values(rng, (2, 2000, columns), dtype), values(rng, (2, 1500, columns), dtype)
    indices = rng.integers(-2000, 2000, updates.shape)
    expected = data.copy()
    outer, inner = np.ix_([0, 1], range(columns))
    for k in range(1500):
        old = expected[outer, indices[:, k], inner]
        expected[outer, indices[:, k], inner] = updates[:, k] + (old if reduction == "sum" else 0)
    assert np.array_equal(scatter_elements(data, indices, updates, 1, reduction=reduction), expected)
    indices[1, 7, 3] = 2000
    with pytest.raises(IndexError, match=r"indices\[1, 7, 3\] = 2000 is out of bounds for axis 1 of size 2000"):
        scatter_elements(data, indices, updates, 1)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((np.ones((2, 3)), [[0]], [[1.0, 2]]), ValueError, r"updates \(1, 2\) must have indices' shape \(1, 1\)"),
        ((np.ones((2, 3)), [[0]], [[1]]), TypeError, "updates must have data's dtype float64, not int64"),
        ((np.ones((2, 3)), [[0] * 4], [[1.0] * 4]), ValueError, "exceed data of shape .* in dimension 1"),
        (
            (np.ones((2, 3)), [[0, 1], [0, 2]], np.ones((2, 2))),
            IndexError,
            r"indices\[1, 1\] = 2 is out of bounds for axis 0 of size 2",
        ),
        ((np.ones((2, 3)), [[0, -3]], np.ones((1, 2))), IndexError, r"indices\[0, 1\] = -3"),
        ((np.ones((2, 3)), [0], [1.0]), ValueError, "same rank"),
    ],
)
def test_scatter_refuses(arguments, error, text):
    with pytest.raises(error, match=text):
        scatter_elements(*arguments)


@pytest.mark.parametrize("dtype", [np.dtype("U3"), np.dtype(ml_dtypes.float8_e5m2), np.dtype(ml_dtypes.float8_e4m3fn)], ids=str)
@pytest.mark.parametrize("reduction", ["add", "max", "mean"])
def test_types_without_reductions(dtype, reduction):
    """NumPy calls a type of 8 bits a float, but the compiled kernel would take its bits for integers."""
    data = np.array([1, 2, 3]).astype(dtype)
    with pytest.raises(TypeError, match=f"{dtype.name if dtype.kind != 'U' else 'U3'} has no reduction {reduction}"):
        scatter_elements(data, np.array([0, 0]), data[:2], 0, reduction=reduction)
