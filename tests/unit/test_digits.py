"""Numbers of an IR, and how many elements a constant may have."""

import pytest

from ov_gather.ir.attributes import normal
from ov_gather.ir.constants import _needed_bytes
from ov_gather.ir.numbers import parse_digits


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("007", 7),
        ("9" * 19, 10**19 - 1),
        ("9" * 20, None),
        ("0" * 20, None),
        ("", None),
        ("-1", None),
        (" 1", None),
        ("1_0", None),
        ("٣", None),
        ("²", None),
    ],
)
def test_digits(text, number):
    assert parse_digits(text) == number


@pytest.mark.parametrize(
    ("shape", "kind", "size"),
    [
        ("9223372036854775807", "i8", 2**63 - 1),
        ("2, 3", "f32", 24),
        ("", "f32", 4),
        ("0, 5", "i64", 0),
        ("3", "u4", 2),
        ("3", "string", 20),
        ("0", "string", 8),
    ],
)
def test_bytes_that_a_constant_needs(shape, kind, size):
    assert _needed_bytes(shape, kind) == size


@pytest.mark.parametrize(
    ("shape", "kind", "message"),
    [
        ("9223372036854775807,2", "i8", "makes more than 2\\^63-1 elements"),
        ("4294967296,2147483648", "i8", "makes more than 2\\^63-1 elements"),
        ("?", "i8", "is not a static shape"),
        ("a", "i8", "is not a static shape"),
        ("3", "dynamic", "is not the type of a constant"),
        ("3", "i9", "is not the type of a constant"),
    ],
)
def test_constants_that_cannot_be(shape, kind, message):
    with pytest.raises(ValueError, match=message):
        _needed_bytes(shape, kind)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1, 2", "1,2"), ("1.0", "1"), ("True", "true"), ("1e3", "1000"), (str(2**53 + 1), str(2**53 + 1)), ("0.50", "0.5")],
)
def test_how_attributes_are_compared(text, expected):
    """A double holds no integers beyond 2^53, so these stay as they are."""
    assert normal(text) == expected
