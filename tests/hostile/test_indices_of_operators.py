"""Operators that read rows by an index of their own: a wrong one is refused, named as unchecked, and no proof overlooks it."""

import warnings

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest

from ov_gather.converters import LossyConversionWarning, compile_onnx, convert_model, prove_onnx

pytestmark = pytest.mark.onnxruntime
CACHE = "float[6,4] c = {" + ", ".join(str(number / 24) for number in range(24)) + "}"
TABLE = "{" + ", ".join(str(number % 7) for number in range(40)) + "}"
EMBED = (
    f"float[5,8] w = {TABLE}, float[5,8] p = {TABLE}, float[2,8] t = {{{', '.join('01' * 8)}}}, "
    f"float[8] g = {{{', '.join('1' * 8)}}}, float[8] b = {{{', '.join('0' * 8)}}}"
)
SMALL = np.arange(32, dtype=np.float32).reshape(1, 2, 2, 8)
IMAGES = np.arange(32, dtype=np.float32).reshape(2, 1, 4, 4)
BOXES, SCORES = np.float32([[0, 0, 3, 3]]), np.log(np.float32([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]))
OPERATORS = {
    # text, other inputs, valid indices, number of rows
    "RotaryEmbedding": (
        f"(float[1,2,2,8] x, int64[1,2] i) => (float[1,2,2,8] y) <{CACHE}> {{ y = RotaryEmbedding(x, c, c, i) }}",
        {"x": SMALL},
        np.int64([[1, 5]]),
        6,
    ),
    "com.microsoft.RotaryEmbedding": (
        f"(float[1,2,2,8] x, int64[1,2] i) => (float[1,2,2,8] y) <{CACHE}> {{"
        "y = com.microsoft.RotaryEmbedding<interleaved = 0>(x, i, c, c) }",
        {"x": SMALL},
        np.int64([[1, 5]]),
        6,
    ),
    "the first of two tokens": (
        f"(float[1,2,2,8] x, int64[1] i) => (float[1,2,2,8] y) <{CACHE}> {{"
        "y = com.microsoft.RotaryEmbedding<interleaved = 0>(x, i, c, c) }",
        {"x": SMALL},
        np.int64([4]),
        5,
    ),
    "words": (
        f"(int32[1,2] i, int32[1,2] k) => (float[1,2,8] y) <{EMBED}> {{"
        "y, m = com.microsoft.EmbedLayerNormalization<epsilon = 1e-12>(i, k, w, p, t, g, b) }",
        {"k": np.int32([[0, 1]])},
        np.int32([[1, 4]]),
        5,
    ),
    "segments": (
        f"(int32[1,2] k, int32[1,2] i) => (float[1,2,8] y) <{EMBED}> {{"
        "y, m = com.microsoft.EmbedLayerNormalization<epsilon = 1e-12>(k, i, w, p, t, g, b) }",
        {"k": np.int32([[0, 1]])},
        np.int32([[1, 0]]),
        2,
    ),
    "positions": (
        f"(int32[1,2] k, int32[1,2] i) => (float[1,2,8] y) <{EMBED}> {{"
        'y, m = com.microsoft.EmbedLayerNormalization<epsilon = 1e-12>(k, k, w, p, t, g, b, "", i) }',
        {"k": np.int32([[0, 1]])},
        np.int32([[3, 4]]),
        5,
    ),
    "images": (
        "(float[2,1,4,4] x, float[1,4] r, int64[1] i) => (float[1,1,2,2] y) {"
        "y = RoiAlign<output_height = 2, output_width = 2, sampling_ratio = 1>(x, r, i) }",
        {"x": IMAGES, "r": BOXES},
        np.int64([1]),
        2,
    ),
    "GatherND": (
        "(float[2,4] x, int64[1,1] i) => (float[1,4] y) { y = com.microsoft.GatherND(x, i) }",
        {"x": IMAGES.reshape(8, 4)[:2]},
        np.int64([[1]]),
        2,
    ),
    "labels": (
        "(float[2,3] x, int64[2] i) => (float[2] y) {"
        'y = NegativeLogLikelihoodLoss<reduction = "none", ignore_index = -7>(x, i) }',
        {"x": SCORES},
        np.int64([2, -7]),
        3,
    ),
}
FROM_END = ("GatherND",)
CHECKED = ("labels",)
"""Those that OpenVINO checks itself."""


def model_of(name):
    text = OPERATORS[name][0].replace('""', "")
    domains = '"" : 16' if name == "images" else '"" : 23, "com.microsoft" : 1'
    return onnx.parser.parse_model(f"<ir_version: 10, opset_import: [{domains}]> g {text}")


def outside(name):
    """Yield arrays with a wrong index: one too large, much too large, and negative ones."""
    good, rows = OPERATORS[name][2:]
    for number in (rows, 2**31 - 1, -rows - 1, *(() if name in FROM_END else (-1,))):
        wrong = good.copy()
        wrong.flat[0] = number
        yield wrong


@pytest.mark.parametrize("name", OPERATORS)
def test_a_wrong_index_is_refused(name):
    _, others, good, _ = OPERATORS[name]
    model = model_of(name)
    call = compile_onnx(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {**others, "i": good})
    np.testing.assert_allclose(call({**others, "i": good})["y"], expected, 1e-5, 1e-6)
    for wrong in outside(name):
        if name in CHECKED and wrong.flat[0] in (-1,):
            continue  # OpenVINO's GatherElements counts from the end
        with pytest.raises(IndexError):
            call({**others, "i": wrong})


@pytest.mark.parametrize("name", [name for name in OPERATORS if name not in CHECKED])
def test_stock_is_said_not_to_check(name):
    with pytest.warns(LossyConversionWarning, match="out of bounds"):
        convert_model(model_of(name))


@pytest.mark.parametrize("name", OPERATORS)
def test_proofs_say_which_indices_are_in_bounds(name):
    rows = OPERATORS[name][3]
    low = -rows if name in FROM_END else 0
    proofs = [str(proof) for proof in prove_onnx(model_of(name))]
    assert any(f"i in {low}..{rows - 1}" in proof for proof in proofs), proofs
    assume = {"i": (low, rows - 1), **({"k": (0, 1)} if "k" in OPERATORS[name][1] else {})}
    assert {str(proof.status) for proof in prove_onnx(model_of(name), assume=assume)} == {"proved"}


def test_block_quantized_rows():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    data = onnx.numpy_helper.from_array(np.arange(128).reshape(4, 32).astype(np.int8).astype(ml_dtypes.uint4), "d")
    scales = onnx.numpy_helper.from_array(np.full((4, 2), 2, np.float32), "s")
    node = onnx.helper.make_node(
        "GatherBlockQuantized",
        ["d", "i", "s"],
        ["y"],
        "rows",
        domain="com.microsoft",
        gather_axis=0,
        quantize_axis=1,
        block_size=16,
    )
    graph = onnx.helper.make_graph(
        [node],
        "g",
        [onnx.helper.make_tensor_value_info("i", onnx.TensorProto.INT64, [2])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 32])],
        [data, scales],
    )
    imports = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("com.microsoft", 1)]
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call = compile_onnx(model)
    rows = np.arange(128).reshape(4, 32) % 16 * 2
    np.testing.assert_array_equal(call({"i": np.int64([3, -4])})["y"], rows[[3, 0]])
    with pytest.raises(IndexError, match="9 is out of bounds for axis 0 of size 4"):
        call({"i": np.int64([0, 9])})
