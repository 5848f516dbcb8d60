"""What `bisect` takes for rounding, and that it holds little beside the arrays that it compares."""

import tracemalloc

import numpy as np
import pytest

from ov_gather.crosscheck.bisect.rounding import Rounding, difference, errors, largest_error


@pytest.fixture(scope="module")
def numbers():
    return np.random.default_rng(5).standard_normal((1000, 500)).astype(np.float32)


@pytest.mark.parametrize(("precision", "digits"), [("f16", 10), ("bf16", 7)])
def test_the_share_grows_with_the_root_of_the_operations_up_to_64(precision, digits):
    """One operation may be off by some units in the last place, of which a number of the precision has so many digits."""
    share = Rounding(precision).share
    assert [share(depth) for depth in (0, 1, 4, 64, 1000)] == [2.0**-digits * units for units in (4, 4, 8, 32, 32)]


def test_one_wrong_element_of_many_is_found_where_it_is(numbers):
    wrong = numbers.copy()
    wrong[999, 498] += 1
    assert not difference(numbers, numbers * np.float32(1 + 1e-6), 1e-4)
    found = difference(numbers, wrong, 1e-4)
    assert (found.position, found.count, found.size) == ((999, 498), 1, numbers.size)
    assert largest_error(numbers, wrong) == pytest.approx(1, abs=1e-6)
    assert not difference(numbers, wrong, 1e-4, noise=0.2)


def test_what_is_usual_is_told_by_the_numbers_that_are_there(rng):
    """A mask of the least number, and zeros, say nothing of how far the other numbers may be off."""
    expected = np.zeros((400, 1000), np.float32)
    expected[7, :20] = rng.standard_normal(20)
    expected[8, :4] = np.finfo(np.float32).min
    wrong = expected.copy()
    wrong[7, 3] += 0.05
    assert difference(expected, wrong, 1e-4).position == (7, 3)
    assert not difference(expected, wrong, 1e-1)
    assert not difference(np.zeros(0, np.float32), np.zeros(0, np.float32), 1e-4)
    assert largest_error(np.zeros(0), np.zeros(0)) == 0


def test_little_is_held_beside_the_arrays():
    expected = np.ones((4, 1 << 20), np.float32)
    found = expected.copy()
    tracemalloc.start()
    difference(expected, found, 1e-4)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < expected.nbytes


def test_neighbours_move_what_rounding_moves():
    """Whole numbers, infinities and integers are exact; other numbers move by less than 2e-6 of themselves in f32."""
    rounding = Rounding("f32")
    array = np.float32([0.1, 3.0, -0.0, np.inf, 1e-20, -7.25])
    moved, other = rounding.neighbours([array, array], 0)
    assert moved.dtype == np.float32
    assert list(moved == array) == [False, True, True, True, False, False]
    assert (np.abs(moved[[0, 4, 5]] - array[[0, 4, 5]]) <= 2e-6 * np.abs(array[[0, 4, 5]])).all()
    assert not np.array_equal(other, moved)
    assert not np.array_equal(rounding.neighbours([array], 1)[0], moved)
    whole = np.int64([1, 2])
    assert rounding.neighbours([whole], 0)[0] is whole
    assert np.abs(Rounding("bf16").neighbours([array], 0)[0][0] - array[0]) > 1e-5


def test_noise_of_each_element():
    expected, found = np.float32([1e-8, 1e-8, 1.0]), np.float32([2e-8, 0.5, 1.0])
    assert difference(expected, found, 0).count == 2
    noise = np.float64([1e-9, 1e-9, 0])
    assert difference(expected, found, 0, noise).position == (1,)
    assert not difference(expected, np.float32([2e-8, 1e-8, 1.0]), 0, noise)


def test_errors_of_arrays_that_cannot_be_compared():
    assert list(errors(np.float32([1, 2]), np.float32([1, 4]))) == [0, 2]
    assert list(errors(np.float32([1, 2]), np.float32([1]))) == [0, 0]
