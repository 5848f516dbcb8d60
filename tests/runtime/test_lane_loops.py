"""Lanes through Loop and Scan: what iterations hand on, take in slices, and give out."""

import numpy as np
import pytest

from helpers.lane_models import exactly, values
from helpers.moving_operators import COMPUTING, FORMS, STOCK_IS_WRONG
from helpers.saved_models import parsed
from ov_gather.converters import LossyConversionWarning, compile_onnx
from tools import lane_sweep

LOOPS = [name for name in FORMS if name.startswith(("Loop", "Scan")) and name not in (*COMPUTING, *STOCK_IS_WRONG)]


@pytest.mark.parametrize("name", LOOPS)
def test_every_bit_is_handed_on(name):
    assert lane_sweep.outcome(lane_sweep.Cell(name, "complex128")) == ("exact", "")


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
        compile_onnx(lane_sweep.model(lane_sweep.Cell("Loop that computes", "float64"))[0])
