"""Operators near the gathers become gathers, which onnxruntime computes as before, bit by bit."""

from collections import Counter

import numpy as np
import onnx_ir
import pytest

from helpers.legalized import constant, legalized, model, random
from ov_gather.converters import ConversionError
from ov_gather.converters.legalize import legalize

TARGETS = ["stock", "extension"]
CONDITION = np.array([True, False, True])


@pytest.mark.onnxruntime
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


@pytest.mark.onnxruntime
def test_compress_by_a_constant():
    proto = constant(CONDITION, model("float[4,5] x) => (float[4,2] y)", "y = Compress<axis = 1>(x, c)"), "c")
    assert legalized(proto, {"x": random(4, 5)})[0] == Counter(Constant=1, Gather=1)
    for none in (np.zeros(3, bool), np.zeros(0, bool)):  # a Gather at no place would be the end of the process
        proto = constant(none, model("float[4,5] x) => (float[4,K] y)", "y = Compress<axis = 1>(x, c)"), "c")
        assert legalized(proto, {"x": random(4, 5)})[0]["Gather"] == 0
    proto = constant([True] * 6, model("float[4,5] x) => (float[4,K] y)", "y = Compress<axis = 1>(x, c)"), "c")
    with pytest.raises(ConversionError, match=r"indices\[5\] = 5 is out of bounds for axis 1 of size 5"):
        legalize(onnx_ir.from_proto(proto))


@pytest.mark.onnxruntime
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


@pytest.mark.onnxruntime
def test_one_hot_of_values_that_openvino_keeps_stays():
    proto = model("int64[3] i) => (int64[3,4] y)", "y = OneHot(i, d, v)")
    constant(np.array([0, 1]), constant(4, proto, "d"), "v")
    assert legalized(proto, {"i": np.array([0, -1, 7])}) == (Counter(OneHot=1), [])


LAYOUTS = ["<time_axis = 0, batch_axis = 1>", "<time_axis = 1, batch_axis = 0>", ""]
LENGTHS = np.array([0, 1, 5, 3])


@pytest.mark.onnxruntime
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
