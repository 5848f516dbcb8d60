"""scatter_nd against a loop over NumPy indexing, on the compiled kernel and on the reference; threads; what it refuses."""

import os

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.pairwise import KERNELS, pairs
from helpers.reductions import product, scattered
from ov_gather import scatter_elements, scatter_nd, set_num_threads

pytestmark = [pytest.mark.sanitized, pytest.mark.usefixtures("kernel")]

DTYPES = [np.bool_, np.int8, np.uint16, np.float16, np.float32, np.int64, np.float64, np.complex128, object, "U3", "S5"]
FUNCTIONS = {"sum": np.add, "prod": product, "min": np.minimum, "max": np.maximum}


def tuples(rng, data, shape, depth, dtype=np.int64):
    indices = np.zeros((*shape, depth), dtype)
    for k in range(depth):
        indices[..., k] = rng.integers(-data.shape[k], data.shape[k], shape)
    return indices


def values(rng, shape, dtype):
    return rng.integers(0, 100, shape).astype(dtype)


def same(one, other):
    equal = one.tolist() == other.tolist() if one.dtype.hasobject else one.tobytes() == other.tobytes()
    return one.dtype == other.dtype and one.shape == other.shape and equal


@pairs(kernel=KERNELS, dtype=DTYPES, depth=range(4), ids=str)
def test_every_dtype(dtype, depth, rng):
    data = values(rng, (4, 5, 6), dtype)
    indices = tuples(rng, data, (30,), depth)  # more tuples than places in a row: some are updated several times
    updates = values(rng, (30, *data.shape[depth:]), dtype)
    assert same(scatter_nd(data, indices, updates), scattered(data, indices, updates))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_every_shape(data):
    shape = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    depth = data.draw(st.integers(0, len(shape)))
    own = data.draw(st.lists(st.integers(0, 4), max_size=2)) if 0 not in shape[:depth] else [0]
    reduction = data.draw(st.sampled_from(["none", *FUNCTIONS]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    strided = data.draw(st.booleans())
    order = "F" if strided else "C"
    table = values(rng, shape, np.float32).copy(order)
    indices = tuples(rng, table, own, depth, data.draw(st.sampled_from([np.int32, np.int64])))
    updates = np.asarray(values(rng, (*own, *shape[depth:]), np.float32)).copy(order)
    out = np.zeros((*shape, 2), np.float32)[..., 0] if strided else None
    result = scatter_nd(table, indices, updates, reduction=reduction, out=out)
    assert same(result, scattered(table, indices, updates, function=FUNCTIONS.get(reduction)))
    assert out is None or result is out


def test_rank_8_with_views(rng):
    data = values(rng, (2, 3, 2, 2, 3, 2, 2, 2), np.int16)[::-1, :, ::-1]
    indices = tuples(rng, data, (3, 4), 5)[::2, ::-1]
    updates = values(rng, (2, 8, 2, 2, 2), np.int16)[:, ::2, :, ::-1]
    assert same(scatter_nd(data, indices, updates), scattered(data, indices, updates))


@pytest.mark.parametrize("reduction", FUNCTIONS)
@pytest.mark.parametrize(
    "dtype", [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint64, np.int64, ">i4", np.float32, np.float64]
)
def test_reductions(reduction, dtype, rng):
    data = values(rng, (6, 7, 3), dtype)
    indices = tuples(rng, data, (60,), 2)
    updates = values(rng, (60, 3), dtype)
    with np.errstate(all="ignore"):
        assert same(
            scatter_nd(data, indices, updates, reduction=reduction),
            scattered(data, indices, updates, function=FUNCTIONS[reduction]),
        )


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("reduction", FUNCTIONS)
def test_complex_numbers(dtype, reduction, rng):
    """Complex numbers are compared as NumPy compares them, and every step of a product is rounded."""
    data, updates = (rng.normal(size=(size, 7)) + 1j * rng.integers(-3, 3, (size, 7)) for size in (5, 60))
    data.real[:, 3:], updates.real[:, 3:] = 1, 1
    updates[7, 5], updates[8, 6] = complex(0, np.nan), complex(np.nan, 9)
    data, updates, rows = data.astype(dtype), updates.astype(dtype), rng.integers(-5, 5, (60, 1))
    expected = scattered(data, rows, updates, function=FUNCTIONS[reduction])
    assert np.array_equal(scatter_nd(data, rows, updates, reduction=reduction), expected, equal_nan=True)
    rows = np.broadcast_to(rows, updates.shape)
    assert np.array_equal(scatter_elements(data, rows, updates, reduction=reduction), expected, equal_nan=True)


@pytest.mark.parametrize(("reduction", "expected"), [("min", 1 + 2j), ("max", 4), ("sum", 6 + 5j), ("mean", 2 + 5j / 3)])
def test_complex_numbers_without_the_initial_value(reduction, expected):
    updates = np.array([1 + 3j, 1 + 2j, 4])
    result = scatter_elements(np.array([9j]), [0, 0, 0], updates, reduction=reduction, use_init_val=False)
    assert result.tolist() == [expected]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("reduction", FUNCTIONS)
def test_half_floats_are_reduced_in_float32_and_rounded_once(dtype, reduction, rng):
    data, updates = rng.random((5, 2)).astype(dtype), rng.random((40, 2)).astype(dtype)
    indices = rng.integers(-5, 5, (40, 1))
    expected = scattered(data.astype(np.float32), indices, updates.astype(np.float32), function=FUNCTIONS[reduction]).astype(
        dtype
    )
    assert same(scatter_nd(data, indices, updates, reduction=reduction), expected)


@pytest.mark.parametrize("function", ["scatter_nd", "scatter_elements"])
def test_half_floats_that_no_update_names_keep_every_bit(function):
    """A signalling NaN would become a quiet one on the way through float32."""
    data = np.array([0x7D01, 0xFC01, 0x0001, 0x3C00], np.uint16).view(np.float16)
    one = np.ones(1, np.float16)
    if function == "scatter_nd":
        result = scatter_nd(data, [[3]], one, reduction="sum")
    else:
        result = scatter_elements(data, [3], one, reduction="sum")
    assert result.view(np.uint16).tolist() == [0x7D01, 0xFC01, 0x0001, 0x4000]


def test_scatter_elements_reduces_big_endian_numbers():
    data = np.array([1, 2, 3], ">i4")
    assert same(scatter_elements(data, [0, 0], data[:2], reduction="sum"), np.array([4, 2, 3], ">i4"))


@pairs(
    kernel=KERNELS, reduction=["none", "sum"], case=[((3000, 5), 1), ((200, 100), 2), ((3, 40_000), 1), ((90_000,), 0)], ids=str
)
def test_any_number_of_threads_gives_the_same_bits(case, reduction, rng):
    """Sums of floats depend on the order of their updates."""
    shape, depth = case
    data = rng.random(shape, np.float32)
    count = 120_000 // max(1, int(np.prod(shape[depth:])))
    indices = tuples(rng, data, (count,), depth)
    updates = rng.random((count, *shape[depth:]), np.float32)
    results = []
    try:
        for threads in (1, 2, 3, 7):
            set_num_threads(threads)
            results.append(scatter_nd(data, indices, updates, reduction=reduction))
    finally:
        set_num_threads(os.cpu_count() or 1)
    assert same(results[0], scattered(data, indices, updates, function=FUNCTIONS.get(reduction)))
    assert all(same(result, results[0]) for result in results)


def test_a_nan_stays():
    data, updates = np.array([1.0, np.nan]), np.array([np.nan, 5, 7])
    assert np.isnan(scatter_nd(data, [[0], [0], [1]], updates, reduction="min")).all()


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((np.ones((3, 4)), [[0, 1, 2]], [1.0]), ValueError, "tuples of 3 coordinates index data of rank 2"),
        ((np.ones((3, 4)), np.int64(1), 1.0), ValueError, "rank of at least 1"),
        ((np.float64(1), [[0]], [1.0]), ValueError, "rank of at least 1"),
        ((np.ones((3, 4)), [[0.5]], np.ones((1, 4))), TypeError, "indices must be int32 or int64, not float64"),
        ((np.ones((3, 4)), [[0]], np.ones(4)), ValueError, r"updates \(4,\) must have .* slices \(1, 4\)"),
        ((np.ones((3, 4)), [[0]], np.ones((1, 4), np.int64)), TypeError, "updates must have data's dtype float64, not int64"),
        (
            (np.ones((3, 4)), [[0, 1], [2, -5], [3, 9]], np.ones(3)),
            IndexError,
            r"^scatter_nd: indices\[1, 1\] = -5 is out of bounds for axis 1 of size 4 \(valid -4..3\)$",
        ),
        (
            (np.ones((3, 0)), [[0], [3]], np.ones((2, 0))),
            IndexError,
            r"indices\[1, 0\] = 3 is out of bounds for axis 0 of size 3",
        ),
        ((np.ones((0, 4)), [[0, 1]], [1.0]), IndexError, r"axis 0 of size 0 \(no index is valid\)"),
        ((np.ones((3, 4)), [[2**40, 0]], [1.0]), IndexError, r"indices\[0, 0\] = 1099511627776"),
    ],
)
def test_what_is_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        scatter_nd(*arguments)


def test_nothing_is_written_where_a_coordinate_is_out_of_bounds():
    out = np.zeros((3, 4))
    with pytest.raises(IndexError):
        scatter_nd(np.ones((3, 4)), [[0], [3]], np.ones((2, 4)), out=out)
    assert not out.any()


def test_out_is_checked():
    data = np.ones((3, 4))
    with pytest.raises(ValueError, match="out overlaps an input"):
        scatter_nd(data, [[0]], np.ones((1, 4)), out=data)
    with pytest.raises(TypeError, match="out must be an array of data's dtype"):
        scatter_nd(data, [[0]], np.ones((1, 4)), out=np.ones((3, 4), np.float32))


def test_what_has_no_reduction():
    data = np.ones(2, ml_dtypes.float8_e5m2)
    with pytest.raises(TypeError, match="float8_e5m2 has no reduction add"):
        scatter_nd(data, [[0]], data[:1], reduction="sum")
    with pytest.raises(ValueError, match=r"reduction must be one of none, add, mul, min, max, .*not 'mean'"):
        scatter_nd(data, [[0]], data[:1], reduction="mean")
