"""Idioms of shapes: inserted and reversed axes, Unique along axes, tensors without elements, loops without iterations."""

from __future__ import annotations

import numpy as np

from helpers.idiom import ANY_RANK, OUTSIDE_OF_BODIES, SOURCES, Idiom, X

_LOOP = """y, z = Loop (trip, going, s) <body = inner (int64 k, bool go_on, float[2] p) =>
(bool still, float[2] v, float[2] w) { still = Identity(go_on) a = Add(p, p) w = Neg(p)"""
"""The first half of a Loop with a state, whose negative is joined; `b` is to become `v`."""

OF_SHAPES = {
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
        """
        + _LOOP,
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
        """
        + _LOOP,
        "float",
        "v = Identity(b) }>",
        "float[2] y, float[0, 2] z",
        places=OUTSIDE_OF_BODIES,
        share=3,
    ),
    "a condition of run time": Idiom(
        {"s": np.float32([1, 2]), "going": np.array(False)},
        """trip = Constant<value = int64 {3}>()
        """
        + _LOOP,
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
    "a row of sums": Idiom(
        {"x": np.arange(12, dtype=np.float32).reshape(2, 3, 2)},
        "h = Constant<value = int64[1] {0}>() a = ReduceSum<keepdims = 0>(x, h)",
        "float",
        "y = Flatten<axis = 0>(b)",
        "float[1, 6] y",
        layers=ANY_RANK,
        share=3,
    ),
    "an axis inserted into nothing": Idiom(
        {"x": np.arange(6, dtype=np.float32).reshape(2, 3)},
        """none = Constant<value = int64[1] {0}>() h = Constant<value = int64[1] {1}>() m = Slice(x, none, none, none)
        a = Unsqueeze(m, h)""",
        "float",
        "y = Abs(b)",
        "float[0, 1, 3] y",
        layers=tuple(name for name in ANY_RANK if name != "Expand"),  # which is another fault for a constant
        share=3,
    ),
    "a pool behind an If": Idiom(
        {"x": np.arange(-4, 4, dtype=np.float32).reshape(1, 1, 2, 4), "c": np.array(True)},
        """a = If(c) <then_branch = p1 () => (float[1, 1, n, 4] u) { u = Neg(x) },
        else_branch = q1 () => (float[1, 1, m, 4] v) { v = Abs(x) }>""",
        "float",
        "y = MaxPool<kernel_shape = [1, 2]>(b)",
        "float[1, 1, 2, 3] y",
        closed=("c",),
        layers=ANY_RANK,
        places=("top",),
        share=3,
    ),
    "slices of no trips": Idiom(
        {"s": np.float32([1, 2]), "trip": np.int64(0)},
        """going = Constant<value = bool {1}>()
        """
        + _LOOP,
        "float",
        "v = Identity(b) }>",
        "float[2] y, float[n, 2] z",
        closed=("s",),
        places=("top",),
        unjudged=("constant",),
        share=6,
    ),
}
