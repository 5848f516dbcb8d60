"""When an output of a converted model is right, how what is not is told, and picks that are up to rounding."""

import numpy as np
import onnx_ir
import pytest

from helpers.saved_models import parsed
from ov_gather.crosscheck.models.arrays import TOLERANCE, compare_arrays
from ov_gather.crosscheck.models.outputs import ROUNDING, excuse_rounding, near_ties, scores
from ov_gather.crosscheck.results import OutputResult, Status

pytestmark = pytest.mark.filterwarnings("error")

PASSED, FAILED, EXPECTED = Status.PASSED, Status.FAILED, Status.EXPECTED
NUMBERS = np.array([1000.0, 0, np.inf, -np.inf, np.nan, -2])


def changed(position, value, numbers=NUMBERS):
    copy = numbers.copy()
    copy[position] = value
    return copy


def status(expected, found, exact=False):
    return compare_arrays(np.asarray(expected), np.asarray(found), "runtime", exact).status


@pytest.mark.parametrize(
    ("found", "right"),
    [
        (NUMBERS, True),
        (changed(0, 1000.9), True),  # up to a thousandth of the largest number
        (changed(0, 1001.1), False),
        (changed(1, 0.9), True),
        (changed(1, -1.1), False),
        (changed(1, np.nan), False),
        (changed(1, np.inf), False),
        (changed(2, -np.inf), False),
        (changed(2, 1e300), False),
        (changed(2, np.nan), False),
        (changed(4, 0), False),
        (changed(4, np.inf), False),
    ],
)
def test_floating_point_numbers(found, right):
    assert status(NUMBERS, found) is (PASSED if right else FAILED)
    assert status(NUMBERS, found, exact=True) is (PASSED if found is NUMBERS else FAILED)


def test_the_tolerance_is_met_exactly():
    assert status([1024.0], [1024 * (1 + TOLERANCE)]) is PASSED
    assert status([0.0, 0.0], [0.0, 0.0]) is PASSED
    assert status([0.0, 0.0], [0.0, 1e-30]) is FAILED
    assert status(np.zeros((0, 2)), np.zeros((0, 2))) is PASSED


@pytest.mark.parametrize("exact", [False, True])
def test_other_types_and_shapes(exact):
    assert status(np.zeros(3, "f4"), np.zeros(3, "f8"), exact) is FAILED
    assert status(np.zeros(3, "f4"), np.zeros((3, 1), "f4"), exact) is FAILED
    assert status([True, False], [True, False], exact) is PASSED
    assert status([True, False], [True, True], exact) is FAILED


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_integers_that_are_narrowed_are_expected(dtype):
    wide = np.array([5, 2**33 + 7, 2**31], dtype)
    narrowed = wide.astype("i4").astype(dtype)
    comparison = compare_arrays(wide, narrowed, "runtime", False)
    assert (comparison.status, comparison.divergences) == (EXPECTED, ("narrowed-to-32-bits",))
    assert "7" in comparison.detail
    assert status(wide, wide) is PASSED
    assert status(wide, changed(0, 6, narrowed)) is FAILED


def test_what_is_told():
    assert compare_arrays(NUMBERS, NUMBERS, "runtime", False).detail == "exact; 1 of 6 are NaN on both sides"
    assert compare_arrays(NUMBERS, NUMBERS, "runtime", True).detail == "exact; 1 of 6 are NaN on both sides"
    assert compare_arrays(NUMBERS, changed(0, 1000.5), "runtime", False).detail.startswith("within 5e-04 of the largest number")
    wrong = compare_arrays(NUMBERS, changed(5, 7), "runtime", False)
    assert wrong.difference is not None
    assert "[5]" in wrong.detail
    assert compare_arrays(NUMBERS, NUMBERS, "runtime", False).difference is None
    assert compare_arrays(NUMBERS, None, "runtime", False).status is FAILED


@pytest.mark.parametrize(
    ("noise", "error", "is_excused"),
    [(1, 10, True), (1, 10.5, False), (0, 0.5, False), (2, 20, True), (np.nan, 3, True)],
)
def test_up_to_ten_times_the_noise_is_excused(noise, error, is_excused):
    expected = np.array([0.0, 64.0])
    failed = OutputResult("y", "f8", (2,), compare_arrays(expected, expected + error, "runtime", False))
    (result,) = excuse_rounding([failed], [expected], [expected + noise], [expected + error])
    assert result.comparison.divergences == ((ROUNDING,) if is_excused else ())
    assert result.comparison.status is (EXPECTED if is_excused else FAILED)


def test_another_type_or_shape_is_never_excused():
    expected = np.float32([0, 64])
    for found in (expected.astype(np.float64), np.float32([[0, 64]])):
        failed = OutputResult("y", "f4", (2,), compare_arrays(expected, found, "runtime", False))
        (result,) = excuse_rounding([failed], [expected], [expected + 1], [found])
        assert result.comparison.status is FAILED


TEXT = """(float[4] s) => (float[K] v, int64[K] i, int64[1] a) <int64[1] k = {K}> {
    v, i = TopK <axis = 0, largest = LARGEST> (s, k) a = ArgMax <axis = 0> (t) }"""


class Known:
    """A runtime that is not asked: all scores are inputs."""


def excused(numbers, converted, k=2, largest=1):
    text = TEXT.replace("[K]", f"[{k}]").replace("{K}", f"{{{k}}}").replace("LARGEST", str(largest)).replace("(t)", "(s)")
    model = onnx_ir.from_proto(parsed(text))
    here = {} if converted is None else {"s": np.float32(converted)}
    assert [(node.op_type, value.name) for node, value in scores(model)] == [("TopK", "s"), ("ArgMax", "s")]
    return set(near_ties(model, {"s": np.float32(numbers)}, Known(), here))


NEAR = 1 + 1e-6


@pytest.mark.parametrize(
    ("numbers", "converted", "names"),
    [
        ([4, 3, 2, 1], None, ""),
        ([4e-9, 3e-9, 2e-9, 1e-9], None, ""),
        ([4, 4 * NEAR, 2, 1], None, "via"),
        ([4, 3, 3 * NEAR, 1], None, "vi"),  # the last that TopK picks, and the first that it does not
        ([4, 3, 2, 2 * NEAR], None, ""),
        ([4, 4, 2, 1], None, ""),  # equal in the conversion, too, for all that is known
        ([4, 4, 2, 1], [4, 4, 2, 1], ""),
        ([4, 4, 2, 1], [4, 4 * NEAR, 2, 1], "via"),
        ([4, 4 * NEAR, 2, 1], [4, 4 * NEAR, 2, 1], ""),  # rounding has changed nothing
        ([4, 4 * NEAR, 2, 1], [4, 4, 2, 1], "via"),
    ],
)
def test_picks_of_the_largest(numbers, converted, names):
    assert excused(numbers, converted) == set(names)


@pytest.mark.parametrize(("numbers", "names"), [([1, 2, 2 * NEAR, 4], "vi"), ([1, 3, 4, 4 * NEAR], "a")])
def test_picks_of_the_least(numbers, names):
    """ArgMax still picks the largest."""
    assert excused(numbers, None, largest=0) == set(names)


def test_all_numbers_are_picked():
    assert excused([4, 3, 2, 2 * NEAR], None, k=4) == {"v", "i"}


@pytest.mark.parametrize(
    ("call", "is_near"),
    [
        ("ArgMax (s)", False),  # along the first axis
        ("ArgMax <axis = 1> (s)", True),
        ("ArgMin (s)", False),
        ("ArgMin <axis = -1> (s)", False),  # the smallest stands out
        ("ArgMin <axis = -1> (negated)", True),
    ],
)
def test_picks_along_an_axis(call, is_near):
    head = "(float[2, 3] s, float[2, 3] negated) => (int64[1, 3] a)"
    text = f"{head} {{ a = {call} }}"
    model = onnx_ir.from_proto(parsed(text))
    numbers = np.float32([[1, 4, 4 * NEAR], [2, 5, 9]])
    assert bool(near_ties(model, {"s": numbers, "negated": -numbers}, Known(), {})) == is_near


def test_the_largest_along_the_last_axis_are_picked():
    text = """(float[2, 3] s) => (float[2, 1] v, int64[2, 1] i) <int64[1] k = {1}> {
        v, i = TopK (s, k) }"""
    model = onnx_ir.from_proto(parsed(text))
    near, far = [[1, 4, 4 * NEAR], [2, 5, 9]], [[4, 1, 9], [4 * NEAR, 5, 2]]
    assert near_ties(model, {"s": np.float32(near)}, Known(), {})
    assert not near_ties(model, {"s": np.float32(far)}, Known(), {})
