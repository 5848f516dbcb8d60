"""Models that were refused without need: `compile_onnx` executes them, and errors have the documented type."""

import numpy as np
import onnx
import pytest

from helpers.lane_models import exactly
from helpers.saved_models import parsed
from ov_gather.converters import ConversionError, compile_onnx, convert_model

BEYOND = np.array([[2**40, -(2**50)]])


@pytest.mark.parametrize("kind", ["complex64", "complex128"])
def test_an_empty_constant_of_complex_numbers(kind):
    model = parsed(f"({kind}[2] x) => ({kind}[2] y) {{ y = Concat<axis = 0>(x, none) }}", none=np.zeros(0, kind))
    x = np.array([1 + 2j, -3], kind)
    assert exactly(model)(x)["y"].tobytes() == x.tobytes()


@pytest.mark.parametrize("dtype, kind", [(np.float32, "float"), (np.int64, "int64")])
@pytest.mark.parametrize("end, expected", [(2**63 - 1, slice(1, None)), (-(2**63), slice(1, 0)), (3, slice(1, 3))])
def test_ends_of_slices_saturate(dtype, kind, end, expected):
    nodes = "s = Constant<value_ints = [1]>() r = Reshape(e, s) y = Slice(x, s, r)"
    text = f"({kind}[n] x, int64 e) => ({kind}[m] y) {{ {nodes} }}"
    x = np.arange(4).astype(dtype)
    assert exactly(parsed(text))(x, np.array(end))["y"].tolist() == x[expected].tolist()


@pytest.mark.filterwarnings("ignore::ov_gather.converters.LossyConversionWarning")
def test_a_start_of_a_slice_that_is_computed_with_must_fit():
    text = "(float[n] x, int64[1] e) => (float[m] y, int64[1] d) { y = Slice(x, e, e) d = Add(e, e) }"
    with pytest.raises(ValueError, match="does not fit in int32"):
        compile_onnx(parsed(text))(np.zeros(3, np.float32), np.array([2**40]))


@pytest.mark.parametrize("dead", ["d = Add(x, x)", "d = Add(x, x) e = Neg(d)", "d = Cast<to = 1>(x)"])
def test_dead_nodes_end_no_lanes(dead):
    text = f"(int64[n] x, int64[2] i) => (int64[2] y) {{ y = Gather(x, i) {dead} }}"
    assert exactly(parsed(text))(BEYOND[0], np.array([1, 0]))["y"].tolist() == BEYOND[0, ::-1].tolist()


@pytest.mark.parametrize("constant", [True, False])
def test_pads_tell_the_rank_of_data_in_lanes(constant):
    pads = np.array([0, 1, 0, 1])
    text = f"(int64[] x{'' if constant else ', int64[4] p'}) => (int64[] y) {{ y = Pad(x, p) }}"
    model = parsed(text, **({"p": pads} if constant else {}))
    given = {"x": BEYOND} | ({} if constant else {"p": pads})
    assert exactly(model)(given)["y"].tolist() == [[0, *BEYOND[0].tolist(), 0]]


@pytest.mark.parametrize("opset", [1, 6, 7])
def test_old_gathers_move_every_bit_and_name_the_position(opset):
    compiled = exactly(parsed("(int64[2] x, int64[n] i) => (int64[n] y) { y = Gather<axis = 0>(x, i) }", opset))
    assert compiled(BEYOND[0], np.array([1, 0]))["y"].tolist() == BEYOND[0, ::-1].tolist()
    with pytest.raises(IndexError, match=r"indices\[2\] = 7 is out of bounds for axis 0 of size 2 \(valid -2..1\)"):
        compiled(BEYOND[0], np.array([1, 0, 7]))


@pytest.mark.parametrize(
    "node, i",
    [
        ("Gather(x, i)", "int64[2] {0, 5}"),
        ("GatherElements(x, i)", "int64[2] {0, 5}"),
        ("GatherND(x, i)", "int64[2,1] {0, 5}"),
        ("ScatterElements(x, i, u)", "int64[2] {0, 5}"),
        ("Gather(x, i)", "int64[2] {0, 5000000000}"),
    ],
)
@pytest.mark.parametrize("convert", [compile_onnx, convert_model])
def test_constant_indices_out_of_bounds_are_index_errors(node, i, convert, tmp_path):
    constants = f"i = Constant<value = {i}>() u = Constant<value = float[2] {{1, 2}}>()"
    model = parsed(f"(float[3] x) => (float[n] y) {{ {constants} y = {node} }}")
    with pytest.raises(IndexError, match=r"indices\[1.*\] = 50{0,9} is out of bounds") as caught:
        convert(model)
    assert isinstance(caught.value, ConversionError)
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(IndexError, match=r"model\.onnx: node"):
        convert(tmp_path / "model.onnx")


@pytest.mark.parametrize("kind", ["float", "int64"])
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("size", ["n", 2, 3, 4, 5, 7])
def test_the_last_part_of_a_split_may_be_smaller(kind, axis, size):
    text = f"({kind}[{size}, {size}] x) => ({kind}[] a, {kind}[] b) {{ a, b = Split<axis = {axis}, num_outputs = 2>(x) }}"
    compiled = compile_onnx(parsed(text))
    for length in (1, 3, 4) if size == "n" else (size,):
        x = np.arange(length**2).reshape(length, length).astype("f4" if kind == "float" else "i8")
        for found, expected in zip(compiled({"x": x}).values(), np.split(x, [-(-length // 2)], axis), strict=True):
            np.testing.assert_array_equal(found, expected, strict=True)


def test_an_empty_last_part_of_a_split():
    """OpenVINO's front end dies of it."""
    text = "(float[1] x) => (float[] a, float[] b) { a, b = Split<axis = 0, num_outputs = 2>(x) }"
    found = compile_onnx(parsed(text))({"x": np.float32([7])})
    assert (found["a"].tolist(), found["b"].tolist()) == ([7], [])
    text = "(float[1] x) => (float[] a, float[] b, float[] c) { a, b, c = Split<axis = 0, num_outputs = 3>(x) }"
    with pytest.raises(ConversionError, match="an axis of size 1 cannot be split into 3 parts"):
        compile_onnx(parsed(text))
    text = "(float[4] x) => (float[] a, float[] b) { a, b = Split<axis = 2, num_outputs = 2>(x) }"
    with pytest.raises(ConversionError, match="axis 2 is out of range for rank 1"):
        compile_onnx(parsed(text))
