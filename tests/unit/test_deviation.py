"""How far arrays are apart: each number against its definition in NumPy, exact fractions or a search among neighbours."""

from fractions import Fraction
from math import isclose, log10

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from ov_gather.crosscheck import deviation
from ov_gather.crosscheck.deviation import beyond, far_off, measure, unequal
from ov_gather.crosscheck.tolerances import Tolerance
from ov_gather.crosscheck.verdict import first_difference

pytestmark = pytest.mark.filterwarnings("error")

FLOATS = ["f2", "f4", "f8", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
INTEGERS = ["i1", "u1", "i2", "i4", "u4", "i8", "u8"]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Most arrays of these tests have several pieces."""
    monkeypatch.setattr(deviation, "PIECE", 4)


def of_bits(dtype, shape):
    """Arrays with any bits: each NaN, subnormal, zero and infinity."""
    dtype = np.dtype(dtype)
    return arrays_of.arrays(f"u{dtype.itemsize}", shape).map(lambda bits: bits.view(dtype))


@st.composite
def pairs(draw, dtypes):
    """Two arrays of one type and shape; some elements are equal, or next to each other."""
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    shape = draw(arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    one, other = draw(of_bits(dtype, shape)), draw(of_bits(dtype, shape))
    same = draw(arrays_of.arrays(bool, shape))
    near = (one.view(f"u{dtype.itemsize}") ^ draw(arrays_of.arrays("u1", shape, elements=st.integers(0, 3)))).view(dtype)
    return one, np.where(same, near, other).astype(dtype)


def finite_pairs(one, other):
    with np.errstate(all="ignore"):
        wide, here = one.astype("f8").ravel(), other.astype("f8").ravel()
    keep = np.isfinite(wide) & np.isfinite(here)
    return wide[keep], here[keep]


@settings(max_examples=300, deadline=None)
@given(pairs(FLOATS))
def test_floats(both):
    one, other = both
    found, (wide, here) = measure(one, other), finite_pairs(one, other)
    with np.errstate(all="ignore"):
        error, plain, plain_other = np.abs(wide - here), one.astype("f8"), other.astype("f8")
        relative = (error / np.abs(wide))[wide != 0]
    assert found.size == one.size
    assert found.differing == sum(x.tobytes() != y.tobytes() for x, y in zip(one.ravel(), other.ravel(), strict=True))
    alike = (plain == plain_other) | (np.isnan(plain) & np.isnan(plain_other))
    assert found.not_finite == int((~alike & ~(np.isfinite(plain) & np.isfinite(plain_other))).sum())
    most = np.finfo("f8").max
    assert found.max_abs == min(error.max(initial=0), most)
    if found.max_rel is None:
        assert found.max_abs > 0
        assert not (relative > 0).any()
    elif found.differing:
        assert isclose(found.max_rel, min(relative.max(initial=0), most), rel_tol=1e-12)
    signal, noise = (sum(Fraction(x) ** 2 for x in numbers) for numbers in (map(float, wide), map(float, wide - here)))
    if found.snr is not None and np.isfinite(error).all():
        ratio = signal / noise
        assert isclose(found.snr, 10 * (log10(ratio.numerator) - log10(ratio.denominator)), rel_tol=1e-9, abs_tol=1e-6)
    if found.differing and np.isfinite(error).all():
        assert (found.snr is None) == (not signal or not noise)


@settings(max_examples=200, deadline=None)
@given(pairs([*FLOATS[:5], ml_dtypes.float8_e8m0fnu, ml_dtypes.float4_e2m1fn]))
def test_units_in_the_last_place(both):
    """The steps between two numbers are counted among all representable numbers, or by `nextafter` for large types."""
    one, other = both
    dtype = one.dtype
    if dtype.itemsize == 1:  # 4-bit numbers are stored in a byte, whose upper half is 0
        bits = np.arange(16 if "float4" in dtype.name else 256, dtype="u1")
        one, other = (array.view("u1") & np.uint8(len(bits) - 1) for array in (one, other))
        one, other = one.view(dtype), other.view(dtype)
        numbers = bits.view(dtype).astype("f8")
        ranks = {number: rank for rank, number in enumerate(sorted({x + 0.0 for x in numbers[np.isfinite(numbers)]}))}
        wide, here = finite_pairs(one, other)
        steps = [abs(ranks[x + 0.0] - ranks[y + 0.0]) for x, y in zip(wide, here, strict=True)]
        assert measure(one, other).max_ulp == max(steps, default=0)
        return
    with np.errstate(invalid="ignore"):  # of signalling NaNs
        wide = one.astype("f8")
    finite = np.isfinite(wide) & (np.abs(wide) < 1e4)
    one, steps = one[finite][:4], 3
    moved = one
    for _ in range(steps):
        moved = np.nextafter(moved, np.array(np.inf, dtype))
    assert measure(one, moved).max_ulp == (steps if one.size else 0)


@settings(max_examples=200, deadline=None)
@given(pairs(INTEGERS))
def test_integers(both):
    """Differences of integers are exact, although int64 overflows and float64 rounds them."""
    one, other = both
    found = measure(one, other)
    differences = [abs(int(x) - int(y)) for x, y in zip(one.ravel(), other.ravel(), strict=True)]
    assert found.max_abs == max(differences, default=0)
    assert found.differing == sum(map(bool, differences))
    assert (found.max_ulp, found.not_finite) == (None, 0)


@settings(max_examples=200, deadline=None)
@given(pairs(FLOATS), st.sampled_from([0, 1e-6, 0.5, 1e300]), st.sampled_from([0, 1e-3, 2]))
def test_tolerances_are_those_of_numpy(both, atol, rtol):
    one, other = both
    with np.errstate(all="ignore"):
        wide, here = one.astype("f8"), other.astype("f8")
        right = np.isclose(here, wide, rtol, atol, equal_nan=True)
    overflow = np.abs(wide) > 1e300  # NumPy permits an infinite difference there
    mask = beyond(one, other, lambda magnitudes: atol + rtol * magnitudes)
    assert mask.shape == one.shape
    assert (mask == ~right)[~overflow].all()


def test_the_largest_numbers():
    """Neither differences nor squares overflow, and those of the smallest do not vanish."""
    most, least = np.finfo("f8").max, 5e-324
    found = measure(np.array([most, -most]), np.array([-most, -most]))
    assert found.max_abs == most
    assert found.snr is not None
    tiny = measure(np.array([4e-200, 3e-200]), np.array([4e-200, 3.3e-200]))
    assert tiny.snr == pytest.approx(20 * log10(5 / 0.3))
    assert measure(np.array([0.0, 1]), np.array([least, 1])).max_ulp == 1
    assert measure(np.array([-most]), np.array([most])).max_ulp == 2 * (0x7FEFFFFFFFFFFFFF)


def test_what_is_not_finite_counts_apart():
    one = np.float32([1, np.nan, np.inf, -np.inf, np.inf, 2, 0])
    other = np.float32([1, np.nan, np.inf, np.inf, 5, np.nan, -0.0])
    found = measure(one, other)
    assert (found.size, found.differing, found.not_finite, found.max_abs, found.max_ulp) == (7, 4, 3, 0, 0)
    assert str(found).endswith("3 infinite or NaN on one side")


def test_other_types():
    assert measure(np.array([True, False]), np.array([True, True])) == deviation.Deviation(2, 1)
    texts = np.array(["a", "b"], object)
    assert measure(texts, np.array(["a", "c"], object)) == deviation.Deviation(2, 1)
    assert measure(np.zeros(2), np.zeros(3)) is None
    assert measure(np.zeros((0, 3), "f4"), np.zeros((0, 3), "f4")) == deviation.Deviation(0, 0, 0, 0, 0.0, 0)
    mixed = measure(np.array([1, 2, 3]), np.float32([1, 2, 3.5]))
    assert (mixed.differing, mixed.max_abs, mixed.max_ulp) == (1, 0.5, None)
    small = measure(np.array([-8, 7], ml_dtypes.int4), np.array([7, 7], ml_dtypes.int4))
    assert (small.differing, small.max_abs) == (1, 15)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_numbers_are_pairs(dtype):
    one, other = np.array([1 + 2j, 3, 4], dtype), np.array([1 + 2.5j, 3, 4], dtype)
    assert unequal(one, other).tolist() == [True, False, False]
    assert beyond(one, other, lambda magnitudes: 0.1 + 0 * magnitudes).tolist() == [True, False, False]
    found = measure(one, other)
    assert (found.differing, found.max_abs, found.max_rel) == (1, 0.5, 0.25)


def test_views_and_scalars():
    one = np.arange(24, dtype="f4").reshape(4, 6)
    other = one + np.float32(0.5) * (one == 7)
    assert measure(one.T, other.T) == measure(one[:, ::-1], other[:, ::-1]) == measure(one, other)
    assert measure(np.float32(1), np.float32(2)).max_abs == 1


@pytest.mark.parametrize("dtype", ["f4", "i8", "?", "c8", "c16", ml_dtypes.bfloat16, object])
def test_scalars_have_a_first_difference(dtype):
    """Arrays without dimensions, such as a sum over all axes, have a mask without dimensions."""
    one, other = np.array(0, dtype), np.array(1, dtype)
    assert unequal(one, other).shape == ()
    found = first_difference(one, other)
    assert (found.position, found.count, found.size) == ((), 1, 1)
    assert first_difference(one, one) == ""


def test_a_tolerance_may_exceed_the_largest_number():
    """The permitted difference overflows without a warning, which would reach the terminal."""
    most = np.finfo("f8").max
    assert not beyond(np.array([most]), np.array([0.5 * most]), Tolerance(most, most).permitted).any()
    assert beyond(np.array([most]), np.array([np.inf]), Tolerance(most, most).permitted).all()


def test_as_text():
    one = np.float32([1, 2, 4])
    assert str(measure(one, one)) == "same bits"
    assert far_off(measure(one, one)) == far_off(None) == ""
    assert str(measure(one, np.float32([1, 2, 5]))) == "max abs 1, max rel 0.25, 2.1e+06 ULP, SNR 13.2 dB"
    assert str(measure(np.float32([0]), np.float32([1e-45]))) == "max abs 1.4e-45, 1 ULP"
    assert str(measure(np.float32([0]), np.float32([-0.0]))) == "equal numbers in other bits"
    assert str(measure(np.array([True]), np.array([False]))) == ""
    assert str(measure(np.array([2]), np.array([3]))) == "max abs 1, max rel 0.5, SNR 6.0 dB"


def test_large_arrays_are_not_copied(monkeypatch):
    """A copy of either array as float64 would take twice its own memory."""
    import tracemalloc

    monkeypatch.undo()
    one = np.ones(4_000_000, "f4")
    other = one + np.float32(1e-6)
    tracemalloc.start()
    try:
        measure(one, other)
        assert tracemalloc.get_traced_memory()[1] < one.nbytes / 2
    finally:
        tracemalloc.stop()
