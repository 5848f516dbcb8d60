"""`compile_onnx` on graphs of moves and arithmetic in If, Loop and Scan: right, refused, or with a warning.

Types include strings and 64-bit integers. The oracle is onnxruntime without optimisations. A crash is a finding.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from ov_gather.converters import ConversionError, LossyConversionWarning, compile_onnx

TRIALS = 25
SECONDS = 60
N = helper.make_node
LENGTH = 4
KINDS = (TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.STRING)
ARITHMETIC = ("Add", "Sub", "Neg", "Abs")
MOVES = ("Gather", "GatherElements", "ScatterElements", "Concat", "Reshape", "Slice", "Split", "Identity", "Where", "Transpose")


class _Chain:
    """The nodes of a graph or body, each applied to earlier values. All values are vectors of `LENGTH` elements of one type."""

    def __init__(self, rng: np.random.Generator, kind: int, values: list[str], prefix: str) -> None:
        self.rng, self.kind, self.values, self.prefix, self.nodes = rng, kind, list(values), prefix, []

    def name(self) -> str:
        return f"{self.prefix}_{len(self.nodes)}"

    def pick(self) -> str:
        return self.values[-1] if self.rng.random() < 0.6 else str(self.rng.choice(self.values))

    def node(self, kind: str, inputs: list[str], **attributes: object) -> str:
        name = self.name()
        self.nodes.append(N(kind, inputs, [name], **attributes))
        return name

    def extend(self, count: int, depth: int) -> None:
        """Append `count` nodes; control flow nests up to `depth` bodies."""
        choices = [*MOVES, *(ARITHMETIC if self.kind != TensorProto.STRING else ())]
        choices += ["If", "Loop", "Scan"] if depth and self.rng.random() < 0.5 else []
        for _ in range(count):
            self.values.append(self.made(str(self.rng.choice(choices)), depth))

    def made(self, operator: str, depth: int) -> str:
        """Append an operator, as one or several nodes; return its output."""
        a, b = self.pick(), self.pick()
        match operator:
            case "Neg" | "Abs" | "Identity":
                return self.node(operator, [a])
            case "Add" | "Sub":
                return self.node(operator, [a, b])
            case "Where":
                return self.node("Where", ["mask", a, b])
            case "Gather" | "GatherElements":
                return self.node(operator, [a, "indices"])
            case "ScatterElements":
                return self.node(operator, [a, "order", b])
            case "Concat":
                both = self.node("Concat", [a, b], axis=0)
                return self.node("Slice", [both, "one", "five"])
            case "Slice":
                return self.node("Slice", [a, "zero", "last"])
            case "Split":
                halves = [f"{self.name()}_{i}" for i in range(2)]
                self.nodes.append(N("Split", [a], halves, axis=0, num_outputs=2))
                return self.node("Concat", halves[::-1], axis=0)
            case "Reshape" | "Transpose":
                square = self.node("Reshape", [a, "square"])
                return self.node("Reshape", [self.node("Transpose", [square]) if operator == "Transpose" else square, "flat"])
        return self.controlled(operator, a, b, depth)

    def controlled(self, operator: str, a: str, b: str, depth: int) -> str:
        name = self.name()
        if operator == "If":
            branches = {f"{side}_branch": self.body(f"{name}{side}", [], [a, b], depth) for side in ("then", "else")}
            return self.node("If", ["yes"], **branches)
        state, element = f"{name}s", f"{name}e"
        if operator == "Loop":
            ahead = [_info(f"{name}i", TensorProto.INT64, []), _info(f"{name}c", TensorProto.BOOL, [])]
            body = self.body(name, [*ahead, _info(state, self.kind)], [b, state], depth)
            body.node.append(N("Identity", [f"{name}c"], [f"{name}d"]))
            body.output.insert(0, _info(f"{name}d", TensorProto.BOOL, []))
            return self.node("Loop", ["trips", "yes", a], body=body)
        row = self.node("Concat", [a, b], axis=0)
        rows = self.node("Reshape", [row, "rows"])
        body = self.body(name, [_info(state, self.kind), _info(element, self.kind)], [state, element], depth)
        made = f"{self.name()}"
        self.nodes.append(N("Scan", [a, rows], [made], body=body, num_scan_inputs=1))
        return made

    def body(self, name: str, inputs: list[onnx.ValueInfoProto], values: list[str], depth: int) -> onnx.GraphProto:
        inner = _Chain(self.rng, self.kind, values, f"{name}b")
        inner.extend(int(self.rng.integers(1, 4)), depth - 1)
        end = inner.node("Identity", [inner.pick()])
        return helper.make_graph(inner.nodes, f"{name}_body", inputs, [_info(end, self.kind)])


def _info(name: str, kind: int, shape: object = (LENGTH,)) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def _constants(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {
        **{"zero": np.array([0]), "one": np.array([1]), "five": np.array([LENGTH + 1]), "last": np.array([2**63 - 1])},
        **{"square": np.array([2, 2]), "flat": np.array([-1]), "rows": np.array([2, LENGTH]), "trips": np.array(2)},
        **{"mask": rng.random(LENGTH) < 0.5, "order": rng.permutation(LENGTH), "yes": np.array(rng.random() < 0.5)},
        "indices": rng.integers(-LENGTH, LENGTH, LENGTH),
    }


def _numbers(rng: np.random.Generator, kind: int) -> np.ndarray:
    if kind == TensorProto.STRING:
        return np.array([f"{i}: {'long' * 12}" for i in rng.integers(0, 99, LENGTH)], object)
    return rng.integers(-99, 99, LENGTH).astype(helper.tensor_dtype_to_np_dtype(kind))


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Compile a random graph, and execute it twice."""
    kind = int(rng.choice(KINDS))
    chain = _Chain(rng, kind, ["x", "w"], "n")
    chain.extend(int(rng.integers(2, 7)), 2)
    outputs = list(dict.fromkeys([chain.values[-1], str(rng.choice(chain.values[2:]))]))
    constants = _constants(rng)
    given = [name for name in ("mask", "order", "yes", "indices") if rng.random() < 0.5]
    inputs = [_info(name, kind) for name in ("x", "w")]
    inputs += [_info(name, helper.np_dtype_to_tensor_dtype(constants[name].dtype), constants[name].shape) for name in given]
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items() if name not in given]
    graph = helper.make_graph(chain.nodes, "g", inputs, [_info(name, kind) for name in outputs], tensors)
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
    if kind == TensorProto.STRING and any(node.op_type == "Gather" for node in chain.nodes):
        return  # onnxruntime gathers strings incorrectly
    for _ in range(2):
        feeds = {name: _numbers(rng, kind) for name in ("x", "w")} | {name: constants[name] for name in given}
        used = {port.name for port in compiled.inputs}
        right = session.run(outputs, {port.name: feeds[port.name] for port in session.get_inputs()})
        got = compiled({name: array for name, array in feeds.items() if name in used})
        for name, expected in zip(outputs, right, strict=True):
            assert np.array_equal(got[name], expected), f"{name}: {got[name]}, not {expected}\n{onnx.printer.to_text(model)}"
