"""What exporters write and what attackers would: models at the edge of ONNX through the converters."""

import warnings

import numpy as np
import onnx
import openvino
import pytest

from helpers.legalized import model
from ov_gather.converters import ConversionError, compile_onnx, convert_model


def test_an_attention_mask_of_infinity():
    proto = model("float[N] x) => (float[N] y)", "s = Shape(x) m = ConstantOfShape<value = float[1] {-inf}>(s) y = Max(x, m)")
    x = np.float32([-1e38, 0, 5])
    np.testing.assert_array_equal(compile_onnx(proto)({"x": x})["y"], x)
    assert convert_model(proto).outputs[0].get_any_name() == "y"


def test_a_dimension_of_minus_one_is_open():
    """Paddle's exporter writes -1 for an open dimension. Two of them need not be equal."""
    proto = model("float[N,4] x, int64[M,4] i) => (float[M,4] y)", "r = Relu(x) y = GatherElements<axis = 1>(r, i)")
    for value in (*proto.graph.input, *proto.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = -1
    x, i = np.arange(20, dtype=np.float32).reshape(5, 4), np.array([[0, -1, 2, 1], [3, 3, 0, -4]])
    expected = np.take_along_axis(x[:2], i, 1)
    np.testing.assert_array_equal(compile_onnx(proto)({"x": x, "i": i})["y"], expected)
    stock = openvino.compile_model(convert_model(proto), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    np.testing.assert_array_equal(stock({"x": x, "i": i})["y"], expected)


@pytest.mark.parametrize(
    "nodes",
    [
        "y, z = If (c) <then_branch = a () => (int64[2] p) { p = Neg(x) }, else_branch = b () => (int64[2] q) { q = Abs(x) }>",
        "y, z = Loop (n, c, x) <body = a (int64 i, bool go, int64[2] p) => (bool k, int64[2] r) { k = Not(go) r = Neg(p) }>",
        "y = Loop (n, c) <body = a () => (bool k, int64 r) { k = Constant<value_int = 1>() r = Constant<value_int = 1>() }>",
        "y = Scan (x) <num_scan_inputs = 5, body = a (int64 p) => (int64 r) { r = Neg(p) }>",
        "y = Scan (x) <num_scan_inputs = 1, body = a (int64 o, int64 p) => (int64 o, int64 r) { r = Neg(p) }>",
    ],
)
def test_bodies_that_do_not_fit_their_node(nodes):
    outputs = ", ".join(f"int64[2] {name}" for name in nodes.partition(" =")[0].split(", "))
    proto = model(f"bool c, int64 n, int64[2] x) => ({outputs})", nodes)
    onnx.checker.check_model(proto)  # ONNX's checker does not notice
    with pytest.raises(ConversionError, match=r"node (If|Loop|Scan) .*do not fit those of the node"):
        convert_model(proto)


@pytest.mark.parametrize("rank", [2, 3, 4, 5])
def test_repeats_that_are_known_at_run_time_only(rank):
    """The plugin of 2026.4.1 is right up to rank 3; a warning says what it does beyond."""
    dims, result = (",".join(f"{letter}{axis}" for axis in range(rank)) for letter in "AB")
    proto = model(f"float[{dims}] x, int64[{rank}] r) => (float[{result}] y)", "y = Tile(x, r)")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled = compile_onnx(proto)
    assert [str(warning.message) for warning in caught if "unwritten" in str(warning.message)] == [
        str(warning.message) for warning in caught
    ]
    assert bool(caught) == (rank > 3)
    x = np.arange(2**rank, dtype=np.float32).reshape([2] * rank)
    for repeats in ([1] * rank, [1] * (rank - 1) + [3], [2] + [1] * (rank - 2) + [2], [3] * rank):
        if rank <= 3 or sum(number > 1 for number in repeats) <= 2:
            np.testing.assert_array_equal(compiled({"x": x, "r": np.array(repeats)})["y"], np.tile(x, repeats))


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("y = Div(c, k)", [[0, -1], [3, 1]]),
        ("y = Add(c, k)", [[4, 0], [12, 9]]),
        ("y = Concat <axis = 0> (c, r)", [[1, -4], [9, 5], [3, 4]]),
    ],
)
@pytest.mark.parametrize("declared", ["int64", "int64[7]", "int64[2]", "int64[2,1,2]"])
@pytest.mark.filterwarnings("ignore::ov_gather.converters.LossyConversionWarning")
def test_an_output_declared_with_another_rank(node, expected, declared):
    """Runtimes ignore the declared rank, and so do the operations of OpenVINO that the model becomes."""
    constants = "k = Constant <value = int64[2] {3, 4}> () r = Constant <value = int64[1,2] {3, 4}> ()"
    proto = model(f"int32[2,2] x) => ({declared} y)", f"{constants} c = Cast <to = 7> (x) {node}")
    x = np.int32([[1, -4], [9, 5]])
    np.testing.assert_array_equal(compile_onnx(proto)({"x": x})["y"], expected)
    stock = openvino.compile_model(convert_model(proto), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    np.testing.assert_array_equal(stock(x)[0], expected)
