"""Integers computed from constants: OpenVINO folds some otherwise than ONNX means them and than its plugin computes them."""

import warnings

import numpy as np
import onnx_ir
import openvino
import pytest
from openvino import opset13 as ops

from helpers.branching import if_of
from helpers.openvino_models import made_of, number
from helpers.saved_models import parsed
from ov_gather import prove
from ov_gather.converters import LossyConversionWarning, compile_onnx, convert_model
from ov_gather.converters.arithmetic import evaluate
from ov_gather.converters.folding import repair_division
from ov_gather.converters.legalize import legalize
from ov_gather.runtimes.session import Session

pytestmark = pytest.mark.filterwarnings("ignore::ov_gather.converters.LossyConversionWarning")

TABLE = np.arange(10, dtype=np.float32)


def model(text, **constants):
    """A model in ONNX's own language, with arrays as constants, and `w` to gather from."""
    return parsed(text, 21, **{"w": TABLE, **constants})


def in_a_branch(value):
    """The value out of an If, which OpenVINO inlines, as its condition is constant."""
    branches = [lambda inner: [ops.add(inner, number([0], np.int32))]] * 2
    return if_of(ops.constant(np.array(True)), [value], *branches)[0].get_node()


def executed(converted, *arrays):
    return Session(openvino.Core(), converted)(arrays)[0]


def both(proto, **feed):
    """The output, by `compile_onnx`; by `convert_model` and OpenVINO the same."""
    (found,) = compile_onnx(proto)(feed).values()
    np.testing.assert_array_equal(executed(convert_model(proto), *feed.values()), found, strict=True)
    return found.tolist()


def check_gathered(text, expected, inputs="", feed=None, **constants):
    """Compare what a Gather takes from the table by `k` with the table at the expected places."""
    proto = model(f"({inputs}) => (float[n] y) {{ {text} y = Gather (w, k) }}", **constants)
    if np.ndim(expected) == 0:
        proto.graph.output[0].type.tensor_type.shape.Clear()
    assert both(proto, **(feed or {})) == TABLE[np.array(expected)].tolist()


CONSTANT = {
    "a division towards zero": ("k = Div (a, b)", {"a": [-3], "b": [5]}, [0]),
    "a remainder": ("k = Mod (a, b)", {"a": [-3], "b": [5]}, [2]),
    "a remainder with the sign of the dividend": ("k = Mod <fmod = 1> (a, b)", {"a": [-3], "b": [5]}, [-3]),
    "Abs of a Cast": ("c = Cast <to = 6> (a) k = Abs (c)", {"a": [-3]}, [3]),
    "Abs of a Clip": ("c = Clip (a, b) k = Abs (c)", {"a": [-7], "b": np.array(-3)}, [3]),
    "Abs of a mean": ("m = ReduceMean (a) n = Neg (m) k = Abs (n)", {"a": [1, 3, 5]}, [3]),
    "bytes": ("d = Div (a, b) k = Cast <to = 7> (d)", {"a": np.array([7], np.int8), "b": np.array([-2], np.int8)}, [-3]),
    "the largest byte": (
        "d = Mul (a, b) s = Sub (d, e) k = Cast <to = 7> (s)",
        {"a": np.array([254], np.uint8), "b": np.array([3], np.uint8), "e": np.array([249], np.uint8)},
        [1],
    ),
    "a shifted scalar": (
        'd = BitShift <direction = "RIGHT"> (a, b) k = Cast <to = 7> (d)',
        dict.fromkeys("ab", np.uint8(1)),
        0,
    ),
    "booleans": ("c = Less (a, b) n = Not (c) k = Cast <to = 7> (n)", {"a": [3, -3], "b": [0, 0]}, [1, 0]),
    "fractions between": (
        "f = Cast <to = 1> (a) m = Mul (f, h) r = Floor (m) i = Cast <to = 7> (r) k = Div (i, b)",
        {"a": [-3], "h": np.array([0.5], np.float32), "b": [5]},
        [0],
    ),
    # 3 of a million elements are compared; the model that is written does not hold a million.
    "too large to fold": (
        "e = Expand (a, n) d = Div (e, b) s = Neg (d) m = Abs (s) z = Add (d, m) k = Slice (z, i, j)",
        {"a": [-7], "n": [2**20], "b": [5], "i": [0], "j": [3]},
        [0, 0, 0],
    ),
}
BRANCHES = """t = If (c) <then_branch = a () => (int64[1] p) { p = Div (a, b) },
    else_branch = o () => (int64[1] q) { q = Neg (a) }>
    k = Div (t, b)"""
OF_SIZES = "s = Shape (x) d = Sub (s, a) c = Cast <to = {}> (d) e = Abs (c) k = Cast <to = 7> (e)"


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", CONSTANT)
def test_constants(name):
    text, constants, expected = CONSTANT[name]
    check_gathered(text, expected, **constants)


@pytest.mark.parametrize("name", [name for name in CONSTANT if name not in ("Abs of a mean", "too large to fold")])
def test_constants_of_a_legalized_model(name):
    """A legalized model is right without the repairs that `convert_model` makes afterwards. Means are not folded."""
    text, constants, expected = CONSTANT[name]
    legal = onnx_ir.from_proto(model(f"() => (float[n] y) {{ {text} y = Identity (k) }}", **constants))
    legalize(legal)
    legal.graph.outputs[0].dtype = onnx_ir.DataType.INT64
    found = executed(openvino.Core().read_model(onnx_ir.to_proto(legal).SerializeToString()))
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("text", "expected", "shapes", "constants"),
    [
        (
            "s = Shape (x) d = Sub (s, a) q = Div (d, b) m = Abs (d) k = Concat <axis = 0> (q, m)",
            [-1, 0, 3, 1],
            ["2, 4"],
            {"b": [2, 2]},
        ),
        (OF_SIZES.format(1), [3, 1], ["2, 4", "i, j"], {}),
        (OF_SIZES.format(6), [3, 1], ["2, 4", "i, j"], {}),
    ],
    ids=["static", "through f32", "through i32"],
)
def test_what_is_computed_of_sizes(text, expected, shapes, constants):
    for shape in shapes:
        check_gathered(text, expected, f"float[{shape}] x", {"x": np.zeros((2, 4), np.float32)}, a=[5, 5], **constants)


def test_a_model_whose_sizes_are_computed_can_still_be_reshaped():
    text = "s = Shape (x) k = Div (s, b)"
    converted = convert_model(model(f"(float[2, 4] x) => (float[n] y) {{ {text} y = Gather (w, k) }}", b=[2, 2]))
    converted.reshape([6, 18])
    assert executed(converted, np.zeros((6, 18), np.float32)).tolist() == [3, 9]


def test_a_branch_and_what_is_computed_of_it():
    for condition, expected in ((True, 0), (False, 1)):
        check_gathered(BRANCHES, [expected], a=[-7], b=[5], c=np.array(condition))


def test_a_large_range_is_not_written(tmp_path):
    numbers = {"a": np.int64(0), "b": np.int64(2**24), "c": np.int64(1)}
    convert_model(model("() => (int64[n] y) { r = Range (a, b, c) y = Div (r, c) }", **numbers), output=tmp_path / "x.xml")
    assert (tmp_path / "x.bin").stat().st_size < 10_000


def test_hostile_sizes_are_not_computed():
    for op_type, operands in (("Range", [0, 2**62, 1]), ("ConstantOfShape", [[2**31, 2**31]]), ("Tile", [[1], [2**62]])):
        names = "abc"[: len(operands)]
        node = onnx_ir.node(op_type, [onnx_ir.Value(name=name) for name in names])
        assert evaluate(node, [np.array(operand) for operand in operands], 21) is None


@pytest.mark.parametrize(("least", "expected"), [(-(2**31), None), (-(2**31) + 6, [[2**31 - 1]])])
def test_a_norm_beyond_its_type_is_not_computed(least, expected):
    """onnxruntime saturates it, ONNX's reference wraps around, and OpenVINO rounds, which is warned of."""
    node = onnx_ir.node("ReduceL1", [onnx_ir.Value(name="a")], outputs=[onnx_ir.Value(name="b")])
    found = evaluate(node, [np.array([[-5, least]], np.int32)], 21)
    assert (found and found[0].tolist()) == expected


@pytest.mark.parametrize(
    ("operator", "kind", "x", "y", "expected"),
    [
        ("Div", "int8", [7, -7, 5], [2, 2, 3], [3, -3, 1]),
        ("Add", "int8", [127, -128, 5], [1, -1, 3], [-128, 127, 8]),
        ("Sub", "uint8", [0, 255, 5], [1, 0, 3], [255, 255, 2]),
        ("Mul", "uint8", [100, 16, 5], [3, 16, 3], [44, 0, 15]),
    ],
)
def test_bytes_at_run_time(operator, kind, x, y, expected):
    proto = parsed(f"({kind}[n] x, {kind}[n] y) => (int32[n] z) {{ v = {operator} (x, y) z = Cast <to = 6> (v) }}", 21)
    assert both(proto, x=np.array(x, kind), y=np.array(y, kind)) == expected


WARNED = {
    "the remainder of integers is computed in float32": [
        ("int32[3] x", "y = Mod (x, c)"),
        (
            "int32[3] x",
            "a = Cast <to = 7> (c) p = MatMul (a, a) b = BitwiseXor (p, w) k = Mod (b, e) l = Cast <to = 6> (k) y = Add (x, l)",
        ),
    ],
    "the quotient of integers is computed in float32": [
        ("int32[3] x", "y = Div (x, c)"),
        ("int32[3] x", "a = Cast <to = 7> (x) b = Div (a, e) y = Cast <to = 6> (b)"),
        ("int32[3] x", "z = Clip (x, o, m) y = Div (z, c)"),
    ],
    "integers are added in float32": [("int32[3] x", "y = ReduceSum (x)")],
    "products of integers are computed in float32": [("int32[3] x", "y = MatMul (x, c)")],
    "integers are compared as float32": [
        ("int32[3] x, int32[3] z", "b = Equal (x, z) y = Cast <to = 6> (b)"),
        ("int64[3] x, int64[3] z", "b = Less (x, z) y = Cast <to = 6> (b)"),
    ],
    "computes integers as f32": [("int32[3, 1] x", "t = Trilu (x) s = Squeeze (t) y = Identity (s)")],
    "do not wrap around": [
        ("uint16[3] x", "z = BitwiseNot (x) y = Cast <to = 6> (z)"),
        ("int32[3] x", "z = Cast <to = 5> (x) y = Cast <to = 6> (z)"),
    ],
}
NUMBERS = {
    **{"c": np.array([7, 7, 7], np.int32), "d": np.int32(2**24 + 1), "m": np.int32(2**24 + 2), "o": np.int32(0)},
    **{"w": np.int64(2**31 - 1), "e": np.int64(128)},
}


@pytest.mark.parametrize("told", WARNED)
def test_what_the_plugin_rounds_is_named(told):
    for inputs, text in WARNED[told]:
        with pytest.warns(LossyConversionWarning, match=told):
            compile_onnx(model(f"({inputs}) => (int32[n] y) {{ {text} }}", **NUMBERS))


def test_division_of_an_input_of_64_bits_is_reported_for_each_loss():
    """Numbers beyond 32 bits wrap around, those beyond 24 bits are rounded."""
    with pytest.warns(LossyConversionWarning) as caught:
        convert_model(model("(int64[3] x) => (int64[3] y) { y = Div (x, c) }", c=[7, 7, 7]))
    assert [str(each.message) for each in caught] == [
        "i64 is computed as i32, values beyond wrap around: input 'x', read by node Div '' (output y)",
        "OVG712: the quotient of integers is computed in float32: node Divide 'y'",
    ]


def test_small_numbers_and_sizes_are_not_warned_of():
    text = """s = Shape (x) d = Div (s, two) p = ReduceProd (s) r = Cast <to = 6> (u) q = Div (r, three) m = Mod (r, three)
        l = Less (i, three) f = Equal (s, j) k = Clip (i, three, most)"""
    inputs = "float[n, m] x, uint8[k] u, int32[h] i, int64[2] j"
    outputs = "int64[2] d, int64[v] p, int32[k] q, int32[k] m, bool[h] l, bool[2] f, int32[h] k"
    numbers = {"two": [2], "three": np.int32(3), "most": np.int32(2**31 - 1)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_onnx(model(f"({inputs}) => ({outputs}) {{ {text} }}", **numbers))


def test_prove_claims_what_openvino_makes_of_constants(tmp_path):
    """abs(-(5)) - 4 = 1 is an index of three elements; OpenVINO folds it to -9, which is none."""
    index = ops.subtract(ops.abs(ops.negative(number([5]))), number([4]))
    built = openvino.Model([ops.gather(ops.constant(TABLE[1:4]), index, number(0))], [])
    assert executed(built) == 0.0  # the plugin has read outside: were this mended, the proof might be claimed again
    openvino.save_model(built, tmp_path / "x.xml")
    for source in (built, tmp_path / "x.xml"):
        (proof,) = prove(source)
        assert proof.status != "proved"


def test_a_stock_model_is_still_wrong():
    """Else what is done here is needless."""
    proto = model("() => (float[1] y) { k = Div (a, b) y = Gather (w, k) }", a=[-3], b=[5])
    assert executed(openvino.Core().read_model(proto.SerializeToString())).tolist() == [9]


def test_booleans_of_not_a_number():
    proto = model("(float[n] x) => (bool[n] y) { y = Cast <to = 9> (x) }")
    assert both(proto, x=np.array([np.nan, 0, 0.25, -np.inf], np.float32)) == [True, False, True, True]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("shape", ["2", "n"])
@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("c = Less (a, l)", [0, 1]),
        ("c = Cast <to = 9> (a)", [1, 0]),
        ("d = Cast <to = 9> (a) c = Not (d)", [0, 1]),
        ("d = Less (a, l) e = Equal (a, l) c = Or (d, e)", [0, 0]),
    ],
    ids=["a comparison", "numbers", "no numbers", "several comparisons"],
)
def test_chosen_integers_are_not_rounded(choice, expected, shape):
    """OpenVINO's CPU plugin fuses a Select into the comparison before it, and computes both as f32."""
    inputs = ", ".join(f"int32[{shape}] {name}" for name in "axz")
    proto = model(f"({inputs}) => (int32[{shape}] y) {{ {choice} y = Where (c, x, z) }}", l=np.int32([1]))
    feed = {"a": [0, 1], "x": [2**24 + 1, 2**30 + 1], "z": [2**24 + 3, -(2**30) - 1]}
    found = both(proto, **{key: np.array(numbers, np.int32) for key, numbers in feed.items()})
    assert found == [(feed["x"], feed["z"])[which][place] for place, which in enumerate(expected)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", ["2", "n"])
@pytest.mark.parametrize(("text", "expected"), [("Div (s, k)", 4), ("Div (k, s)", 0), ("Div (m, k)", -4)])
def test_a_sum_is_divided_towards_zero(text, expected, shape):
    """OpenVINO's CPU plugin fuses a division by constants into the reduction: it rounds to the nearest, and swaps operands."""
    text = f"s = ReduceSum <keepdims = 0> (x) m = Neg (s) y = {text}"
    proto = model(f"(int32[{shape}] x) => (int32[1] y) {{ {text} }}", k=np.int32([2]))
    assert both(proto, x=np.array([3, 6], np.int32)) == [expected]


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    ("after", "value"),
    [
        ("b = Identity (a)", 10),
        ("b = Add (a, k)", 11),
        ("c = Neg (a) b = Squeeze (c)", -10),
        ("c = Abs (a) b = Add (c, k)", 11),
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        *("a = MatMul (x, q)", "v = Transpose (q) u = Mul (x, v) a = ReduceSum (u)"),
        *('a = Einsum <equation = "ij,jk->ik"> (x, q)', "m = MatMul (x, q) a = Concat <axis = 0> (m)"),
    ],
)
def test_what_is_fused_with_a_product_is_divided_towards_zero(text, after, value):
    text = f"{text} {after} y = Div (b, d)"
    proto = model(f"(int32[1, 2] x, int32[2, 1] q) => (int32[n, m] y) {{ {text} }}", k=np.int32([1]), d=np.int32([-6]))
    found = both(proto, x=np.array([[2, 0]], np.int32), q=np.array([[5], [-2]], np.int32))
    assert np.ravel(found).tolist() == [int(value / -6)]


@pytest.mark.parametrize("divisor", [2, -6])
def test_an_integer_quotient_whose_floor_is_taken_is_rounded_down(divisor):
    """As PyTorch's // becomes; the plugin rounds towards zero, and a constant sub-graph down."""
    x, numbers = ops.parameter([4], np.int64), np.array([-7, 7, 6, -12])
    for value, inputs in ((x, [x]), (ops.constant(numbers), [])):
        quotient = ops.floor(ops.divide(value, ops.constant(np.array([divisor]))))
        built = openvino.Model([quotient], inputs)
        repair_division(built)
        assert executed(built, *[numbers][: len(inputs)]).tolist() == (numbers // divisor).tolist()


@pytest.mark.parametrize("reduce", [ops.reduce_max, ops.reduce_min])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("between", [lambda value: value, lambda value: ops.concat([value], 0), in_a_branch])
def test_no_proof_relies_on_a_quotient_that_is_fused(swapped, reduce, between):
    """Of x in 1..7: max(x) / 2 and 2 / max(x), which OpenVINO's CPU plugin both computes as rint(max(x) / 2)."""
    two, zero = number([2], np.int32), number(0, np.int32)

    def quotient(x):
        reduced = reduce(ops.maximum(ops.minimum(x, number(7, np.int32)), number(1, np.int32)), number([0], np.int32), True)
        return ops.divide(*(two, between(reduced)) if swapped else (between(reduced), two))

    (proof,) = prove(made_of(lambda x: ops.gather(number(TABLE[: 3 if swapped else 4]), quotient(x), zero), x="i32[2]"))
    assert executed(made_of(quotient, x="i32[2]"), np.int32([7, 7])) == [4]
    assert proof.status != "proved"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("operator", ["Min", "Max", "Add", "Mul", "Div", "Sub"])
def test_a_size_and_a_constant_have_the_rank_of_the_constant(operator):
    """OpenVINO moves the operation up through the Reshape that takes one size out of a shape."""
    for operands, size_first in (("d, k", True), ("k, d", False)):
        text = f"s = Shape (x) d = Gather (s, z) y = {operator} ({operands})"
        found = both(model(f"(float[n] x) => (int64[1] y) {{ {text} }}", k=[2], z=np.int64(0)), x=np.zeros(5, np.float32))
        one, other = (5, 2) if size_first else (2, 5)
        expected = {"Min": 2, "Max": 5, "Add": 7, "Mul": 10, "Div": one // other, "Sub": one - other}[operator]
        assert found == [expected]


@pytest.mark.parametrize("operands", ["x, k", "k, x"])
def test_a_constant_of_one_element_raises_the_rank(operands):
    proto = model(f"(float[n] x) => (float[a, b, n] y) {{ y = Mul ({operands}) }}", k=np.full((1, 1, 1), 3, np.float32))
    assert both(proto, x=np.float32([1, 2])) == [[[3, 6]]]
