"""`bisect` follows a difference into the body of a sub-graph: the branch that is taken, and one iteration after the other."""

import random
from dataclasses import replace

import numpy as np
import pytest

import ov_gather
from helpers.bisecting import again, as_ir, written
from helpers.planting import candidates, swapped, with_payload
from ov_gather.crosscheck.bisect import bodies, body_trace
from ov_gather.ir.bodies import Slicing
from ov_gather.ir.constants import constant
from ov_gather.ir.reader import read_ir

pytestmark = [pytest.mark.onnxruntime, pytest.mark.openvino]

LINE = np.float32([1, 2, 3, 4])

BODIES = """(float[4] x, bool c, int64 n) => (float[4] y) {
    a = Tanh(x)
    [choice] b = If (c) <
        then_branch = t () => (float[4] p) { [neg] q = Neg(a) [exp] r = Exp(q) [sub] p = Sub(r, a) },
        else_branch = e () => (float[4] s) { [abs] s = Abs(a) [unused] u = Sub(s, a) }>
    [loop] z = Loop (n, c, b) <body = l (int64 i, bool k, float[4] u) => (bool k2, float[4] w) {
        k2 = Identity(k) [sin] v = Sin(u) [float] f = Cast<to = 1>(i)
        [late1] m = Mul(v, f) [late2] o = Mul(a, f) [late] d = Sub(m, o) [sub2] e = Sub(v, a) [add] w = Add(e, d) }>
    [last] y = Neg(z) }"""

SCAN = """(float[2,3,4] x) => (float[2,4] y, float[2,3,4] z)
    <float[2,4] zero = {0, 0, 0, 0, 0, 0, 0, 0}> {
    a = Tanh(x)
    [scan] y, z = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [DIRECTION], scan_output_axes = [1],
        body = s (float[2,4] state, float[2,4] piece) => (float[2,4] next, float[2,4] out) {
            [sin] v = Sin(piece) [late1] m = Mul(state, v) [late] d = Sub(m, state) [add] next = Add(d, v) [out] out = Neg(next)
        }> (zero, a) }"""


def with_swapped(ir, name):
    """The operands of one Subtract of a body change places."""
    model = read_ir(ir)

    def changed(body):
        found = [layer for layer in body.layers if layer.name == name]
        return swapped(body, *found).model if found else body

    layers = tuple(replace(layer, bodies=tuple(map(changed, layer.bodies))) for layer in model.layers)
    return written(ir.with_name("wrong.xml"), replace(model, layers=layers))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("node", "where"),
    [
        ("p", "If 'choice'."),
        ("sub2", "Loop 'loop', in iteration 0 (the first is 0)."),
        ("late", "Loop 'loop', in iteration 1 (the first is 0)."),
    ],
)
def test_a_fault_in_a_body(tmp_path, node, where):
    """What is wrong in a later iteration only is found in that."""
    source, ir = as_ir(tmp_path, BODIES)
    inputs = {"x": LINE, "c": np.array(True), "n": np.array(3)}
    assert ov_gather.bisect(source, ir, inputs).passed
    wrong = with_swapped(ir, node)
    for reference in (ir, source):
        result = ov_gather.bisect(reference, wrong, inputs, reproducers=tmp_path / reference.suffix)
        assert result.node == f"Subtract '{node}'"
        assert result.culprits[0].detail.startswith(f"It is in the body of {where}")
    assert again(result.reproducer).node == f"Subtract '{node}'"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("direction", [0, 1])
def test_a_fault_in_a_scan(tmp_path, direction):
    """OpenVINO makes a TensorIterator of a Scan. The state is 0 at first, so that the fault shows in the second iteration."""
    source, ir = as_ir(tmp_path, SCAN.replace("DIRECTION", str(direction)))
    assert "TensorIterator" in [layer.type for layer in read_ir(ir).layers]
    inputs = {"x": np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)}
    inputs["x"][0, :, 0] = 0  # and so is a number of each state
    assert ov_gather.bisect(source, ir, inputs).passed
    wrong = with_swapped(ir, "late")
    for reference in (source, ir):
        result = ov_gather.bisect(reference, wrong, inputs)
        assert result.node == "Subtract 'late'"
        assert ", in iteration 1 (the first is 0)." in result.culprits[0].detail


STACKED = """(float[4] x, int64 n) => (float[4] last, float[N,4] all) {
    a = Tanh(x)
    [loop] last, all = Loop (n, , a) <body = l (int64 i, bool k, float[4] u) => (bool k2, float[4] w, float[4] s) {
        k2 = Identity(k) [sin] v = Sin(u) [add] w = Add(v, a) [late] e = Sub(u, v) [out] s = Exp(e) }> }"""
STACKED_SCAN = SCAN.replace("[out] out = Neg(next)", "[behind] e = Sub(state, v) [out] out = Exp(e)")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("text", "node", "inputs"),
    [
        (STACKED, "late", {"x": LINE, "n": np.array(3)}),
        (STACKED_SCAN.replace("DIRECTION", "0"), "behind", {"x": np.random.default_rng(0).random((2, 3, 4), np.float32)}),
    ],
)
def test_a_fault_that_reaches_only_stacked_outputs(tmp_path, text, node, inputs):
    """What a body stacks has no name of its own in an IR: it corresponds by where it goes."""
    source, ir = as_ir(tmp_path, text)
    assert ov_gather.bisect(source, ir, inputs).passed
    wrong = with_swapped(ir, node)
    for reference in (source, ir):
        result = ov_gather.bisect(reference, wrong, inputs, reproducers=tmp_path / "found")
        assert result.node == f"Subtract '{node}'"
        assert ", in iteration 0 (the first is 0)." in result.culprits[0].detail
        assert result.reproducer


def test_a_body_that_gives_the_same(tmp_path):
    """The body is right: what is wrong is the order in which its results are put together."""
    source, ir = as_ir(tmp_path, STACKED)
    (way,) = candidates(read_ir(ir), "slices")
    wrong = written(tmp_path / "wrong.xml", way(random.Random(0)).model)
    result = ov_gather.bisect(source, wrong, {"x": LINE, "n": np.array(3)})
    assert result.node == "Loop 'all'"
    assert result.culprits[0].detail.endswith("Its body gives the same within 1e-04, followed through iterations: 3.")


def test_iterations_that_are_not_followed(tmp_path, monkeypatch):
    source, ir = as_ir(tmp_path, BODIES)
    monkeypatch.setattr(body_trace, "MOST_ITERATIONS", 1)
    result = ov_gather.bisect(source, with_swapped(ir, "late"), {"x": LINE, "c": np.array(True), "n": np.array(3)})
    assert result.node == "Loop 'loop'"
    assert result.culprits[0].detail.endswith(", followed through iterations: 1; those after them were not followed.")


ADDED_UP = """(float[4] x, int64 n) => (float[4] y) {
    a = Tanh(x)
    [loop] y = Loop (n, , a) <body = l (int64 i, bool k, float[4] u) => (bool k2, float[4] w)
        <float[4] growth = {1.01, 0.99, 1.02, 0.98}> {
        k2 = Identity(k) [neg] m = Neg(u) [mul] o = Mul(m, growth) [back] w = Neg(o) }> }"""


@pytest.mark.exhaustive
def test_a_fault_that_the_iterations_add_up(tmp_path):
    """No iteration is off by 1e-4; twenty of them are, and the operation in the body is named."""
    source, ir = as_ir(tmp_path, ADDED_UP)
    inputs = {"x": LINE, "n": np.array(20)}
    assert ov_gather.bisect(source, ir, inputs).passed
    model = read_ir(ir)
    (layer,) = (layer for layer in model.layers if layer.bodies)
    body = replace(layer.bodies[0], weights=model.weights)
    (const,) = (each for each in body.of_type("Const") if each.outputs[0].dims == (4,))
    made = with_payload(body, const, constant(body, const) * np.float32(1 + 9e-5))
    layers = tuple(replace(layer, bodies=(made,)) if each.id == layer.id else each for each in model.layers)
    wrong = written(tmp_path / "wrong.xml", replace(model, layers=layers, weights=made.weights))
    for reference in (source, ir):
        result = ov_gather.bisect(reference, wrong, inputs, reproducers=tmp_path / "found")
        assert result.node == "Multiply 'mul'"
        (culprit,) = result.culprits
        assert culprit.detail.startswith("It is in the body of Loop 'y', in iteration 0 (the first is 0).")
        assert culprit.detail.endswith("The reproducer has the whole of Loop 'y'.")
        assert not again(culprit.reproducer).passed


CANCELLED = """(float[3,64] x, bool c, int64 n) => (float[3,64] y)
    <int64[1] axes = {1}, float large = {1000000.0}> {
    a = Tanh(x)
    [choice] y = OPERATOR }"""
BODY = """m = ReduceMean(u, axes) d = Sub(u, m) s = ReduceSum(d, axes) p = Mul(s, large) w = Add(u, p)"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "operator",
    [
        f"If (c) <then_branch = t () => (float[3,64] w) {{ u = Sin(a) {BODY} }}, "
        "else_branch = e () => (float[3,64] o) { o = Abs(a) }>",
        f"Loop (n, , a) <body = l (int64 i, bool k, float[3,64] u) => (bool k2, float[3,64] w) {{ k2 = Identity(k) {BODY} }}>",
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_rounding_in_a_body(tmp_path, operator, seed):
    """What rounding does in a body is no fault of the operation around it."""
    x = np.random.default_rng(seed).standard_normal((3, 64)).astype(np.float32)
    inputs = {"x": x, "c": np.array(True), "n": np.array(2)}
    result = ov_gather.bisect(*as_ir(tmp_path, CANCELLED.replace("OPERATOR", operator)), inputs)
    assert any(output.outcome for output in result.outputs)
    assert result.passed, result.culprits


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({}, False),
        ({"end": 6, "part_size": 2, "stride": 2}, False),
        ({"start": -1, "end": 0, "stride": -1}, True),
        ({"start": 1}, None),
        ({"stride": 2}, None),
        ({"end": 5}, None),
    ],
)
def test_slices_without_gaps_are_followed(entry, expected):
    found = bodies._sliced(np.arange(6), Slicing(0, **entry))
    assert (None if found is None else found.is_reversed) == expected
