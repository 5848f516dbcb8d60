"""gather_scatter against a loop over edges in NumPy, on the compiled kernel and on the reference; threads; what it refuses."""

import os

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.pairwise import KERNELS, pairs
from ov_gather import gather, gather_scatter, scatter_nd, set_num_threads
from ov_gather.kernels import gather_scatter as module
from ov_gather.kernels import reference

pytestmark = [pytest.mark.sanitized, pytest.mark.usefixtures("kernel")]

DTYPES = [np.dtype(dtype) for dtype in (np.float32, np.float16, ml_dtypes.bfloat16)]
STEPS = {"sum": np.add, "add": np.add, "mean": np.add, "min": np.minimum, "max": np.maximum}
WIDTHS = [1, 3, 16, 17, 64, 100, 160]


def reduced(data, source, target, size, weight=None, reduction="sum"):
    """One edge after the other, in float32."""
    rows = [[] for _ in range(size)]
    for edge in range(len(source)):
        message = data[source[edge]].astype(np.float32)
        if weight is not None:
            factor = weight[edge].astype(np.float32)
            message = message * factor.reshape(factor.shape + (1,) * (message.ndim - factor.ndim))
        rows[target[edge]].append(message)
    output = np.zeros((size, *data.shape[1:]), np.float32)
    for row, messages in enumerate(rows):
        if messages:
            total = np.float32(0) if STEPS[reduction] is np.add else messages[0]
            for message in messages:
                total = STEPS[reduction](total, message)
            output[row] = total / np.float32(len(messages)) if reduction == "mean" else total
    return output.astype(data.dtype)


def graph(rng, nodes, rows, edges, kind=np.int64):
    return rng.integers(-nodes, nodes, edges).astype(kind), rng.integers(-rows, rows, edges).astype(kind)


def normal(rng, shape, dtype=np.float32):
    return rng.standard_normal(shape, np.float32).astype(dtype)


def assert_same(one, other):
    assert (one.dtype, one.shape) == (other.dtype, other.shape)
    assert one.tobytes() == other.tobytes()


@pairs(kernel=KERNELS, dtype=DTYPES, reduction=list(STEPS), width=WIDTHS, weights=[None, 0, 1], index=["i4", "i8"], ids=str)
def test_every_type_and_width(dtype, reduction, width, weights, index, rng):
    data = normal(rng, (20, width), dtype)
    source, target = graph(rng, 20, 11, 60, index)
    weight = None if weights is None else normal(rng, (60, width)[: weights + 1], dtype)
    found = gather_scatter(data, source, target, 11, weight, reduction=reduction)
    assert_same(found, reduced(data, source, target, 11, weight, reduction))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_every_shape(data):
    behind = data.draw(st.lists(st.sampled_from([0, 1, 2, 5, 16, 40]), max_size=3))
    edges, rows = data.draw(st.integers(0, 30)), data.draw(st.integers(1, 6))
    nodes = data.draw(st.integers(1, 6))
    of_weight = data.draw(st.none() | st.integers(0, len(behind)))
    reduction = data.draw(st.sampled_from(list(STEPS)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    strided = data.draw(st.booleans())
    table = normal(rng, (nodes, *behind)).copy("F" if strided else "C")
    source, target = graph(rng, nodes, rows, edges, data.draw(st.sampled_from(["i4", "i8", ">i8"])))
    weight = None if of_weight is None else normal(rng, (edges, *behind[:of_weight]))
    out = np.full((rows, *behind, 2), np.nan, np.float32)[..., 0] if strided else None
    found = gather_scatter(table, source, target, rows, weight, reduction=reduction, out=out)
    assert out is None or found is out
    assert_same(np.ascontiguousarray(found), reduced(table, source, target, rows, weight, reduction))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_every_number_of_16_bits(dtype):
    every = np.arange(2**16, dtype=np.uint16).view(dtype)
    edges = np.arange(2**16)
    found = gather_scatter(every, edges, edges, 2**16, reduction="max")
    with np.errstate(all="ignore"):
        is_nan = np.isnan(every)
    np.testing.assert_array_equal(np.isnan(found), is_nan)
    assert_same(found[~is_nan], every[~is_nan])


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_results_of_16_bits_are_rounded_to_the_nearest(dtype, rng):
    """Products of any two finite numbers; their magnitude may be below the least or beyond the greatest number."""
    some = rng.integers(0, 2**16, (2, 100_000), np.uint16).view(dtype)
    one, other = some[:, np.isfinite(some.astype(np.float32)).all(0)]
    edges = np.arange(one.size)
    found = gather_scatter(one, edges, edges, one.size, other)
    with np.errstate(all="ignore"):
        assert_same(found, (np.float32(0) + one.astype(np.float32) * other.astype(np.float32)).astype(dtype))


@pytest.mark.parametrize("reduction", ["min", "max"])
def test_nan_and_infinities(reduction):
    data = np.float32([[np.nan, -np.inf, np.inf], [1, -np.inf, np.inf], [2, 3, np.nan]])
    source, target = np.array([0, 1, 1, 2, 1]), np.array([0, 0, 1, 2, 2])
    expected = reduced(data, source, target, 4, reduction=reduction)
    np.testing.assert_array_equal(gather_scatter(data, source, target, 4, reduction=reduction), expected)


@pytest.mark.parametrize("width", [64, 100])
def test_bits_are_those_of_a_gather_and_a_scatter_on_any_number_of_threads(width, rng):
    data = normal(rng, (3000, width))
    source, target = graph(rng, 3000, 2000, 40_000)
    expected = scatter_nd(np.zeros((2000, width), np.float32), target[:, None], gather(data, source), reduction="add")
    weight = normal(rng, (40_000, 4))
    heads = data.reshape(3000, 4, -1)
    weighted = None
    try:
        for count in (1, 2, 3, 8):
            set_num_threads(count)
            assert_same(gather_scatter(data, source, target, 2000), expected)
            found = gather_scatter(heads, source, target, 2000, weight)
            weighted = found if weighted is None else weighted
            assert_same(found, weighted)
    finally:
        set_num_threads(os.cpu_count() or 1)


def test_what_the_kernel_cannot_take_is_left_to_numpy(monkeypatch, rng):
    data = normal(rng, (5, 3), ml_dtypes.bfloat16)  # float32 of plain arrays does not get here
    source, target = graph(rng, 5, 4, 9)
    monkeypatch.setattr(module, "_MOST", 4)
    called = []
    monkeypatch.setattr(reference, "aggregate", lambda *given, real=reference.aggregate: called.append(1) or real(*given))
    assert_same(gather_scatter(data, source, target, 4), reduced(data, source, target, 4))
    assert called


def test_nothing_beyond_the_arrays_is_read(at_the_end_of_a_page, rng):
    for dtype in DTYPES:
        data, weight = at_the_end_of_a_page(normal(rng, (9, 21), dtype)), at_the_end_of_a_page(normal(rng, (40, 21), dtype))
        source, target = map(at_the_end_of_a_page, graph(rng, 9, 9, 40))
        out = at_the_end_of_a_page(np.zeros((9, 21), dtype))
        gather_scatter(data, source, target, 9, weight, out=out)
        assert_same(out, reduced(data, source, target, 9, weight))


@pytest.mark.parametrize("reduction", list(STEPS))
def test_the_greatest_rank_of_numpy(reduction, rng):
    """The `at` of NumPy's ufuncs crashes there."""
    source, target = graph(rng, 5, 4, 9)
    data, weight = normal(rng, (5, *[1] * 62, 3)), normal(rng, (9, *[1] * 62, 3))
    found = gather_scatter(data, source, target, 4, weight, reduction=reduction)
    assert_same(found.reshape(4, 3), reduced(data.reshape(5, 3), source, target, 4, weight.reshape(9, 3), reduction))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_of_nothing_need_no_memory(dtype):
    edges = np.zeros(3, np.int64)
    assert gather_scatter(np.zeros((4, 0), dtype), edges, edges, 2**50).shape == (2**50, 0)


DATA, EDGES = np.zeros((4, 6), np.float32), np.zeros(3, np.int64)
REFUSED = [
    (
        (DATA, np.array([0, 4, 9]), EDGES, 2),
        {},
        IndexError,
        r"source\[1\] = 4 is out of bounds for axis 0 of size 4 \(valid -4",
    ),
    ((DATA, EDGES, np.array([1, -3, 0]), 2), {}, IndexError, r"target\[1\] = -3 is out of bounds for axis 0 of size 2"),
    ((DATA, EDGES, np.array([1, 0, 2**40]), 2), {}, IndexError, r"target\[2\] = 1099511627776 is out of bounds"),
    ((DATA, EDGES, EDGES, 0), {}, IndexError, r"target\[0\] = 0 is out of bounds for axis 0 of size 0 \(no index is valid\)"),
    ((DATA[:0], EDGES, EDGES, 2), {}, IndexError, r"source\[0\] = 0 is out of bounds for axis 0 of size 0"),
    ((DATA[:, :0], np.array([0, 4, 0]), EDGES, 2), {}, IndexError, r"source\[1\] = 4 is out of bounds"),
    ((DATA, EDGES, EDGES, -1), {}, ValueError, "size must be 0 or more, not -1"),
    ((DATA, EDGES, EDGES, 2.0), {}, TypeError, "size must be an integer, not 2.0"),
    ((DATA, EDGES, EDGES, 2), {"reduction": "mul"}, ValueError, "reduction must be one of sum, add, mean, min, max, not 'mul'"),
    ((DATA, EDGES, EDGES, 2), {"reduction": ["sum"]}, ValueError, r"reduction must be one of .* not \['sum'\]"),
    ((DATA, EDGES[:2], EDGES, 2), {}, ValueError, r"source \(2,\) and target \(3,\) must have the same shape"),
    ((DATA, EDGES[:, None], EDGES, 2), {}, ValueError, "source must have a rank of 1, not 2"),
    ((DATA, EDGES, EDGES.astype(np.int16), 2), {}, TypeError, "target must be int32 or int64, not int16"),
    ((DATA.astype(np.float64), EDGES, EDGES, 2), {}, TypeError, "data must be float32, float16 or bfloat16, not float64"),
    ((np.float32(1), EDGES, EDGES, 2), {}, ValueError, "data must have a rank of at least 1"),
    ((DATA, EDGES, EDGES, 2, np.zeros(3)), {}, TypeError, "weight must have data's dtype float32, not float64"),
    ((DATA, EDGES, EDGES, 2, DATA[:3, :2]), {}, ValueError, r"weight \(3, 2\) must have the first dimensions of \(3, 6\)"),
    ((DATA, EDGES, EDGES, 2, np.float32(1)), {}, ValueError, r"weight \(\) must have the first dimensions"),
    ((DATA, EDGES, EDGES, 2), {"out": np.zeros((2, 5), np.float32)}, ValueError, r"out must have the shape \(2, 6\)"),
    ((DATA, EDGES, EDGES, 2), {"out": DATA[:2]}, ValueError, "out overlaps an input"),
]


@pytest.mark.parametrize(("given", "options", "error", "message"), REFUSED)
def test_refusals(given, options, error, message):
    with pytest.raises(error, match=f"^gather_scatter: {message}"):
        gather_scatter(*given, **options)
