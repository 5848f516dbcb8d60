"""ONNX models whose nodes have bodies: If, Loop and Scan, with chains of nodes in them and around them."""

from __future__ import annotations

import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROWS, WIDTH = 3, 8
_KINDS = ("MatMul", "Tanh", "Sub", "Add", "Softmax", "Mul", "Transposed")


class Chains:
    """Chains of nodes with names that occur once in a model."""

    def __init__(self, seed: int) -> None:
        self.rng, self.numbers, self.count = random.Random(seed), np.random.default_rng(seed), 0

    def name(self, text: str) -> str:
        self.count += 1
        return f"{text}_{self.count}"

    def chain(self, graph: Graph, last: str, length: int) -> str:
        """Append nodes to a graph, each behind the one before. The values keep their shape, and stay small."""
        before = last
        for kind in self.rng.choices(_KINDS, k=length):
            new = self.name(kind.lower())
            if kind == "MatMul":
                weights = self.numbers.standard_normal((WIDTH, WIDTH)).astype(np.float32) / 2
                graph.constant(f"{new}_w", weights)
                graph.node("MatMul", [last, f"{new}_w"], new)
            elif kind == "Softmax":
                graph.node("Softmax", [last], f"{new}_s", axis=-1)
                graph.node("Sub", [last, f"{new}_s"], new)
            elif kind == "Tanh":
                graph.node("Tanh", [last], new)
            elif kind == "Transposed":
                graph.node("Transpose", [last], f"{new}_t", perm=[1, 0])
                graph.node("Sin", [f"{new}_t"], f"{new}_c")
                graph.node("Transpose", [f"{new}_c"], new, perm=[1, 0])
            else:
                graph.constant(f"{new}_b", self.numbers.standard_normal((ROWS, WIDTH)).astype(np.float32))
                graph.node(kind, [last, before if self.rng.random() < 0.3 else f"{new}_b"], new)
            before, last = last, new
        bounded = self.name("bounded")
        graph.node("Tanh", [last], bounded)
        return bounded


class Graph:
    """Nodes and constants of a graph or of a body."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def node(self, kind: str, inputs: list[str], output: str, *more: str, **attributes: object) -> None:
        self.nodes.append(helper.make_node(kind, inputs, [output, *more], name=f"{output}/{kind}", **attributes))

    def constant(self, name: str, array: np.ndarray) -> None:
        self.constants.append(numpy_helper.from_array(array, name))

    def made(self, name: str, inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto]) -> onnx.GraphProto:
        return helper.make_graph(self.nodes, name, inputs, outputs, self.constants)


def info(name: str, kind: int = TensorProto.FLOAT, shape: tuple[int, ...] | None = (ROWS, WIDTH)) -> onnx.ValueInfoProto:
    """Declare a value."""
    return helper.make_tensor_value_info(name, kind, shape)


def _branches(chains: Chains, graph: Graph, last: str, depth: int) -> str:
    made = []
    for branch in ("then", "else"):
        inner = Graph()
        out = chains.chain(inner, last, chains.rng.randint(4, 9))
        out = _loop(chains, inner, out, depth - 1) if depth and branch == "then" else out
        out = chains.chain(inner, out, 3)
        made.append(inner.made(chains.name(branch), [], [info(out)]))
    new = chains.name("choice")
    graph.node("If", ["condition"], new, then_branch=made[0], else_branch=made[1])
    return new


def _loop(chains: Chains, graph: Graph, last: str, depth: int) -> str:
    inner, new = Graph(), chains.name("loop")
    iteration, goes_on, state = (f"{new}_{part}" for part in ("i", "go", "state"))
    inner.node("Identity", [goes_on], f"{new}_on")
    inner.node("Cast", [iteration], f"{new}_float", to=TensorProto.FLOAT)
    inner.node("Mul", [state, f"{new}_float"], f"{new}_grown")
    inner.node("Sub", [f"{new}_grown", last], f"{new}_less")
    out = chains.chain(inner, f"{new}_less", chains.rng.randint(4, 9))
    out = _branches(chains, inner, out, depth - 1) if depth else out
    out = chains.chain(inner, out, 2)
    inner.node("Neg", [out], f"{new}_seen")
    inputs = [info(iteration, TensorProto.INT64, ()), info(goes_on, TensorProto.BOOL, ()), info(state)]
    outputs = [info(f"{new}_on", TensorProto.BOOL, ()), info(out), info(f"{new}_seen")]
    body = inner.made(chains.name("body"), inputs, outputs)
    graph.node("Loop", ["count", "", last], new, f"{new}_all", body=body)
    graph.node("ReduceMax", [f"{new}_all", "first"], f"{new}_most", keepdims=0)
    graph.node("Sub", [new, f"{new}_most"], f"{new}_both")
    return f"{new}_both"


def _scan(chains: Chains, graph: Graph, last: str, depth: int) -> str:
    inner, new = Graph(), chains.name("scan")
    graph.node("Unsqueeze", [last, "first"], f"{new}_one")
    graph.node("Concat", [f"{new}_one"] * 3, f"{new}_three", axis=0)
    graph.node("Mul", [f"{new}_three", "three"], f"{new}_pieces")
    state, piece = f"{new}_state", f"{new}_piece"
    inner.node("Sub", [state, piece], f"{new}_less")
    out = chains.chain(inner, f"{new}_less", chains.rng.randint(4, 9))
    body = inner.made(chains.name("body"), [info(state), info(piece)], [info(out)])
    graph.node("Scan", [last, f"{new}_pieces"], new, body=body, num_scan_inputs=1)
    return new


def body_model(seed: int) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Make a model with two or three nodes that have bodies, one of them nested; and inputs for it."""
    chains, graph = Chains(seed), Graph()
    graph.constant("first", np.array([0]))
    graph.constant("three", np.array([1, -2, 3], np.float32).reshape(3, 1, 1))
    last = chains.chain(graph, "x", 6)
    kinds = [_branches, _loop, _scan]
    chains.rng.shuffle(kinds)
    for i, kind in enumerate(kinds[: chains.rng.randint(2, 3)]):
        last = kind(chains, graph, last, int(i == 0))
        last = chains.chain(graph, last, chains.rng.randint(3, 8))
    inputs = [info("x"), info("condition", TensorProto.BOOL, ()), info("count", TensorProto.INT64, ())]
    made = graph.made("g", inputs, [info(last)])
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    arrays = {
        "x": chains.numbers.standard_normal((ROWS, WIDTH)).astype(np.float32),
        "condition": np.array(bool(chains.rng.randint(0, 1))),
        "count": np.array(chains.rng.randint(2, 4)),
    }
    return model, arrays
