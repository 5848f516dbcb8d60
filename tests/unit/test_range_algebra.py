"""The algebra of ranges: what it says of an operation holds for all values that the operands may have."""

from math import inf

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.made_symbols import Letter
from ov_gather.ranges.algebra import constants
from ov_gather.ranges.algebra.intervals import ANY, Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Polynomial, Quotient
from ov_gather.ranges.algebra.sizes import Limits, Sizes

SIZE_X, SIZE_Y = Letter("x"), Letter("y")
X, Y = Polynomial.symbol(SIZE_X), Polynomial.symbol(SIZE_Y)

polynomials = st.recursive(
    st.sampled_from([X, Y]) | st.integers(-5, 5).map(Polynomial.constant),
    lambda parts: st.tuples(st.sampled_from(["+", "-", "*"]), parts, parts).map(
        lambda made: {"+": made[1] + made[2], "-": made[1] - made[2], "*": made[1] * made[2]}[made[0]]
    ),
    max_leaves=5,
)


def value_of(polynomial, values):
    """The number that a polynomial is for some values, computed from its text by Python."""
    for name, value in values.items():
        polynomial = polynomial.with_values({name: Polynomial.constant(value)})
    return polynomial.value


@settings(deadline=None)
@given(polynomials, polynomials, st.integers(0, 9), st.integers(0, 9))
def test_polynomials_compute_as_their_text_says(one, other, x, y):
    def number(polynomial):
        return eval(str(polynomial).replace("^", "**"), {"x": x, "y": y})

    values = {SIZE_X: x, SIZE_Y: y}
    assert value_of(one, values) == number(one)
    for result, expected in ((one + other, number(one) + number(other)), (one * other, number(one) * number(other))):
        assert value_of(result, values) == expected


@settings(deadline=None)
@given(polynomials, polynomials)
def test_a_product_divides_by_its_factors(one, other):
    if other.terms:
        assert (one * other).divided_by(other) == one
        quotient = one.divided_by(other)
        assert quotient is None or quotient * other == one


def test_what_does_not_divide():
    assert (X * Y + 1).divided_by(X) is None
    assert (X * 3).divided_by(Polynomial.constant(2)) is None
    assert X.divided_by(Polynomial(())) is None


bounds = st.tuples(st.integers(0, 4), st.integers(0, 4) | st.just(inf)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@settings(deadline=None)
@given(polynomials, bounds, bounds, st.data())
def test_bounds_of_polynomials(polynomial, x, y, data):
    sizes = Sizes({SIZE_X: x, SIZE_Y: y})
    values = {name: data.draw(st.integers(low, int(min(high, low + 9)))) for name, (low, high) in ((SIZE_X, x), (SIZE_Y, y))}
    assert sizes.least(polynomial) <= value_of(polynomial, values) <= sizes.greatest(polynomial)


def test_bounds_that_matter():
    sizes = Sizes({SIZE_X: (0, inf), SIZE_Y: (1, 8)})
    assert sizes.least(X * Y - X) == 0
    assert sizes.greatest(X - X * Y - 1) == -1
    assert sizes.least(X - Y) == -8
    assert sizes.is_at_most(X, X * Y) and not sizes.is_at_most(X * Y, X)


@st.composite
def situations(draw):
    """Sizes, two intervals in them, a value of each size, and of each interval one value that keeps to its bounds."""
    sizes = Sizes({SIZE_X: draw(bounds), SIZE_Y: draw(bounds)})
    values = {name: draw(st.integers(low, int(min(high, low + 9)))) for name, (low, high) in sizes.bounds.items()}
    operands = []
    for _ in range(2):
        number = draw(st.integers(-12, 12))
        low, high = (draw(st.none() | polynomials) for _ in range(2))
        low = None if low is None or value_of(low, values) > number else low
        high = None if high is None or value_of(high, values) < number else high
        interval = Algebra(sizes).between(low, high)
        numbers = Interval(number - draw(st.integers(0, 9)), number + draw(st.integers(0, 9)))
        operands.append((Algebra(sizes).meet(interval, numbers) if draw(st.booleans()) else interval, number))
    return sizes, values, operands


def holds(interval, number, values):
    """Whether an interval allows a number when the sizes have these values."""
    return (
        interval.low <= number <= interval.high
        and all(value_of(bound, values) <= number for bound in interval.lows)
        and all(value_of(bound, values) >= number for bound in interval.highs)
    )


def floor_divided(a, b):
    return [a // b, -(-a // b) if a < 0 else a // b] if b > 0 else []


def remainder(a, b):
    return [a % b] if b > 0 else []


def remainder_of_dividend(a, b):
    return [a % b if a >= 0 else -(-a % b)] if b > 0 else []


OPERATIONS = {
    "add": (Algebra.add, lambda a, b: [a + b]),
    "subtract": (Algebra.subtract, lambda a, b: [a - b]),
    "multiply": (Algebra.multiply, lambda a, b: [a * b]),
    "minimum": (Algebra.minimum, lambda a, b: [min(a, b)]),
    "maximum": (Algebra.maximum, lambda a, b: [max(a, b)]),
    "join": (Algebra.join, lambda a, b: [a, b]),
    "absolute": (lambda algebra, one, other: algebra.absolute(one), lambda a, b: [abs(a)]),
    "negative": (lambda algebra, one, other: -one, lambda a, b: [-a]),
    "divide": (Algebra.divide, floor_divided),
    "remainder": (lambda algebra, a, b: algebra.remainder(a, b, sign_of_dividend=False), remainder),
    "remainder of the dividend": (lambda algebra, a, b: algebra.remainder(a, b, sign_of_dividend=True), remainder_of_dividend),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", OPERATIONS)
@settings(deadline=None)
@given(situation=situations())
def test_operations_hold_every_result(name, situation):
    sizes, values, ((one, a), (other, b)) = situation
    assert holds(one, a, values) and holds(other, b, values)
    work, results = OPERATIONS[name]
    found = work(Algebra(sizes), one, other)
    for result in results(a, b):
        assert holds(found, result, values), f"{one} {name} {other} = {found}, but {a} and {b} give {result}"


def test_what_the_algebra_is_for():
    algebra = Algebra(Sizes({SIZE_X: (1, inf)}))
    size, positions = algebra.exact(X), algebra.between(Polynomial.constant(0), X - 1)
    assert str(algebra.subtract(size, algebra.exact(1))) == "0 or x - 1..x - 1"
    assert algebra.is_at_most(algebra.minimum(ANY, algebra.subtract(size, algebra.exact(1))), X - 1)
    assert algebra.remainder(ANY, size, sign_of_dividend=False) == positions
    assert algebra.divide(algebra.exact(X * Y), size).exactly == Y
    assert algebra.is_at_most(algebra.multiply(positions, algebra.exact(Y)), X * Y - Y)
    assert algebra.join(positions, algebra.exact(0)) == positions


def test_a_quotient():
    """2 * (x // 2) is x or x - 1."""
    x, y = Polynomial.symbol(SIZE_X), Polynomial.symbol(SIZE_Y)
    half = Polynomial.symbol(Quotient((x - 4).terms, 2))
    sizes = Sizes({SIZE_X: (4, 100), SIZE_Y: (1, 9)})
    assert str(half) == "((x - 4) // 2)"
    assert sizes.of(Quotient((x - 4).terms, 2)) == (0, 48)
    assert sizes.of(Quotient((x + 1).terms, 3)) == (1, 33)
    assert sizes.is_at_most(half * 2 + 3, x - 1)
    assert not sizes.is_at_most(half * 2 + 4, x - 1)
    assert sizes.is_at_most(x - 5, half * 2)
    assert not sizes.is_at_most(x - 4, half * 2)
    assert sizes.is_at_most(half * y * 2, x * y - y * 4)
    assert Polynomial.symbol(Quotient((x - 4).terms, 2)) == half


def test_a_quotient_in_the_number_of_elements_of_a_tensor():
    """The limit is about the quotient, and about the size that it is computed from."""
    x = Polynomial.symbol(SIZE_X)
    limits = Limits()
    sizes = Sizes({}, (0, 1 << 24), limits)
    limits.add(Polynomial.symbol(Quotient((x * x).terms, 2)) * x, 2**31 - 1)
    assert sizes.of(Quotient((x * x).terms, 2))[0] == 0
    assert sizes.greatest(x * Polynomial.symbol(Quotient((x * x).terms, 2))) == 2**31 - 1


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("missing", [0, 3, 12])
@pytest.mark.parametrize("chunk", [5, 1 << 22])
def test_bounds_of_floats_are_those_of_the_numbers_among_them(monkeypatch, kind, missing, chunk):
    monkeypatch.setattr(constants, "CHUNK", chunk)
    array = np.array([-3.5, 2, 0.25, -0.0, 7, -8, 1, np.inf if missing == 3 else 6, 4, 5, -1, 2]).astype(kind)
    array[:missing] = np.nan
    found = constants.constant_value(None, array.reshape(3, 4))
    numbers = array.astype(np.float64)[missing:]
    assert found.may_be_nan == bool(missing)
    assert found.elements == (Interval(numbers.min(), numbers.max()) if numbers.size else ANY)
