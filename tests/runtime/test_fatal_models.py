"""Forms that stock OpenVINO dies of or computes wrongly: converted right, warned of, or refused."""

import warnings

import numpy as np
import onnxruntime
import openvino
import pytest

from helpers.idioms import Form
from helpers.saved_models import parsed
from ov_gather import register
from ov_gather.converters import ConversionError, LossyConversionWarning, compile_onnx, convert_model
from ov_gather.runtimes.session import Session

F32 = np.float32
IN_PLACE = (
    *("a delayed state", "a delayed state of uint8", "a Scan of two states", "a state of its element", "no iterations"),
    *("an element that is not read", "a state that is a view of another", "Abs of a Concat", "Abs of a nested Concat"),
)
"""Idioms of what is written in the memory of something else."""
LONG = np.array([f"{letter} is longer than the strings that stand in the object" for letter in "abcdef"], object)


def converted(model, feeds, target):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LossyConversionWarning)
        made = convert_model(model, target=target)
    core = register(openvino.Core()) if target == "extension" else openvino.Core()
    execute = Session(core, made, properties={"INFERENCE_NUM_THREADS": 1})
    return execute([feeds[port.any_name] for port in made.inputs])


@pytest.mark.onnxruntime
@pytest.mark.parametrize("idiom", IN_PLACE)
def test_each_way_to_convert(idiom):
    """The law converts for stock OpenVINO, in more forms."""
    model, feeds = Form(idiom, "nothing", 18, "top", "input").model()
    expected = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)
    for found in (converted(model, feeds, "stock"), converted(model, feeds, "extension"), compile_onnx(model)(feeds).values()):
        assert [array.tolist() for array in found] == [array.tolist() for array in expected]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind, dtype", [("float", F32), ("int64", np.int64), ("bool", np.bool_)])
@pytest.mark.parametrize("given", ["", "int64[2] i"])
def test_gather_of_no_data(kind, dtype, given):
    index = "" if given else "i = Constant<value_ints = [0, 1]>()"
    text = f"({kind}[0,3] x{', ' + given if given else ''}) => ({kind}[0,2] y) {{ {index} y = Gather<axis = 1>(x, i) }}"
    feeds = {"x": np.zeros((0, 3), dtype)} | ({"i": np.array([0, 1])} if given else {})
    results = compile_onnx(parsed(text))(feeds)
    assert results["y"].shape == (0, 2) and results["y"].dtype == dtype
    for target in ("stock", "extension"):
        assert converted(parsed(text), feeds, target)[0].shape == (0, 2)


STRINGS = {
    "Split": "p, y = Split<num_outputs = 2>(x)",
    "Slice": "a = Constant<value_ints = [1]>() b = Constant<value_ints = [3]>() y = Slice(x, a, b)",
    "If": """y = If(t)<then_branch = p () => (string[6] a) { a = Identity(x) },
        else_branch = q () => (string[6] b) { b = Identity(w) }>""",
    "DepthToSpace": "s = Constant<value_ints = [1, 4, 1, 1]>() r = Reshape(x, s) y = DepthToSpace<blocksize = 2>(r)",
    "Where": """n = Constant<value = int64 {2}>() y = Loop(n, t, x)<body = b (int64 i, bool on, string[6] st)
        => (bool on2, string[6] next) { on2 = Identity(on) next = Where(c, st, w) }>""",
    "SequenceConstruct": "s = SequenceConstruct(x, w) k = Constant<value = int64 {1}>() y = SequenceAt(s, k)",
}


@pytest.mark.parametrize("operator", STRINGS)
@pytest.mark.parametrize("convert", [compile_onnx, convert_model, lambda model: convert_model(model, target="extension")])
def test_strings_are_refused_where_openvino_copies_bytes(operator, convert):
    text = f"(string[6] x, string[6] w, bool[6] c, bool t) => (string[6] y) {{ {STRINGS[operator]} }}"
    with pytest.raises(ConversionError, match=f"node (Loop|{operator}) .*copies strings as bytes in"):
        convert(parsed(text))


def test_strings_are_moved_elsewhere():
    text = """(string[6] x, string[6] w, int64[6] i) => (string[12] y) {
        s = Constant<value_ints = [3, 2]>() r = Reshape(x, s) t = Transpose(r) f = Constant<value_ints = [-1]>()
        l = Reshape(t, f) g = Gather(l, i) y = Concat<axis = 0>(g, w) }"""
    order = np.array([5, 4, 3, 2, 1, 0])
    got = compile_onnx(parsed(text))({"x": LONG, "w": LONG, "i": order})["y"]
    assert got.tolist() == [*LONG.reshape(3, 2).T.ravel()[order], *LONG]


def test_nans_of_sequences_are_named():
    text = "(float16[3] x) => (float16[6] y) { s = SequenceConstruct(x, x) y = ConcatFromSequence<axis = 0>(s) }"
    for convert in (compile_onnx, convert_model):
        with pytest.warns(LossyConversionWarning, match="signalling NaNs of float16 quiet: node SequenceConstruct"):
            convert(parsed(text))


@pytest.mark.parametrize("trips, on, expected", [(0, True, [1, 2]), (2, False, [1, 2]), (2, True, [10, -20])])
def test_a_loop_of_no_iterations_returns_a_state_that_only_an_inner_loop_reads(trips, on, expected):
    text = """(float[2] x, float[2] w, int64 trips, bool on) => (float[2] y) { y = Loop(trips, on, x)<body = b
        (int64 i, bool c, float[2] s) => (bool d, float[2] e) { d = Identity(c) k = Constant<value = int64 {1}>()
        e = Loop(k, , s)<body = n (int64 j, bool v, float[2] t) => (bool u, float[2] h)
        { u = Identity(v) h = Identity(w) }> }> }"""
    feeds = {"x": np.array([1, 2], F32), "w": np.array([10, -20], F32), "trips": np.array(trips), "on": np.array(on)}
    for _ in range(3):
        assert compile_onnx(parsed(text))(feeds)["y"].tolist() == expected


@pytest.mark.parametrize(
    "nodes",
    [
        "y = Identity(x)",
        "a = Identity(x) y = Identity(a)",
        "f = Constant<value_ints = [-1]>() a = Reshape(x, f) y = Identity(a)",
        "f = Constant<value_ints = [1, 2]>() a = Reshape(x, f) b = Squeeze(a) y = Identity(b)",
        "a = Transpose(x) y = Identity(a)",
        "a = Concat<axis = 0>(x) y = Identity(a)",
    ],
)
def test_strings_that_an_output_takes_from_an_input_are_refused(nodes):
    with pytest.raises(ConversionError, match=r"output .y.: .* use the input .x."):
        compile_onnx(parsed(f"(string[2] x) => (string[2] y) {{ {nodes} }}"))


@pytest.mark.parametrize(
    ("nodes", "shape"),
    [
        ("f = Constant<value_ints = [1, 2]>() a = Reshape(x, f) y = Identity(a)", [1, 2]),
        ("a = Concat<axis = 0>(x, x) y = Identity(a)", [4]),
        ("f = Constant<value_ints = [-1]>() y = Reshape(x, f)", [2]),
    ],
)
def test_strings_whose_shape_changes_before_an_output(nodes, shape):
    compiled = compile_onnx(parsed(f"(string[2] x) => (string[{','.join(map(str, shape))}] y) {{ {nodes} }}"))
    assert compiled({"x": LONG[:2]})["y"].ravel().tolist() == np.resize(LONG[:2], shape).ravel().tolist()


@pytest.mark.parametrize(
    "nodes",
    [
        "y = GatherElements(x, i) z = Identity(y)",
        "y = GatherElements(x, i) a = Identity(y) z = Identity(a)",
        "y = GatherElements(x, i) a = Reshape(y, flat) z = Identity(a)",
        "a = GatherElements(x, i) y = Reshape(a, flat) z = Identity(y)",
    ],
)
def test_strings_of_two_outputs_are_refused(nodes):
    text = f"(string[2] x, int64[2] i) => (string[2] y, string[2] z) <int64[1] flat = {{-1}}> {{ {nodes} }}"
    for convert in (compile_onnx, convert_model):
        with pytest.raises(ConversionError, match=r"output .z.: .* use the output .y."):
            convert(parsed(text))


@pytest.mark.parametrize(
    "text", ["(float[0] x) => (float[n] y) { y = Unique(x) }", "(float[0, 2] x) => (float[n] y) { y = Unique(x) }"]
)
def test_what_is_unique_of_nothing_is_refused(text):
    for convert in (convert_model, compile_onnx):
        with pytest.raises(
            ConversionError,
            match=r"node Unique '' \(output y\): .* dies of Unique .* ov-gather explain unique-of-nothing",
        ):
            convert(parsed(text))


@pytest.mark.parametrize(("operator", "gates"), [("GRU", 3), ("LSTM", 4), ("RNN", 1)])
@pytest.mark.parametrize("sizes", ["0, 2, 3", "5, 0, 3", "0, b, 3"])
@pytest.mark.parametrize("convert", [convert_model, compile_onnx])
def test_recurrent_layers_of_nothing_are_refused(convert, sizes, operator, gates):
    text = f"""(float[{sizes}] x, float[1, {4 * gates}, 3] w, float[1, {4 * gates}, 4] r) => (float[a, 1, c, 4] y) {{
        y = {operator}<hidden_size = 4>(x, w, r) }}"""
    match = (
        rf"node {operator} '' \(output y\): .* compiles no {operator} .*; leave it out, .* explain recurrent-layer-of-nothing"
    )
    with pytest.raises(ConversionError, match=match):
        convert(parsed(text))


def test_a_range_by_zero_is_refused():
    text = "(int64 s, int64 l) => (int64[n] y) { d = Constant<value = int64 {0}>() y = Range(s, l, d) }"
    with pytest.raises(ConversionError, match=r"node Range .*\(output y\): its step is 0, .*: use another step"):
        convert_model(parsed(text))
