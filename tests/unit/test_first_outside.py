"""The kernel's search for the first number outside of limits, compared with NumPy."""

import numpy as np
import pytest

from ov_gather.kernels import native

TYPES = (*(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float32", "float64")
kernel = native.load()
pytestmark = pytest.mark.skipif(kernel is None, reason="the kernel is not compiled")


def first_outside(array, low, high):
    outside = np.flatnonzero(~((array >= low) & (array <= high)).ravel())
    return int(outside[0]) if outside.size else -1


def views(array):
    yield array
    yield array[::-1, ::2]
    yield array.T
    yield array[:, 3:4]
    yield array[5]
    yield array[5, 7]
    yield array[:0]
    yield np.broadcast_to(array[:, :1, None], (*array.shape, 3))


@pytest.mark.parametrize("kind", TYPES)
def test_first_position_of_any_strides(kind):
    rng = np.random.default_rng(0)
    for count in (0, 1, 3, 40):
        array = rng.integers(2, 100, (61, 331)).astype(kind)
        array.ravel()[rng.integers(0, array.size, count)] = rng.choice([1, 100], count)
        limits = np.array([2, 99], kind)
        for view in views(array):
            assert kernel.first_outside(np.asarray(view), limits) == first_outside(view, limits[0], limits[1])


@pytest.mark.parametrize("kind", TYPES)
def test_the_limits_of_a_type(kind):
    held = np.finfo(kind) if kind.startswith("float") else np.iinfo(kind)
    array = np.array([held.max, held.min] * 50, kind)
    assert kernel.first_outside(array, np.array([held.min, held.max], kind)) == -1
    assert kernel.first_outside(array, np.array([held.min, held.max // 2], kind)) == 0
    assert kernel.first_outside(array, np.array([1, held.max], kind)) == 1


@pytest.mark.parametrize("kind", [kind for kind in TYPES if "int" in kind])
def test_limits_that_are_any_distance_apart(kind):
    held = np.iinfo(kind)
    ends = sorted({*range(held.min, held.max, held.max // 7), held.min, held.min + 1, held.max // 2, held.max - 1, held.max})
    ends += [1, 2] if held.min == 0 else [-2, -1, 0, 1]
    for low in ends:
        for high in ends:
            limits = np.array([low, high], kind)
            for number in {low, high, *(end + by for end in (low, high) for by in (-1, 1)), held.min, held.max}:
                if held.min <= number <= held.max:
                    expected = -1 if low <= number <= high else 0
                    assert kernel.first_outside(np.array([number], kind), limits) == expected


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_nan_is_outside_of_infinite_limits(kind):
    array = np.zeros(9000, kind)
    array[[0, 1]] = np.inf, -np.inf
    everything = np.array([-np.inf, np.inf], kind)
    assert kernel.first_outside(array, everything) == -1
    array[8191] = np.nan
    assert kernel.first_outside(array, everything) == 8191


def test_other_types_and_layouts_are_left_to_numpy():
    limits = np.array([0, 9])
    packed = np.zeros(4, [("a", "i1"), ("b", "i8")])["b"]
    for array in (
        packed,
        np.zeros(3, ">i8"),
        np.zeros(3, np.float16),
        np.zeros(3, np.int32),
        np.zeros(3, complex),
        [1, 2],
        None,
    ):
        assert kernel.first_outside(array, limits) is None
    assert kernel.first_outside(np.zeros(3, np.int64), np.zeros(3, np.int64)) is None
