"""Idioms that OpenVINO computes wrongly, as ONNX models, with a layer between their halves that changes nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx.parser
from numpy.typing import NDArray

# Nodes that make b of a, and change nothing. T is the element type; `shape` is the shape of a, `flat` its number of elements.
LAYERS = {
    "nothing": "b = Identity(a)",
    "plus 0": "zero = Constant<value = T {0}>() b = Add(a, zero)",
    "0 plus": "zero = Constant<value = T {0}>() b = Add(zero, a)",
    "minus 0": "zero = Constant<value = T {0}>() b = Sub(a, zero)",
    "times 1": "one = Constant<value = T {1}>() b = Mul(a, one)",
    "over 1": "one = Constant<value = T {1}>() b = Div(a, one)",
    "two signs": "m = Neg(a) b = Neg(m)",
    "Reshape": "s = Shape(a) b = Reshape(a, s)",
    "there and back": "r = Constant<value = int64[2] {1, -1}>() m = Reshape(a, r) s = Shape(a) b = Reshape(m, s)",
    "Slice": """z = Constant<value = int64[1] {0}>() e = Constant<value = int64[1] {9223372036854775807}>()
        b = Slice(a, z, e, z)""",
    "Concat": "b = Concat<axis = 0>(a)",
    "Max": "b = Max(a)",
    "Where": "c = Constant<value = bool {1}>() b = Where(c, a, a)",
    "Expand": "s = Shape(a) b = Expand(a, s)",
    "Tile": "r = Constant<value = int64[1] {1}>() b = Tile(a, r)",
    "Transpose": "m = Transpose<perm = [0]>(a) b = Transpose<perm = [0]>(m)",
    "Cast": "b = Cast<to = N>(a)",
}


@dataclass(frozen=True)
class Idiom:
    """An idiom.

    Attributes:
        inputs: of the model, with values at which OpenVINO is wrong.
        before, after: nodes that make a, and those that read b.
        type: the element type of a.
        outputs: of the model, with types.
    """

    inputs: Mapping[str, NDArray[Any]]
    before: str
    type: str
    after: str
    outputs: str


X, W = np.float32([-0.5, 0.5, 2, 0]), np.float32([-1, -2, 3, -4])
BIG = np.int32([2**24 + 1, 5, -(2**24) - 1, 7])
IDIOMS = {
    "NonZero of a Cast": Idiom({"x": X}, "a = Cast<to = 6>(x)", "int32", "y = NonZero(b)", "int64[1, n] y"),
    "NonZero of bytes": Idiom(
        {"x": np.int32([256, 1, 0, 512])}, "a = Cast<to = 2>(x)", "uint8", "y = NonZero(b)", "int64[1, n] y"
    ),
    "Abs of a Concat": Idiom(
        {"x": X, "w": W}, "a = Concat<axis = 0>(x, w) q = Identity(a)", "float", "y = Abs(b)", "float[8] q, float[8] y"
    ),
    "Abs of a nested Concat": Idiom(
        {"x": X, "w": W},
        "i = Concat<axis = 0>(x, w) a = Concat<axis = 0>(i, x) q = Neg(i)",
        "float",
        "y = Abs(b)",
        "float[8] q, float[12] y",
    ),
    "Cast of another output": Idiom(
        {"x": np.float32([0, 0, 1, 2])},
        "s = Constant<value = int64[1] {2}>() l, a = TopK<largest = 0>(x, s)",
        "int64",
        "y = Cast<to = 9>(b)",
        "bool[2] y",
    ),
    "Where of a comparison": Idiom(
        {"x": BIG, "z": BIG[::-1].copy()},
        "o = Constant<value = int32 {6}>() a = Less(x, o)",
        "bool",
        "y = Where(b, x, z)",
        "int32[4] y",
    ),
    "Range away from its limit": Idiom(
        {"x": np.int64([5]), "z": np.int64([2])},
        "a = Identity(z)",
        "int64",
        """e = Constant<value = int64[0] {}>() p = Reshape(x, e) l = Reshape(b, e) o = Constant<value = int64 {1}>()
        y = Range(p, l, o)""",
        "int64[n] y",
    ),
    "Abs of folded": Idiom(
        {"x": X[:2]},
        "k = Constant<value = int32[2] {-7, 2}>() a = Cast<to = 1>(k)",
        "float",
        "m = Abs(b) y = Add(x, m)",
        "float[2] y",
    ),
    "Relu of integers": Idiom({"x": BIG}, "a = Identity(x)", "int32", "y = Relu(b)", "int32[4] y"),
}
"""The idioms."""

_TYPES = {"float32": "float", "int32": "int32", "int64": "int64"}
_NUMBERS = {"float": 1, "uint8": 2, "int32": 6, "int64": 7, "bool": 9}


def model_of(idiom: str, layer: str, opset: int, place: str) -> tuple[onnx.ModelProto, dict[str, NDArray[Any]]]:
    """Return the model of an idiom with a layer in it, at the top level or in both branches of an If, and its inputs."""
    found = IDIOMS[idiom]
    between = LAYERS[layer].replace("T {", f"{found.type} {{").replace("to = N", f"to = {_NUMBERS[found.type]}")
    inputs = ", ".join(f"{_TYPES[str(value.dtype)]}[{value.size}] {name}" for name, value in found.inputs.items())
    body, feeds = f"{found.before} {between} {found.after}", dict(found.inputs)
    text = f"({inputs}) => ({found.outputs}) {{ {body} }}"
    if place == "If":
        feeds["go"] = np.array(True)
        names = re.findall(r"(\w+)(?:,|$)", found.outputs)
        branches = ", ".join(
            re.sub(rf"\b({'|'.join(names)})\b", rf"\1_{branch}", f"{branch}_branch = g () => ({found.outputs}) {{ {body} }}")
            for branch in ("then", "else")
        )
        text = f"({inputs}, bool go) => ({found.outputs}) {{ {', '.join(names)} = If (go) <{branches}> }}"
    return onnx.parser.parse_model(f'<ir_version: 7, opset_import: ["" : {opset}]> g {text}'), feeds
