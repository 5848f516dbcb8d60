"""Operators near the gathers become gathers, and constant indices positive; onnxruntime computes as before, bit by bit."""

from collections import Counter

import numpy as np
import onnx_ir
import pytest

from helpers.legalized import constant, legalized, model, random
from ov_gather.converters import ConversionError
from ov_gather.converters.legalize import legalize

pytestmark = pytest.mark.onnxruntime


@pytest.mark.parametrize("element_type", [np.int32, np.int64])
def test_negative_constants(element_type):
    proto = model("float[5,4] x) => (float[2,2] y, float[2,4] z)", "y = GatherElements<axis = -1>(x, i) z = Gather(x, row)")
    constant(np.array([[-1, 0], [3, -4]], element_type), proto)
    constant(np.array([-5, 4], element_type), proto, "row")
    ops, rewrites = legalized(proto, {"x": random(5, 4)}, target="extension")
    assert [rewrite.what for rewrite in rewrites] == [
        "2 negative constant indices made positive",
        "1 negative constant index made positive",
    ]
    assert ops["Constant"] == 2


def test_negative_coordinates():
    proto = model("float[2,5,4] x) => (float[2,2] y)", "y = GatherND<batch_dims = 1>(x, i)")
    changed = onnx_ir.from_proto(constant([[[-1, 3], [0, -4]], [[4, -1], [-5, 0]]], proto))
    legalize(changed)
    tensor = onnx_ir.convenience.get_const_tensor(changed.graph[-1].inputs[1])
    assert tensor.numpy().tolist() == [[[4, 3], [0, 0]], [[4, 3], [0, 0]]]
    legalized(proto, {"x": random(2, 5, 4)})


def test_negative_constant_of_an_open_axis_stays():
    proto = constant([-1], model("float[N,4] x) => (float[1,4] y)", "y = Gather(x, i)"))
    assert legalized(proto, {"x": random(3, 4)}) == (Counter(Gather=1), [])


def test_shared_constant_stays_for_others():
    proto = model(
        "float[5] x, float[9] z) => (float[2] a, float[2] b, float[2] c, int64[2] d)",
        "a = Gather(x, i) b = Gather(x, i) c = Gather(z, i) d = Identity(i)",
    )
    ops, rewrites = legalized(constant([-1, 1], proto), {"x": random(5), "z": random(9)})
    assert len(rewrites) == 3
    assert ops["Constant"] == 2  # one index for axes of 5, one for axes of 9


def test_constant_that_is_an_output_stays():
    proto = model("float[5] x) => (float[2] y, int64[2] i)", "y = Gather(x, i)")
    legalized(constant([-1, 1], proto), {"x": random(5)})


def test_default_of_an_input_stays():
    """The default of an input is no constant, as whoever runs the model may give another value."""
    proto = model("float[5] x, int64[2] i) => (float[2] y)", "y = Gather(x, i)")
    assert legalized(constant([-1, 1], proto), {"x": random(5), "i": np.array([-2, -3])}) == (Counter(Gather=1), [])


@pytest.mark.parametrize(
    ("nodes", "index", "message"),
    [
        (
            "y = GatherElements<axis = 1>(x, i)",
            [[0, 1], [2, 4]],
            r"node GatherElements '' \(output y\): indices\[1, 1\] = 4 is out of bounds for axis 1 of size 4 \(valid -4..3\)",
        ),
        ("y = Gather<axis = -1>(x, i)", -5, r"indices\[\] = -5 is out of bounds for axis 1 of size 4 \(valid -4..3\)"),
        (
            "y = GatherND(x, i)",
            [[0, 0], [-6, 1]],
            r"indices\[1, 0\] = -6 is out of bounds for axis 0 of size 5 \(valid -5..4\)",
        ),
        ("y = GatherND(x, i)", [[0, 0, 0]], "0 batch dims and 3 coordinates exceed data of rank 2"),
        ("y = GatherElements(x, i)", [0], "data of rank 2 but indices of rank 1"),
        ("y = Gather<axis = 2>(x, i)", [0], r"axis 2 is out of range for rank 2 \(valid -2..1\)"),
    ],
)
def test_refused(nodes, index, message):
    proto = constant(index, model("float[5,4] x) => (float y)", nodes))
    for target in ("stock", "extension"):
        with pytest.raises(ConversionError, match=message):
            legalize(onnx_ir.from_proto(proto), target=target)


@pytest.mark.parametrize("index", [2**31 - 1, -(2**31), 2**31, -(2**31) - 1])
def test_constants_of_an_open_axis_fit_in_32_bits(index):
    graph = onnx_ir.from_proto(constant([index], model("float[N,4] x) => (float[1,4] y)", "y = Gather(x, i)")))
    if -(2**31) <= index < 2**31:
        legalize(graph)
    else:
        with pytest.raises(ConversionError, match=rf"indices\[0\] = {index} is out of bounds for every axis"):
            legalize(graph)


@pytest.mark.parametrize("element_type", [np.float32, np.float16, np.int64, np.bool_, np.uint8, np.float64])
def test_gathers_of_constants_are_folded(element_type):
    """OpenVINO cannot fold gathers of constants, and its plugin may misread them, also where indices are smaller than data."""
    proto = model(
        "float[1] x) => (float[1] z)",
        """y = GatherElements<axis = 1>(d, i) w = GatherND(d, n) a = Cast<to = 1>(y) b = Cast<to = 1>(w)
           c = ReduceSum<keepdims = 0>(a) s = ReduceSum<keepdims = 0>(b) e = Add(c, s) z = Add(e, x)""",
        opset=13,
    )
    data = np.random.default_rng(0).integers(0, 2, (5, 4)).astype(element_type)
    for name, array in (("d", data), ("i", np.array([[0, -1, 3], [2, 2, -4]])), ("n", np.array([[-1], [0]]))):
        constant(array, proto, name)
    ops, rewrites = legalized(proto, {"x": random(1)}, target="stock")
    assert "GatherElements" not in ops
    assert "GatherND" not in ops
    assert [rewrite.what for rewrite in rewrites].count("gather of constants folded") == 2
    ops, _ = legalized(proto, {"x": random(1)}, target="extension")  # OpenVINO folds our operations itself
    assert ops["GatherElements"] == ops["GatherND"] == 1


@pytest.mark.parametrize(("count", "is_folded"), [(16, True), (30, True), (70, True), (71, False)])
def test_a_large_gather_of_constants_is_folded_if_it_is_no_larger_than_these(count, is_folded, monkeypatch):
    """Here 64 bytes are large. The result has 16 bytes for each index of 8, the data 560."""
    monkeypatch.setattr("ov_gather.acceleration.fold_constants.LARGEST", 64)
    proto = model("float[1] x) => (float[1,1] y)", "w = GatherND(t, i) s = ReduceSum(w) y = Add(x, s)")
    constant(np.ones((35, 4), np.float32), proto, "t")
    constant(np.arange(count).reshape(-1, 1) % 35, proto)
    ops, _ = legalized(proto, {"x": random(1)}, target="stock")
    assert (ops["GatherND"] == 0) is is_folded


def test_constants_whose_shapes_do_not_fit_are_refused():
    proto = constant(
        [[0], [1], [1]],
        constant(np.ones((2, 2), np.float32), model(") => (float[3,1] y)", "y = GatherElements<axis = 1>(d, i)"), "d"),
    )
    with pytest.raises(ConversionError, match=r"node GatherElements '' \(output y\): gather_elements: .*3"):
        legalize(onnx_ir.from_proto(proto))


TARGETS = ["stock", "extension"]
CONDITION = np.array([True, False, True])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("signature", "node", "reshapes"),
    [
        ("float[N,4] x, bool[M] c) => (float[K,4] y)", "y = Compress<axis = 0>(x, c)", 1),
        ("float[4,5] x, bool[3] c) => (float[4,K] y)", "y = Compress<axis = -1>(x, c)", 1),
        ("float[4,5] x, bool[3] c) => (float[K] y)", "y = Compress(x, c)", 2),
    ],
)
def test_compress(signature, node, reshapes, target):
    shape = (3, 4) if "N" in signature else (4, 5)
    ops, (rewrite,) = legalized(model(signature, node), {"x": random(*shape), "c": CONDITION}, target=target)
    assert rewrite.what == "Compress replaced by a Gather of the places where the condition is true"
    assert ops == Counter(Constant=reshapes, NonZero=1, Gather=1, Reshape=reshapes)


def test_compress_by_a_constant():
    proto = constant(CONDITION, model("float[4,5] x) => (float[4,2] y)", "y = Compress<axis = 1>(x, c)"), "c")
    assert legalized(proto, {"x": random(4, 5)})[0] == Counter(Constant=1, Gather=1)
    for none in (np.zeros(3, bool), np.zeros(0, bool)):  # a Gather at no place would be the end of the process
        proto = constant(none, model("float[4,5] x) => (float[4,K] y)", "y = Compress<axis = 1>(x, c)"), "c")
        assert legalized(proto, {"x": random(4, 5)})[0]["Gather"] == 0
    proto = constant([True] * 6, model("float[4,5] x) => (float[4,K] y)", "y = Compress<axis = 1>(x, c)"), "c")
    with pytest.raises(ConversionError, match=r"indices\[5\] = 5 is out of bounds for axis 1 of size 5"):
        legalize(onnx_ir.from_proto(proto))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("axis", ["", "<axis = 0>"])
@pytest.mark.parametrize(
    ("element_type", "values"), [("int64", np.array([2**40, -(2**50)])), ("float", np.float32([1e-42, 3]))]
)
def test_one_hot(element_type, values, axis, target):
    proto = model(f"int64[2,3] i, {element_type}[2] v) => ({element_type}[A,B,C] y)", f"y = OneHot{axis}(i, d, v)")
    inputs = {"i": np.array([[0, -1, 3], [-4, 1, -3]]), "v": values}
    ops, rewrites = legalized(constant(3, proto, "d"), inputs, target=target)
    assert (ops["OneHot"], ops["Gather"], len(rewrites)) == (1, element_type == "int64", element_type == "int64")
    inputs.pop("v")
    fixed = model(f"int64[2,3] i) => ({element_type}[A,B,C] y)", f"y = OneHot{axis}(i, d, v)")
    ops, rewrites = legalized(constant(3, constant(values, fixed, "v"), "d"), inputs, target=target)
    assert (ops["Gather"], len(rewrites)) == (1, 1)  # OpenVINO saturates the ones, and flushes the others to zero


def test_one_hot_of_values_that_openvino_keeps_stays():
    proto = model("int64[3] i) => (int64[3,4] y)", "y = OneHot(i, d, v)")
    constant(np.array([0, 1]), constant(4, proto, "d"), "v")
    assert legalized(proto, {"i": np.array([0, -1, 7])}) == (Counter(OneHot=1), [])


LAYOUTS = ["<time_axis = 0, batch_axis = 1>", "<time_axis = 1, batch_axis = 0>", ""]
LENGTHS = np.array([0, 1, 5, 3])


@pytest.mark.parametrize("attributes", LAYOUTS)
@pytest.mark.parametrize("data", ["int32[N,M,2]", "int32[]", "int32[N,M]"])
def test_sequences_of_integers(data, attributes):
    x = np.random.default_rng(1).integers(-(2**31), 2**31, (5, 4, 2), np.int32)
    x = x.swapaxes(0, 1) if "time_axis = 1" in attributes else x
    x = x[..., 0] if data.count(",") == 1 else x
    proto = model(f"{data} x, int64[4] n) => ({data} y)", f"y = ReverseSequence{attributes}(x, n)")
    if data == "int32[]":  # the text format has no rank that is open
        for value in (proto.graph.input[0], proto.graph.output[0]):
            value.type.tensor_type.ClearField("shape")
    changed = onnx_ir.from_proto(proto)
    (rewrite,) = legalize(changed, target="extension")
    assert (rewrite.node, rewrite.what) == ("node ReverseSequence '' (output y)", "ReverseSequence replaced by a GatherND")
    assert Counter(node.op_type for node in changed.graph)["GatherND"] == 1
    if data != "int32[]":
        legalized(proto, {"x": x, "n": LENGTHS}, target="extension")


def test_sequences_that_stay():
    """Floats are reversed exactly, stock operations have no other way, and opset 10 has no GatherND."""
    for data, opset, target in (("float", 18, "extension"), ("int32", 18, "stock"), ("int32", 10, "extension")):
        proto = model(f"{data}[N,M] x, int64[M] n) => ({data}[N,M] y)", "y = ReverseSequence(x, n)", opset=opset)
        changed = onnx_ir.from_proto(proto)
        assert not any(rewrite.done for rewrite in legalize(changed, target=target))
        assert [node.op_type for node in changed.graph] == ["ReverseSequence"]
