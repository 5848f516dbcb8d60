"""Values of 64 bits that a model only moves come out of `compile_onnx` as they went in, bit by bit."""

from itertools import product

import numpy as np
import pytest

from helpers.lane_models import exactly, values
from helpers.saved_models import parsed
from ov_gather.converters import LossyConversionWarning, compile_onnx
from tools import gather_matrix

TYPES = ("int64", "uint64", "float64", "complex64", "complex128", "float16")


def assert_same(found, expected):
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


def test_the_matrix_has_nothing_inexact():
    """A cell of each operator and type is exact; the whole matrix is a command."""
    cells = [next(gather_matrix.cells(op, dtype)) for op, dtype in product(gather_matrix.KINDS, TYPES)]
    assert [gather_matrix.outcome(cell)[0] for cell in cells] == ["exact"] * len(cells)


def test_an_input_that_is_moved_and_computed_with():
    """The moved numbers are exact; those that are computed with must fit in 32 bits, and the loss is named."""
    proto = parsed("(int64[3] x, int64[2] i) => (int64[2] y, int64[3] z) { y = Gather (x, i) z = Mul (x, x) }")
    with pytest.warns(LossyConversionWarning, match="i64 is computed as i32.*: input 'x'"):
        compiled = compile_onnx(proto)
    found = compiled({"x": np.array([3, -4, 5]), "i": np.array([-1, 0])})
    assert (found["y"].tolist(), found["z"].tolist()) == ([5, 3], [9, 16, 25])
    with pytest.raises(ValueError, match=r"x\[1\] = 4294967296 does not fit in int32"):
        compiled({"x": np.array([3, 2**32, 5]), "i": np.array([-1, 0])})


def test_an_input_that_is_data_and_indices():
    compiled = exactly(parsed("(int64[n] x) => (int64[] y) { y = Gather (x, x) }"))
    assert compiled({"x": np.array([2, 0, -1])})["y"].tolist() == [-1, 2, -1]
    with pytest.raises(IndexError, match=r"x\[1\] = 4294967296 does not fit in int32"):
        compiled({"x": np.array([2, 2**32, 0])})


def test_a_constant_that_is_moved_and_computed_with():
    table = np.array([2**40, -1, 3, -(2**63)])
    text = "(int64[n] i) => (int64[] y, int64[] z) { y = Gather (table, i) z = Shape (table) }"
    found = exactly(parsed(text, table=table))({"i": np.array([0, -1])})
    assert (found["y"].tolist(), found["z"].tolist()) == ([2**40, -(2**63)], [4])


@pytest.mark.parametrize("op_type", ["Shape", "Size"])
def test_shapes_of_what_has_no_numbers(op_type):
    text = f"(complex64[n, m] x, int64[k] i) => (int64[] y) {{ v = Gather <axis = -1> (x, i) y = {op_type} (v) }}"
    found = exactly(parsed(text))({"x": values("complex64", (2, 3)), "i": np.array([0, 1, -1, 2])})["y"]
    assert found.tolist() == ([2, 4] if op_type == "Shape" else 8)


def test_the_byte_order_of_arrays_does_not_matter():
    text = "(double[3] x, float[3] f, int64[2] i) => (double[2] y, float[2] z) { y = Gather (x, i) z = Gather (f, i) }"
    compiled = exactly(parsed(text))
    x, i = np.array([1 / 3, np.pi, -0.0]), np.array([1, -1])
    found = compiled({"x": x.astype(">f8"), "f": x.astype(">f4"), "i": i.astype(">i8")})
    assert_same(found["y"], x[i])
    assert_same(found["z"], x[i].astype(np.float32))


@pytest.mark.parametrize(
    ("x", "error", "text"),
    [
        (np.array([1, 2], object), TypeError, "input 'x' must be int64, not object"),
        (np.array([1, 2], np.int32), TypeError, "input 'x' must be int64, not int32"),
        (np.array([1.0, 2]), TypeError, "input 'x' must be int64, not float64"),
        (np.array([[1, 2], [3, 4]]), ValueError, r"input 'x' must have shape \[2\], not \[2,2\]"),
        (np.array([1]), ValueError, r"input 'x' must have shape \[2\], not \[1\]"),
    ],
)
def test_wrong_inputs(x, error, text):
    compiled = exactly(parsed("(int64[2] x, int64[1] i) => (int64[] y) { y = Gather (x, i) }"))
    with pytest.raises(error, match=text.replace(",2", ", 2")):
        compiled({"x": x, "i": np.array([0])})


def test_strings_beside_lanes():
    text = """(string[n] words, uint64[n] keys, int64[3] i) => (string[] words_out, uint64[] keys_out) {
        words_out = Gather (words, i) keys_out = Gather (keys, i) }"""
    found = exactly(parsed(text))(
        {"words": np.array(["a", "bb"], object), "keys": np.array([2**64 - 1, 7], np.uint64), "i": np.array([1, 0, -1])}
    )
    assert found["words_out"].tolist() == ["bb", "a", "bb"]
    assert found["keys_out"].tolist() == [7, 2**64 - 1, 7]


def test_views_are_taken_as_they_are():
    """Strided arrays, as parts and transposes, are inputs like any other."""
    compiled = exactly(parsed("(double[n, m] x, int64[k] i) => (double[] y) { y = Gather <axis = 1> (x, i) }"))
    x = values("float64", (6, 8))
    for view in (x[::2, 1:6], x.T, np.broadcast_to(x[0], (3, 8)), x[:0]):
        assert_same(compiled({"x": view, "i": np.array([4, -1])})["y"], view[:, [4, -1]])


@pytest.mark.parametrize("dtype", TYPES)
def test_scalars_and_what_is_empty(dtype):
    """A scalar has lanes, and what has no elements keeps its shape."""
    kind = dtype.replace("float64", "double")
    text = f"({kind}[n] x, int64[] i, {kind} s) => ({kind}[] y, {kind} z) {{ y = Gather (x, i) z = Identity (s) }}"
    compiled = exactly(parsed(text))
    x, s = values(dtype, 3), values(dtype, ())
    for i in (np.array(-1), np.zeros(0, np.int64), np.zeros((2, 0), np.int64)):
        found = compiled({"x": x, "i": i, "s": s})
        assert_same(found["y"], x[i])
        assert_same(found["z"], s)
    empty = compiled({"x": x[:0], "i": np.zeros((0, 3), np.int64), "s": s})["y"]
    assert_same(empty, np.zeros((0, 3), dtype))


def test_an_index_that_fits_only_after_wrapping():
    """The CPU plugin would take 2**32 for 0. Where the same input is moved in lanes, it is no reason for an error."""
    compiled = exactly(parsed("(double[3] x, int64[k] i) => (double[] y, int64[] z) { y = Gather (x, i) z = Identity (i) }"))
    x = values("float64", 3)
    found = compiled({"x": x, "i": np.array([-3, 2])})
    assert_same(found["y"], x[[0, 2]])
    assert found["z"].tolist() == [-3, 2]
    for index in (2**32, -(2**32) - 1, 2**63 - 1):
        with pytest.raises(IndexError, match=rf"i\[1\] = {index} does not fit in int32"):
            compiled({"x": x, "i": np.array([0, index])})
