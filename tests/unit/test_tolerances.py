"""Tolerances by output, and what they concern."""

import numpy as np
import pytest

from ov_gather.crosscheck.bisect.rounding import Rounding, difference
from ov_gather.crosscheck.models.arrays import compare_arrays
from ov_gather.crosscheck.models.outputs import excuse_rounding
from ov_gather.crosscheck.results import OutputResult, Status
from ov_gather.crosscheck.tolerances import Tolerance, Tolerances

ALL, NAMED = Tolerance(0.5, 0), Tolerance(0.5, 0, True)


def test_bounds_of_an_output():
    both = Tolerances.of({"": 1e-5, "logits": 1e-3}, 0.1)
    assert both.of_output("logits") == Tolerance(1e-3, 0.1, True)
    assert both.of_output("boxes") == both.of_all == Tolerance(1e-5, 0.1, False)
    assert Tolerances.of({"logits": 1e-3}, None).of_output("boxes") is None
    assert Tolerances.of(0, None).of_all == Tolerance(0, 0)
    assert not Tolerances()
    assert both.among(["boxes"]) == Tolerances.of(1e-5, 0.1)
    assert str(both.of_all) == "atol 1e-05, rtol 0.1"


def test_names_that_are_no_outputs():
    given = Tolerances.of({"": 1, "nope": 1}, None)
    with pytest.raises(ValueError, match="given for 'nope', but the outputs are y, z"):
        given.check_names(["y", "z"])
    given.check_names(["nope"])


@pytest.mark.parametrize("bound", [-1, np.nan, np.inf, {"y": -1}])
def test_bounds_that_permit_nothing_definite(bound):
    with pytest.raises(ValueError, match="must be a number from 0 on"):
        Tolerances.of(None, bound)


def compared(expected, found, tolerance, exact=False):
    result = compare_arrays(np.asarray(expected), np.asarray(found), "runtime", exact, tolerance)
    return result.status, result.tolerance is not None


@pytest.mark.parametrize(
    ("expected", "found", "exact", "tolerance", "status", "applies"),
    [
        ([100.0, 1], [100.0, 1.4], False, ALL, Status.PASSED, True),
        ([100.0, 1], [100.0, 1.6], False, ALL, Status.FAILED, True),
        ([1e6, 1], [1e6 + 0.6, 1], False, ALL, Status.FAILED, True),  # within the usual rule
        ([1.0], [np.nan], False, ALL, Status.FAILED, True),
        ([1.0], [1.4], True, ALL, Status.FAILED, False),  # a model that only moves data
        ([1.0], [1.4], True, NAMED, Status.PASSED, True),
        ([5], [5], False, Tolerance(0, 1), Status.PASSED, False),
        ([5], [6], False, Tolerance(0, 1), Status.FAILED, False),
        ([5], [6], False, Tolerance(1, 0, True), Status.PASSED, True),
        ([True], [False], False, Tolerance(1, 0, True), Status.FAILED, False),
    ],
)
def test_what_a_tolerance_concerns(expected, found, exact, tolerance, status, applies):
    assert compared(expected, found, tolerance, exact) == (status, applies)


def test_what_is_told():
    result = compare_arrays(np.array([1.0, 2]), np.array([1.0, 2.25]), "runtime", False, ALL)
    assert result.lines == ("passed (within atol 0.5, rtol 0)", "max abs 0.25, max rel 0.125, 5.63e+14 ULP, SNR 19.0 dB")
    assert result.is_within_tolerance
    same = compare_arrays(np.array([1.0]), np.array([1.0]), "runtime", False, ALL)
    assert (same.lines, same.has_same_bits) == (("passed (exact)",), True)


def test_rounding_is_no_excuse_beyond_a_tolerance():
    expected, found = np.array([0.0, 64]), np.array([1.0, 65])
    for tolerance, status in ((None, Status.EXPECTED), (ALL, Status.FAILED)):
        failed = OutputResult("y", "f8", (2,), compare_arrays(expected, found, "runtime", False, tolerance))
        (result,) = excuse_rounding([failed], [expected], [found], [found])
        assert result.comparison.status is status


def test_bisect_compares_by_a_tolerance():
    rounding = Rounding("bf16", tolerance=ALL)
    assert rounding.share(9) == rounding.share_of_outputs(9) == rounding.finest().share(1) == ALL
    numbers = np.float32([1, 1000])
    assert not difference(numbers, numbers + np.float32(0.4), ALL)
    assert difference(numbers, numbers + np.float32(0.6), ALL).count == 2
    assert difference(np.array([5]), np.array([6]), Tolerance(1, 0))
    assert not difference(np.array([5]), np.array([6]), Tolerance(1, 0, True))
    assert not difference(np.array([2**40]), np.array([0]), ALL)  # narrowed to 32 bits, as without a tolerance
