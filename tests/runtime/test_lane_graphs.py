"""Lanes in every form of an operator, in branches and loops, and where computed numbers join them; or a loss is named.

`python tests/tools/evidence.py lane_forms` tries all types and shapes of each form.
"""

import numpy as np
import onnx_ir
import pytest
from onnx import helper

from helpers.lane_models import exactly, values
from helpers.moving_operators import COMPUTING, FORMS, STOCK_IS_WRONG
from helpers.saved_models import parsed
from ov_gather.converters import LossyConversionWarning, compile_onnx
from ov_gather.converters.inexactness import find_inexactness
from ov_gather.converters.passes.lane_moves import is_move
from ov_gather.converters.passes.lane_pads import can_pad
from tools.measurements import lane_forms
from tools.measurements.lane_forms import Cell, outcome

BRANCHES = """(bool c, int64[n] x, int64[k] i) => (int64[] OUTPUT) { y = If (c) <
    then_branch = a () => (int64[] p) { p = Gather(x, i) }, else_branch = b () => (int64[] q) { q = OTHER }> MORE }"""


def branching(other, output="y", more="", **constants):
    """An If of which one branch gathers, and more nodes behind it."""
    return parsed(BRANCHES.replace("OUTPUT", output).replace("OTHER", other).replace("MORE", more), **constants)


@pytest.mark.parametrize("condition", [True, False])
def test_branches_that_both_move(condition):
    compiled = exactly(branching("Slice(x, one, three)", one=[1], three=[3]))
    x = values("int64", 5)
    found = compiled({"c": np.array(condition), "x": x, "i": np.array([0, -1, 2])})["y"]
    assert found.tolist() == (x[[0, -1, 2]] if condition else x[1:3]).tolist()
    if condition:
        with pytest.raises(IndexError, match=r"indices\[1\] = 5 is out of bounds for axis 0 of size 5"):
            compiled({"c": np.array(condition), "x": x, "i": np.array([0, 5])})


def test_what_comes_out_of_branches_is_moved_on():
    compiled = exactly(branching("Identity(x)", "z", "z = Reshape(y, column)", column=[-1, 1]))
    x = values("int64", 3)
    assert compiled({"c": np.array(False), "x": x, "i": np.array([0])})["z"].tolist() == x[:, None].tolist()


def test_branches_that_disagree():
    """Lanes end before them: the numbers must fit in 32 bits, and the loss is named."""
    with pytest.warns(LossyConversionWarning, match="i64 is computed as i32.*: input 'x'"):
        compiled = compile_onnx(branching("Mul(x, x)"))
    given = {"c": np.array(True), "x": np.array([1, -5, 3]), "i": np.array([1])}
    assert compiled(given)["y"].tolist() == [-5]
    assert compiled({**given, "c": np.array(False)})["y"].tolist() == [1, 25, 9]
    with pytest.raises(ValueError, match=r"x\[0\] = 1099511627776 does not fit in int32"):
        compiled({**given, "x": np.array([2**40, 0, 0])})


def test_one_output_of_branches_moves_and_another_computes():
    text = """(bool c, int64[n] x, int64[k] i, int64[2] s) => (int64[] z, int64[] y) {
        y, z = If (c) <then_branch = a () => (int64[] p, int64[] q) { p = Gather(x, i) q = Add(s, s) },
                       else_branch = b () => (int64[] r, int64[] t) { r = Identity(x) t = Add(s, s) }> }"""
    with pytest.warns(LossyConversionWarning, match="input 's'"):
        compiled = compile_onnx(parsed(text))
    x = values("int64", 3)
    found = compiled({"c": np.array(True), "x": x, "i": np.array([-1]), "s": np.array([3, 4])})
    assert (found["y"].tolist(), found["z"].tolist()) == ([x[-1]], [6, 8])


@pytest.mark.parametrize(("dtype", "number"), [("int64", 7), ("uint64", 13)])
def test_numbers_that_fit_join_lanes(dtype, number):
    """Sizes, and integers of 32 bits, are computed and then moved beside keys of 64 bits."""
    x, small = values(dtype, 3), np.array([5, 2, 7], np.uint16) if dtype == "uint64" else np.array([-5, 2, -7], np.int32)
    text = f"""({dtype}[n] x, {small.dtype}[m] small) => ({dtype}[] y) {{
        size = Shape(small) wide_size = Cast<to = {number}>(size) wide = Cast<to = {number}>(small)
        y = Concat<axis = 0>(x, wide_size, wide) }}"""
    assert exactly(parsed(text))({"x": x, "small": small})["y"].tolist() == [*x.tolist(), 3, *small.tolist()]


@pytest.mark.parametrize(("limit", "number"), [("Max", 5), ("Min", -5)])
def test_numbers_beyond_32_bits_join_no_lanes(limit, number):
    """What stands beside them is not in lanes either: the loss is named, and an input beyond 32 bits refused."""
    text = f"""(int64[n] x, int32[m] small) => (int64[] y) {{ wide = Cast<to = 7>(small) half = {limit}(wide, zero)
        product = Mul(half, two) y = Concat<axis = 0>(x, product) }}"""
    with pytest.warns(LossyConversionWarning, match="i64 is computed as i32.*: node Mul"):
        compiled = compile_onnx(parsed(text, zero=0, two=2))
    assert compiled({"x": np.array([7]), "small": np.array([number], np.int32)})["y"].tolist() == [7, 2 * number]
    with pytest.raises(ValueError, match=r"x\[0\] = 1099511627776 does not fit in int32"):
        compiled({"x": np.array([2**40]), "small": np.array([number], np.int32)})


def test_constants_of_a_shape():
    text = f"""(int64[2] sizes, int64[n, m] x) => (int64[] y) {{
        fill = ConstantOfShape<value = int64[1] {{{-(2**40)}}}>(sizes) y = Concat<axis = 1>(fill, x) }}"""
    x = values("int64", (2, 3))
    found = exactly(parsed(text))({"sizes": np.array([2, 1]), "x": x})["y"]
    assert found.tolist() == np.concatenate([np.full((2, 1), -(2**40)), x], 1).tolist()


def test_zeros_of_a_shape_are_no_lanes():
    text = "(int64[1] sizes, float[n] x) => (float[] y) { fill = ConstantOfShape(sizes) y = Concat<axis = 0>(fill, x) }"
    assert exactly(parsed(text))({"sizes": np.array([2]), "x": np.array([3], np.float32)})["y"].tolist() == [0, 0, 3]


@pytest.mark.parametrize("value", [-np.pi, -1, 2**24 + 1, np.int32(2**24 + 1), np.float16(-0.1)], ids=str)
def test_padding_by_a_number(value):
    dtype = np.array(value).dtype
    kind = helper.tensor_dtype_to_string(helper.np_dtype_to_tensor_dtype(dtype)).partition(".")[2].lower()
    text = f"({kind}[n, m] x) => ({kind}[] y) {{ y = Pad(x, pads, value) }}"
    x = values(dtype, (2, 3))
    found = exactly(parsed(text, pads=[0, 1, 1, 0], value=value))({"x": x})["y"]
    assert found.tobytes() == np.pad(x, [(0, 1), (1, 0)], constant_values=value).tobytes()


@pytest.mark.parametrize(
    ("x", "nodes", "opset", "can"),
    [
        ("double[n] x", "y = Pad <paddings = [1, 0]> (x)", 1, False),
        ("double[n] x", "y = Pad <pads = [1, 0]> (x)", 10, True),
        ("double[n] x", "y = Pad <pads = [1, 0], value = 1.5> (x)", 10, False),
        ("double[n] x, int64[k] p", "y = Pad (x, p)", 18, True),
        ("double[] x, int64[2] p", "y = Pad (x, p)", 18, True),
        ("double[] x, int64[k] p", "y = Pad (x, p)", 18, False),
        ("double[] x, int64[k] p, int64[m] a", "y = Pad (x, p, , a)", 18, True),
    ],
)
def test_lanes_are_padded_where_it_is_known_which_pads_are_theirs(x, nodes, opset, can):
    (node,) = onnx_ir.from_proto(parsed(f"({x}) => (double[] y) {{ {nodes} }}", opset)).graph
    assert can_pad(node, opset) == can


@pytest.mark.parametrize(
    ("operator", "indices", "can"),
    [
        ("ScatterElements", "int64[2, 2]", True),
        ("ScatterElements", "int64[]", True),
        ("ScatterElements", "int64[0, 2]", False),  # OpenVINO's CPU plugin dies of an Expand of them
        ('ScatterElements <reduction = "add">', "int64[2, 2]", False),
        ("ScatterND", "int64[0, 1]", True),
    ],
)
def test_scatters_that_only_move(operator, indices, can):
    text = f"(int64[n, m] x, {indices} i, int64[] u) => (int64[n, m] y) {{ y = {operator} (x, i, u) }}"
    (node,) = onnx_ir.from_proto(parsed(text)).graph
    assert is_move(node, 18) == can


def padding(value, kind):
    """A Pad of a vector by a number, which is constant or an input."""
    given = f", {kind} value" if value is None else ""
    constants = {} if value is None else {"value": value}
    return parsed(f"({kind}[n] x{given}) => ({kind}[] y) {{ y = Pad(x, pads, value) }}", pads=[1, 0], **constants)


@pytest.mark.parametrize("kind", ["float", "int32", "int64"])
def test_padding_by_a_number_that_is_not_known(kind):
    """The CPU plugin itself would take 0 for numbers of 32 bits."""
    number = {"float": np.float32(-0.1), "int32": np.int32(2**24 + 1), "int64": np.int64(-(2**40))}[kind]
    found = exactly(padding(None, kind))({"x": np.array([5], number.dtype), "value": np.array(number)})["y"]
    assert found.tolist() == [number, 5]


def test_a_computed_number_to_pad_with_that_is_known():
    """OpenVINO folds what is computed from constants before it pads."""
    text = "(float[n] x) => (float[] y) { value = Neg(seven) y = Pad(x, pads, value) }"
    proto = parsed(text, pads=[1, 0], seven=np.float32(7))
    assert exactly(proto)({"x": np.array([1], np.float32)})["y"].tolist() == [-7, 1]


LOOPS = [name for name in FORMS if name.startswith(("Loop", "Scan")) and name not in (*COMPUTING, *STOCK_IS_WRONG)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", LOOPS)
def test_every_bit_is_handed_on(name):
    assert outcome(Cell(name, "complex128")) == ("exact", "")


def test_a_state_that_is_moved_and_computed_with():
    """Lanes go beside the numbers, which must fit in 32 bits; the sum needs no lanes."""
    proto = parsed("""(int64[2] x, int64 n) => (int64[2] y, int64[k, 2] z) {
        go = Constant<value = bool {1}>()
        y, z = Loop(n, go, x) <body = one (int64 i, bool on, int64[2] v) => (bool o, int64[2] w, int64[2] u) {
            o = Identity(on) back = Constant<value = int64[2] {1, 0}>() w = Gather(v, back) u = Add(v, v) }>
    }""")
    with pytest.warns(LossyConversionWarning, match="i64 is computed as i32"):
        compiled = compile_onnx(proto)
    found = compiled({"x": np.array([3, -4]), "n": np.array(3)})
    assert (found["y"].tolist(), found["z"].tolist()) == ([-4, 3], [[6, -8], [-8, 6], [6, -8]])


@pytest.mark.parametrize("trips", [1, 2])
def test_numbers_that_fit_join_what_is_handed_on(trips):
    """Sizes are given to the loop, and a branch doubles them; another branch gives numbers of 64 bits."""
    proto = parsed(f"""(int64[m] x) => (int64[2] y) {{
        n = Constant<value = int64 {{{trips}}}>() go = Constant<value = bool {{1}}>()
        size = Shape(x) sizes = Concat<axis = 0>(size, size) places = Constant<value = int64[2] {{-1, 0}}>()
        y = Loop(n, go, sizes) <body = one (int64 i, bool on, int64[2] v) => (bool o, int64[2] w) {{
            o = Identity(on) even = Constant<value = int64 {{0}}>() is = Equal(i, even)
            w = If(is) <then_branch = a () => (int64[2] p) {{ p = Add(sizes, sizes) }},
                        else_branch = b () => (int64[2] q) {{ q = Gather(x, places) }}> }}>
    }}""")
    x = values("int64", 3)
    assert exactly(proto)({"x": x})["y"].tolist() == ([6, 6] if trips == 1 else x[[-1, 0]].tolist())


def test_loops_in_loops():
    proto = parsed("""(int64[2, 3] x) => (int64[k, 3] y, int64[2, 3] z) {
        go = Constant<value = bool {1}>() n = Constant<value = int64 {2}>()
        z, y = Loop(n, go, x) <body = one (int64 i, bool on, int64[2, 3] v) => (bool o, int64[2, 3] w, int64[3] u) {
            o = Identity(on) two = Constant<value = int64 {2}>()
            w, t = Loop(two, go, v) <body = two (int64 j, bool more, int64[2, 3] a) => (bool p, int64[2, 3] b, int64[3] c) {
                p = Identity(more) back = Constant<value = int64[2] {1, 0}>() b = Gather(a, back) c = Gather(a, j) }>
            u = Gather(t, i) }>
    }""")
    x = values("int64", (2, 3))
    found = exactly(proto)({"x": x})
    assert found["z"].tolist() == x.tolist()
    assert found["y"].tolist() == x[[0, 0]].tolist()  # in the inner loop the rows have changed places before the second


def test_what_is_not_handed_on_in_lanes_is_named():
    """The body computes the state, so that lanes end before the loop."""
    with pytest.warns(LossyConversionWarning, match="f64 is computed as f32, rounded: input 'x'"):
        compile_onnx(lane_forms.model(Cell("Loop that computes", "float64"))[0])


NOT_IN_LANES = {
    *(name for name in COMPUTING if name != "Sum of one"),  # of which OpenVINO makes nothing, as of a Dropout
    *("CenterCropPad", "DepthToSpace", "Resize to the nearest"),
    *("Sequence of parts", "Sequence of tensors", "SpaceToDepth", "Trilu", "Upsample, opset 9"),
    *("Pad, wrap", "Unsqueeze, given axes"),  # OpenVINO refuses these of any type
}
"""Forms whose loss is named. Numbers of 64 bits that do not fit in 32 are refused when the model is called."""


@pytest.mark.sampled(14)
@pytest.mark.parametrize("name", [name for name in FORMS if name not in STOCK_IS_WRONG])
def test_every_bit_or_a_reason(name):
    found = outcome(Cell(name, "int64", "open")) or outcome(Cell(name, "float64", "open"))
    assert found is not None
    assert found[0] in (("warned", "refused") if name in NOT_IN_LANES else ("exact",)), found


FIRST_FORMS = [name for name in FORMS if "," not in name and name not in (*NOT_IN_LANES, *STOCK_IS_WRONG)]


@pytest.mark.sampled(10)
@pytest.mark.parametrize("dtype", ["complex128", "float16"])
@pytest.mark.parametrize("name", FIRST_FORMS)
def test_every_bit_of_four_lanes_and_of_half_a_lane(name, dtype):
    assert outcome(Cell(name, dtype, "open")) in (("exact", ""), None)


@pytest.mark.parametrize(("kind", "names"), [("float16", {"DepthToSpace", "SequenceAt", "SplitToSequence"}), ("float", set())])
def test_what_makes_numbers_of_float16_quiet_is_named(kind, names):
    nodes = "y = DepthToSpace <blocksize = 2> (x) s = SplitToSequence (x, k) z = SequenceAt (s, i)"
    text = f"({kind}[1, 4, 2, 2] x, int64 k, int64 i) => ({kind}[1, 1, 4, 4] y, {kind}[a, b, c, d] z) {{ {nodes} }}"
    told = [one for one in find_inexactness(onnx_ir.from_proto(parsed(text)), target="extension") if "quiet" in str(one)]
    assert {name for name in ("DepthToSpace", "SequenceAt", "SplitToSequence") if name in str(told)} == names


@pytest.mark.parametrize("source", ["input", "initializer"])
@pytest.mark.parametrize("name", ["Expand, given sizes", "Loop, carried"])
def test_signalling_numbers_of_bfloat16(name, source):
    """OpenVINO's CPU plugin makes the NaN quiet here, where bfloat16 goes through it as it is."""
    assert outcome(Cell(name, "bfloat16", "open", source)) == ("exact", "")
