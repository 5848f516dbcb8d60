"""ONNX models that onnxruntime takes and few exporters write: sparse constants, and outputs without a type."""

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
