"""If whose branches return different ranks: converted if its consumers accept one of them alone, else refused by its name."""

import warnings

import numpy as np
import onnx
import onnxruntime
import openvino as ov
import pytest
from openvino import opset13 as op

from ov_gather.converters import ConversionError, LossyConversionWarning, compile_onnx, convert_model

pytestmark = [pytest.mark.openvino, pytest.mark.onnxruntime]

SQUEEZED = """
    b = If (one) <
        then_branch = t () => (float[] s) { s = Squeeze (x, last) },
        else_branch = e () => (float[] i) { i = Identity (x) }
    >"""
"""What PyTorch exports for x.squeeze(-1) of an open size."""
W, W4 = np.random.default_rng(0).random((5, 3, 2), np.float32), np.random.default_rng(1).random((2, 3, 1, 1), np.float32)
OF_W = np.array(W.shape)
GATES = np.random.default_rng(2).random((1, 8, 4), np.float32)
HIDDEN = np.random.default_rng(3).random((1, 8, 2), np.float32)
"""Weights of a convolution in one and in two dimensions, and of an LSTM of 2."""
CONSUMERS = {
    "the weights of Conv": "y = Conv (b, w)",
    "behind operators of each element": "a = Relu (b) d = Mul (a, half) y = Conv (d, w)",
    "behind an Unsqueeze": "u = Unsqueeze (b, last) y = Conv (u, w4)",
    "a window": "y = MaxPool <kernel_shape = [2]> (b)",
    "beside others in a Concat": "k = Concat <axis = 0> (b, same) y = Relu (k)",
    "an LSTM behind a Transpose": "p = Relu (b) y, h = LSTM <hidden_size = 2> (p, gates, hidden)",
    "behind branches that depend on the rank": """
        r = Shape (b) rank = Size (r) is_three = Equal (rank, three)
        f = If (is_three) <
            then_branch = tt () => (float[] s2) { s2 = Identity (b) },
            else_branch = ee () => (float[] u2) { u2 = Unsqueeze (b, zero) }
        >
        y = Conv (f, w)""",
    "in a branch": """
        y = If (is_long) <
            then_branch = tt () => (float[] c2) { c2 = Conv (b, w) },
            else_branch = ee () => (float[] d2) { r2 = Relu (b) d2 = Conv (r2, w) }
        >""",
}
"""What reads an If of 3 or 4 dimensions, of which the operators accept 3; for the LSTM, the last size is 4."""


def made(consumers):
    text = f"""<ir_version: 8, opset_import: ["" : 18]> g (float[n, 3, m, k] x, int64[l] of_w) => (float[] y)
        <int64[1] last = {{-1}}, int64[1] zero = {{0}}, int64[1] minus = {{-1}}, int64 three = {{3}}, float half = {{0.5}}> {{
        sizes = Shape (x)
        size = Gather <axis = 0> (sizes, minus)
        is_size_one = Equal (size, unit)
        one = Squeeze (is_size_one)
        first = Gather <axis = 0> (sizes, zero)
        is_first_one = Equal (first, unit)
        is_long = Squeeze (is_first_one)
        {SQUEEZED}
        {consumers}
    }}"""
    proto = onnx.parser.parse_model(text)
    arrays = {"unit": np.array([1]), "w": W, "w4": W4, "same": np.ones((1, 3, 4), np.float32), "gates": GATES, "hidden": HIDDEN}
    proto.graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in arrays.items())
    return proto


def expected(proto, x):
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(["y"], {"x": x, "of_w": OF_W})[0]


@pytest.mark.parametrize("name", CONSUMERS)
def test_the_rank_that_consumers_accept(name):
    proto = made(CONSUMERS[name])
    compiled = compile_onnx(proto)
    for first in (1, 2):
        x = np.random.default_rng(first).random((first, 3, 4, 1), np.float32)
        np.testing.assert_allclose(compiled({"x": x, "of_w": OF_W})["y"], expected(proto, x), rtol=1e-5)
    x = np.random.default_rng(0).random((1, 3, 4, 2), np.float32)
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        expected(proto, x)
    with pytest.raises((ValueError, RuntimeError), match=r"(?i)reshape"):
        compiled({"x": x, "of_w": OF_W})


def test_a_branch_that_openvino_drops_is_no_fault():
    """The rank is known from the first If on, and so is the condition of the second one."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", LossyConversionWarning)
        convert_model(made(CONSUMERS["behind branches that depend on the rank"]))


def test_what_no_consumer_decides_is_refused_by_name():
    proto = made("open = Reshape (w, of_w) y = Conv (b, open)")
    with pytest.raises(ConversionError) as caught:
        convert_model(proto)
    said = str(caught.value)
    assert "node If '' (output b): the rank of its output 'b' is open" in said
    assert said.endswith("let both return the same number of dimensions, by an Unsqueeze or a Reshape")


def pooled(value):
    return op.avg_pool(value, [1], [0], [0], [2], True)


AFTER_IF = {
    "a pool": ([-1, 3, 4], lambda y: [pooled(y)]),
    "a pool behind a function": ([-1, 3, -1], lambda y: [pooled(op.abs(y))]),
    "a static shape": ([1, 3, 4], lambda y: [pooled(y)]),
    "a second reader": ([-1, 3, 4], lambda y: [pooled(y), op.exp(y)]),
    "a copy": ([-1, 3, 4], lambda y: [pooled(op.broadcast(y, op.shape_of(y)))]),
    "a product": ([-1, 3, 4], lambda y: [op.matmul(y, op.constant(np.ones((4, 2), np.float32)), False, False)]),
    "a sum": ([-1, 3, 4], lambda y: [op.reduce_sum(y, op.constant(np.array([2])), False)]),
}


@pytest.mark.parametrize("name", AFTER_IF)
def test_the_first_inference_of_pools_behind_an_if(name, agrees):
    """It is right where no If is, which is the oracle."""
    shape, after = AFTER_IF[name]
    condition, x = op.parameter([], np.bool_), op.parameter(shape, np.float32)
    inner = [op.parameter(shape, np.float32) for _ in range(2)]
    bodies = [ov.Model([op.result(op.relu(one))], [one]) for one in inner]
    choice = op.if_op(condition.output(0))
    choice.set_then_body(bodies[0])
    choice.set_else_body(bodies[1])
    choice.set_input(x.output(0), *inner)
    data, alone = np.arange(12, dtype=np.float32).reshape(1, 3, 4) + 1, op.parameter(shape, np.float32)
    expected = ov.compile_model(ov.Model(after(op.relu(alone).output(0)), [alone]), "CPU")(data).to_tuple()
    chosen = choice.set_output(*(body.results[0] for body in bodies))
    agrees(after(chosen), [condition, x], [np.array(True), data], expected)
