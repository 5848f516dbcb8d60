"""Names in ONNX and in IR: those of inputs and outputs stay, or are refused; those that XML cannot hold are escaped."""

from xml.etree import ElementTree

import numpy as np
import onnx
import openvino
import pytest

from helpers.legalized import constant, model
from helpers.saved_models import parsed
from ov_gather import validate
from ov_gather.converters import ConversionError, compile_onnx, convert_model

X, Z = np.float32([[3, -1], [2, 5]]), np.float32([[7, 8], [9, 6]])

# Each model, with the outputs that it computes from x and z.
MODELS = {
    "an output that the compiler merges with its source": (
        model("float[2,2] x) => (float[2,2] y, float[2,2] a)", "B = Relu(x) y = Identity(B) a = Identity(B)"),
        lambda x, z: {"y": np.maximum(x, 0), "a": np.maximum(x, 0)},
    ),
    "outputs against the order of their names": (
        model("float[2,2] x) => (float[2,2] z, float[2,2] b, float[2,2] a)", "a = Neg(x) z = Relu(x) b = Identity(a)"),
        lambda x, z: {"z": np.maximum(x, 0), "b": -x, "a": -x},
    ),
    "an input that the front end renames": (
        model("float[2,2] x) => (float[2,2] y)", "y = Dropout(x)"),
        lambda x, z: {"y": x},
    ),
    "an input that is an output, too": (
        model("float[2,2] x) => (float[2,2] x, float[2,2] y)", "y = Neg(x)"),
        lambda x, z: {"x": x, "y": -x},
    ),
    "one of three inputs renamed": (
        model(
            "float[2,2] x, float[2,2] z, float[2,2] u) => (float[2,2] y)",
            "s = SequenceConstruct(x, z, u) one = Constant<value_int = 1>() y = SequenceAt(s, one)",
        ),
        lambda x, z: {"y": z},
    ),
    "inputs that nothing uses": (
        model("float[N] v, float[2,2] x, int64[0] u, float[2,2] z) => (float[2,2] y)", "y = Sub(z, x)"),
        lambda x, z: {"y": z - x},
    ),
    "a constant output": (
        constant(X, model("float[2,2] x) => (float[2,2] Y)", "Y = Identity(c)"), "c"),
        lambda x, z: {"Y": X},
    ),
}
GIVEN = {"x": X, "z": Z, "u": np.zeros(0, np.int64), "v": np.zeros(3, np.float32)}


@pytest.mark.parametrize(("proto", "function"), MODELS.values(), ids=MODELS)
def test_compiled(proto, function):
    inputs = {value.name: GIVEN[value.name] for value in proto.graph.input}
    if proto is MODELS["one of three inputs renamed"][0]:
        inputs["u"] = -X
    outputs = compile_onnx(proto)(inputs)
    expected = function(X, Z)
    assert list(outputs) == list(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(outputs[name], array)


def test_what_nothing_uses_may_be_left_out_but_nothing_else():
    compiled = compile_onnx(model("float[2] u, float[2] x) => (float[2] y)", "y = Neg(x)"))
    np.testing.assert_array_equal(compiled({"x": X[0]})["y"], -X[0])
    for inputs in ({"u": X[0]}, {"x": X[0], "w": X[0]}):
        with pytest.raises(ValueError, match="the inputs are"):
            compiled(inputs)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("written", [False, True], ids=["in memory", "as IR"])
@pytest.mark.parametrize(("proto", "function"), MODELS.values(), ids=MODELS)
def test_converted(proto, function, written, tmp_path):
    """Tensors are found by their names in ONNX, inputs and outputs are in its order, also when the IR was read again."""
    converted = convert_model(proto, output=tmp_path / "m.xml")
    if written:
        converted = openvino.Core().read_model(tmp_path / "m.xml")
    names = [value.name for value in proto.graph.input]
    found = [next(name for name in names if name in port.get_names()) for port in converted.inputs]
    assert found == [name for name in names if name in found]
    assert [port.get_node().get_friendly_name() for port in converted.inputs] == found
    compiled = openvino.compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    given = GIVEN | ({"u": -X} if proto is MODELS["one of three inputs renamed"][0] else {})
    results = compiled({name: given[name] for name in found})
    for position, (name, array) in enumerate(function(X, Z).items()):
        assert name in converted.outputs[position].get_names()
        np.testing.assert_array_equal(results[name], array)
        np.testing.assert_array_equal(results[position], array)


LOSS = 'loss = NegativeLogLikelihoodLoss<reduction = "sum", ignore_index = 7>(x, t)'
TARGET = np.array([1, 0])


def test_operators_that_the_front_end_converts_from_bytes_only(tmp_path):
    """OpenVINO 2026.4.1 says "get_attribute is not implemented" of ignore_index, if it reads it from a path."""
    proto = model("float[2,2] x, int64[2] t) => (float loss)", LOSS, opset=13)
    onnx.save(proto, tmp_path / "m.onnx")
    inputs = {"x": X, "t": TARGET}
    assert compile_onnx(tmp_path / "m.onnx")(inputs)["loss"] == -(X[0, 1] + X[1, 0])
    assert openvino.compile_model(convert_model(proto), "CPU")(inputs)["loss"] == -(X[0, 1] + X[1, 0])


def test_bytes_with_external_data(tmp_path):
    proto = constant(X, model("int64[2] t) => (float loss)", LOSS, opset=13), "x")
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, location="w", size_threshold=0)
    assert compile_onnx(tmp_path / "m.onnx")({"t": TARGET})["loss"] == -(X[0, 1] + X[1, 0])


def model_with_names(inside, data="data"):
    proto = parsed("(float[5,3] x) => (float[2,3] output) { rows = Gather(x, indices) output = Neg(rows) }", indices=[4, 1])
    gather, negation = proto.graph.node
    proto.graph.input[0].name = gather.input[0] = data
    gather.output[0] = negation.input[0] = f"rows{inside}"
    gather.name, negation.name = f"gather{inside}", f"neg{inside}"
    return proto


@pytest.mark.parametrize("inside", ["\x1b[31m", "\x01\x1f", "\ufffe\uffff", "\n\t\x7f\u202e&<>\"'"])
def test_names_inside_of_a_model(tmp_path, inside):
    convert_model(model_with_names(inside), output=tmp_path / "m.xml")
    ElementTree.parse(tmp_path / "m.xml")
    assert validate(tmp_path / "m.xml") == []


def test_names_of_inputs(tmp_path):
    with pytest.raises(ConversionError, match=r"^input 'x\\x1b': XML, and so an IR, cannot hold U\+001B: rename the input$"):
        convert_model(model_with_names("", "x\x1b"), output=tmp_path / "m.xml")
    assert not [*tmp_path.iterdir()]
