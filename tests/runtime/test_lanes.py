"""Values of 64 bits that a model only moves come out of `compile_onnx` as they went in, bit by bit."""

from itertools import product

import numpy as np
import pytest
from onnx import TensorProto, helper

from helpers.lane_models import exactly, model, values
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
    nodes = [helper.make_node("Gather", ["x", "i"], ["y"]), helper.make_node("Mul", ["x", "x"], ["z"])]
    proto = model(nodes, {"x": ("int64", [3]), "i": ("int64", [2])}, {"y": ("int64", [2]), "z": ("int64", [3])})
    with pytest.warns(LossyConversionWarning, match="i64 is computed as i32.*: input 'x'"):
        compiled = compile_onnx(proto)
    found = compiled({"x": np.array([3, -4, 5]), "i": np.array([-1, 0])})
    assert (found["y"].tolist(), found["z"].tolist()) == ([5, 3], [9, 16, 25])
    with pytest.raises(ValueError, match=r"x\[1\] = 4294967296 does not fit in int32"):
        compiled({"x": np.array([3, 2**32, 5]), "i": np.array([-1, 0])})


def test_an_input_that_is_data_and_indices():
    nodes = [helper.make_node("Gather", ["x", "x"], ["y"])]
    compiled = exactly(model(nodes, {"x": ("int64", ["n"])}, {"y": ("int64", None)}))
    assert compiled({"x": np.array([2, 0, -1])})["y"].tolist() == [-1, 2, -1]
    with pytest.raises(IndexError, match=r"x\[1\] = 4294967296 does not fit in int32"):
        compiled({"x": np.array([2, 2**32, 0])})


def test_a_constant_that_is_moved_and_computed_with():
    table = np.array([2**40, -1, 3, -(2**63)])
    nodes = [helper.make_node("Gather", ["table", "i"], ["y"]), helper.make_node("Shape", ["table"], ["z"])]
    outputs = {"y": ("int64", None), "z": ("int64", None)}
    found = exactly(model(nodes, {"i": ("int64", ["n"])}, outputs, {"table": table}))({"i": np.array([0, -1])})
    assert (found["y"].tolist(), found["z"].tolist()) == ([2**40, -(2**63)], [4])


@pytest.mark.parametrize("op_type", ["Shape", "Size"])
def test_shapes_of_what_has_no_numbers(op_type):
    nodes = [helper.make_node("Gather", ["x", "i"], ["v"], axis=-1), helper.make_node(op_type, ["v"], ["y"])]
    proto = model(nodes, {"x": ("complex64", ["n", "m"]), "i": ("int64", ["k"])}, {"y": ("int64", None)})
    found = exactly(proto)({"x": values("complex64", (2, 3)), "i": np.array([0, 1, -1, 2])})["y"]
    assert found.tolist() == ([2, 4] if op_type == "Shape" else 8)


def test_the_byte_order_of_arrays_does_not_matter():
    nodes = [helper.make_node("Gather", ["x", "i"], ["y"]), helper.make_node("Gather", ["f", "i"], ["z"])]
    inputs = {"x": ("float64", [3]), "f": ("float32", [3]), "i": ("int64", [2])}
    compiled = exactly(model(nodes, inputs, {"y": ("float64", [2]), "z": ("float32", [2])}))
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
    compiled = exactly(
        model(
            [helper.make_node("Gather", ["x", "i"], ["y"])], {"x": ("int64", [2]), "i": ("int64", [1])}, {"y": ("int64", None)}
        )
    )
    with pytest.raises(error, match=text.replace(",2", ", 2")):
        compiled({"x": x, "i": np.array([0])})


def test_strings_beside_lanes():
    nodes = [helper.make_node("Gather", [name, "i"], [f"{name}_out"]) for name in ("words", "keys")]
    inputs = {"words": (TensorProto.STRING, ["n"]), "keys": ("uint64", ["n"]), "i": ("int64", [3])}
    outputs = {"words_out": (TensorProto.STRING, None), "keys_out": ("uint64", None)}
    found = exactly(model(nodes, inputs, outputs))(
        {"words": np.array(["a", "bb"], object), "keys": np.array([2**64 - 1, 7], np.uint64), "i": np.array([1, 0, -1])}
    )
    assert found["words_out"].tolist() == ["bb", "a", "bb"]
    assert found["keys_out"].tolist() == [7, 2**64 - 1, 7]


def test_views_are_taken_as_they_are():
    """Strided arrays, as parts and transposes, are inputs like any other."""
    nodes = [helper.make_node("Gather", ["x", "i"], ["y"], axis=1)]
    compiled = exactly(model(nodes, {"x": ("float64", ["n", "m"]), "i": ("int64", ["k"])}, {"y": ("float64", None)}))
    x = values("float64", (6, 8))
    for view in (x[::2, 1:6], x.T, np.broadcast_to(x[0], (3, 8)), x[:0]):
        assert_same(compiled({"x": view, "i": np.array([4, -1])})["y"], view[:, [4, -1]])


@pytest.mark.parametrize("dtype", TYPES)
def test_scalars_and_what_is_empty(dtype):
    """A scalar has lanes, and what has no elements keeps its shape."""
    nodes = [helper.make_node("Gather", ["x", "i"], ["y"]), helper.make_node("Identity", ["s"], ["z"])]
    inputs = {"x": (dtype, ["n"]), "i": ("int64", None), "s": (dtype, [])}
    compiled = exactly(model(nodes, inputs, {"y": (dtype, None), "z": (dtype, [])}))
    x, s = values(dtype, 3), values(dtype, ())
    for i in (np.array(-1), np.zeros(0, np.int64), np.zeros((2, 0), np.int64)):
        found = compiled({"x": x, "i": i, "s": s})
        assert_same(found["y"], x[i])
        assert_same(found["z"], s)
    empty = compiled({"x": x[:0], "i": np.zeros((0, 3), np.int64), "s": s})["y"]
    assert_same(empty, np.zeros((0, 3), dtype))


def test_an_index_that_fits_only_after_wrapping():
    """The CPU plugin would take 2**32 for 0. Where the same input is moved in lanes, it is no reason for an error."""
    nodes = [helper.make_node("Gather", ["x", "i"], ["y"]), helper.make_node("Identity", ["i"], ["z"])]
    inputs = {"x": ("float64", [3]), "i": ("int64", ["k"])}
    compiled = exactly(model(nodes, inputs, {"y": ("float64", None), "z": ("int64", None)}))
    x = values("float64", 3)
    found = compiled({"x": x, "i": np.array([-3, 2])})
    assert_same(found["y"], x[[0, 2]])
    assert found["z"].tolist() == [-3, 2]
    for index in (2**32, -(2**32) - 1, 2**63 - 1):
        with pytest.raises(IndexError, match=rf"i\[1\] = {index} does not fit in int32"):
            compiled({"x": x, "i": np.array([0, index])})
