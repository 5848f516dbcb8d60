"""Interval analysis: what is computed never leaves the bounds that were found."""

import os
import subprocess
import sys

import numpy as np
import onnx_ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx_ir.passes.common import ShapeInferencePass

from helpers.legalized import constant, model, random
from helpers.paths import ROOT
from ov_gather.converters.ranges import Ranges


def ranges_of(proto):
    """The bounds of each value, by name; the analysis sees the graph alone."""
    analysed = onnx_ir.from_proto(proto)
    ShapeInferencePass(check_type=False, strict_mode=False)(analysed)
    ranges = Ranges(analysed)
    return {
        value.name: ranges.of(value)
        for node in onnx_ir.traversal.RecursiveGraphIterator(analysed.graph)
        for value in node.outputs
    }


def bounds(proto, name="y"):
    interval = ranges_of(proto)[name]
    return None if interval is None else (interval.low, interval.high)


def check(proto, inputs):
    """Every integer that is computed is within its bounds.

    ONNX's reference computes: onnxruntime 1.31's Clip, Min and Max of 4 int64 numbers or more are wrong beyond 2^31.
    """
    found = ranges_of(proto)
    for name, array in ReferenceEvaluator(proto).run(None, inputs, intermediate=True).items():
        interval = found.get(name)
        if interval is not None and array.size:
            assert interval.low <= int(array.min()) <= int(array.max()) <= interval.high, name


OPERATORS = [
    "Add({x}, {y})",
    "Sub({x}, {y})",
    "Mul({x}, {y})",
    "Min({x}, {y})",
    "Max({x}, {y})",
    "Where(choice, {x}, {y})",
    "Div({x}, positive)",
    "Mod({x}, positive)",
    "Mod<fmod = 1>({x}, positive)",
    "Clip({x}, low, high)",
    "Clip({x}, low)",
    "Neg({x})",
    "Abs({x})",
    "Sign({x})",
    "ReduceMax({x})",
    "ReduceMin({x})",
    "ReduceSum({x})",
    "ReduceProd({x})",
    "CumSum({x}, axis)",
]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_expression(data):
    """Expressions have 32 or 64 bits, and both small numbers and numbers that wrap around."""
    dtype = data.draw(st.sampled_from([np.int32, np.int64]))
    most = int(np.iinfo(dtype).max)
    numbers = st.integers(-3, 3) | st.integers(-most, most)
    a, b = (data.draw(st.lists(numbers, min_size=4, max_size=4)) for _ in range(2))
    low, high = sorted(data.draw(numbers) for _ in range(2))
    names, lines = ["v0", "v1"], ["v0 = Clip(a, low, high)", "v1 = Identity(sizes)", "positive = Max(one, b)"]
    for number in range(2, data.draw(st.integers(3, 7))):
        x, y = (data.draw(st.sampled_from(names)) for _ in range(2))
        names.append(f"v{number}")
        lines.append(f"{names[-1]} = {data.draw(st.sampled_from(OPERATORS)).format(x=x, y=y)}")
    element_type = np.dtype(dtype).name
    proto = model(
        f"{element_type}[4] a, {element_type}[4] b, bool[4] choice) => ({element_type}[N] {names[-1]})",
        f"s = Shape(choice) sizes = Cast<to = {onnx_ir.DataType.from_numpy(np.dtype(dtype)).value}>(s) {' '.join(lines)}",
    )
    for name, value in (("low", low), ("high", high), ("one", 1)):
        constant(np.array(value, dtype), proto, name)
    constant(0, proto, "axis")
    choice = np.array([True, False, True, False])
    check(proto, {"a": np.array(a, dtype), "b": np.array(b, dtype), "choice": choice})


KNOWN_TRUTH = "s = Shape(x) h = Constant<value_int = 9>() yes = Less(s, h) no = Greater(s, h)"
TRUTHS = {"Not(yes)": 0, "Not(no)": 1, "And(yes, yes)": 1, "And(yes, no)": 0, "Or(no, no)": 0, "Or(yes, no)": 1}


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("y = Shape(x)", (3, 7)),
        ("y = Shape<start = -1>(x)", (7, 7)),
        ("s = Shape(x) at = Constant<value_ints = [1]>() y = Gather(s, at)", (5, 5)),
        ("y = Size(x)", (105, 105)),
        ("k = Constant<value_ints = [2]>() v, y = TopK<axis = 1>(x, k)", (0, 4)),
        ("y = ArgMax<axis = -1>(x)", (0, 6)),
        ("y = ArgMin(x)", (0, 2)),
        ("y = NonZero(x)", (0, 6)),
        (
            "z = Constant<value_int = 2>() l = Constant<value_int = 9>() d = Constant<value_int = 3>() y = Range(z, l, d)",
            (2, 8),
        ),
        (
            "z = Constant<value_int = 9>() l = Constant<value_int = 2>() d = Constant<value_int = -3>() y = Range(z, l, d)",
            (3, 9),
        ),
        ("s = Shape(x) y = ConstantOfShape<value = int64[1] {-4}>(s)", (-4, -4)),
        ("e = Equal(x, x) y = Cast<to = 7>(e)", (0, 1)),
        *((f"{KNOWN_TRUTH} c = {truth} y = Cast<to = 7>(c)", (value, value)) for truth, value in TRUTHS.items()),
        ("s = Shape(x) p = Constant<value_ints = [1, 1]>() v = Constant<value_int = 20>() y = Pad(s, p, v)", (3, 20)),
        ("s = Shape(x) p = Constant<value_ints = [1, 1]>() y = Pad(s, p)", (0, 7)),
        ("s = Shape(x) y = Concat<axis = 0>(s, s)", (3, 7)),
        (
            "p = ArgMax<axis = -1>(x) z = Constant<value_int = 3>() c = Less(p, z) t = Sub(p, z) y = Where(c, p, t)",
            (0, 3),
        ),
        (
            "s = Shape(x) at = Constant<value_ints = [0]>() u = Constant<value_ints = [9]>() y = ScatterElements(s, at, u)",
            (3, 9),
        ),
    ],
)
def test_bounds(nodes, expected):
    proto = model("float[3,5,7] x) => (int64[N] y)", nodes)
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    assert bounds(proto) == expected
    check(proto, {"x": random(3, 5, 7)})


EVERY_INT64 = (-(2**63), 2**63 - 1)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("y = Cast<to = 7>(x)", EVERY_INT64),  # a NaN may become anything
        ("y = Add(i, i)", EVERY_INT64),
        (
            "c = NonZero(x) y = ReduceMax(c)",
            EVERY_INT64,
        ),  # ReduceMax gives the least value of the type where there are no elements
        ('s = Shape(i) u = Constant<value_ints = [9]>() y = ScatterElements<reduction = "add">(s, u, u)', EVERY_INT64),
        ("y = Size(x)", (0, 2**31 - 1)),
        ("s = Shape(x) p = ReduceProd(s) y = Identity(p)", (0, 2**31 - 1)),
        ("s = Size(x) y = Mul(s, s)", (0, (2**31 - 1) ** 2)),  # the analysis assumes that a tensor has fewer than 2^31 elements
        ("s = Size(x) t = Mul(s, s) y = Mul(t, i)", EVERY_INT64),
        ("y = Identity(big)", (2**40, 2**40)),
        ("y = Identity(default)", EVERY_INT64),
    ],
)
def test_what_is_not_known(nodes, expected):
    proto = model("float[N,M] x, int64[K] i, int64[1] default) => (int64[K] y)", nodes)
    constant([2**40], constant([1], proto, "default"), "big")
    assert bounds(proto) == expected


@pytest.mark.parametrize(
    ("element_type", "expected"), [("int4", (-8, 7)), ("uint8", (0, 255)), ("bool", (0, 1)), ("int32", (1, 1))]
)
def test_constants_of_few_bits_are_not_read(element_type, expected):
    proto = model(f"bool c) => ({element_type}[1] y)", f"k = Constant<value = {element_type}[1] {{1}}>() y = Identity(k)")
    assert bounds(proto) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *(
            (f"{element_type}[1] {{{number}}}", None)
            for element_type in ("float", "double")
            for number in ("inf", "-inf", "nan")
        ),
        ("float16[1] {1}", None),
        ("bool[1] {1}", (1, 1)),
        ("uint64[1] {18446744073709551615}", (2**64 - 1, 2**64 - 1)),
        ("int4[1] {-3}", (-3, -3)),
        ("int64[0] {}", EVERY_INT64),
        ("int64[2] {1, 2}", EVERY_INT64),
    ],
)
def test_what_constant_of_shape_is_filled_with(value, expected):
    """Attention masks are filled with -inf; the last two are no valid models."""
    proto = model(f"int64[1] s) => ({value.partition('[')[0]}[N] y)", f"y = ConstantOfShape<value = {value}>(s)")
    assert bounds(proto) == expected


@pytest.mark.parametrize(
    ("nodes", "within"),
    [
        ("y = ArgMax<axis = 0>(x)", True),
        ("y = ArgMax<axis = 1>(x)", False),
        ("v, y = TopK<axis = 0>(x, k)", True),
        ("a = ArgMax<axis = 0>(x) b = Add(a, k) y = Sub(b, k)", True),
        ("a = ArgMax<axis = 0>(x) y = Add(a, k)", False),
        ("a = ArgMax<axis = 0>(x) y = Sub(a, k)", False),
        ("y = Range(zero, n, one)", True),
        ("m = Add(n, one) y = Range(zero, m, one)", False),
        ("few = Clip(i, zero, one) y = Mod(few, n)", True),
        ("y = Mod(i, n)", False),  # OpenVINO's CPU plugin computes the remainder of a large number in float32
        ("y = Clip(i, zero, n)", False),
        ("a = ArgMax<axis = 0, keepdims = 0>(x) y = Concat<axis = 0>(a, i)", False),
    ],
)
def test_indices_of_an_open_axis(nodes, within):
    """An index below the size of N is in bounds, whatever that size is."""
    proto = model("float[N,M] x, int64[M] i) => (int64[K] y)", f"s = Shape(x) n = Gather(s, zero) {nodes}")
    for name, value in (("zero", 0), ("one", 1), ("k", [1])):
        constant(value, proto, name)
    check(proto, {"x": random(4, 3), "i": np.array([1, 2, 3])})
    proto.graph.node.append(helper.make_node("Gather", ["x", "y"], ["z"]))
    analysed = onnx_ir.from_proto(proto)
    ShapeInferencePass(check_type=False, strict_mode=False)(analysed)
    ranges, gather = Ranges(analysed), analysed.graph.node(-1)
    assert ranges.are_in_bounds(gather) == within
    assert ranges.are_indices(gather.inputs[1], gather.inputs[0], 0) == within


SIZED = "then_branch = yes () => (int64[2] a) { a = Shape(x) }, else_branch = no () => (int64[2] b) { s = Shape(x) b = Neg(s) }"
ROUNDS = """n = Constant<value_int = 4>()
last, trips, all = Loop (n, c, start) <body = round (int64 trip, bool go, int64 before)
    => (bool go_on, int64 after, int64 t, int64 s) {
    go_on = Identity(go) after = Add(before, trip) t = Identity(trip) s = Sign(before) }>"""
NO_ROUND = """start = Constant<value_int = 7>()
last = Loop (n, c, start) <body = round (int64 trip, bool go, int64 before) => (bool go_on, int64 after) {
    go_on = Identity(go) after = Sign(before) }>"""
SCAN = """s = Shape(x) zero = Constant<value_int = 0>()
last, all = Scan (zero, s) <num_scan_inputs = 1, body = step (int64 before, int64 size) => (int64 after, int64 row)
    { after = Identity(size) row = Neg(size) }>"""
SCAN_8 = """lengths = Constant<value = int64[1] {3}>()
last, row = Scan (lengths, start, x) <num_scan_inputs = 1, body = step (int64 before, float number)
    => (int64 after, float row) { after = Constant<value = int64 {5}>() row = Identity(number) }>"""
YES, START = np.array(True), "int64 start, bool c) => (int64 last, int64[R] trips, int64[R] all)"
# What is carried may be anything; the count of rounds and what each round yields are known.
CARRIED = {"last": EVERY_INT64, "trips": (0, 3), "all": (-1, 1)}
GRAPHS = {
    "branches, one": ("bool c, float[3,5] x) => (int64[2] y)", f"y = If (c) <{SIZED}>", {"y": (-5, 5)}, {"c": YES}),
    "branches, the other": ("bool c, float[3,5] x) => (int64[2] y)", f"y = If (c) <{SIZED}>", {"y": (-5, 5)}, {"c": ~YES}),
    "a loop": (START, ROUNDS, CARRIED, {"start": np.array(-5), "c": YES}),
    "a loop that wraps around": (START, ROUNDS, CARRIED, {"start": np.array(2**63 - 1), "c": YES}),
    "a loop without a round": ("int64 n, bool c) => (int64 last)", NO_ROUND, {"last": (-1, 7)}, {"n": np.array(0), "c": YES}),
    "a scan": ("float[5] x) => (int64 last, int64[1] all)", SCAN, {"last": (0, 5), "all": (-5, -5)}, None),
    # The first input of a Scan of opset 8 is the lengths of the sequences.
    "a scan of opset 8": ("int64[1] start, float[1,3] x) => (int64[1] last)", SCAN_8, {"last": EVERY_INT64}, None),
    "another domain": ("float[2] x) => (int64[1] y)", "y = other.Shape(x)", {"y": EVERY_INT64}, None),
    "floats": ("float[2] x) => (float[2] y)", "y = Clip(x)", {"y": None}, None),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(name):
    signature, nodes, expected, inputs = GRAPHS[name]
    proto = model(signature, nodes, 8 if "opset 8" in name else 20, ', "other" : 1')
    assert {value: bounds(proto, value) for value in expected} == expected
    if inputs is not None:
        check(proto, inputs | {given.name: random(3, 5) for given in proto.graph.input if given.name == "x"})


# In a process of its own: the collection of cases is global, and made once.
EXPECTED = """
import warnings
import numpy as np
from onnx.backend.test.loader import load_model_tests
from unit.test_ranges import ranges_of
warnings.simplefilter("ignore")  # the generators of some operators divide by zero on purpose
for case in load_model_tests(kind="node"):
    if not any(isinstance(array, np.ndarray) and array.dtype.kind in "iub" for array in case.data_sets[0][1]):
        continue
    found = ranges_of(case.model)
    for _, outputs in case.data_sets:
        for value, array in zip(case.model.graph.output, outputs, strict=True):
            interval = found.get(value.name)
            if interval is not None and isinstance(array, np.ndarray) and array.size:
                assert interval.low <= int(array.min()) <= int(array.max()) <= interval.high, case.name
                print(case.name)
"""


def test_what_onnx_expects_of_each_operator_is_within_its_bounds():
    done = subprocess.run(
        [sys.executable, "-c", EXPECTED], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) > 300
