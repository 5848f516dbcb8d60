"""Models at the edge of ONNX, as exporters and attackers write them; errors have the documented type."""

import warnings

import numpy as np
import onnx
import openvino
import pytest

from helpers.lane_models import exactly
from helpers.legalized import model
from helpers.saved_models import parsed
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
    """The plugin of 2026.4.1 is right up to rank 3; beyond, two axes are repeated at a time."""
    dims, result = (",".join(f"{letter}{axis}" for axis in range(rank)) for letter in "AB")
    proto = model(f"float[{dims}] x, int64[{rank}] r) => (float[{result}] y)", "y = Tile(x, r)")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = compile_onnx(proto)
    x = np.arange(2**rank, dtype=np.float32).reshape([2] * rank)
    for repeats in ([1] * rank, [1] * (rank - 1) + [3], [2] + [1] * (rank - 2) + [2], [3] * rank, [2, 1] * 2 + [2]):
        np.testing.assert_array_equal(compiled({"x": x, "r": np.array(repeats[:rank])})["y"], np.tile(x, repeats[:rank]))


@pytest.mark.sampled(7)
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


@pytest.mark.parametrize("is_node", [False, True], ids=["initializer", "node"])
@pytest.mark.parametrize(
    ("kind", "field", "numbers"),
    [("UINT32", "uint64_data", [1, 2, 3]), ("BFLOAT16", "int32_data", [0x3F80, 0x4000, 0x4040])],
)
def test_numbers_in_fields_that_are_wider(kind, field, numbers, is_node):
    """OpenVINO's front end takes half of a number of uint64_data for uint32, and bits of bfloat16 for its value."""
    stored = onnx.TensorProto(name="k", data_type=onnx.TensorProto.DataType.Value(kind), dims=[3])
    getattr(stored, field).extend(numbers)
    nodes = [onnx.helper.make_node("Constant", [], ["k"], value=stored)] * is_node
    nodes.append(onnx.helper.make_node("Cast", ["k"], ["y"], to=onnx.TensorProto.FLOAT))
    output = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [3])
    graph = onnx.helper.make_graph(nodes, "g", [], [output], [stored] * (not is_node))
    proto = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
    assert openvino.compile_model(convert_model(proto), "CPU")([])[0].tolist() == [1, 2, 3]


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
