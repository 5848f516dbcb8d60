"""Quantised models beside their conversions: exact products decide, and what a quantisation leaves open is named."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from helpers.bisecting import converted
from helpers.saved_models import saved
from ov_gather.crosscheck.models import trials
from ov_gather.crosscheck.models.intermediates import load
from ov_gather.crosscheck.models.quantisation import QUANTISED, SATURATED, with_exact_products, without_quantisation
from ov_gather.crosscheck.models.verify import verify_conversion
from ov_gather.crosscheck.results import Status
from ov_gather.runtimes.isolated import IsolatedRuntime

pytestmark = pytest.mark.onnxruntime

RNG = np.random.default_rng(0)  # for what stands in tables; tests draw from their own
PRODUCT = "(uint8[1,64] a, uint8 za) => (int32[1,32] y) { y = MatMulInteger(a, w, za) }"
WEIGHTS = RNG.integers(-127, 128, (64, 32)).astype(np.int8)
WEIGHTS[:, 0] = 127
FEEDS = {"a": RNG.integers(128, 256, (1, 64)).astype(np.uint8), "za": np.array(250, np.uint8)}
EXACT = (FEEDS["a"].astype(np.int64) - 250) @ WEIGHTS.astype(np.int64)


def executed(model, feeds):
    import onnx_ir

    proto = model if isinstance(model, onnx.ModelProto) else onnx_ir.to_proto(model)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def saturating(monkeypatch, wrong):
    """Let onnxruntime return another product for the model as it is, as it does on CPUs without VNNI."""
    execute = IsolatedRuntime.execute

    def executing(self, inputs):
        found = execute(self, inputs)
        return [wrong(one) for one in found] if self.name == "onnxruntime" and not executing.is_exact else found

    def exactly(model):
        executing.is_exact = True
        return with_exact_products(model)

    executing.is_exact = False
    monkeypatch.setattr(IsolatedRuntime, "execute", executing)
    monkeypatch.setattr(trials, "with_exact_products", exactly)


@pytest.mark.parametrize("zero", [None, np.int8(3), RNG.integers(-9, 9, 32).astype(np.int8)], ids=["none", "one", "each"])
def test_products_without_signed_bytes_are_exact(zero, tmp_path):
    """The independent value is a product of int64."""
    text = PRODUCT if zero is None else PRODUCT.replace("za) }", "za, zb) }")
    path = saved(tmp_path / "m.onnx", text, w=WEIGHTS, **({} if zero is None else {"zb": zero}))
    model = with_exact_products(load(path))
    kinds = {value.dtype.name for node in model.graph for value in node.inputs if node.op_type == "MatMulInteger"}
    assert kinds == {"UINT8"}
    expected = (FEEDS["a"].astype(np.int64) - 250) @ (WEIGHTS.astype(np.int64) - (0 if zero is None else zero))
    np.testing.assert_array_equal(executed(model, FEEDS)[0], expected)


def test_convolutions_without_signed_bytes_are_exact(tmp_path, rng):
    text = "(uint8[1,3,6,6] x, uint8 zx) => (int32[1,4,6,6] y) { y = ConvInteger<pads = [1, 1, 1, 1]>(x, w, zx, zw) }"
    w, zw = rng.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8), np.array(5, np.int8)
    x = rng.integers(0, 256, (1, 3, 6, 6)).astype(np.uint8)
    model = with_exact_products(load(saved(tmp_path / "m.onnx", text, w=w, zw=zw)))
    padded = np.pad(x.astype(np.int64) - 7, ((0, 0), (0, 0), (1, 1), (1, 1)))
    shifted = w.astype(np.int64) - zw
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    expected = np.einsum("nchwij,ocij->nohw", windows, shifted)
    np.testing.assert_array_equal(executed(model, {"x": x, "zx": np.array(7, np.uint8)})[0], expected)


def test_a_product_that_onnxruntime_saturates_is_not_blamed_on_openvino(tmp_path, monkeypatch):
    source = saved(tmp_path / "m.onnx", PRODUCT, w=WEIGHTS)
    ir = converted(tmp_path / "m.xml", source)
    saturating(monkeypatch, lambda found: np.clip(found, -30000, 30000) // 2)
    result = verify_conversion(source, ir, inputs=FEEDS)
    assert result.passed
    (output,) = result.outputs
    assert output.comparison.divergences == (SATURATED,)


def test_a_wrong_product_fails_where_onnxruntime_saturates(tmp_path, monkeypatch):
    source = saved(tmp_path / "m.onnx", PRODUCT, w=WEIGHTS)
    other = WEIGHTS.copy()
    other[5, 5] += 1
    ir = converted(tmp_path / "m.xml", saved(tmp_path / "other.onnx", PRODUCT, w=other))
    saturating(monkeypatch, lambda found: np.clip(found, -30000, 30000) // 2)
    assert not verify_conversion(source, ir, inputs=FEEDS).passed


def floating_lstm(path, rng):
    hidden, size = 64, 40
    weights = {"W": (1, 4 * hidden, size), "R": (1, 4 * hidden, hidden), "B": (1, 8 * hidden)}
    tensors = [numpy_helper.from_array((rng.standard_normal(s) * 0.2).astype(np.float32), n) for n, s in weights.items()]
    node = helper.make_node("LSTM", ["x", "W", "R", "B"], ["Y"], hidden_size=hidden)
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [20, 3, size])
    made = helper.make_tensor_value_info("Y", TensorProto.FLOAT, [20, 1, 3, hidden])
    graph = helper.make_graph([node], "g", [given], [made], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path, {"x": rng.standard_normal((20, 3, size)).astype(np.float32)}


def floating_layers(path, rng):
    text = "(float[4,32] x) => (float[4,16] y) { h = MatMul(x, v) a = Relu(h) y = MatMul(a, w) }"
    v, w = (rng.standard_normal(size).astype(np.float32) for size in ((32, 64), (64, 16)))
    return saved(path, text, v=v, w=w), {"x": rng.standard_normal((4, 32)).astype(np.float32)}


@pytest.mark.parametrize("kind", ["QInt8", "QUInt8"])
@pytest.mark.parametrize("make", [floating_lstm, floating_layers])
def test_what_quantize_dynamic_makes_is_verified(make, kind, tmp_path, rng):
    from onnxruntime.quantization import QuantType, quantize_dynamic

    floats, feeds = make(tmp_path / "floats.onnx", rng)
    quantize_dynamic(floats, tmp_path / "m.onnx", weight_type=getattr(QuantType, kind))
    result = verify_conversion(tmp_path / "m.onnx", converted(tmp_path / "m.xml", tmp_path / "m.onnx"), inputs=feeds)
    assert result.passed, result


@pytest.mark.parametrize("make", [floating_lstm, floating_layers])
def test_a_model_without_quantisation_has_rounded_weights_only(make, tmp_path, rng):
    """The independent value is that of the floating-point model, whose weights are replaced by the rounded ones."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    floats, feeds = make(tmp_path / "floats.onnx", rng)
    quantize_dynamic(floats, tmp_path / "m.onnx", weight_type=QuantType.QInt8)
    model, stored = onnx.load(floats), {}
    for each in onnx.load(tmp_path / "m.onnx").graph.initializer:
        stored[each.name] = numpy_helper.to_array(each).astype(np.float32)
    for each in model.graph.initializer:
        if f"{each.name}_quantized" in stored:
            scale, zero = stored[f"{each.name}_scale"], stored[f"{each.name}_zero_point"]
            rounded = (stored[f"{each.name}_quantized"] - zero) * scale
            rounded = rounded.transpose(0, 2, 1) if make is floating_lstm else rounded
            each.CopyFrom(numpy_helper.from_array(rounded, each.name))
    found = executed(without_quantisation(load(tmp_path / "m.onnx")), feeds)[0]
    np.testing.assert_allclose(found, executed(model, feeds)[0], atol=2e-5)


def test_a_difference_larger_than_the_quantisation_fails(tmp_path, rng):
    from onnxruntime.quantization import QuantType, quantize_dynamic

    floats, feeds = floating_layers(tmp_path / "floats.onnx", rng)
    quantize_dynamic(floats, tmp_path / "m.onnx", weight_type=QuantType.QInt8)
    wrong = onnx.load(tmp_path / "m.onnx")
    weights = next(each for each in wrong.graph.initializer if each.name.startswith("w_quantized"))
    array = numpy_helper.to_array(weights).copy()
    array[[0, 1]] = array[[1, 0]]
    weights.CopyFrom(numpy_helper.from_array(array, weights.name))
    onnx.save(wrong, tmp_path / "wrong.onnx")
    result = verify_conversion(tmp_path / "m.onnx", converted(tmp_path / "m.xml", tmp_path / "wrong.onnx"), inputs=feeds)
    assert not result.passed


def test_a_tie_that_is_rounded_otherwise_is_named_with_its_share(tmp_path):
    """ONNX's own case of DynamicQuantizeLinear, in which OpenVINO rounds one of six numbers otherwise."""
    source = saved(tmp_path / "m.onnx", "(float[60] x) => (uint8[60] y) { y, s, z = DynamicQuantizeLinear(x) }")
    x = np.tile(np.float32([0, 2, -3, -2.5, 1.34, 0.5]), 10)
    x[6:] = np.where(x[6:] == -2.5, 0, x[6:])
    result = verify_conversion(source, converted(tmp_path / "m.xml", source), inputs={"x": x})
    assert result.passed
    (output,) = result.outputs
    if output.comparison.status is not Status.PASSED:
        assert output.comparison.divergences == (QUANTISED,)
        assert "one quantum in 1.67% of the elements" in output.comparison.detail


RANDOM = """(float[2,3] x, float[1] scale) => (float[2,3] y) {
    r = RandomNormalLike(x) n = Mul(r, scale) c = Constant<value = float {NUMBER}>() z = Add(x, c) y = Add(z, n) }"""


@pytest.mark.parametrize("scale", [0, 1])
def test_only_what_differs_from_itself_is_excused_as_random(scale, tmp_path):
    source = saved(tmp_path / "m.onnx", RANDOM.replace("NUMBER", "1"))
    wrong = converted(tmp_path / "m.xml", saved(tmp_path / "wrong.onnx", RANDOM.replace("NUMBER", "2")))
    inputs = {"x": np.ones((2, 3), np.float32), "scale": np.float32([scale])}
    assert verify_conversion(source, wrong, inputs=inputs).passed == bool(scale)


def test_nan_on_both_sides_is_said(tmp_path):
    source = saved(tmp_path / "m.onnx", "(float[4] x) => (float[4] y, float[4] z) { y = Sqrt(x) w = Neg(x) z = Sqrt(w) }")
    result = verify_conversion(source, converted(tmp_path / "m.xml", source), inputs={"x": np.float32([-1, -1, -1, -4])})
    said = {output.name: output.comparison.detail for output in result.outputs}
    assert said == {"y": "nothing was compared: every number is NaN on both sides", "z": "exact"}
    result = verify_conversion(source, converted(tmp_path / "n.xml", source), inputs={"x": np.float32([-1, 4, 4, -4])})
    assert all("2 of 4 are NaN on both sides" in output.comparison.detail for output in result.outputs)
