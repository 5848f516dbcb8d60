"""Numbers, element types, dimensions and shapes of an IR, and how many elements a constant may have."""

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_gather.ir.attributes import normal
from ov_gather.ir.constants import _needed_bytes
from ov_gather.ir.element_types import ELEMENT_TYPES, by_dtype, by_name, by_onnx, by_precision
from ov_gather.ir.numbers import parse_digits
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


def test_found_by_each_of_its_names():
    wrong = []
    for row in ELEMENT_TYPES:
        found = {"name": by_name(row.name), "upper case": by_name(row.name.upper())}
        found |= {"precision": by_precision(row.precision), "name as precision": by_precision(row.name)}
        if row.onnx:
            found["onnx"] = by_onnx(row.onnx)
        if row.numpy_name:
            found["dtype"] = by_dtype(row.dtype)
        wrong += [f"{row} by {way}: {other}" for way, other in found.items() if other is not row]
    assert not wrong, "\n".join(wrong)


@pytest.mark.openvino
def test_as_many_bytes_as_openvino_packs():
    import openvino

    wrong = []
    for row in ELEMENT_TYPES:
        for count in range(20) if row.bits else ():
            packed = openvino.Tensor(getattr(openvino.Type, row.name), [count]).byte_size
            if row.byte_size(count) != packed:
                wrong.append(f"{count} of {row}: {row.byte_size(count)} bytes, OpenVINO {packed}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["fp32", "bool", "FP99", "", "Q78"])
def test_unknown_precisions(name):
    assert by_precision(name) is None


def test_precisions_are_not_element_types():
    assert by_name("FP32") is None
    assert by_name("BOOL") is None


def test_onnx_agrees_on_the_numpy_dtype():
    rows = [row for row in ELEMENT_TYPES if row.onnx and row.name != "string"]
    assert [row.dtype for row in rows] == [onnx.helper.tensor_dtype_to_np_dtype(row.onnx) for row in rows]


def test_types_without_dtype_say_so():
    with pytest.raises(TypeError, match="nf4 has no NumPy dtype"):
        by_name("nf4").dtype  # noqa: B018
    assert by_dtype(np.dtype(np.complex64)) is None
