"""Losses of a conversion: gathers that may be out of bounds, integers that wrap around."""

import numpy as np
import onnx_ir
import pytest
from onnx_ir.passes.common import ShapeInferencePass

from helpers.legalized import constant, model
from ov_gather.converters.inexact_nodes import is_wrapped
from ov_gather.converters.inexactness import find_inexactness
from ov_gather.converters.legalize import legalize
from ov_gather.converters.ranges import Ranges


def losses(proto, target="stock", **options):
    changed = onnx_ir.from_proto(proto)
    legalize(changed, target=target)
    return find_inexactness(changed, target=target, **options)


def out_of_bounds(proto):
    """What is told of indices that may be out of bounds."""
    return [loss for loss in losses(proto) if "out of bounds" in loss.what]


PROVED = {
    "coordinates of each axis": (
        "float[N,6] x) => (float[K] y)",
        "rows = NonZero(x) places = Transpose<perm = [1, 0]>(rows) y = GatherND(x, places)",
    ),
    "sizes of the same name": (
        "float[N,6] x, float[B,N] scores) => (float[B,6] y)",
        "best = ArgMax<axis = 1, keepdims = 0>(scores) y = Gather(x, best)",
    ),
    "arithmetic on sizes": (
        "float[N,6] x) => (float[M,6] y)",
        """s = Shape<end = 1>(x) n = Squeeze(s) double = Mul(n, two) longer = Concat<axis = 0>(x, x)
        places = Range(zero, double, one) y = Gather(longer, places)""",
    ),
    "an index from around a branch": (
        "bool c, float[3,5] x) => (float[5,5] y)",
        """best = ArgMax<axis = 0, keepdims = 0>(x)
        y = If (c) <then_branch = yes () => (float[5,5] a) { a = Gather(x, best) },
                    else_branch = no () => (float[5,5] b) { far = Neg(best) b = Gather(x, far) }>""",
    ),
    "the number of an iteration": (
        "float[N,6] x, bool c) => (float[R,6] y)",
        """s = Shape<end = 1>(x) n = Squeeze(s)
        y = Loop (n, c) <body = round (int64 trip, bool go) => (bool go_on, float[6] row) {
            go_on = Identity(go) row = Gather(x, trip) }>""",
    ),
}


@pytest.mark.parametrize("name", PROVED)
def test_what_is_proved_is_no_loss(name):
    proto = model(*PROVED[name])
    for value, given in (("zero", 0), ("one", 1), ("two", 2)):
        constant(given, proto, value)
    assert out_of_bounds(proto) == []


NOT_PROVED = {
    "sizes of other names": (
        "float[N,6] x, float[B,M] scores) => (float[B,6] y)",
        "best = ArgMax<axis = 1, keepdims = 0>(scores) y = Gather(x, best)",
    ),
    "a remainder of large numbers, which OpenVINO computes in float32": (
        "float[7,6] x, int32[K] i) => (float[K,6] y)",
        "seven = Constant<value = int32 {7}>() places = Mod(i, seven) y = Gather(x, places)",
    ),
    "coordinates of the other axis": (
        "float[N,6] x) => (float[K] y)",
        """rows = NonZero(x) places = Transpose<perm = [1, 0]>(rows) other = Transpose<perm = [1, 0]>(x)
        y = GatherND(other, places)""",
    ),
    "one past the number of an iteration": (
        "float[N,6] x, bool c) => (float[R,6] y)",
        """s = Shape<end = 1>(x) n = Squeeze(s)
        y = Loop (n, c) <body = round (int64 trip, bool go) => (bool go_on, float[6] row) {
            one = Constant<value_int = 1>() go_on = Identity(go) next = Add(trip, one) row = Gather(x, next) }>""",
    ),
}


@pytest.mark.parametrize("name", NOT_PROVED)
def test_what_is_not_proved_is_a_loss(name):
    (loss,) = out_of_bounds(model(*NOT_PROVED[name]))
    assert "target extension raises" in loss.what


def test_an_index_that_is_bounded_makes_a_remainder_in_bounds():
    nodes = """low = Constant<value = int32 {-1000}>() high = Constant<value = int32 {1000}>() few = Clip(i, low, high)
    seven = Constant<value = int32 {7}>() places = Mod(few, seven) y = Gather(x, places)"""
    assert out_of_bounds(model("float[7,6] x, int32[K] i) => (float[K,6] y)", nodes)) == []


@pytest.mark.parametrize(
    ("kind", "low", "high", "is_one"),
    [
        ("int16", -32768, 32767, False),
        ("int16", -32769, 32767, True),
        ("int16", -32768, 32768, True),
        ("uint16", 0, 65535, False),
        ("uint16", 0, 65536, True),
        ("uint16", -1, 65535, True),
        ("int32", -1, 65536, False),
    ],
)
def test_casts_that_wrap_around(kind, low, high, is_one):
    code = {"int16": 5, "uint16": 4, "int32": 6}[kind]
    proto = model(f"int32[n] x) => ({kind}[n] y)", f"c = Clip(x, low, high) y = Cast<to = {code}>(c)")
    changed = onnx_ir.from_proto(constant(np.int32(low), constant(np.int32(high), proto, "high"), "low"))
    ShapeInferencePass()(changed)
    assert is_wrapped(changed.graph.node(-1), Ranges(changed)) == is_one


@pytest.mark.parametrize(
    ("kind", "reduction", "target", "is_told"),
    [
        ("float", "max", "stock", True),
        ("float", "min", "stock", True),
        ("float", "add", "stock", False),
        ("float", "max", "extension", False),
        ("int32", "max", "stock", False),
    ],
)
def test_scatters_that_lose_nan(kind, reduction, target, is_told):
    text = f"{kind}[3,2] x, int64[1,2] i, {kind}[1,2] u) => ({kind}[3,2] y)"
    proto = model(text, f'y = ScatterElements<reduction = "{reduction}">(x, i, u)')
    assert any("NaN" in loss.what for loss in losses(proto, target)) == is_told
