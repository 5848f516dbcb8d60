"""A loop that meets a known fault is reported if, and only if, OpenVINO computes another result than onnxruntime."""

import numpy as np
import onnx.parser
import onnxruntime
import openvino as ov
import pytest

pytestmark = pytest.mark.onnxruntime


def of_onnx(text):
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {text}').SerializeToString()
    return ov.Core().read_model(model), onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


SCANS = [
    "next = Add(state, element) seen = Identity(next)",
    "next = Add(element, state) seen = Identity(next)",
    "more = Add(element, one) next = Add(state, more) seen = Identity(next)",
    "more = Mul(element, one) next = Sub(state, more) seen = Identity(next)",
    "more = Tanh(element) next = Add(state, more) seen = Identity(next)",
    "more = Add(state, one) next = Add(more, element) seen = Identity(next)",
    "more = Add(element, state) next = Tanh(more) seen = Identity(next)",
    *(
        f"more = Add(element, state) next = {unary}(more) seen = Identity(next)"
        for unary in ("Abs", "Exp", "Neg", "Relu", "Sigmoid")
    ),
    "next = Max(element, state) seen = Identity(next)",
    "next = Sub(element, state) seen = Identity(next)",
    "a = Mul(state, one) b = Mul(element, one) next = Add(a, b) seen = Identity(next)",
    "a = Mul(state, one) b = Mul(element, one) next = Add(b, a) seen = Identity(next)",
    "next = Identity(element) seen = Identity(state)",
    "next = Identity(element) seen = Add(state, element)",
    "next = Neg(element) seen = Identity(state)",
    "next = Add(element, one) seen = Identity(state)",
    "next = Identity(element) seen = Identity(one)",
    "next = Identity(state) seen = Add(state, element)",
    "next = Add(state, state) seen = Identity(next)",
    "next = Identity(state) seen = Identity(one)",
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("body", SCANS)
def test_states_of_scans(body, agrees):
    text = f"""g (float[2] s, float[3, 2] x) => (float[2] last, float[3, 2] all) {{
        last, all = Scan<num_scan_inputs = 1, body = b (float[2] state, float[2] element) => (float[2] next, float[2] seen) {{
            one = Constant<value = float[2] {{1, 2}}>() {body}
        }}>(s, x)
    }}"""
    model, session = of_onnx(text)
    feed = {"s": np.float32([0.7, 0.8]), "x": np.arange(-2, 4, dtype=np.float32).reshape(3, 2) / 10}
    agrees(model, None, [feed["s"], feed["x"]], session.run(None, feed))


LOOPS = [
    "u = Add(a, b) v = Identity(a)",
    "u = Add(a, b) v = Reshape(a, flat)",
    "u = Add(a, b) v = Neg(a)",
    "u = Identity(b) v = Identity(a)",
    "u = Reshape(b, flat) v = Reshape(a, flat)",
    "v = Add(a, b) u = Reshape(b, flat)",
    "u = Identity(a) v = Reshape(a, flat)",
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("body", LOOPS)
def test_states_of_loops(body, agrees):
    text = f"""g (float[2] s, float[2] t, int64 n, bool on) => (float[2] y, float[2] z) {{
        y, z = Loop(n, on, s, t)<body = c (int64 i, bool go, float[2] a, float[2] b) => (bool still, float[2] u, float[2] v) {{
            still = Identity(go) flat = Constant<value_ints = [-1]>() {body}
        }}>
    }}"""
    model, session = of_onnx(text)
    feed = {"s": np.float32([1, 2]), "t": np.float32([3, 5]), "n": np.array(3), "on": np.array(True)}
    agrees(model, None, list(feed.values()), session.run(None, feed))
