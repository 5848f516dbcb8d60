"""`compile_onnx` on graphs of moves and arithmetic in If, Loop and Scan: right, refused, or with a warning.

Types include strings and 64-bit integers. The oracle is onnxruntime without optimisations. A crash is a finding.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper, parser

from ov_gather.converters import ConversionError, LossyConversionWarning, compile_onnx

TRIALS = 25
SECONDS = 60
LENGTH = 4
TYPES = ("float", "int32", "int64", "string")
ARITHMETIC = ("y = Add(a, b)", "y = Sub(a, b)", "y = Neg(a)", "y = Abs(a)")
MOVES = (
    *("y = Gather(a, indices)", "y = GatherElements(a, indices)", "y = ScatterElements(a, order, b)", "y = Where(mask, a, b)"),
    *("y = Identity(a)", "y = Slice(a, zero, last)", "p = Concat<axis = 0>(a, b) y = Slice(p, one, five)"),
    "p, q = Split<axis = 0, num_outputs = 2>(a) y = Concat<axis = 0>(q, p)",
    *("p = Reshape(a, square) y = Reshape(p, flat)", "p = Reshape(a, square) q = Transpose(p) y = Reshape(q, flat)"),
)
CONTROL = (
    "y = If(yes) <then_branch = p () => (T q) { q = BODY(a, b) }, else_branch = r () => (T s) { s = BODY(a, b) }>",
    "y = Loop(trips, yes, a) <body = p (int64 q, bool r, T s) => (bool t, T u) { t = Identity(r) u = BODY(b, s) }>",
    "p = Concat<axis = 0>(a, b) q = Reshape(p, rows)"
    " y = Scan(a, q) <num_scan_inputs = 1, body = r (T s, T t) => (T u) { u = BODY(s, t) }>",
)
"""Nodes that make `y` of earlier values `a` and `b`, which are vectors of `LENGTH` elements; other letters are new names."""


class _Chain:
    """The nodes of a graph or body, each applied to earlier values."""

    def __init__(self, rng: np.random.Generator, element_type: str, values: list[str], numbers: Iterator[int]) -> None:
        self.rng, self.type, self.values, self.numbers, self.text = rng, element_type, list(values), numbers, ""

    def pick(self) -> str:
        return self.values[-1] if self.rng.random() < 0.6 else str(self.rng.choice(self.values))

    def extend(self, nodes: int, depth: int) -> None:
        """Append `nodes` operators; control flow nests up to `depth` bodies."""
        choices = [*MOVES, *(ARITHMETIC if self.type != "string" else ())]
        choices += CONTROL if depth and self.rng.random() < 0.5 else ()
        for _ in range(nodes):
            number, names = next(self.numbers), {"a": self.pick(), "b": self.pick(), "T": f"{self.type}[{LENGTH}]"}
            made = str(self.rng.choice(choices))
            made = re.sub(r"\b[abp-uyT]\b", lambda found: names.get(found[0], f"{found[0]}{number}"), made)  # noqa: B023
            self.text += " " + re.sub(r"(\w+) = BODY\((\w+), (\w+)\)", lambda found: self.body(depth, *found.groups()), made)
            self.values.append(f"y{number}")

    def body(self, depth: int, output: str, *values: str) -> str:
        inner = _Chain(self.rng, self.type, list(values), self.numbers)
        inner.extend(int(self.rng.integers(1, 4)), depth - 1)
        return f"{inner.text} {output} = Identity({inner.pick()})"


def _constants(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {
        **{"zero": np.array([0]), "one": np.array([1]), "five": np.array([LENGTH + 1]), "last": np.array([2**63 - 1])},
        **{"square": np.array([2, 2]), "flat": np.array([-1]), "rows": np.array([2, LENGTH]), "trips": np.array(2)},
        **{"mask": rng.random(LENGTH) < 0.5, "order": rng.permutation(LENGTH), "yes": np.array(rng.random() < 0.5)},
        "indices": rng.integers(-LENGTH, LENGTH, LENGTH),
    }


def _numbers(rng: np.random.Generator, element_type: str) -> np.ndarray:
    if element_type == "string":
        return np.array([f"{i}: {'long' * 12}" for i in rng.integers(0, 99, LENGTH)], object)
    return rng.integers(-99, 99, LENGTH).astype("float32" if element_type == "float" else element_type)


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Compile a random graph, and execute it twice."""
    element_type = str(rng.choice(TYPES))
    chain = _Chain(rng, element_type, ["x", "w"], count())
    chain.extend(int(rng.integers(2, 7)), 2)
    outputs = list(dict.fromkeys([chain.values[-1], str(rng.choice(chain.values[2:]))]))
    vector = f"{element_type}[{LENGTH}]"
    results = ", ".join(f"{vector} {name}" for name in outputs)
    graph = parser.parse_graph(f"g ({vector} x, {vector} w) => ({results}) {{ {chain.text} }}")
    constants = _constants(rng)
    given = [name for name in ("mask", "order", "yes", "indices") if rng.random() < 0.5]
    for name, array in constants.items():
        if name in given:
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            graph.input.append(helper.make_tensor_value_info(name, kind, array.shape))
        else:
            graph.initializer.append(numpy_helper.from_array(array, name))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level, options.log_severity_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", LossyConversionWarning)
            compiled = compile_onnx(model)
    except (ConversionError, LossyConversionWarning):
        return
    if element_type == "string" and any(node.op_type == "Gather" for node in graph.node):
        return  # onnxruntime gathers strings incorrectly
    for _ in range(2):
        feeds = {name: _numbers(rng, element_type) for name in ("x", "w")} | {name: constants[name] for name in given}
        used = {port.name for port in compiled.inputs}
        right = session.run(outputs, {port.name: feeds[port.name] for port in session.get_inputs()})
        got = compiled({name: array for name, array in feeds.items() if name in used})
        for name, expected in zip(outputs, right, strict=True):
            assert np.array_equal(got[name], expected), f"{name}: {got[name]}, not {expected}\n{onnx.printer.to_text(model)}"
