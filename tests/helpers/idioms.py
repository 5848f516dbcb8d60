"""Idioms that OpenVINO computes wrongly, as ONNX models: with a layer between, in bodies, of inputs or constants."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
from numpy.typing import NDArray

# Nodes that make b of a, and change nothing. T is the element type of a, and N its number.
LAYERS = {
    "nothing": "b = Identity(a)",
    "plus 0": "zero = Constant<value = T {0}>() b = Add(a, zero)",
    "0 plus": "zero = Constant<value = T {0}>() b = Add(zero, a)",
    "minus 0": "zero = Constant<value = T {0}>() b = Sub(a, zero)",
    "times 1": "one = Constant<value = T {1}>() b = Mul(a, one)",
    "1 times": "one = Constant<value = T {1}>() b = Mul(one, a)",
    "over 1": "one = Constant<value = T {1}>() b = Div(a, one)",
    "two signs": "m = Neg(a) b = Neg(m)",
    "Reshape": "sizes = Shape(a) b = Reshape(a, sizes)",
    "there and back": "row = Constant<value = int64[2] {1, -1}>() m = Reshape(a, row) sizes = Shape(a) b = Reshape(m, sizes)",
    "Slice": """f = Constant<value = int64[1] {0}>() end = Constant<value = int64[1] {9223372036854775807}>()
        b = Slice(a, f, end, f)""",
    "Slice by i32": """f = Constant<value = int32[1] {0}>() end = Constant<value = int32[1] {2147483647}>()
        b = Slice(a, f, end, f)""",
    "Concat": "b = Concat<axis = 0>(a)",
    "Max": "b = Max(a)",
    "Sum": "b = Sum(a)",
    "Where": "c = Constant<value = bool {1}>() b = Where(c, a, a)",
    "Expand": "sizes = Shape(a) b = Expand(a, sizes)",
    "Tile": "sizes = Shape(a) ones = Div(sizes, sizes) b = Tile(a, ones)",
    "Transpose": "b = Transpose(a)",
    "Flatten": "sizes = Shape(a) m = Flatten<axis = 0>(a) b = Reshape(m, sizes)",
    "Pad": "sizes = Shape(a) m = Concat<axis = 0>(sizes, sizes) w0 = Sub(m, m) b = Pad(a, w0)",
    "Cast": "b = Cast<to = N>(a)",
}
"""Layers that OpenVINO removes, folds or moves. They suit vectors; those of `ANY_RANK` suit every shape."""
OTHERS = {
    "two views": "f = Constant<value = int64[1] {0}>() m = Unsqueeze(a, f) b = Squeeze(m, f)",
    "Where the other": "c = Constant<value = bool {0}>() zero = Constant<value = T {0}>() b = Where(c, zero, a)",
    "reversed": """f = Constant<value = int64[1] {-1}>() end = Constant<value = int64[1] {-9}>()
        w0 = Constant<value = int64[1] {0}>() b = Slice(a, f, end, w0, f)""",
    "moved": """f = Constant<value = int64[2] {1, 0}>() m = Pad(a, f) s0 = Constant<value = int64[1] {0}>()
        end = Constant<value = int64[1] {-1}>() b = Slice(m, s0, end)""",
    "minus": "b = Neg(a)",
    "plus 1": "one = Constant<value = T {1}>() b = Add(a, one)",
}
"""Layers for idioms whose facts look at what is before them: the first two are removed, the others change something."""
ANY_RANK = tuple(name for name in LAYERS if name not in ("Transpose", "Concat", "Slice", "Slice by i32"))
ALONE = ("nothing",)
OPSETS = tuple(range(11, 25))
PLACES = ("top", "If", "Loop", "Scan")
OUTSIDE_OF_BODIES = ("top", "If")
SOURCES = ("input", "open", "computed", "looked up", "constant")
"""Where values come from: an input of a known or an open shape, what is computed of one, what is looked up, or a constant."""


@dataclass(frozen=True)
class Idiom:
    """An idiom.

    Attributes:
        inputs: of the model, with values at which OpenVINO is wrong.
        before, after: nodes that make a, and those that read b.
        type: the element type of a.
        outputs: of the model, with types.
        operators: those that a report may name, in ONNX or OpenVINO.
        layers: those that suit the shape of a.
        places: where it may stand.
        closed: inputs of a known shape in every form.
        unjudged: the sources for which the front end reads another model, or a rule that is no fact of the book reports it.
        share: a round has one in so many layers: 3 where they hardly matter to the fact, or matter as in another idiom.
    """

    inputs: Mapping[str, NDArray[Any]]
    before: str
    type: str
    after: str
    outputs: str
    operators: tuple[str, ...] = ()
    layers: Sequence[str] = tuple(LAYERS)
    places: Sequence[str] = PLACES
    closed: tuple[str, ...] = ()
    share: int = 1
    unjudged: Sequence[str] = ()


X, W = np.float32([-0.5, 0.5, 2, 0]), np.float32([-1, -2, 3, -4])
BIG = np.int32([2**24 + 1, 5, -(2**24) - 1, 7])
CUBE = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
_BEHIND = tuple({**LAYERS, **OTHERS})


def _scan(body: str) -> Idiom:
    """Return a Scan of a state p and elements r, whose body makes the next state u and a part v of the second output."""
    return Idiom(
        {"s": np.float32([0.7, 0.8]), "x": np.arange(-2, 4, dtype=np.float32).reshape(3, 2) / 10},
        f"""last, z = Scan <num_scan_inputs = 1, body = inner (float[2] p, float[2] r) => (float[2] u, float[2] v)
        {{ one = Constant<value = float[2] {{1, 2}}>() {body} }}> (s, x) a = Identity(last)""",
        "float",
        "y = Identity(b)",
        "float[2] y, float[3, 2] z",
        layers=ALONE,
        places=OUTSIDE_OF_BODIES,
    )


def _loop(body: str) -> Idiom:
    """Return a Loop of states p and r, whose body makes the next ones u and v."""
    return Idiom(
        {"s": np.float32([1, 2]), "t": np.float32([3, 5])},
        f"""trip = Constant<value = int64 {{3}}>() going = Constant<value = bool {{1}}>()
        last, z = Loop (trip, going, s, t) <body = inner (int64 k, bool go_on, float[2] p, float[2] r) =>
        (bool still, float[2] u, float[2] v) {{ still = Identity(go_on) flat = Constant<value = int64[1] {{-1}}>() {body} }}>
        a = Identity(last)""",
        "float",
        "y = Identity(b)",
        "float[2] y, float[2] z",
        layers=ALONE,
        places=OUTSIDE_OF_BODIES,
    )


def _unread_state(body: str, trip: int, going: bool) -> Idiom:
    """Return a Loop whose body does not read its state, and makes the next one u of t."""
    return Idiom(
        {"s": np.float32([1, 2]), "t": np.float32([10, -20]), "trip": np.int64(trip), "going": np.array(going)},
        f"""last = Loop (trip, going, s) <body = inner (int64 k, bool go_on, float[2] p) =>
        (bool still, float[2] u) {{ still = Identity(go_on) {body} }}> a = Identity(last)""",
        "float",
        "y = Identity(b)",
        "float[2] y",
        layers=ALONE,
        places=OUTSIDE_OF_BODIES,
    )


def _turned(orders: Sequence[tuple[int, ...]], reader: str) -> Idiom:
    """Return a part of a Split that is transposed and converted to boolean; a reader, if any, makes an output z of it."""
    x = np.arange(16, dtype=np.float32).reshape(2, 4, 2)[(..., 0) if len(orders[0]) == 2 else ...] % 3
    names = ["h", *(f"h{i}" for i in range(1, len(orders))), "a"]
    turns = (
        f"{made} = Transpose<perm = {list(order)}>({given})"
        for given, made, order in zip(names[:-1], names[1:], orders, strict=True)
    )
    return Idiom(
        {"x": x},
        f"l, h = Split<axis = 0SPLIT>(x) {' '.join(turns)}",
        "float",
        f"y = Cast<to = 9>(b) {reader}",
        f"bool[{'n, ' * (x.ndim - 1)}m] y" + (f", float[{'n, ' * (x.ndim - 1)}m] z" if reader else ""),
        layers=ALONE,
    )


_MAXIMUM = (
    "a = ReduceMax<axes = [2], keepdims = 1>(x)",
    "h = Constant<value = int64[1] {2}>() a = ReduceMax<keepdims = 1>(x, h)",
)
"""ReduceMax of the last of three axes, before opset 18 and since."""
IDIOMS = {
    "NonZero of a Cast": Idiom({"x": X}, "a = Cast<to = 6>(x)", "int32", "y = NonZero(b)", "int64[1, n] y", layers=_BEHIND),
    "NonZero of a Cast that is read": Idiom(
        {"x": X},
        "a = Cast<to = 6>(x)",
        "int32",
        "y = NonZero(b) z = Add(b, b)",
        "int64[1, n] y, int32[4] z",
        layers=_BEHIND,
        share=3,
    ),
    "NonZero of bytes": Idiom(
        {"x": np.int32([256, 1, 0, 512])}, "a = Cast<to = 2>(x)", "uint8", "y = NonZero(b)", "int64[1, n] y"
    ),
    "Abs of a Concat": Idiom(
        {"x": X, "w": W}, "a = Concat<axis = 0>(x, w) q = Identity(a)", "float", "y = Abs(b)", "float[8] q, float[8] y"
    ),
    "Abs of a nested Concat": Idiom(
        {"x": X, "w": W},
        "j = Concat<axis = 0>(x, w) a = Concat<axis = 0>(j, x) q = Neg(j)",
        "float",
        "y = Abs(b)",
        "float[8] q, float[12] y",
    ),
    "Cast of another output": Idiom(
        {"x": np.float32([0, 0, 1, 2])},
        "o = Constant<value = int64[1] {2}>() l, a = TopK<largest = 0>(x, o)",
        "int64",
        "y = Cast<to = 9>(b)",
        "bool[2] y",
    ),
    "Cast of a part": Idiom(
        {"x": np.float32([0, 0, 1, 2])},
        "l, a = Split<axis = 0SPLIT>(x)",
        "float",
        "y = Cast<to = 9>(b)",
        "bool[2] y",
        layers=_BEHIND,
    ),
    "Cast of a part that is read": Idiom(
        {"x": np.float32([5, 0, 0, 7])},
        "l, a = Split<axis = 0SPLIT>(x)",
        "float",
        "y = Cast<to = 9>(b) z = Neg(b)",
        "bool[2] y, float[2] z",
        layers=_BEHIND,
        share=3,
    ),
    "Cast of a part that is an output": Idiom(
        {"x": np.float32([5, 0, 0, 7])},
        "l, a = Split<axis = 0SPLIT>(x)",
        "float",
        "y = Cast<to = 9>(b)",
        "bool[2] y, float[2] b",
        share=3,
    ),
    **{
        f"Cast of a part turned by {orders} {reader}": _turned(orders, reader)
        for orders in ([(1, 0)], [(1, 0), (1, 0)], [(1, 2, 0), (2, 0, 1)], [(1, 2, 0)], [(1, 2, 0), (1, 2, 0)])
        for reader in ("", "z = Neg(b)")
    },
    "Abs of a constant": Idiom(
        {"x": X[:2]},
        "a = Constant<value = float[2] {-3, 4}>()",
        "float",
        "v = Abs(b) y = Add(x, v)",
        "float[2] y",
        layers=_BEHIND,
    ),
    "Abs of a constant that is read": Idiom(
        {"x": X[:2]},
        "a = Constant<value = float[2] {-3, 4}>()",
        "float",
        "v = Abs(b) y = Add(x, v) z = Mul(x, b)",
        "float[2] y, float[2] z",
        layers=_BEHIND,
        share=3,
    ),
    "Where of a comparison": Idiom(
        {"x": BIG, "z": BIG[::-1].copy()},
        "o = Constant<value = int32 {6}>() a = Less(x, o)",
        "bool",
        "y = Where(b, x, z)",
        "int32[4] y",
    ),
    "Range away from its limit": Idiom(
        {"x": np.int32([5]), "z": np.int32([2])},
        "a = Identity(z)",
        "int32",
        """empty = Constant<value = int64[0] {}>() p = Reshape(x, empty) l = Reshape(b, empty)
        d = Constant<value = int32 {1}>() y = Range(p, l, d)""",
        "int32[n] y",
    ),
    "Range back from its limit": Idiom(
        {"x": np.int32([1]), "z": np.int32([6])},
        "a = Identity(x)",
        "int32",
        """empty = Constant<value = int64[0] {}>() p = Reshape(b, empty) l = Reshape(z, empty)
        d = Constant<value = int32 {-1}>() y = Range(p, l, d)""",
        "int32[n] y",
    ),
    "Range by a computed step": Idiom(
        {"x": np.int32([5]), "z": np.int32([2]), "g": np.int32([1])},
        "a = Identity(z)",
        "int32",
        """empty = Constant<value = int64[0] {}>() p = Reshape(x, empty) l = Reshape(b, empty) d = Reshape(g, empty)
        y = Range(p, l, d)""",
        "int32[n] y",
        share=3,
    ),
    "Range to the most of two": Idiom(
        {"x": np.int32(5), "z": np.int32(2), "g": np.int32(1)},
        "a = Identity(g)",
        "int32",
        "l = Max(z, b) d = Constant<value = int32 {1}>() y = Range(x, l, d)",
        "int32[n] y",
        layers=("nothing", "plus 0", "times 1", "Max", "Where", "Cast"),
    ),
    "Abs of folded": Idiom(
        {"x": X[:2]},
        "k = Constant<value = int32[2] {-7, 2}>() a = Cast<to = 1>(k)",
        "float",
        "v = Abs(b) y = Add(x, v)",
        "float[2] y",
    ),
    "Abs of clipped": Idiom(
        {"x": X[:2]},
        """k = Constant<value = float[2] {-7, 2}>() low = Constant<value = float {-3}>() high = Constant<value = float {3}>()
        a = Clip(k, low, high)""",
        "float",
        "v = Abs(b) y = Add(x, v)",
        "float[2] y",
    ),
    "Relu of integers": Idiom({"x": BIG}, "a = Identity(x)", "int32", "y = Relu(b)", "int32[4] y", share=3),
    "sum of bytes": Idiom(
        {"x": np.uint8([250, 7]), "z": np.uint8([10, 2])},
        "a = Identity(x)",
        "uint8",
        "y = Add(b, z)",
        "uint8[2] y",
        share=3,
    ),
    "quotient of a maximum": Idiom(
        {"x": np.int32([2**25 + 3, 1, 3, 0])},
        "a = ReduceMax<keepdims = 1>(x)",
        "int32",
        "d = Constant<value = int32 {2}>() y = Div(b, d)",
        "int32[1] y",
        ("ReduceMax", "Div"),
    ),
    "quotient by a maximum": Idiom(
        {"x": np.int32([2**24 + 1, 1, 3, 0])},
        "a = ReduceMax<keepdims = 1>(x)",
        "int32",
        "d = Constant<value = int32 {16777216}>() y = Div(d, b)",
        "int32[1] y",
        ("ReduceMax", "Div"),
    ),
    "arithmetic of a maximum": Idiom(
        {"x": CUBE + 2**24},
        "MAXIMUM",
        "int32",
        "d = Constant<value = int32 {20}>() y = Sub(d, b)",
        "int32[2, 3, 1] y",
        ("ReduceMax",),
        layers=ANY_RANK,
    ),
    "maximum": Idiom(
        {"x": BIG}, "a = Identity(x)", "int32", "y = ReduceMax<keepdims = 1>(b)", "int32[1] y", ("ReduceMax",), share=3
    ),
    "total": Idiom(
        {"x": BIG}, "a = Identity(x)", "int32", "y = ReduceSum<keepdims = 1>(b)", "int32[1] y", ("ReduceSum",), share=3
    ),
    "equal": Idiom({"x": BIG, "z": BIG - 1}, "a = Identity(x)", "int32", "y = Equal(b, z)", "bool[4] y", ("Equal",), share=3),
    "quotient": Idiom(
        {"x": BIG, "z": np.int32([1, 3, 1, 2])},
        "a = Identity(x)",
        "int32",
        "y = Div(b, z)",
        "int32[4] y",
        ("Div", "Divide"),
        share=3,
    ),
    "remainder": Idiom(
        {"x": BIG, "z": np.int32([2, 3, 2, 2])},
        "a = Identity(x)",
        "int32",
        "y = Mod(b, z)",
        "int32[4] y",
        ("Mod", "FloorMod"),
        share=3,
    ),
    "product of matrices": Idiom(
        {"x": BIG, "z": BIG}, "a = Identity(x)", "int32", "y = MatMul(b, z)", "int32 y", ("MatMul",), share=3
    ),
    "Pad by a number": Idiom(
        {"x": X, "z": np.float32([7])},
        "a = Identity(z)",
        "float",
        """empty = Constant<value = int64[0] {}>() v = Reshape(b, empty) w = Constant<value = int64[2] {1, 2}>()
        y = Pad(x, w, v)""",
        "float[7] y",
        ("Pad",),
    ),
    "Pad by a large number": Idiom(
        {"x": BIG},
        "a = Identity(x)",
        "int32",
        "v = Constant<value = int32 {16777217}>() w = Constant<value = int64[2] {1, 2}>() y = Pad(b, w, v)",
        "int32[7] y",
        ("Pad",),
        share=3,
    ),
    "Tile": Idiom(
        {"x": np.arange(32, dtype=np.float32).reshape(2, 2, 2, 2, 2), "r": np.int64([2, 1, 2, 1, 2])},
        "a = Identity(r)",
        "int64",
        "y = Tile(x, b)",
        "float[o, p, q, s, t] y",
        ("Tile",),
        closed=("r",),
        share=3,
    ),
    "Tile of four axes": Idiom(
        {"x": np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2), "r": np.int64([2, 2, 2, 2])},
        "a = Identity(r)",
        "int64",
        "y = Tile(x, b)",
        "float[o, p, q, s] y",
        ("Tile",),
        closed=("r",),
        share=3,
    ),
    "Tile to more axes": Idiom(
        {"x": np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2), "r": np.int64([2, 2, 2, 2, 2])},
        "a = Identity(r)",
        "int64",
        "y = Tile(x, b)",
        "float[o, p, q, s, t] y",
        ("Tile",),
        closed=("r",),
        share=3,
    ),
    "Slice along an axis": Idiom(
        {"x": CUBE, "k": np.int64([2])},
        "a = Identity(k)",
        "int64",
        "s = Constant<value = int64[1] {1}>() e = Constant<value = int64[1] {3}>() y = Slice(x, s, e, b)",
        "int32[2, 3, m] y",
        ("Slice",),
        closed=("x", "k"),
    ),
    "Expand of no elements": Idiom(
        {"x": np.zeros((0, 1), np.float32)},
        "a = Identity(x)",
        "float",
        "v = Constant<value = int64[2] {1, 3}>() y = Expand(b, v)",
        "float[0, 3] y",
        layers=ANY_RANK,
        share=3,
    ),
    "Expand to no elements": Idiom(
        {"x": np.zeros((1, 2), np.float32)},
        "a = Identity(x)",
        "float",
        "v = Constant<value = int64[2] {0, 2}>() y = Expand(b, v)",
        "float[0, 2] y",
        layers=ANY_RANK,
        share=3,
    ),
    "unsorted Unique": Idiom(
        {"x": np.float32([3, 1, 3, 0])},
        "a = Identity(x)",
        "float",
        "y = Unique<sorted = 0>(b)",
        "float[n] y",
        ("Unique",),
        share=3,
    ),
    "NonZero of one constant": Idiom(
        {"x": X},
        "a = Constant<value = float[1, 1] {5}>()",
        "float",
        "y = NonZero(b)",
        "int64[2, 1] y",
        layers=ANY_RANK,
        share=3,
    ),
    "unsigned constants": Idiom(
        {"x": np.uint32([1, 2])},
        "k = Constant<value = uint32[2] {1, 4294967295}>() a = Identity(k)",
        "uint32",
        "y = Concat<axis = 0>(b, x)",
        "uint32[4] y",
        ("constant", "Const"),
    ),
    "nearest sizes": Idiom(
        {"x": BIG.reshape(1, 1, 1, 4)},
        "a = Identity(x)",
        "int32",
        """v = Constant<value = float[4] {1, 1, 1, 2}>() f = Constant<value = float[0] {}>()
        y = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(b, f, v)""",
        "int32[1, 1, 1, 8] y",
        ("Resize", "Interpolate"),
        layers=ANY_RANK,
        share=3,
    ),
    "ReverseSequence": Idiom(
        {"x": BIG.reshape(2, 2), "l": np.int64([2, 1])},
        "a = Identity(x)",
        "int32",
        "y = ReverseSequence(b, l)",
        "int32[2, 2] y",
        ("ReverseSequence",),
        layers=ANY_RANK,
        share=3,
    ),
    "power": Idiom(
        {"x": np.int32([4099, 2, 3, 4097])},
        "a = Identity(x)",
        "int32",
        "d = Constant<value = int32 {2}>() y = Pow(b, d)",
        "int32[4] y",
        ("Pow", "Power"),
        share=3,
    ),
    "a state that is a view of another": Idiom(
        {"s": np.float32([1, 2]), "t": np.float32([3, 4])},
        """trip = Constant<value = int64 {3}>() going = Constant<value = bool {1}>()
        y, z = Loop (trip, going, s, t) <body = inner (int64 k, bool go_on, float[2] p, float[2] r) =>
        (bool still, float[2] u, float[2] v) { still = Identity(go_on) u = Add(p, r) a = Identity(p)""",
        "float",
        "v = Identity(b) }>",
        "float[2] y, float[2] z",
        places=OUTSIDE_OF_BODIES,
    ),
    "no iterations": Idiom(
        {"s": np.float32([1, 2]), "t": np.float32([3, 4]), "trip": np.int64(0)},
        """going = Constant<value = bool {1}>()
        y = Loop (trip, going, s) <body = inner (int64 k, bool go_on, float[2] p) =>
        (bool still, float[2] v) { still = Identity(go_on) a = Identity(t)""",
        "float",
        "v = Identity(b) }>",
        "float[2] y",
        places=OUTSIDE_OF_BODIES,
    ),
    "a delayed state": Idiom(
        {"s": np.float32([7]), "x": np.float32([[10], [20], [30]])},
        """y, z = Scan <num_scan_inputs = 1, body = inner (float[1] p, float[1] r) =>
        (float[1] u, float[1] v) { a = Identity(r)""",
        "float",
        "u = Identity(b) v = Identity(p) }> (s, x)",
        "float[1] y, float[3, 1] z",
        places=OUTSIDE_OF_BODIES,
    ),
    "a state of its element": Idiom(
        {"s": np.float32([0, 0]), "x": np.arange(6, dtype=np.float32).reshape(3, 2)},
        """y = Scan <num_scan_inputs = 1, body = inner (float[2] p, float[2] r) =>
        (float[2] u) { d = Constant<value = float[2] {1, 2}>() a = Add(r, d)""",
        "float",
        "u = Add(p, b) }> (s, x)",
        "float[2] y",
        places=OUTSIDE_OF_BODIES,
    ),
    "an element that is not read": Idiom(
        {"s": np.float32([1, 2]), "x": np.zeros((3, 2), np.float32)},
        "y = Scan <num_scan_inputs = 1, body = inner (float[2] p, float[2] r) => (float[2] u) { a = Add(p, p)",
        "float",
        "u = Identity(b) }> (s, x)",
        "float[2] y",
        places=OUTSIDE_OF_BODIES,
    ),
    **{
        f"Scan: {body}": _scan(body)
        for body in (
            "u = Add(p, r) v = Identity(u)",
            "u = Add(r, p) v = Identity(u)",
            "m = Add(r, one) u = Add(p, m) v = Identity(u)",
            "m = Mul(r, one) u = Sub(p, m) v = Identity(u)",
            "m = Tanh(r) u = Add(p, m) v = Identity(u)",
            "m = Add(p, one) u = Add(m, r) v = Identity(u)",
            *(f"m = Add(r, p) u = {unary}(m) v = Identity(u)" for unary in ("Abs", "Exp", "Neg", "Relu", "Sigmoid", "Tanh")),
            "u = Max(r, p) v = Identity(u)",
            "u = Sub(r, p) v = Identity(u)",
            "m = Mul(p, one) h = Mul(r, one) u = Add(m, h) v = Identity(u)",
            "m = Mul(p, one) h = Mul(r, one) u = Add(h, m) v = Identity(u)",
            "u = Identity(r) v = Identity(p)",
            "u = Identity(r) v = Add(p, r)",
            "u = Neg(r) v = Identity(p)",
            "u = Add(r, one) v = Identity(p)",
            "u = Identity(r) v = Identity(one)",
            "u = Identity(p) v = Add(p, r)",
            "u = Identity(p) v = Add(r, r)",
            "u = Add(p, p) v = Identity(u)",
            "u = Add(p, p) v = Neg(p)",
            "h = Shape(r) m = Reshape(p, h) u = Add(m, m) v = Neg(m)",
            "u = Identity(p) v = Identity(one)",
            """w = Constant<value = float[2, 2] {1, 0, 0, 1}>() m = MatMul(p, w) h = Add(r, one) g = Add(m, h) u = Relu(g)
            v = Neg(p)""",
        )
    },
    **{
        f"Loop: {body}": _loop(body)
        for body in (
            "u = Add(p, r) v = Identity(p)",
            "u = Add(p, r) v = Reshape(p, flat)",
            "u = Add(p, r) v = Neg(p)",
            "u = Identity(r) v = Identity(p)",
            "u = Reshape(r, flat) v = Reshape(p, flat)",
            "v = Add(p, r) u = Reshape(r, flat)",
            "u = Identity(p) v = Reshape(p, flat)",
        )
    },
    **{
        f"Loop of {trip} iterations while {going}: {body}": _unread_state(body, trip, going)
        for trip, going in ((0, True), (2, False), (2, True))
        for body in (
            "u = Add(t, t)",
            "h = Shape(p) u = Expand(t, h)",
            "u = Constant<value = float[2] {5, 6}>()",
            """u = If(going)<then_branch = p1 () => (float[2] c) { c = Identity(t) },
            else_branch = q1 () => (float[2] d) { d = Neg(t) }>""",
        )
    },
    "a Scan of two states": Idiom(
        {"s": np.float32(1), "t": np.float32(2), "x": np.float32([10, 20, 30])},
        """y, z, w = Scan <num_scan_inputs = 1, body = inner (float p, float q, float r) => (float u, float v, float o)
        { u = Identity(q) a = Identity(r)""",
        "float",
        "v = Identity(b) o = Add(p, q) }> (s, t, x)",
        "float y, float z, float[3] w",
        layers=("nothing", "plus 0"),
        places=OUTSIDE_OF_BODIES,
    ),
    **{
        f"a delayed state of {kind}": Idiom(
            {"s": np.array(7, kind), "x": np.array([10, 20, 30], kind)},
            f"""y, z = Scan <num_scan_inputs = 1, body = inner ({kind} p, {kind} r) => ({kind} u, {kind} v)
            {{ a = Identity(r)""",
            kind,
            "u = Identity(b) v = Identity(p) }> (s, x)",
            f"{kind} y, {kind}[3] z",
            layers=("nothing", "plus 0", "Where"),
            places=OUTSIDE_OF_BODIES,
        )
        for kind in ("int32", "int64", "uint8")
    },
    **{
        f"Where of {name}": Idiom(
            {"x": BIG, "z": BIG[::-1].copy()},
            f"o = Constant<value = int32 {{6}}>() {before}",
            "bool",
            "y = Where(b, x, z)",
            "int32[4] y",
            layers=("nothing", "Cast"),
        )
        for name, before in {
            "numbers": "a = Cast<to = 9>(x)",
            "several comparisons": "d = Less(x, o) e = Equal(x, o) a = Or(d, e)",
        }.items()
    },
    "Gather of an inserted axis": Idiom(
        {"x": np.arange(6, dtype=np.float32).reshape(2, 3)},
        "h = Constant<value = int64[1] {0}>() a = Unsqueeze(x, h)",
        "float",
        "i = Constant<value = int64[1] {0}>() y = Gather<axis = 0>(b, i)",
        "float[1, 2, 3] y",
        layers=ANY_RANK,
        share=3,
    ),
    "sum of reversed axes": Idiom(
        {"x": np.arange(6, dtype=np.float32).reshape(2, 3)},
        "a = Transpose(x)",
        "float",
        "h = Constant<value = int64[1] {0}>() y = ReduceSum(b, h)",
        "float[1, 2] y",
        layers=ANY_RANK,
        share=3,
    ),
    "a byte less bytes": Idiom(
        {"x": np.uint8([250, 7])},
        "a = Identity(x)",
        "uint8",
        "c = Constant<value = uint8 {20}>() y = Sub(c, b)",
        "uint8[2] y",
        share=3,
    ),
    "a signed byte less bytes": Idiom(
        {"x": np.int8([-100, 7])},
        "a = Identity(x)",
        "int8",
        "c = Constant<value = int8 {100}>() y = Sub(c, b)",
        "int8[2] y",
        share=3,
    ),
    "Unique of columns": Idiom(
        {"x": np.float32([[2, 0, 1, 0], [1, 2, 0, 1]])},
        "a = Identity(x)",
        "float",
        "y, p, r, k = Unique<axis = 1>(b)",
        "float[2, n] y, int64[n] p, int64[4] r, int64[n] k",
        layers=ANY_RANK,
        share=3,
    ),
    "unsorted Unique of columns": Idiom(
        {"x": np.float32([[2, 0, 1, 0, 2], [1, 2, 0, 1, 1]])},
        "a = Identity(x)",
        "float",
        "y = Unique<axis = 1, sorted = 0>(b)",
        "float[2, n] y",
        layers=ANY_RANK,
        share=3,
    ),
    "Unique of rows of bytes": Idiom(
        {"x": np.int8([[3, 1], [0, 2], [3, 1]])},
        "a = Identity(x)",
        "int8",
        "y, p, r, k = Unique<axis = 0>(b)",
        "int8[n, 2] y, int64[n] p, int64[3] r, int64[n] k",
        layers=ANY_RANK,
        share=3,
    ),
    "unsorted Unique of bytes": Idiom(
        {"x": np.int8([3, 1, 0, 3])},
        "a = Identity(x)",
        "int8",
        "y, p, r, k = Unique<axis = 0, sorted = 0>(b)",
        "int8[n] y, int64[n] p, int64[4] r, int64[n] k",
        share=3,
    ),
    "Unique of positions": Idiom(
        {"x": np.float32([3, 1, 0, 3])},
        "q, a = Unique(x)",
        "int64",
        "y = Unique(b)",
        "int64[n] y",
        layers=("nothing", "plus 0", "times 1", "Max", "Where", "Cast"),
    ),
    "Expand by no sizes": Idiom(
        {"x": np.float32(3), "z": np.float32(2)},
        "a = Identity(x)",
        "float",
        "s = Shape(z) y = Expand(b, s)",
        "float y",
        layers=("nothing", "plus 0", "times 1", "Max", "Where", "Cast"),
        share=3,
    ),
    "Tile by no repeats": Idiom(
        {"x": np.float32(3), "z": np.float32(2)},
        "a = Identity(x)",
        "float",
        "s = Shape(z) y = Tile(b, s)",
        "float y",
        layers=("nothing", "plus 0", "times 1", "Max", "Where", "Cast"),
    ),
    "a condition that is false": Idiom(
        {"s": np.float32([1, 2])},
        """trip = Constant<value = int64 {3}>() going = Constant<value = bool {0}>()
        y, z = Loop (trip, going, s) <body = inner (int64 k, bool go_on, float[2] p) =>
        (bool still, float[2] v, float[2] w) { still = Identity(go_on) a = Add(p, p) w = Neg(p)""",
        "float",
        "v = Identity(b) }>",
        "float[2] y, float[0, 2] z",
        places=OUTSIDE_OF_BODIES,
        unjudged=SOURCES,
        share=3,
    ),
    "no trips": Idiom(
        {"s": np.float32([1, 2])},
        """trip = Constant<value = int64 {0}>() going = Constant<value = bool {1}>()
        y, z = Loop (trip, going, s) <body = inner (int64 k, bool go_on, float[2] p) =>
        (bool still, float[2] v, float[2] w) { still = Identity(go_on) a = Add(p, p) w = Neg(p)""",
        "float",
        "v = Identity(b) }>",
        "float[2] y, float[0, 2] z",
        places=OUTSIDE_OF_BODIES,
        share=3,
    ),
    "a condition of run time": Idiom(
        {"s": np.float32([1, 2]), "going": np.array(False)},
        """trip = Constant<value = int64 {3}>()
        y, z = Loop (trip, going, s) <body = inner (int64 k, bool go_on, float[2] p) =>
        (bool still, float[2] v, float[2] w) { still = Identity(go_on) a = Add(p, p) w = Neg(p)""",
        "float",
        "v = Identity(b) }>",
        "float[2] y, float[n, 2] z",
        closed=("s",),
        places=OUTSIDE_OF_BODIES,
        unjudged=("constant",),
        share=3,
    ),
    "Tile of one channel": Idiom(
        {"x": np.arange(6, dtype=np.float32).reshape(1, 3, 2)},
        "h = Constant<value = int64[1] {1}>() u = Unsqueeze(x, h) a = Identity(u)",
        "float",
        "r = Constant<value = int64[4] {1, 2, 2, 1}>() y = Tile(b, r)",
        "float[1, 2, 6, 2] y",
        layers=ANY_RANK,
        share=3,
    ),
    "a view of an outer value": Idiom(
        {"s": np.float32([[2, 1], [3, 4]]), "z": np.float32([-4, 1, 2, 3])},
        """trip = Constant<value = int64 {3}>() going = Constant<value = bool {1}>()
        y = Loop (trip, going) <body = inner (int64 k, bool go_on) =>
        (bool still, float[4] v) { still = Identity(go_on) f = Constant<value = int64[1] {-1}>() a = Reshape(s, f)""",
        "float",
        "v = Add(b, z) }>",
        "float[3, 4] y",
        places=OUTSIDE_OF_BODIES,
        share=3,
    ),
    "Abs of reshaped constants": Idiom(
        {"t": np.int64([-1])},
        "k = Constant<value = float[2] {1, -3}>() a = Reshape(k, t)",
        "float",
        "y = Abs(b)",
        "float[2] y",
        closed=("t",),
        layers=("nothing", "plus 0", "times 1", "Max", "Where", "Cast"),
    ),
    "Concat of nothing": Idiom(
        {"x": np.zeros((3, 0), np.float32), "z": np.zeros((3, 0), np.float32)},
        "a = Identity(x)",
        "float",
        "y = Concat<axis = 0>(b, z)",
        "float[6, 0] y",
        layers=ANY_RANK,
        places=OUTSIDE_OF_BODIES,
        closed=("z",),
        share=3,
    ),
    "product over nothing": Idiom(
        {"x": np.zeros((2, 0), np.float32), "w": np.zeros((0, 3), np.float32)},
        "a = Identity(x)",
        "float",
        "y = MatMul(b, w)",
        "float[2, 3] y",
        layers=ANY_RANK,
        closed=("w",),
        share=3,
    ),
    "TopK of none": Idiom(
        {"x": X},
        "a = Identity(x)",
        "float",
        "k = Constant<value = int64[1] {0}>() y, i = TopK(b, k)",
        "float[0] y, int64[0] i",
        share=3,
    ),
    "NonZero of moved nothing": Idiom(
        {"x": np.zeros((2, 0, 1), np.float32)},
        "a = Transpose<perm = [2, 0, 1]>(x)",
        "float",
        "y = NonZero(b)",
        "int64[3, 0] y",
        layers=tuple(name for name in ANY_RANK if name != "Expand"),  # which ends the process for a constant
        share=3,
    ),
    "Compress of nothing": Idiom(
        {"x": X},
        "k = Constant<value = bool[4] {1, 0, 1, 1}>() a = Compress<axis = 0>(x, k)",
        "float",
        "c = Constant<value = bool[1] {0}>() y = Compress<axis = 0>(b, c)",
        "float[0] y",
        closed=("x",),
        unjudged=SOURCES,
        share=3,
    ),
}
"""The idioms."""

_NUMBERS = {"float": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "uint32": 12}


@dataclass(frozen=True)
class Form:
    """An idiom with a layer between its halves, in an opset, a place, and of sources."""

    idiom: str
    layer: str
    opset: int
    place: str
    source: str

    @property
    def parts(self) -> tuple[str, str, int, str, str]:
        """Return what the form consists of."""
        return self.idiom, self.layer, self.opset, self.place, self.source

    def __str__(self) -> str:
        return "-".join(map(str, self.parts))

    def model(self) -> tuple[onnx.ModelProto, dict[str, NDArray[Any]]]:
        """Return the model and its inputs."""
        idiom = IDIOMS[self.idiom]
        given, made, feeds = self._sources()
        names = [one.split()[-1] for one in re.split(r",(?![^\[]*\])", idiom.outputs)]
        body, outputs, ends = self._nodes(), idiom.outputs, ""
        if self.place == "If":
            given, feeds = [*given, "bool go"], {**feeds, "go": np.array(True)}
            sides = (
                f"{one}_branch = {one} () => ({_renamed(outputs, names, one)}) {{ {_renamed(body, names, one)} }}"
                for one in ("then", "else")
            )
            body = f"{', '.join(names)} = If (go) <{', '.join(sides)}>"
        elif self.place == "Loop":
            step = f"(int64 i, bool on_in) => (bool on_out, {_renamed(outputs, names, 'in')})"
            body = f"""trips = Constant<value = int64 {{2}}>() on = Constant<value = bool {{1}}>()
                {", ".join(names)} = Loop (trips, on) <body = step {step}
                {{ on_out = Identity(on_in) {_renamed(body, names, "in")} }}>"""
        elif self.place == "Scan":  # whose states are the inputs: OpenVINO refuses bodies that read outer values
            states = [*idiom.inputs]
            types = ", ".join(f"{_kind(value)}{list(value.shape)} {name}" for name, value in idiom.inputs.items())
            step = f"""({_renamed(types, states, "in")}, float[1] element) =>
                ({_renamed(types, states, "k")}, {_renamed(outputs, names, "in")}, float[1] seen)"""
            kept = " ".join(f"{name}_k = Identity({name}_in)" for name in states)
            inside = _renamed(_renamed(body, names, "in"), states, "in")
            body = f"""sequence = Constant<value = float[2, 1] {{1, 2}}>()
                {", ".join(f"{name}_l" for name in states)}, {", ".join(names)}, elements = Scan <num_scan_inputs = 1,
                body = step {step} {{ {inside} {kept} seen = Identity(element) }}> ({", ".join(states)}, sequence)"""
            ends = ", float[2, 1] elements"  # else OpenVINO would make one iteration
        if self.place in ("Loop", "Scan"):  # of two iterations
            outputs = re.sub(
                r"(\w+)(?:\[(.*?)\])? (\w+)(,|$)",
                lambda m: f"{m[1]}[2{', ' + m[2] if m[2] else ''}] {m[3]}{m[4]}",
                outputs,
            )
        version = next(version for version, last in ((8, 18), (9, 20), (10, OPSETS[-1])) if self.opset <= last)
        text = f"({', '.join(given)}) => ({outputs}{ends}) {{ {' '.join(made)} {body} }}"
        model = onnx.parser.parse_model(f'<ir_version: {version}, opset_import: ["" : {self.opset}]> g {text}')
        _store_as_bytes(model.graph)
        return model, feeds

    def _nodes(self) -> str:
        """Return the nodes of the idiom, with the layer between its halves."""
        found = IDIOMS[self.idiom]
        layer = (
            {**LAYERS, **OTHERS}[self.layer]
            .replace("T {", f"{found.type} {{")
            .replace("to = N", f"to = {_NUMBERS[found.type]}")
        )
        since_18 = self.opset > 17
        before = found.before.replace("MAXIMUM", _MAXIMUM[since_18]).replace("SPLIT", ", num_outputs = 2" if since_18 else "")
        return f"{before} {layer} {found.after}"

    def _sources(self) -> tuple[list[str], list[str], dict[str, NDArray[Any]]]:
        """Return the declarations of inputs, the nodes that compute from them what the idiom reads, and what to feed."""
        declared, made, feeds = list[str](), list[str](), dict[str, NDArray[Any]]()
        for name, value in IDIOMS[self.idiom].inputs.items():
            kind, shape = _kind(value), f"int64[{value.ndim}] {{{_numbers(np.array(value.shape))}}}"
            if self.source == "constant":
                made.append(f"{name} = Constant<value = {kind}{list(value.shape) or ''} {{{_numbers(value)}}}>()")
            elif self.source in ("input", "open"):
                is_open = self.source == "open" and name not in IDIOMS[self.idiom].closed
                shape = [f"{name}{axis}" for axis in range(value.ndim)] if is_open else map(str, value.shape)
                declared.append(f"{kind}[{', '.join(shape)}] {name}" if value.ndim else f"{kind} {name}")
                feeds[name] = np.asarray(value)
            elif self.source == "looked up":
                made.append(f"""{name}_d = Constant<value = {kind}[{value.size}] {{{_numbers(value)}}}>()
                    {name}_e = GatherElements<axis = 0>({name}_d, {name}_0)
                    {name}_s = Constant<value = {shape}>() {name} = Reshape({name}_e, {name}_s)""")
                declared.append(f"int64[{value.size}] {name}_0")
                feeds[f"{name}_0"] = np.arange(value.size)
            else:
                made.append(f"{name}_s = Constant<value = {shape}>() {name} = Reshape({name}_0, {name}_s)")
                declared.append(f"{kind}{[*value.shape, 1]} {name}_0")
                feeds[f"{name}_0"] = np.asarray(value)[..., None]
        return declared, made, feeds


def _store_as_bytes(graph: onnx.GraphProto) -> None:
    """Store the constants of a graph, and of its bodies, as exporters do: OpenVINO misreads u32 in a list of numbers."""
    for attribute in (attribute for node in graph.node for attribute in node.attribute):
        if attribute.HasField("t"):
            attribute.t.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(attribute.t)))
        _store_as_bytes(attribute.g)


def _kind(value: NDArray[Any]) -> str:
    return {"float32": "float"}.get(str(value.dtype), str(value.dtype))


def _numbers(value: NDArray[Any]) -> str:
    return ", ".join(map(str, (value.astype(int) if value.dtype == bool else value).ravel().tolist()))


def _renamed(text: str, names: Sequence[str], suffix: str) -> str:
    return re.sub(rf"(?<![\[<=])\b({'|'.join(names)})\b(?![\]=])", rf"\1_{suffix}", text)


_OF_SCAN = ("input", "computed", "looked up")
"""The states of a Scan are inputs of its body, of known shapes."""


def forms() -> list[Form]:
    """Return every form, of which some are no model of their opset."""
    return [
        Form(idiom, layer, opset, place, source)
        for idiom, found in IDIOMS.items()
        for layer in found.layers
        for opset in OPSETS
        for place in found.places
        for source in SOURCES
        if place != "Scan" or source in _OF_SCAN
    ]


def balanced(rounds: int) -> list[Form]:
    """Return each idiom with each layer, once a round, each time in another opset, place and source: all these pairs occur."""
    found = []
    for number in range(rounds):
        for i, (idiom, one) in enumerate(IDIOMS.items()):
            for j, layer in enumerate(one.layers):
                if (j - number) % one.share:
                    continue
                k = i + j + 3 * number
                place = one.places[(k + i // len(PLACES) + j // len(PLACES)) % len(one.places)]
                sources = _OF_SCAN if place == "Scan" else SOURCES
                opset = OPSETS[(5 * i + 3 * j + i // len(OPSETS) + 9 * number) % len(OPSETS)]
                found.append(Form(idiom, layer, opset, place, sources[(i + 3 * j + j // len(SOURCES) + number) % len(sources)]))
    return found
