"""Where 64-bit results of our operations meet stock tensors of 64 bits, the model compiles."""

import numpy as np
import openvino
import pytest

from helpers.legalized import run
from helpers.saved_models import parsed
from ov_gather import accelerate, register
from ov_gather.converters import compile_onnx, convert_model

pytestmark = [
    pytest.mark.onnxruntime,
    pytest.mark.filterwarnings("ignore::ov_gather.converters.LossyConversionWarning"),
]

ARRAYS = {"x": np.array([3, 1, 2]), "i": np.array([2, 0, 1]), "u": np.array([10, 11, 12])}
CONSTANTS = {
    **{"axis": np.array([1]), "c": np.array([True, False, True]), "k": np.array([5, 6, 7]), "yes": np.array(True)},
    **{"trip": np.array(3), "five": np.array(5), "zero": np.array(0), "one": np.array(1), "all": np.array([-1])},
}
OURS = {
    "GatherElements": "x, i",
    "Gather": "x, i",
    "GatherND": "x, ii",
    "ScatterElements": "x, i, u",
    "ScatterND": "x, ii, u",
}
BODY = """y = Loop (trip, yes, START) <body = b (int64 iteration, bool goes_on, int64[3] state) => (bool on, int64[3] next)
    { NODES on = Identity(goes_on) }>"""
CHOICE = "y = If (yes) <then_branch = a () => (int64[3] t) { THEN }, else_branch = b () => (int64[3] e) { ELSE }>"


def loop(start, nodes):
    return BODY.replace("START", start).replace("NODES", nodes)


def choice(then, other):
    return CHOICE.replace("THEN", then).replace("ELSE", other)


JOINS = {
    "Where": "y = Where(c, a, u)",
    "Where, other side": "y = Where(c, u, a)",
    "Where, constant": "y = Where(c, k, a)",
    "Where, behind what is removed": "r = Reshape(a, all) y = Where(c, r, u)",
    "Where, behind a Cast to int64": "r = Cast<to = 7>(a) y = Where(c, r, u)",
    "Where, in a branch": choice("t = Where(c, a, u)", "e = Neg(u)"),
    "Where, in a loop": loop("u", "next = Where(c, state, a)"),
    "Where, of the same body": loop("a", "written = ScatterElements(state, i, u) next = Where(c, written, state)"),
    "Concat": "y = Concat<axis = 0>(k, a)",
    "Add": "y = Add(a, u)",
    "Mul": "y = Mul(u, a)",
    "Min": "y = Min(a, u)",
    "Max": "y = Max(u, a, k)",
    "Div": "b = Add(a, one) y = Div(u, b)",
    "Equal": "e = Equal(a, k) y = Cast<to = 7>(e)",
    "Less": "e = Less(u, a) y = Cast<to = 7>(e)",
    "updates of ScatterElements": "y = ScatterElements(u, i, a)",
    "data of ScatterElements": "y = ScatterElements(a, i, u)",
    "updates of ScatterND": "y = ScatterND(u, ii, a)",
    "Gather": "y = Gather(a, i)",
    "If": choice("t = Identity(a)", "e = Identity(u)"),
    "carried value": loop("a", "next = Add(state, u)"),
    "Scan": """last, y = Scan (five, a) <num_scan_inputs = 1, body = b (int64 state, int64 element) => (int64 next, int64 seen)
        { next = Add(state, element) seen = Identity(element) }>""",
    "sequence": "s = SequenceConstruct(a, u) y = ConcatFromSequence<axis = 0>(s)",
    "Range": "end = Gather(a, zero) y = Range(zero, end, one)",
}


def model_of(ours, join, size):
    nodes = f"ii = Unsqueeze(i, axis) a = {ours}({OURS[ours]}) {JOINS[join]}"
    given = ", ".join(f"int64[{size}] {name}" for name in ARRAYS)
    return parsed(f"({given}) => (int64[] y, int64[] a) {{ {nodes} }}", **CONSTANTS)


def executed(model):
    compiled = register(openvino.Core()).compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 1})
    request = compiled.create_infer_request()
    request.start_async({port: ARRAYS[port.any_name] for port in compiled.inputs})
    request.wait()
    return {name: request.get_tensor(name).data.copy() for name in ("y", "a")}


def as_onnxruntime(model):
    return dict(zip(("y", "a"), run(model, {port.name: ARRAYS[port.name] for port in model.graph.input}), strict=True))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("ours", OURS)
@pytest.mark.parametrize("join", JOINS)
def test_what_ours_give_meets_stock_tensors(ours, join):
    model = model_of(ours, join, 3)
    expected = as_onnxruntime(model)
    got = executed(convert_model(model, target="extension"))
    assert {name: array.tolist() for name, array in got.items()} == {name: array.tolist() for name, array in expected.items()}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("ours", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize("join", [join for join in JOINS if join.startswith("Where")])
def test_open_shapes_compile_too(ours, join):
    model = model_of(ours, join, "n")
    got = compile_onnx(model)(ARRAYS)
    converted = convert_model(model, target="extension")
    expected = as_onnxruntime(model)
    assert all((got[name] == array).all() for name, array in expected.items())
    assert all((array == expected[name]).all() for name, array in executed(converted).items())


def test_the_written_model_keeps_names_and_types_of_its_outputs():
    converted = convert_model(model_of("ScatterElements", "Where", 3), target="extension")
    assert [(port.any_name, port.get_element_type().get_type_name()) for port in converted.outputs] == [
        ("y", "i64"),
        ("a", "i64"),
    ]


def test_accelerate_puts_ours_where_a_select_compiles():
    elements = 200_000
    arrays = {"x": np.arange(elements), "i": np.arange(elements)[::-1].copy(), "u": np.arange(elements) * 2}
    given = ", ".join(f"int64[{elements}] {name}" for name in arrays)
    text = f"({given}) => (int64[{elements}] y) {{ a = ScatterElements(x, i, u) e = Equal(u, x) y = Where(e, u, a) }}"
    model = convert_model(parsed(text))
    assert accelerate(model, passes=["scatter-elements"]).changed
    compiled = register(openvino.Core()).compile_model(model, "CPU")
    expected = np.where(arrays["u"] == arrays["x"], arrays["u"], arrays["u"][arrays["i"]])
    assert (compiled(arrays)[0] == expected).all()
