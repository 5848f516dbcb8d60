"""`convert` of models with QuantizeLinear and DequantizeLinear: the bits of the original on OpenVINO, and no crash."""

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from onnx import numpy_helper

import ov_gather
from helpers.accelerating import operations
from helpers.legalized import model
from ov_gather.converters import compile_onnx
from ov_gather.converters.models import convert, written
from ov_gather.runtimes.isolated import borrowed

RNG = np.random.default_rng(11)
X = RNG.standard_normal((16, 32)).astype(np.float32)
ARRAYS = {
    "xs": np.float32(0.02),
    "xz": np.uint8(128),
    "w": RNG.integers(-127, 127, (32, 16)).astype(np.int8),
    "v": RNG.integers(-127, 127, (16, 16)).astype(np.int8),
    "ws": np.float32(0.013),
    "wz": np.int8(0),
    "column": RNG.integers(-16, 16, (6, 1)),
    "row": RNG.integers(-16, 16, (1, 6)),
    "tall": np.array([6, 16]),
    "wide": np.array([16, 6]),
}
HEAD = """xq = QuantizeLinear(x, xs, xz) xd = DequantizeLinear(xq, xs, xz)
          wd = DequantizeLinear(w, ws, wz) vd = DequantizeLinear(v, ws, wz) m = MatMul(xd, wd) """
ROWS = "i = Expand(column, tall) y = GatherElements<axis=0>({}, i)"
COLUMNS = "i = Expand(row, wide) y = GatherElements<axis=1>({}, i)"
MODELS = {
    "rows": (ROWS.format("m"), False),
    "columns": (COLUMNS.format("m"), False),
    "rows behind Relu and Transpose": ("r = Relu(m) t = Transpose(r) " + ROWS.format("t"), False),
    "rows of the quantised": ("mq = QuantizeLinear(m, xs, xz) md = DequantizeLinear(mq, xs, xz) " + ROWS.format("md"), False),
    "rows before a MatMul": (ROWS.format("m").replace("y =", "g =") + " y = MatMul(g, vd)", False),
    "rows of an activation before a MatMul": (
        ROWS.format("xd").replace("tall", "long").replace("y =", "g =") + " y = MatMul(g, wd)",
        False,
    ),
    "rows behind Softmax": ("s = Softmax(m) " + ROWS.format("s"), True),
    "rows of an input": (ROWS.format("x").replace("tall", "long").replace("y =", "g =") + "y = MatMul(g, wd)", True),
}


def quantised(nodes):
    proto = model("float[16,32] x) => (float[6,6] y)", HEAD + nodes, opset=13)
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    arrays = ARRAYS | {"long": np.array([6, 32])}
    proto.graph.initializer.extend(numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items())
    return proto


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("target", "accelerate"), [("stock", False), ("stock", True), ("extension", False)])
@pytest.mark.parametrize("name", MODELS)
def test_converted_models_have_the_bits_of_the_original(name, target, accelerate, tmp_path):
    nodes, becomes_gather = MODELS[name]
    onnx.save(quantised(nodes), tmp_path / "m.onnx")
    conversion = convert(tmp_path / "m.onnx", target=target)
    if target == "stock":
        assert ("Gather-8" in operations(conversion.model)) == becomes_gather
        assert any("in 8 bits" in rewrite.what for rewrite in conversion.rewrites) != becomes_gather
    if accelerate:
        ov_gather.accelerate(conversion.model, portable=True)
    with written(conversion.model, tmp_path / "m.xml"):
        pass
    with borrowed(["openvino", "openvino" if target == "stock" else target]) as runtimes:
        outputs = [runtime.run(tmp_path / name, [X]) for runtime, name in zip(runtimes, ("m.onnx", "m.xml"), strict=True)]
    assert not any(isinstance(found, Exception) for found in outputs), outputs
    assert outputs[0][0].tobytes() == outputs[1][0].tobytes()


ONE, OTHER = "a, sa, za", "b, sb, zb"
MICROSOFT = {
    "QLinearAdd": f"QLinearAdd ({ONE}, {OTHER}, sy, zy)",
    "QLinearMul": f"QLinearMul ({ONE}, {OTHER}, sy, zy)",
    "QLinearSigmoid": f"QLinearSigmoid ({ONE}, sy, zy)",
    "QLinearLeakyRelu": f"QLinearLeakyRelu <alpha = 0.3> ({ONE}, sy, zy)",
    "QLinearAveragePool": f"QLinearAveragePool <kernel_shape = [2, 1], strides = [2, 1]> ({ONE}, sy, zy)",
    "QLinearConcat": f"QLinearConcat <axis = 3> (sy, zy, {ONE}, {OTHER})",
}


@pytest.mark.onnxruntime
@pytest.mark.parametrize("kind", ["uint8", "int8"])
@pytest.mark.parametrize("place", [0, 3, 7])
@pytest.mark.parametrize("node", MICROSOFT.values(), ids=MICROSOFT)
def test_quantised_operators_of_onnxruntime_saturate(node, place, kind):
    """OpenVINO's front end wraps around what is out of the range of the result; a number halfway may be off by one step."""
    lowest = 0 if kind == "uint8" else -128
    zero = lowest + 255 * place // 7
    proto = onnx.parser.parse_model(
        f"""<ir_version: 7, opset_import: ["" : 13, "com.microsoft" : 1]> g ({kind}[1,1,4,64] a, {kind}[1,1,4,64] b)
        => ({kind}[1,1,m,n] y) <float sa = {{0.11}}, {kind} za = {{{lowest + 131}}}, float sb = {{0.23}},
        {kind} zb = {{{lowest + 117}}}, float sy = {{0.0301}}, {kind} zy = {{{zero}}}> {{ y = com.microsoft.{node} }}"""
    )
    a, b = (
        np.arange(start, start + 256 * step, step).astype(np.uint8).reshape(1, 1, 4, 64) for start, step in ((0, 1), (7, 3))
    )
    feed = {"a": a.view(kind), "b": b.view(kind)}
    expected = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feed)[0]
    found = compile_onnx(proto)(feed)["y"]
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    off = np.abs(found.astype(int) - expected)
    assert off.max() <= 1
    assert np.mean(off) < 0.02
