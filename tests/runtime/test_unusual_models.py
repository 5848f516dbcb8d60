"""ONNX models that few exporters write: sparse constants, outputs without a type, and formal faults that have one reading."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from helpers.saved_models import parsed
from ov_gather.converters import ConversionError, compile_onnx

VALUES = np.float32([5, 7])
DENSE = np.float32([[0, 5], [0, 0], [0, 7]])
INDICES = {"flat": np.array([1, 5]), "coordinates": np.array([[0, 1], [2, 1]])}


def sparse(indices, values=VALUES, dims=(3, 2), name="v"):
    places = helper.make_tensor("k", TensorProto.INT64, indices.shape, indices.ravel())
    return helper.make_sparse_tensor(helper.make_tensor(name, TensorProto.FLOAT, values.shape, values), places, dims)


def as_constant(tensor):
    model = parsed("(int64[2] i) => (float[2,2] y) { y = Gather(w, i) }", 18)
    model.graph.node.insert(0, helper.make_node("Constant", [], ["w"], sparse_value=tensor))
    return model


def as_initializer(tensor):
    model = parsed("(int64[2] i) => (float[2,2] y) { y = Gather(v, i) }", 18)
    model.graph.sparse_initializer.append(tensor)
    return model


def in_a_branch(tensor):
    model = parsed(
        """(int64[2] i) => (float[2,2] y) { yes = Constant<value = bool {1}>() y = If(yes) <
        then_branch = a () => (float[2,2] p) { p = Gather(w, i) },
        else_branch = b () => (float[2,2] q) { q = Gather(w, i) }> }""",
        18,
    )
    for branch in model.graph.node[1].attribute:
        branch.g.node.insert(0, helper.make_node("Constant", [], ["w"], sparse_value=tensor))
    return model


@pytest.mark.parametrize("form", INDICES)
@pytest.mark.parametrize("make", [as_constant, as_initializer, in_a_branch])
def test_sparse_constants(make, form):
    model = make(sparse(INDICES[form]))
    before = model.SerializeToString()
    (found,) = compile_onnx(model)({"i": np.array([2, 0])}).values()
    np.testing.assert_array_equal(found, DENSE[[2, 0]])
    assert model.SerializeToString() == before


@pytest.mark.parametrize(
    "tensor",
    [
        sparse(np.array([1, 6])),
        sparse(np.array([-1, 1])),
        sparse(np.array([[0, 2], [1, 1]])),
        sparse(np.array([1])),
        sparse(np.array([0, 1]), dims=(2**20, 2**20)),
        sparse(np.array([0, 1]), dims=(-1, 2)),
    ],
    ids=["behind", "before", "column", "too few", "huge", "negative"],
)
def test_sparse_constants_that_are_malformed(tensor):
    with pytest.raises(ConversionError, match="not a valid ONNX model"):
        compile_onnx(as_constant(tensor))


@pytest.mark.parametrize("inner", [False, True])
def test_outputs_without_a_type(inner):
    """sklearn-onnx#1149: intermediate values that are made outputs have a name only."""
    model = parsed("(float[n,4] x, int64[k] i) => (float[k,4] y) { a = Relu(x) y = Gather(a, i) }", 17)
    model.graph.output[0].ClearField("type")
    if inner:
        model.graph.output.add().name = "a"
    x = np.arange(12, dtype=np.float32).reshape(3, 4) - 3
    found = compile_onnx(model)({"x": x, "i": np.array([2, 0])})
    np.testing.assert_array_equal(found["y"], np.maximum(x, 0)[[2, 0]])
    assert not inner or np.array_equal(found["a"], np.maximum(x, 0))


def test_an_input_without_a_type_is_named():
    model = parsed("(float[n,4] x, int64[k] i) => (float[k,4] y) { y = Gather(x, i) }", 17)
    model.graph.input[1].ClearField("type")
    with pytest.raises(ConversionError, match="input 'i' has no type: declare its element type and shape"):
        compile_onnx(model)


X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
ROWS = "(float[3,4] x, int64[2] i) => (float[2,4] y) { a = Relu(x) y = Gather(a, i) }"
BRANCHES = """(float[3,4] x, int64[2] i) => (float[2,4] y) { a = Relu(x) yes = Constant<value = bool {1}>() y = If(yes) <
    then_branch = b () => (float[2,4] p) { p = Gather(a, i) }, else_branch = c () => (float[2,4] q) { q = Gather(x, i) }> }"""


def without_names(model):
    model.graph.name = ""
    for attribute in model.graph.node[-1].attribute:
        attribute.g.name = ""


def in_reverse(model):
    nodes = list(model.graph.node)[::-1]
    model.graph.ClearField("node")
    model.graph.node.extend(nodes)


def of_the_first_ir(model):
    model.ir_version = 3
    model.graph.initializer.append(helper.make_tensor("i", TensorProto.INT64, [2], [2, 0]))
    del model.graph.input[1]


def without_a_version(model):
    model.ClearField("ir_version")


@pytest.mark.parametrize("fault", [without_names, in_reverse, of_the_first_ir, without_a_version])
@pytest.mark.parametrize("text", [ROWS, BRANCHES], ids=["plain", "in branches"])
@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "file"])
def test_formal_faults_are_corrected(text, fault, kept, tmp_path):
    model = parsed(text, 13)
    fault(model)
    before, source = model.SerializeToString(), model
    if kept:
        source = tmp_path / "model.onnx"
        source.write_bytes(before)
    feed = {"x": X, "i": np.array([2, 0])}
    compiled = compile_onnx(source)
    (found,) = compiled({name: feed[name] for name in (value.name for value in model.graph.input)}).values()
    np.testing.assert_array_equal(found, np.maximum(X, 0)[[2, 0]])
    assert model.SerializeToString() == before


def test_a_domain_that_is_not_imported():
    """OpenVINO's own operators and those of com.microsoft are written without an import of their domain."""
    model = parsed("(float[3,4] x, int64[2] i) => (float[2,4] y) { a = Gather(x, i) y = Relu(a) }", 13)
    model.graph.node[1].op_type, model.graph.node[1].domain = "Swish", "org.openvinotoolkit"
    (found,) = compile_onnx(model)({"x": X, "i": np.array([2, 0])}).values()
    np.testing.assert_allclose(found, X[[2, 0]] / (1 + np.exp(-X[[2, 0]])), rtol=1e-5)


@pytest.mark.parametrize(
    ("opset", "text", "expected"),
    [
        (7, "(float[3,4] x, int64[2,1] i) => (float[2,4] y) { y = GatherND(x, i) }", X[[2, 0]]),
        (8, "(float[3,4] x, int64[2] i) => (float[2,4] y) { s = Sign(x) y = Gather(s, i) }", np.sign(X)[[2, 0]]),
    ],
)
def test_operators_that_are_newer_than_the_opset(opset, text, expected):
    i = np.array([2, 0]).reshape(-1, *[1] * ("2,1" in text))
    (found,) = compile_onnx(parsed(text, opset))({"x": X, "i": i}).values()
    np.testing.assert_array_equal(found, expected)


def test_an_opset_that_changes_another_operator_is_not_raised():
    """A Softmax of opset 12 is another than the one of opset 13, from which on Trilu, of opset 14, could be read."""
    model = parsed("(float[3,4] x) => (float[3,4] y) { s = Softmax <axis = 0> (x) y = Trilu (s) }", 12)
    with pytest.raises(ConversionError, match="No Op registered for Trilu with domain_version of 12"):
        compile_onnx(model)


def test_a_resize_without_regions():
    model = parsed('(float[1,1,2,2] x) => (float[1,1,4,4] y) { y = Resize <mode = "nearest"> (x, "", scales) }', 11)
    model.graph.initializer.append(helper.make_tensor("scales", TensorProto.FLOAT, [4], [1, 1, 2, 2]))
    x = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    (found,) = compile_onnx(model)({"x": x}).values()
    np.testing.assert_array_equal(found, x.repeat(2, 2).repeat(2, 3))


@pytest.mark.parametrize("form", ["int32[2,1] i", "constant"])
def test_indices_of_32_bits(form):
    """ONNX has int64 alone for GatherND and ScatterND."""
    text = f"""(float[3,4] x{", " + form if form != "constant" else ""}) => (float[2,4] y, float[3,4] z) {{
        y = GatherND(x, i) z = ScatterND(x, i, y2) y2 = Neg(y) }}"""
    model = parsed(text, 13)
    i = np.array([[2], [0]], np.int32)
    if form == "constant":
        model.graph.initializer.append(helper.make_tensor("i", TensorProto.INT32, [2, 1], i.ravel()))
    found = compile_onnx(model)({"x": X, "i": i} if form != "constant" else {"x": X})
    expected = X.copy()
    expected[[2, 0]] *= -1
    np.testing.assert_array_equal(found["y"], X[[2, 0]])
    np.testing.assert_array_equal(found["z"], expected)
