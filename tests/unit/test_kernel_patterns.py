"""Every access pattern of the compiled kernel, at the sizes where it changes its ways, on each instruction set there is."""

import os
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from helpers.pairwise import pairs
from ov_gather import gather, gather_elements, gather_nd, set_num_threads
from ov_gather.kernels import native

pytestmark = pytest.mark.sanitized

DTYPES = [np.uint8, np.float16, np.float32, np.float64, np.complex128]
INDEX_DTYPES = [np.int32, np.int64]
# data shape, indices shape, axis, dimensions of indices that are broadcast
PATTERNS = {
    "one line shorter than a vector": ((9,), (7,), 0, ()),
    "lines around the length of a block": ((4, 700), (4, 511), 1, ()),
    "a block and a bit": ((4, 700), (4, 513), 1, ()),
    "several blocks": ((3, 700), (3, 1541), 1, ()),
    "rows that are fetched ahead": ((64, 100), (64, 100), 1, ()),
    "rows too long to be fetched ahead": ((3, 20_000), (3, 700), 1, ()),
    "columns within the near cache": ((20, 3, 512), (30, 3, 512), 0, ()),
    "columns that are packed": ((300, 1024), (310, 1024), 0, ()),
    "columns that are packed, in batches": ((3, 130, 2, 700), (3, 140, 2, 700), 1, ()),
    "columns that are packed, of an odd length": ((300, 1021), (310, 1021), 0, ()),
    "columns that are packed, smaller than data": ((4, 300, 1030), (3, 310, 1021), 1, ()),
    "columns that are visited too seldom to be packed": ((3000, 1024), (40, 1024), 0, ()),
    "columns too long to be packed": ((70_000, 64), (36_000, 64), 0, ()),
    "short lines": ((5000, 8), (5000, 3), 1, ()),
    "short lines of rows beyond the near cache": ((40, 90_000), (40, 5), 1, ()),
    "short lines, smaller than data": ((9, 400, 8), (7, 300, 11), 2, ()),
    "smaller than data off the axis": ((30, 40, 50), (20, 45, 30), 1, ()),
    "random access beyond the near cache": ((700_000,), (50_000,), 0, ()),
    "random access beyond all caches": ((3_200_000,), (50_000,), 0, ()),
    "one index for a row": ((50, 300), (900, 300), 0, (1,)),
    "one index for a row, in batches": ((3, 50, 300), (3, 90, 300), 1, (2,)),
    "one index for a short row": ((50, 3), (9000, 3), 0, (1,)),
    "the same indices for every slab": ((6, 70, 60), (6, 70, 64), 2, (0,)),
    "one index for all": ((6, 7, 60), (6, 7, 64), 2, (0, 1, 2)),
    "index constant in the middle": ((6, 7, 60), (6, 7, 64), 2, (1,)),
    "an axis in the middle, last dimension 1": ((40, 50, 1), (40, 60, 1), 1, ()),
}


@lru_cache(maxsize=1)  # tests of one pattern follow each other, and drawing takes longer than gathering
def drawn(name):
    data_shape, index_shape, axis, broadcast = PATTERNS[name]
    rng, size = np.random.default_rng(0), data_shape[axis]
    own = [1 if i in broadcast else n for i, n in enumerate(index_shape)]
    return rng.integers(0, 250, data_shape), rng.integers(-size, size, own)


def make(name, dtype, index_dtype):
    """Return data, indices and axis of a pattern, in memory of their own."""
    data, indices = drawn(name)
    _, index_shape, axis, _ = PATTERNS[name]
    return data.astype(dtype), np.broadcast_to(indices.astype(index_dtype), index_shape), axis


def expected(data, indices, axis):
    corner = data[tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(indices.shape))]
    return np.take_along_axis(corner, indices.astype(np.int64), axis)


@pytest.mark.sampled(36)
@pairs(name=PATTERNS, dtype=DTYPES, index_dtype=INDEX_DTYPES)
def test_pattern(name, dtype, index_dtype):
    data, indices, axis = make(name, dtype, index_dtype)
    right = expected(data, indices, axis)
    np.testing.assert_array_equal(gather_elements(data, indices, axis), right)
    turned = np.ascontiguousarray(data.T).T  # the same values, strides the other way round
    np.testing.assert_array_equal(gather_elements(turned, indices, axis), right)
    np.testing.assert_array_equal(gather_elements(data[::-1], indices, axis), expected(data[::-1], indices, axis))


@pytest.mark.sampled(46)
@pairs(name=[name for name in PATTERNS if len(PATTERNS[name][0]) > 1], dtype=DTYPES, index_dtype=INDEX_DTYPES)
def test_an_output_that_is_transposed(name, dtype, index_dtype):
    data, indices, axis = make(name, dtype, index_dtype)
    *others, rows, columns = indices.shape
    whole = np.full((*others, columns, rows + 3), 77, dtype)
    gather_elements(data, indices, axis, out=np.swapaxes(whole[..., 2:-1], -1, -2))
    np.testing.assert_array_equal(np.swapaxes(whole[..., 2:-1], -1, -2), expected(data, indices, axis))
    assert (whole[..., :2] == 77).all()  # nothing is written beside the output
    assert (whole[..., -1] == 77).all()


@pytest.mark.sampled(42)
@pytest.mark.parametrize("value", ["size", "-size - 1", "2**31", "2**32", "-(2**32)", "2**63 - 1", "-(2**63)"])
@pytest.mark.parametrize("name", [name for name in PATTERNS if not PATTERNS[name][3]])
def test_out_of_bounds_in_the_last_element(name, value):
    data, indices, axis = make(name, np.float32, np.int64)
    value = eval(value, {"size": data.shape[axis]})
    indices = indices.copy()
    indices[(-1,) * indices.ndim] = value
    out = np.full((*indices.shape[:-1], indices.shape[-1] + 1), -1, np.float32)
    with pytest.raises(IndexError) as caught:
        gather_elements(data, indices, axis, out=out[..., :-1])
    where = ", ".join(str(n - 1) for n in indices.shape)
    assert f"indices[{where}] = {value} is out of bounds for axis {axis}" in str(caught.value)
    assert (out[..., -1] == -1).all()  # nothing is written past the output
    with pytest.raises(IndexError, match=re.escape(f"indices[{where}] = {value} is out of bounds")):
        gather_elements(data, indices, axis, out=np.empty(indices.shape[::-1], np.float32).T)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("offset", [0, 1, 5, 15])
@pytest.mark.parametrize(
    ("data_shape", "shape", "dtype"), [((80, 70_001), (80, 70_001), np.uint8), ((1_000_003,), (3_000_007,), np.float32)]
)
def test_arrays_larger_than_the_last_level_cache(data_shape, shape, dtype, offset, rng):
    """What is written around the cache arrives, whatever the alignment of the output."""
    size = data_shape[-1]
    data, indices = rng.integers(0, 250, data_shape).astype(dtype), rng.integers(-size, size, shape)
    buffer = np.zeros(indices.size + 16, dtype)
    out = buffer[offset : offset + indices.size].reshape(indices.shape)
    gather_elements(data, indices, -1, out=out)
    np.testing.assert_array_equal(out, np.take_along_axis(data, indices, -1))
    assert not buffer[:offset].any()
    assert not buffer[offset + indices.size :].any()


@pytest.mark.parametrize("index_dtype", INDEX_DTYPES)
@pytest.mark.parametrize("count", [256, 511, 513, 529, 5000])
def test_zeros_for_indices_out_of_bounds_beyond_the_near_cache(count, index_dtype, rng):
    size = 700_000
    data, indices = rng.random(size, np.float32), rng.integers(-2 * size, 2 * size, count, index_dtype)
    expected = np.where((-size <= indices) & (indices < size), data[indices % size], 0)
    np.testing.assert_array_equal(gather(data, indices, bounds="zero"), expected)


@pairs(
    shapes=[((37,), (1003,), 0), ((37, 5), (37, 3), 1), ((5, 33), (5, 70), 1), ((33, 7), (29, 7), 0)],
    dtype=DTYPES,
    index_dtype=INDEX_DTYPES,
)
def test_nothing_behind_an_array_is_touched(shapes, dtype, index_dtype, at_the_end_of_a_page, rng):
    data_shape, index_shape, axis = shapes
    data = at_the_end_of_a_page(rng.integers(0, 250, data_shape).astype(dtype))
    indices = rng.integers(-data_shape[axis], data_shape[axis], index_shape).astype(index_dtype)
    indices.flat[-1] = -1
    indices, out = at_the_end_of_a_page(indices), at_the_end_of_a_page(np.zeros(index_shape, dtype))
    np.testing.assert_array_equal(gather_elements(data, indices, axis, out=out), expected(data, indices, axis))


@pytest.mark.parametrize("index_dtype", INDEX_DTYPES)
@pytest.mark.parametrize("size", [*range(1, 70), 128, 513])
def test_slices_of_every_short_size(size, index_dtype, at_the_end_of_a_page):
    rng = np.random.default_rng(size)
    data = at_the_end_of_a_page(rng.integers(0, 250, (9, size), np.uint8))
    indices = at_the_end_of_a_page(np.append(rng.integers(-9, 9, 21), -1).astype(index_dtype))
    out = at_the_end_of_a_page(np.zeros((22, size), np.uint8))
    np.testing.assert_array_equal(gather(data, indices, out=out), data[indices])
    np.testing.assert_array_equal(gather_nd(data, indices[:, None], out=out), data[indices])
    indices[7] = 9
    zeroed = gather(data, indices, bounds="zero", out=out)
    np.testing.assert_array_equal(zeroed, np.where((indices == 9)[:, None], 0, data[indices % 9]))
    for call, tuples in ((gather, indices), (gather_nd, indices[:, None])):
        with pytest.raises(IndexError, match=r"indices\[7(, 0)?\] = 9 is out of bounds for axis 0 of size 9"):
            call(data, tuples, out=out)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_number_of_threads(threads):
    set_num_threads(threads)
    try:
        data, indices, axis = make("columns that are packed", np.float32, np.int64)
        np.testing.assert_array_equal(gather_elements(data, indices, axis), expected(data, indices, axis))
    finally:
        set_num_threads(os.cpu_count() or 1)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not tell which cores a thread may use")
def test_threads_may_use_all_cores_afterwards():
    """A thread of ours leaves the core of the one that called; it is not shut out of it."""
    code = """
import os, time, numpy as np, ov_gather
ov_gather.set_num_threads(2)
data, where = np.arange(2**19).reshape(64, 2**13), np.tile(np.arange(2**12)[::-1], (64, 1))
for _ in range(50):
    ov_gather.gather_elements(data, where, 1)
    time.sleep(0.001)
threads = [int(name) for name in os.listdir("/proc/self/task")]
assert len(threads) > 1
while not all(os.sched_getaffinity(thread) == os.sched_getaffinity(0) for thread in threads):
    time.sleep(0.01)  # one may wait for a core while it leaves another
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("count", [0, -1, 1.5, "two", True, 5000])
def test_impossible_numbers_of_threads(count):
    with pytest.raises(ValueError, match="not a number of threads from 1 to 1024"):
        set_num_threads(count)


def test_a_process_that_was_forked_has_threads_of_its_own():
    code = """
import os, sys, numpy as np, ov_gather
ov_gather.set_num_threads(4)
data, where = np.arange(2**19).reshape(64, 2**13), np.tile(np.arange(2**12)[::-1], (64, 1))
gather = lambda: np.array_equal(ov_gather.gather_elements(data, where, 1), data[:, 2**12 - 1 :: -1])
assert gather()
process = os.fork()
if process == 0:
    os._exit(0 if gather() and gather() else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=60).returncode == 0


def test_threads_from_the_environment():
    code = "import numpy as np, ov_gather; print(ov_gather.gather_elements(np.array([1, 2]), np.array([1])))"

    def run(count):
        environment = {**os.environ, "OV_GATHER_NUM_THREADS": count}
        return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)

    assert run("2").stdout == "[2]\n"
    assert "OV_GATHER_NUM_THREADS: 'many' is not a number of threads" in run("many").stderr


def isas():
    """The instruction sets that this CPU has, first the best one, which is taken where none is forced."""
    return native.load().available_isas() if native.load() else []


@pytest.mark.exhaustive
@pytest.mark.skipif("OV_GATHER_ISA" in os.environ, reason="this is the run for one instruction set")
@pytest.mark.parametrize("isa", isas()[1:])
@pytest.mark.parametrize(
    ("chosen", "at_least"),
    [
        ("test_pattern or test_first_position", 100),
        pytest.param("not reference and not threads_from_the_environment", 400, marks=pytest.mark.exhaustive),
    ],
)
def test_on_every_instruction_set(isa, chosen, at_least):
    """Tests of this file and of others pass with each other instruction set forced, where they depend on it."""
    assert native.load().isa_name() == isas()[0], "the tests themselves run on the best instruction set"
    environment = {**os.environ, "OV_GATHER_ISA": isa}
    code = "from ov_gather import _native; print(_native.isa_name())"
    named = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert named.stdout.strip() == isa
    others = ("kernel", "first_outside", "gather_scatter")
    files = [__file__, *(str(Path(__file__).with_name(f"test_{name}.py")) for name in others)]
    pytest_again = [sys.executable, "-m", "pytest", "--all", "-q", *files, "-k", chosen]
    done = subprocess.run(pytest_again, env=environment, capture_output=True, text=True, cwd=Path(__file__).parent)
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > at_least
