"""Forms of ONNX's operators that OpenVINO computes otherwise: rewritten, refused, or named if and only if they are wrong."""

import warnings
from itertools import product

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from helpers.legalized import model, run
from ov_gather.converters import ConversionError, LossyConversionWarning, compile_onnx

pytestmark = [pytest.mark.openvino, pytest.mark.onnxruntime]


def computed(proto, inputs):
    """The outputs of a converted model, and what a warning says of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outputs = compile_onnx(proto)(inputs)
    said = [str(one.message) for one in caught if issubclass(one.category, LossyConversionWarning)]
    return [outputs[value.name] for value in proto.graph.output], said


@pytest.mark.parametrize("sizes", ["1, 2, 7, 6", "n, 2, a, b"])
def test_windows_that_would_start_in_the_padding(sizes):
    """onnxruntime has none, as ONNX says; of an open size, too."""
    x = np.random.default_rng(0).standard_normal((1, 2, 7, 6), np.float32)
    for kernel, stride, pad, last in product((1, 2, 3), (1, 2, 3, 5), (0, 1), (0, 1)):
        if pad >= kernel or last >= kernel:
            continue
        proto = model(
            f"float[{sizes}] x) => (float[] y, int64[] i)",
            f"""y, i = MaxPool <ceil_mode = 1, kernel_shape = [{kernel}, {kernel}], strides = [{stride}, {stride}],
                pads = [{pad}, {pad}, {last}, {last}]> (x)""",
        )
        (y, places), said = computed(proto, {"x": x})
        expected, _ = run(proto, {"x": x})
        np.testing.assert_array_equal(y, expected, err_msg=f"{kernel} {stride} {pad} {last}")
        assert np.isin(y, x).all()
        assert places.shape == y.shape
        assert said == []


@pytest.mark.parametrize("reduce", ["ReduceMax", "ReduceMin"])
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("kind", ["FLOAT", "FLOAT16", "BFLOAT16"])
def test_rows_that_a_mask_makes_infinite(reduce, keepdims, kind):
    """The mask is a constant with infinities, or chosen by a condition; NumPy is the oracle, of numbers that all types have."""
    infinite, function = (-np.inf, np.max) if reduce == "ReduceMax" else (np.inf, np.min)
    x, keep = np.float32([[1, -2, 3, 0.5], [7, -8, 1, 2], [-4, 2, 6, -1]]), np.arange(12).reshape(3, 4) >= 5
    mask = np.where(keep, np.float32(0), np.float32(infinite))
    for nodes in ("m = Where (c, zero, infinity) a = Add (x, m)", "k = Add (bias, zero) a = Add (x, k)"):
        proto = model(
            "float[3,4] x, bool[3,4] c) => (float[] y)",
            f"""{nodes} axes = Constant <value_ints = [1]> () of = Cast <to = {onnx.TensorProto.DataType.Value(kind)}> (a)
            r = {reduce} <keepdims = {keepdims}> (of, axes) y = Cast <to = 1> (r)""",
        )
        for name, array in (("zero", np.float32(0)), ("infinity", np.float32(infinite)), ("bias", mask)):
            proto.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(array), name))
        (y,), said = computed(proto, {"x": x, "c": keep})
        np.testing.assert_array_equal(y, function(x + mask, axis=1, keepdims=bool(keepdims)))
        assert not [one for one in said if "infinit" in one]


@pytest.mark.parametrize(
    ("axis", "expected"), [(1, np.full((2, 1, 3), -np.inf)), (0, np.zeros((1, 0, 3))), (2, np.zeros((2, 0, 1)))]
)
def test_the_maximum_of_nothing_along_a_computed_axis(axis, expected):
    proto = model("float[2,0,3] x, int64[1] axes) => (float[] y)", "y = ReduceMax (x, axes)")
    (y,), _ = computed(proto, {"x": np.zeros((2, 0, 3), np.float32), "axes": np.array([axis])})
    np.testing.assert_array_equal(y, expected.astype(np.float32))


@pytest.mark.parametrize(("query", "key", "past"), [(4, 4, 5), (4, 6, 5), (6, 4, 5), (4, 6, 0), ("q", "k", 5), ("q", "q", 5)])
@pytest.mark.parametrize("causal", [0, 1])
def test_past_keys_of_attention(query, key, past, causal):
    """It is wrong exactly where the lengths differ: open lengths are named."""
    rng, proto = np.random.default_rng(0), None
    sizes = {"q": 4, "k": 6}
    inputs = {
        "q": rng.random((1, 2, sizes.get(query, query), 8), np.float32),
        **{name: rng.random((1, 2, sizes.get(key, key), 8), np.float32) for name in "kv"},
    }
    shapes = {"q": f"1,2,{query},8", "k": f"1,2,{key},8", "v": f"1,2,{key},8"}
    if past:
        inputs |= {name: rng.random((1, 2, past, 8), np.float32) for name in ("pk", "pv")}
        shapes |= dict.fromkeys(("pk", "pv"), f"1,2,{past},8")
    given = ", ".join(f"float[{shape}] {name}" for name, shape in shapes.items())
    operands, outputs = ('q, k, v, "", pk, pv', "y, a, b") if past else ("q, k, v", "y")
    proto = model(f"{given}) => (float[] y)", f"{outputs} = Attention <is_causal = {causal}> ({operands})", opset=23)
    (y,), said = computed(proto, inputs)
    is_right = np.allclose(y, ReferenceEvaluator(proto).run(None, inputs)[0], rtol=1e-3, atol=1e-5)
    assert is_right is not (bool(causal and past) and query != key)
    assert any("past keys of Attention" in one for one in said) is not is_right


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("scale", [0.5, 0.6, 0.8, 2, 1.25, 1.3])
def test_fractions_of_sizes_of_resize(mode, scale):
    """ONNX's reference divides by the scaled size as it is, OpenVINO by that of the output."""
    proto = model(
        "float[1,1,4,4] x) => (float[] y)",
        f'y = Resize <mode = "{mode}", coordinate_transformation_mode = "align_corners"> (x, "", scales)',
        opset=19,
    )
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([1, 1, scale, scale], np.float32), "scales"))
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4) ** 2
    (y,), said = computed(proto, {"x": x})
    expected = ReferenceEvaluator(proto).run(None, {"x": x})[0]
    is_right = y.shape == expected.shape and np.allclose(y, expected, rtol=1e-4, atol=1e-4)
    assert is_right is (scale * 4 % 1 == 0)
    assert any("align_corners of Resize" in one for one in said) is not is_right


QUOTIENTS = {
    "a computed divisor": ("q = Div (x, d) y = Floor (q)", True),
    "a constant divisor": ("q = Div (x, seven) y = Round (q)", True),
    "made an integer": ("q = Div (x, d) z = Cast <to = 7> (q) y = Cast <to = 1> (z)", True),
    "a power of two": ("q = Div (x, eight) y = Floor (q)", False),
    "integers": ("i = Cast <to = 6> (x) j = Cast <to = 6> (d) q = Div (i, j) y = Cast <to = 1> (q)", False),
    "no rounding": ("q = Div (x, d) y = Neg (q)", False),
}


@pytest.mark.parametrize("name", QUOTIENTS)
def test_quotients_that_are_rounded_to_integers_are_named(name):
    """41 / 41 may be less than 1: the plugin multiplies by 1 / 41."""
    nodes, is_named = QUOTIENTS[name]
    proto = model("float[n] x, float d) => (float[] y)", nodes)
    for constant, number in (("seven", 7), ("eight", 8)):
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array(number, np.float32), constant))
    x, wrong = np.arange(3000, dtype=np.float32), 0
    _, said = computed(proto, {"x": x, "d": np.float32(41)})
    assert any("near an integer" in one for one in said) is is_named
    if name == "a computed divisor":
        for divisor in (41, 47, 55, 61):
            (y,), _ = computed(proto, {"x": x, "d": np.float32(divisor)})
            wrong += int((y != np.floor(x / np.float32(divisor))).sum())
        assert wrong > 0


@pytest.mark.parametrize(
    ("nodes", "is_named"),
    [
        ("y, s, z = DynamicQuantizeLinear (x)", True),
        ("w = Abs (d) y = QuantizeLinear (x, w, zero)", True),
        ("y = QuantizeLinear (x, tenth, zero)", False),
    ],
)
def test_ties_of_computed_scales_are_named(nodes, is_named):
    proto = model("float[n] x, float d) => (uint8[] y)", nodes)
    for name, array in (("zero", np.uint8(128)), ("tenth", np.float32(0.1))):
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(array), name))
    _, said = computed(proto, {"x": np.array([0, 2, -3], np.float32), "d": np.float32(0.1)})
    assert any("halfway between two levels" in one for one in said) is is_named


@pytest.mark.parametrize(
    ("signature", "nodes", "said"),
    [
        ("seq(float[2]) x) => (seq(float[2]) y)", "y = Identity (x)", "input 'x' is a sequence of tensors"),
        ("float[4] x) => (seq(float[]) y)", "y = SplitToSequence (x)", "output 'y' is a sequence of tensors"),
        ("optional(float[2]) x) => (optional(float[2]) y)", "y = Identity (x)", "input 'x' is optional"),
    ],
)
def test_sequences_are_refused(signature, nodes, said):
    with pytest.raises(ConversionError, match=said):
        compile_onnx(model(signature, nodes))


def test_nan_of_four_bits_is_named():
    proto = model("float[2] x) => (float[2] y)", "f = Cast <to = 23> (x) y = Cast <to = 1> (f)", opset=23, ir_version=11)
    (y,), said = computed(proto, {"x": np.array([1.5, 9], np.float32)})
    np.testing.assert_array_equal(y, [1.5, 6])
    assert any("NaN of Cast" in one for one in said)
