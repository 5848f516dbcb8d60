"""Bisection of quantised models: neither a product nor a quantum is blamed on a layer that is right."""

import numpy as np
import pytest

import ov_gather
from helpers.bisecting import converted
from helpers.saved_models import saved
from ov_gather.crosscheck.bisect import onnx_side
from ov_gather.crosscheck.bisect.ir_side import IRSide
from ov_gather.crosscheck.models.quantisation import with_exact_products
from ov_gather.runtimes.isolated import IsolatedRuntime

pytestmark = pytest.mark.onnxruntime

RNG = np.random.default_rng(1)
TABLE = np.array([[0, 510, *range(1, 63)]] * 9, np.float32)  # a scale of 2: each odd number is a tie
TABLE[:, 2:] = RNG.integers(0, 250, (9, 62)) * 2
TABLE[3, 5] = 5  # 2.5 quanta
WEIGHTS = RNG.integers(-127, 128, (64, 32)).astype(np.int8)
IDS = {"ids": np.array([3, 3, 1, 0, 5])}
TAIL = """p = MatMulInteger(q, w, z) f = Cast<to = 1>(p) y = Mul(f, s) }"""
QUANTISED = """(int64[5] ids) => (float[5,32] y) { e = Gather(table, ids) q, s, z = DynamicQuantizeLinear(e) """ + TAIL


def otherwise(rounding, q="q"):
    """The same model with the quantisation written out, which rounds in another way."""
    return f"""(int64[5] ids) => (float[5,32] y) {{
        two = Constant<value = float {{2}}>() zero = Constant<value = uint8 {{0}}>() s = Identity(two) z = Identity(zero)
        e = Gather(table, ids) d = Div(e, two) {rounding} {q} = Cast<to = 2>(r) {TAIL}"""


HALF_UP = "half = Constant<value = float {0.5}>() h = Add(d, half) r = Floor(h)"
ALL_UP = "one = Constant<value = float {1}>() r = Add(d, one)"


def bisected(tmp_path, text, feeds=IDS, **weights):
    weights = {"table": TABLE, "w": WEIGHTS, **weights}
    source = saved(tmp_path / "m.onnx", QUANTISED, **weights)
    return ov_gather.bisect(source, converted(tmp_path / "other.xml", saved(tmp_path / "o.onnx", text, **weights)), feeds)


def test_a_tie_that_is_rounded_otherwise_is_no_fault(tmp_path):
    result = bisected(tmp_path, otherwise(HALF_UP))
    assert result.passed
    (output,) = result.outputs
    assert "Convert 'q' differs by one quantum in 0.62% of the elements, where a quantisation rounds" in output.excuse


def test_a_quantum_in_every_element_is_one(tmp_path):
    result = bisected(tmp_path, otherwise(ALL_UP))
    assert not result.passed
    assert "'q'" in result.node


def layers(rounding, count):
    """A chain of quantised layers between 0 and 1, and the way that they round."""
    text = ""
    for i in range(count):
        text += f"""
            {rounding.format(i=i)}
            p{i} = MatMulInteger(q{i}, w{i}, z{i}) f{i} = Cast<to = 1>(p{i}) m{i} = Mul(f{i}, s{i}) n{i} = Mul(m{i}, small)
            x{i + 1} = Sigmoid(n{i})"""
    return f"(float[5,64] x0) => (float[5,64] x{count}) {{ {text} }}"


STOCK = "q{i}, s{i}, z{i} = DynamicQuantizeLinear(x{i})"
SHIFTED = """l{i} = ReduceMax<keepdims = 0>(x{i}) s{i} = Div(l{i}, levels) d{i} = Div(x{i}, s{i}) e{i} = Add(d{i}, bit)
            r{i} = Round(e{i}) q{i} = Cast<to = 2>(r{i}) z{i} = Identity(nothing)"""


@pytest.mark.parametrize(("is_wrong", "count"), [(False, 8), (True, 5)])
def test_a_chain_in_which_each_layer_rounds_otherwise_ends_soon(is_wrong, count, tmp_path, monkeypatch):
    """After some excuses, being as near to the model in floats is no fault; a wrong layer behind is still found."""
    rng = np.random.default_rng(1)
    weights = {f"w{i}": rng.integers(-127, 128, (64, 64)).astype(np.int8) for i in range(count)}
    weights |= {"small": np.float32(0.01), "levels": np.float32(255), "bit": np.float32(0.003), "nothing": np.uint8(0)}
    source = saved(tmp_path / "m.onnx", layers(STOCK, count), **weights)
    if is_wrong:
        weights["w4"] = -weights["w4"]
    runs, observe = [], IRSide.observe
    monkeypatch.setattr(IRSide, "observe", lambda self, *given, **more: runs.append(1) or observe(self, *given, **more))
    feeds = {"x0": rng.random((5, 64), np.float32)}
    other = converted(tmp_path / "o.xml", saved(tmp_path / "o.onnx", layers(SHIFTED, count), **weights))
    result = ov_gather.bisect(source, other, feeds)
    assert result.passed is not is_wrong
    if is_wrong:
        assert "'p4'" in result.node
        return
    (output,) = result.outputs
    assert "than its quantisation changes" in output.excuse
    assert len(runs) < 60


@pytest.fixture
def saturating(monkeypatch):
    """Let onnxruntime return other products until the exact ones are asked for, as on CPUs without VNNI."""
    execute, state = IsolatedRuntime.execute, {"exact": False}

    def executing(self, inputs):
        found = execute(self, inputs)
        if "onnxruntime" not in self.name or state["exact"]:
            return found
        return [np.clip(one, -9000, 9000) if one.dtype == np.int32 else one for one in found]

    def exactly(model):
        state["exact"] = True
        return with_exact_products(model)

    monkeypatch.setattr(IsolatedRuntime, "execute", executing)
    monkeypatch.setattr(onnx_side, "with_exact_products", exactly)


@pytest.mark.parametrize("is_wrong", [False, True])
def test_a_product_that_onnxruntime_saturates_is_no_fault(saturating, is_wrong, tmp_path, rng):
    text = "(uint8[1,64] a, uint8 za) => (int32[1,32] y) { y = MatMulInteger(a, w, za) }"
    feeds = {"a": rng.integers(128, 256, (1, 64)).astype(np.uint8), "za": np.array(250, np.uint8)}
    other = WEIGHTS.copy()
    other[5, 5] += is_wrong
    source = saved(tmp_path / "m.onnx", text, w=WEIGHTS)
    result = ov_gather.bisect(source, converted(tmp_path / "m.xml", saved(tmp_path / "o.onnx", text, w=other)), feeds)
    assert result.passed is not is_wrong
