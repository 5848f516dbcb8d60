"""The parts of an idiom: ONNX nodes that OpenVINO computes wrongly, and the layers that may stand between their halves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
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
"""Vectors that several idioms read."""
