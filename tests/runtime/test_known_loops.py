"""A loop that meets a known fault is reported if, and only if, OpenVINO computes another result than onnxruntime."""

import numpy as np
import onnx.parser
import onnxruntime
import openvino as ov
import pytest

from helpers.known_faults import as_ir
from ov_gather import validate
from ov_gather.converters import LossyConversionWarning, compile_onnx
from ov_gather.rules.releases import RELEASES

pytestmark = pytest.mark.onnxruntime


def of_onnx(text):
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {text}').SerializeToString()
    return ov.Core().read_model(model), onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


CHANGED = [
    *(f"{kind}(element, one)" for kind in ("Add", "Mul", "Sub", "Max", "Min", "Div", "Pow", "PRelu", "Mod<fmod = 1>")),
    *("Identity(element)", "Tanh(element)", "Max(one, element)"),
]
KINDS = ("Add", "Mul", "Sub", "Max", "Min", "Div", "Pow", "Mod<fmod = 1>")
NEXT = [
    *(f"{kind}(more, state)" for kind in KINDS),
    *(f"{kind}(state, more)" for kind in KINDS),
]


@pytest.mark.sampled(32)
@pytest.mark.parametrize("more", CHANGED)
@pytest.mark.parametrize("following", NEXT)
def test_states_computed_of_a_changed_element(more, following, agrees):
    text = f"""g (float[2] s, float[3, 2] x) => (float[2] last, float[3, 2] all) {{
        last, all = Scan<num_scan_inputs = 1, body = b (float[2] state, float[2] element) => (float[2] next, float[2] seen) {{
            one = Constant<value = float[2] {{0.5, 0.6}}>() more = {more} next = {following} seen = Identity(next)
        }}>(s, x)
    }}"""
    model, session = of_onnx(text)
    feed = {"s": np.float32([0.7, 0.8]), "x": np.float32([[0.9, 0.3], [0.4, 0.75], [0.6, 0.2]])}
    agrees(model, None, list(feed.values()), session.run(None, feed))


@pytest.mark.parametrize(("more", "following"), [("Identity(element)", 0), ("Mul(element, one)", 0), ("Mul(element, one)", 1)])
def test_prelu_of_a_changed_element(more, following, agrees):
    """PRelu changes negative numbers alone."""
    operands = ("more, state", "state, more")[following]
    text = f"""g (float[2] s, float[3, 2] x) => (float[2] last) {{
        last = Scan<num_scan_inputs = 1, body = b (float[2] state, float[2] element) => (float[2] next) {{
            one = Constant<value = float[2] {{0.5, 0.6}}>() more = {more} next = PRelu({operands})
        }}>(s, x)
    }}"""
    model, session = of_onnx(text)
    feed = {"s": np.float32([-0.7, -0.8]), "x": np.float32([[-0.9, -0.3], [-0.4, -0.75], [-0.6, -0.2]])}
    agrees(model, None, list(feed.values()), session.run(None, feed))


@pytest.mark.parametrize("seen", ["Identity(next)", "Neg(more)", "Neg(element)"])
@pytest.mark.parametrize("more", ["Identity(element)", "Reshape(element, flat)"])
def test_states_computed_of_an_element_with_other_readers(more, seen, agrees):
    """The memory of an element is written over only if nothing else reads it, by any name."""
    text = f"""g (float[2] s, float[3, 2] x) => (float[2] last, float[3, 2] all) {{
        last, all = Scan<num_scan_inputs = 1, body = b (float[2] state, float[2] element) => (float[2] next, float[2] seen) {{
            flat = Constant<value = int64[1] {{-1}}>() more = {more} next = Add(more, state) seen = {seen}
        }}>(s, x)
    }}"""
    model, session = of_onnx(text)
    feed = {"s": np.float32([0.7, 0.8]), "x": np.float32([[0.9, 0.3], [0.4, 0.75], [0.6, 0.2]])}
    agrees(model, None, list(feed.values()), session.run(None, feed))


@pytest.mark.parametrize(
    "end",
    [
        *(f"{kind}({operands})" for kind in KINDS for operands in ("sum, one", "one, sum")),
        *("Tanh(sum)", "Add(sum, element)", "Add(sum, state)"),
    ],
)
def test_states_computed_of_a_sum(end, agrees):
    """What the plugin fuses with the sum of an element and the state."""
    text = f"""g (float[2] s, float[3, 2] x) => (float[2] last, float[3, 2] all) {{
        last, all = Scan<num_scan_inputs = 1, body = b (float[2] state, float[2] element) => (float[2] next, float[2] seen) {{
            one = Constant<value = float[2] {{0.5, 0.6}}>()
            sum = Add(element, state) next = {end} seen = Identity(next)
        }}>(s, x)
    }}"""
    model, session = of_onnx(text)
    feed = {"s": np.float32([0.7, 0.8]), "x": np.float32([[0.9, 0.3], [0.4, 0.75], [0.6, 0.2]])}
    agrees(model, None, list(feed.values()), session.run(None, feed))


@pytest.mark.parametrize("other", ["z", "float {2}", "float[1] {2}", "float[4] {1, 2, 3, 4}"])
@pytest.mark.parametrize("view", ["Reshape(s, flat)", "Identity(z)", "Neg(z)"])
def test_arithmetic_of_an_outer_value(view, other, agrees):
    """A view of it is written over, unless the other operand is a number."""
    constant = "" if other == "z" else f"other = Constant<value = {other}>()"
    text = f"""g (float[2, 2] s, float[4] z) => (float[3, 4] y, float[2, 2] v, float[4] w) {{
        trips = Constant<value = int64 {{3}}>() on = Constant<value = bool {{1}}>() v = Exp(s) w = Exp(z)
        y = Loop(trips, on)<body = b (int64 i, bool go) => (bool still, float[4] row) {{
            still = Identity(go) flat = Constant<value = int64[1] {{-1}}>() view = {view} {constant}
            row = Add(view, {"z" if other == "z" else "other"})
        }}>
    }}"""
    model, session = of_onnx(text)
    feed = {"s": np.float32([[2, 1], [3, 4]]), "z": np.float32([-4, 1, 2, 3])}
    agrees(model, None, list(feed.values()), session.run(None, feed))


@pytest.mark.parametrize("trips", ["n", "0", "3"])
@pytest.mark.parametrize("on", ["c", "1"])
def test_only_constants_guarantee_an_iteration(trips, on, tmp_path):
    """Without an iteration, OpenVINO returns a state that the body does not read from memory that nothing has written."""
    known = {"n": "k = Identity(n)", "c": "d = Identity(c)"}
    first = known.get(trips, f"k = Constant<value = int64 {{{trips}}}>()")
    second = known.get(on, f"d = Constant<value = bool {{{on}}}>()")
    model, _ = of_onnx(f"""g (float[2] s, int64 n, bool c) => (float[2] y, float[k, 2] z) {{
        {first} {second} y, z = Loop(k, d, s)<
            body = b (int64 i, bool go, float[2] state) => (bool still, float[2] next, float[2] seen) {{
                still = Identity(go) next = Constant<value = float[2] {{3, 4}}>() seen = Identity(next)
            }}>
    }}""")
    as_ir(model, tmp_path / "model.xml")
    hints = [one.hint.split()[-1] for one in validate(tmp_path / "model.xml", target=RELEASES[-1], select=["OVG7"])]
    assert ("loop_of_no_iterations" in hints) is ((trips, on) != ("3", "1"))
    assert ("loop_of_no_iterations_keeps_slices" in hints) is ((trips, on) in (("n", "1"), ("n", "c"), ("3", "c")))
    assert "iterator_over_no_elements" not in hints, "joined along the first axis"


@pytest.mark.parametrize("row", ["Identity(longer)", "Gather(longer, zero)"])
@pytest.mark.parametrize("opset", [13, 18])
def test_rows_of_other_sizes_are_refused(opset, row):
    """ONNX Loop-16: the rows of all iterations have the same shape; OpenVINO returns memory that nothing has written."""
    text = f"""<ir_version: 8, opset_import: ["" : {opset}]> g (int64 n, int64[1] x) => (int64[k] y, int64[a, b] z) {{
        on = Constant<value = bool {{1}}>()
        y, z = Loop(n, on, x)<body = step (int64 i, bool go, int64[j] state) => (bool still, int64[l] longer, int64[m] row) {{
            still = Identity(go) zero = Constant<value = int64[1] {{0}}>() one = Unsqueeze(i, zero)
            longer = Concat<axis = 0>(state, one) row = {row}
        }}>
    }}"""
    model = onnx.parser.parse_model(text)
    with pytest.warns(LossyConversionWarning):
        compiled = compile_onnx(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for trips in (0, 1, 4):
        feed = {"n": np.array(trips), "x": np.array([7])}
        if trips > 1 and "Identity" in row:
            with pytest.raises(RuntimeError, match="mismatch"):
                compiled(feed)
            continue
        found, expected = compiled(feed), session.run(None, feed)
        np.testing.assert_array_equal(found["y"], expected[0])
        if trips:  # without an iteration, the size of a row is open
            np.testing.assert_array_equal(found["z"], expected[1])
