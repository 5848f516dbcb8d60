"""The algebra of dimensions and partial shapes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_gather.ir.shapes import ANY, MAX_DIMENSION, UNKNOWN, Dimension, PartialShape

SIZES = st.integers(0, 12)


@st.composite
def dimensions(draw):
    lower = draw(SIZES)
    return Dimension(lower, draw(st.none() | st.integers(lower, 12)))


SHAPES = st.builds(PartialShape, st.none() | st.lists(dimensions(), max_size=4).map(tuple))


@given(dimensions(), dimensions(), SIZES)
def test_intersection_holds_what_both_hold(one, other, size):
    common = one.intersect(other)
    assert (common is not None and size in common) == (size in one and size in other)


@given(SHAPES, SHAPES, st.lists(SIZES, max_size=4).map(tuple))
def test_shape_intersection_holds_what_both_hold(one, other, sizes):
    common = one.intersect(other)
    assert (common is not None and sizes in common) == (sizes in one and sizes in other)


@given(dimensions())
def test_dimension_text_is_read_back(dim):
    assert Dimension.parse(str(dim)) == dim


@given(SHAPES)
def test_shape_text_is_read_back(shape):
    assert PartialShape.parse(shape.attribute()) == shape
    assert PartialShape.parse(str(shape)) == shape


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("", PartialShape(())),
        ("...", UNKNOWN),
        ("?,3", PartialShape((ANY, Dimension(3, 3)))),
        ("-1, 3", PartialShape((ANY, Dimension(3, 3)))),
        ("[1..10,..5,2..]", PartialShape((Dimension(1, 10), Dimension(0, 5), Dimension(2)))),
        (str(MAX_DIMENSION), PartialShape((Dimension(MAX_DIMENSION, MAX_DIMENSION),))),
    ],
)
def test_shape_attributes(text, shape):
    assert PartialShape.parse(text) == shape


@pytest.mark.parametrize(
    "text",
    ["3,", ",", "3,,2", "3;2", "(1,2)", "0x3", "3.5", "+3", "-2", "a", "10..1", "..", "2,...", "٣", str(MAX_DIMENSION + 1)],
)
def test_malformed_shapes_are_refused(text):
    with pytest.raises(ValueError, match=r"dimension|interval"):
        PartialShape.parse(text)
