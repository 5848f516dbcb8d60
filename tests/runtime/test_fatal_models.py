"""Forms that stock OpenVINO dies of or computes wrongly: converted right, warned of, or refused."""

import warnings

import numpy as np
import openvino
import pytest

from helpers.saved_models import parsed
from ov_gather import register
from ov_gather.converters import ConversionError, LossyConversionWarning, compile_onnx, convert_model
from ov_gather.runtimes.session import Session

F32 = np.float32
LONG = np.array([f"{letter} is longer than the strings that stand in the object" for letter in "abcdef"], object)


def converted(model, feeds, target):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LossyConversionWarning)
        made = convert_model(model, target=target)
    core = register(openvino.Core()) if target == "extension" else openvino.Core()
    execute = Session(core, made, properties={"INFERENCE_NUM_THREADS": 1})
    return execute([feeds[port.any_name] for port in made.inputs])


def assert_everywhere(text, feeds, expected):
    model = parsed(text)
    by_target = (converted(model, feeds, target) for target in ("stock", "extension"))
    for results in (*by_target, list(compile_onnx(model)(feeds).values())):
        assert [array.tolist() for array in results] == expected


def scan(nodes, kind="float", shape=""):
    one, three = f"{kind}{shape}", f"{kind}[3,{shape[1:]}" if shape else f"{kind}[3]"
    body = f"b ({one} st, {one} el) => ({one} nx, {one} o) {{ {nodes} o = Identity(st) }}"
    return f"({one} s, {three} x) => ({one} f, {three} y) {{ f, y = Scan<num_scan_inputs = 1, body = {body}>(s, x) }}"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("nodes", "kind"),
    [
        *(("nx = Identity(el)", kind) for kind in ("float", "int32", "int64", "uint8")),
        ("yes = Constant<value = bool {1}>() nx = Where(yes, el, st)", "float"),
        ("zero = Constant<value = float {0}>() nx = Add(el, zero)", "float"),
        ("at = Constant<value_ints = [0]>() up = Unsqueeze(el, at) nx = Squeeze(up, at)", "float"),
    ],
)
def test_the_next_state_of_a_scan_is_its_element(nodes, kind):
    dtype = F32 if kind == "float" else kind
    assert_everywhere(scan(nodes, kind), {"s": np.array(7, dtype), "x": np.array([10, 20, 30], dtype)}, [30, [7, 10, 20]])


@pytest.mark.parametrize("size", [1, 2, "n"])
def test_the_element_is_a_vector(size):
    feeds = {"s": np.full(2 if size == "n" else size, 7, F32)}
    feeds["x"] = np.arange(3 * len(feeds["s"]), dtype=F32).reshape(3, -1)
    expected = [feeds["x"][-1].tolist(), np.concatenate([feeds["s"][None], feeds["x"][:-1]]).tolist()]
    assert_everywhere(scan("nx = Identity(el)", shape=f"[{size}]"), feeds, expected)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "nodes, expected",
    [
        ("c = Add(el, k) nx = Add(st, c)", [9, 15]),
        ("r = Reshape(el, all) nx = Add(r, st)", [6, 9]),
        ("c = Mul(el, k) d = Add(c, st) nx = Relu(d)", [6, 18]),
        ("m = MatMul(st, w) c = Add(el, k) d = Add(m, c) nx = Relu(d)", [9, 15]),
    ],
)
def test_the_next_state_of_a_scan_is_computed_from_its_element(nodes, expected):
    constants = "k = Constant<value = float[2] {1, 2}>() w = Constant<value = float[2, 2] {1, 0, 0, 1}>()"
    constants += " all = Constant<value_ints = [-1]>()"
    body = f"b (float[2] st, float[2] el) => (float[2] nx) {{ {constants} {nodes} }}"
    text = f"(float[2] s, float[3, 2] x) => (float[2] f) {{ f = Scan<num_scan_inputs = 1, body = {body}>(s, x) }}"
    feeds = {"s": np.zeros(2, F32), "x": np.arange(6, dtype=F32).reshape(3, 2)}
    assert_everywhere(text, feeds, [expected])


def test_two_states_of_a_scan_pass_the_element_on():
    text = """(float a, float b, float[3] x) => (float f, float e, float[3] y) {
        f, e, y = Scan<num_scan_inputs = 1, body = b (float s, float t, float el) => (float u, float v, float o)
            { u = Identity(t) v = Identity(el) o = Add(s, t) }>(a, b, x) }"""
    feeds = {"a": np.array(1, F32), "b": np.array(2, F32), "x": np.array([10, 20, 30], F32)}
    assert_everywhere(text, feeds, [20, 30, [3, 12, 30]])


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "nodes", ["z = Concat<axis = 0>(x, x)", "z = Concat<axis = 0>(x, w)", "c = Concat<axis = 0>(x, x) z = Identity(c)"]
)
@pytest.mark.parametrize(
    "rest",
    [
        "y = Abs(z)",
        "r = Reshape(z, all) y = Abs(r)",
        "n = Unsqueeze(z, one) q = Squeeze(n, one) y = Abs(q)",
        "n = Reshape(z, two) t = Transpose(n) u = Transpose(t) q = Reshape(u, all) y = Abs(q)",
        "s = Constant<value_ints = [0]>() e = Constant<value_ints = [9]>() q = Slice(z, s, e) y = Abs(q)",
    ],
)
def test_abs_leaves_a_concat_alone(nodes, rest):
    constants = "all = Constant<value_ints = [-1]>() one = Constant<value_ints = [1]>() two = Constant<value_ints = [2, 2]>()"
    text = f"(float[2] x, float[2] w) => (float[4] z, float[4] y) {{ {constants} {nodes} {rest} }}"
    feeds = {"x": np.array([-1, 2], F32), "w": np.array([-1, 2], F32)}
    if "w" not in nodes:
        text, feeds = text.replace(", float[2] w", ""), {"x": feeds["x"]}
    assert_everywhere(text, feeds, [[-1, 2, -1, 2], [1, 2, 1, 2]])


def test_abs_leaves_a_concat_to_others():
    text = "(float[2] x) => (float[4] y, float[4] w) { z = Concat<axis = 0>(x, x) y = Abs(z) w = Neg(z) }"
    assert_everywhere(text, {"x": np.array([-1, 2], F32)}, [[1, 2, 1, 2], [1, -2, 1, -2]])


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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("trips, on, expected", [(0, True, [1, 2]), (2, False, [1, 2]), (2, True, None)])
@pytest.mark.parametrize(
    "nodes, last",
    [
        ("e = Identity(w)", [10, -20]),
        ("e = Add(w, w)", [20, -40]),
        ("h = Shape(s) e = Expand(w, h)", [10, -20]),
        ("e = Constant<value_floats = [5.0, 6.0]>()", [5, 6]),
        (
            "e = If(on)<then_branch = p () => (float[2] a) { a = Identity(w) },"
            " else_branch = q () => (float[2] b) { b = Neg(w) }>",
            [10, -20],
        ),
        (
            "k = Constant<value = int64 {1}>() e = Loop(k, , s)<body = n (int64 j, bool v, float[2] t) => (bool u, float[2] h)"
            " { u = Identity(v) h = Identity(w) }>",
            [10, -20],
        ),
    ],
)
def test_a_loop_of_no_iterations_returns_a_state_that_its_body_does_not_read(nodes, last, trips, on, expected):
    text = f"""(float[2] x, float[2] w, int64 trips, bool on) => (float[2] y) {{ y = Loop(trips, on, x)<body = b
        (int64 i, bool c, float[2] s) => (bool d, float[2] e) {{ d = Identity(c) {nodes} }}> }}"""
    feeds = {"x": np.array([1, 2], F32), "w": np.array([10, -20], F32), "trips": np.array(trips), "on": np.array(on)}
    for _ in range(3):
        assert compile_onnx(parsed(text))(feeds)["y"].tolist() == (expected or last)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("rows", ["3, 2", "n, 2"])
@pytest.mark.parametrize(
    "nodes, expected",
    [
        ("t = Add(s, s) u = Neg(s)", {"y": [8, 16], "z": [[-1, -2], [-2, -4], [-4, -8]]}),
        ("t = Identity(s) u = Add(e, e)", {"y": [1, 2], "z": [[0, 2], [4, 6], [8, 10]]}),
        ("h = Shape(e) r = Reshape(s, h) t = Add(r, r) u = Neg(r)", {"y": [8, 16], "z": [[-1, -2], [-2, -4], [-4, -8]]}),
    ],
)
def test_a_scan_whose_body_reads_no_element_makes_all_iterations(nodes, expected, rows):
    feeds = {"x": np.array([1, 2], F32), "w": np.arange(6, dtype=F32).reshape(3, 2)}
    for asked in ("y", "z"):
        text = f"""(float[2] x, float[{rows}] w) => (float[m, k] {asked}) {{ y, z = Scan<num_scan_inputs = 1, body = b
            (float[2] s, float[2] e) => (float[2] t, float[2] u) {{ {nodes} }}>(x, w) }}""".replace("[m, k] y", "[2] y")
        compiled = compile_onnx(parsed(text))
        for _ in range(2):
            assert compiled(feeds)[asked].tolist() == expected[asked]


def test_a_state_of_a_loop_that_is_a_view_of_another():
    text = """(float[2] s, float[2] t, int64 n, bool on) => (float[2] y, float[2] z) { y, z = Loop(n, on, s, t)<body = b
        (int64 i, bool c, float[2] a, float[2] b) => (bool d, float[2] u, float[2] v) { d = Identity(c) u = Add(a, b)
        f = Constant<value_ints = [-1]>() h = Constant<value_ints = [2]>() r = Reshape(a, f) v = Reshape(r, h) }> }"""
    feeds = {"s": np.array([1, 2], F32), "t": np.array([3, 4], F32), "n": np.array(3), "on": np.array(True)}
    found = compile_onnx(parsed(text))(feeds)
    assert (found["y"].tolist(), found["z"].tolist()) == ([9, 14], [5, 8])


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
