"""Constants without elements, of which OpenVINO's front end makes one element, stay empty, or are named."""

import numpy as np
import onnx.parser
import onnx_ir
import openvino
import pytest

from helpers.legalized import constant, model, run
from ov_gather.converters import compile_onnx, convert_model
from ov_gather.converters.inexactness import find_inexactness
from ov_gather.converters.legalize import legalize
from ov_gather.runtimes.session import Session

pytestmark = pytest.mark.onnxruntime

X = np.float32([[1, 2, 3, 4]])
EMPTY = np.zeros((0, 4), np.float32)
IF = """y = If (b) <then_branch = some () => (float[N,4] p) { p = Neg(x) },
    else_branch = none () => (float[0,4] q) { q = Constant<value = float[0,4] {}>() }>"""
LOOP = """t = Constant<value = bool {1}>() n = Cast<to = 7>(b)
    y = Loop (n, t, c) <body = round (int64 i, bool go, float[K,4] s) => (bool on, float[L,4] u) {
        on = Identity(go) u = Concat<axis = 0>(s, x) }>"""

MODELS = {
    "the output of a branch": (IF, {}),
    "where a loop starts": (LOOP, {"c": EMPTY}),
    "an output": ("y = Identity(c)", {"c": EMPTY}),
    "an operand": ("z = Add(c, c) y = Concat<axis = 0>(x, z)", {"c": EMPTY}),
    "beside what is not empty": ("y = Concat<axis = 0>(c, x, c)", {"c": EMPTY}),
    "integers": ("s = Size(c) f = Cast<to = 1>(s) y = Add(x, f)", {"c": np.zeros((3, 0), np.int64)}),
    "booleans": ("n = NonZero(c) s = Size(n) f = Cast<to = 1>(s) y = Add(x, f)", {"c": np.zeros(0, bool)}),
    "the data of a gather of nothing": (
        "i = NonZero(c) j = Squeeze(i, a) y = Gather(x, j)",
        {"c": np.zeros(0, bool), "a": np.array([0])},
    ),
    "axes of a reduction": ("s = ReduceSum(x, a) y = Add(x, s)", {"a": np.zeros(0, np.int64)}),
    "the shape of a scalar": (
        "o = Slice(x, z, e, a) s = Reshape(o, c) y = Add(x, s)",
        {"z": np.array([0, 0]), "e": np.array([1, 1]), "a": np.array([0, 1]), "c": np.zeros(0, np.int64)},
    ),
    "the region of a resize": (
        "u = Unsqueeze(x, a) r = Resize(u, c, k) y = Squeeze(r, a)",
        {"a": np.array([0, 1]), "c": np.zeros(0, np.float32), "k": np.float32([1, 1, 2, 1])},
    ),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("nodes", "constants"), MODELS.values(), ids=MODELS)
def test_empty_stays_empty(nodes, constants):
    proto = model("float[M,4] x, bool b) => (float[N,4] y)", nodes)
    for name, array in constants.items():
        constant(array, proto, name)
    compiled, converted = compile_onnx(proto), convert_model(proto)
    stock, names = Session(openvino.Core(), converted), [port.any_name for port in converted.inputs]
    for b in (np.array(True), np.array(False)):
        inputs = {"x": X, "b": b}
        (expected,) = run(proto, inputs)
        np.testing.assert_array_equal(compiled(inputs)["y"], expected)
        np.testing.assert_array_equal(stock([inputs[name] for name in names])[0], expected)


@pytest.mark.parametrize(
    ("nodes", "empty"),
    [
        ("y = Concat<axis = 0>(words, c)", np.zeros(0, object)),
        ("n = Constant<value_ints = [-1]>() f = Reshape(c, n) y = Concat<axis = 0>(f, words)", np.zeros((0, 2), object)),
    ],
)
def test_empty_strings_stay_empty(nodes, empty):
    """`compile_onnx` feeds them, also those that a folded Reshape makes."""
    compiled = compile_onnx(constant(empty, model("string[M] words) => (string[N] y)", nodes), "c"))
    assert compiled({"words": np.array(["a", "bc"], object)})["y"].tolist() == ["a", "bc"]


@pytest.mark.parametrize(
    "nodes",
    [
        *("z = Tile(c, r)", "z = LayerNormalization(c, s)", "z = Unique(c)", "n = Neg(c) m = Add(n, c) z = Tile(m, r)"),
        "z = Concat<axis = 0>(words, words)",
    ],
)
def test_what_stays_as_it_is_is_named(nodes):
    """OpenVINO would die of the first four models, and cannot compute strings."""
    proto = model("int64[2] r, float[4] s) => (int64[R] y)", f"{nodes} y = Shape(z)")
    name, array = ("words", np.zeros(0, object)) if "words" in nodes else ("c", EMPTY)
    changed = onnx_ir.from_proto(constant(array, proto, name))
    assert legalize(changed) == []
    told = [loss.what for loss in find_inexactness(changed, target="stock") if loss.place == f"constant '{name}'"]
    assert told == ["OpenVINO makes one element of a constant that has none"]


@pytest.mark.parametrize("axis", [-1, 0, 1, 2, 3])
@pytest.mark.parametrize("shape", [(0, 3, 2), (2, 0, 3), (2, 3, 0), (0, 0, 3), (0, 3, 0), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("declared", ["A,B,C", "A,B,{}"])
def test_flattened_open_sizes(declared, shape, axis):
    """Flatten of open sizes has the sizes of ONNX where one of them is 0."""
    graph = f"(float[{declared.format(shape[2])}] x) => (float[M,N] y) {{ y = Flatten<axis = {axis}>(x) }}"
    proto = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g {graph}')
    split = axis % 3 if axis < 3 else axis
    found = compile_onnx(proto)({"x": np.zeros(shape, np.float32)})["y"]
    assert found.shape == (np.prod(shape[:split]), np.prod(shape[split:]))
