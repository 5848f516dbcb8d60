"""Idioms of numbers: conversions, integers computed in float32, folded constants, moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from helpers.idiom import ALONE, ANY_RANK, LAYERS, OTHERS, Idiom, W, X

BIG = np.int32([2**24 + 1, 5, -(2**24) - 1, 7])
CUBE = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
_BEHIND = tuple({**LAYERS, **OTHERS})


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


OF_NUMBERS = {
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
    "ReduceMax of a masked row": Idiom(
        {"x": X - 100},
        "o = Constant<value = float {0}>() least = Constant<value = float {-inf}>() c0 = Less(o, x) a = Where(c0, o, least)",
        "float",
        "y = ReduceMax<keepdims = 0>(b)",
        "float y",
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
    **{
        f"Where of logic: {logic}": Idiom(
            {"x": BIG, "z": BIG[::-1].copy(), "c": np.array([True, False, True, True])},
            f"o = Constant<value = int32 {{6}}>() l = Less(z, o) {logic}",
            "bool",
            "y = Where(b, x, z)",
            "int32[4] y",
            share=3,
        )
        for logic in ("a = Not(c)", "a = Not(l)", "a = Or(c, l)", "a = Xor(l, c)", "f = Cast<to = 1>(z) a = IsNaN(f)")
    },
    "Clip of integers": Idiom(
        {"x": BIG},
        "a = Identity(x)",
        "int32",
        "low = Constant<value = int32 {-16777217}>() high = Constant<value = int32 {16777217}>() y = Clip(b, low, high)",
        "int32[4] y",
        share=3,
    ),
    **{
        f"{after}imum of a {before}imum": Idiom(
            {"x": BIG},
            f"c = Constant<value = int32 {{{first}}}>() a = {before}(x, c)",
            "int32",
            f"d = Constant<value = int32[1] {{{last}}}>() y = {after}(d, b)",
            "int32[4] y",
            share=3,
        )
        for before, after, first, last in (("Max", "Min", 0, 2**24 + 1), ("Min", "Max", 2**24 + 1, 5))
    },
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
        share=3,
    ),
    "arithmetic of a maximum": Idiom(
        {"x": CUBE + 2**24},
        "MAXIMUM",
        "int32",
        "d = Constant<value = int32 {20}>() y = Sub(d, b)",
        "int32[2, 3, 1] y",
        ("ReduceMax",),
        layers=ANY_RANK,
        share=3,
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
        share=3,  # each form ends a process
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
}
