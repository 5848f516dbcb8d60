"""Random ONNX models for bisections, the IRs that OpenVINO makes of them, and faults that are planted into the IRs."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import openvino as ov
from onnx import TensorProto, helper, numpy_helper

from helpers.planting import Planted, candidates, inner_candidates, is_visible
from ov_gather.ir.model import Model
from ov_gather.ir.reader import read_ir
from ov_gather.runtimes.configured import ConfiguredModel, Setting
from ov_gather.runtimes.isolated import borrowed

ROWS, WIDTH = 3, 8
KINDS = ("attribute", "constant", "operands", "axis", "dropped", "slices")
_UNARY = ("Tanh", "Sigmoid", "Relu", "Abs", "Neg", "Sin", "Erf", "Identity", "Softmax", "LogSoftmax")
_BINARY = ("Sub", "Add", "Mul", "Max", "Min")


def outputs_of(model: Model, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray] | None:
    """Return stock OpenVINO's outputs; None if it refuses the model or crashes."""
    arrays = [inputs[layer.name] for layer in model.of_type("Parameter")]
    with borrowed(["configured"]) as (runtime,):
        found = runtime.run(ConfiguredModel(model, Setting()), arrays, 1)
    return None if isinstance(found, Exception) else found


@dataclass(frozen=True)
class Pair:
    """An ONNX model and the IR that OpenVINO made of it, in files, with inputs."""

    source: Path
    path: Path
    ir: Model
    inputs: dict[str, np.ndarray]

    def outputs(self, model: Model) -> list[np.ndarray] | None:
        """Execute an IR on these inputs, without outputs that rounding decides; None if OpenVINO refuses it or crashes."""
        found = outputs_of(model, self.inputs)
        if found is None:
            return None
        names = [value.name for value in onnx.load(self.source).graph.output]
        return [array for name, array in zip(names, found, strict=True) if not name.startswith(("ties", "centred"))]


def make_pair(rng: np.random.Generator, folder: Path) -> Pair:
    """Write a random model, and its conversion by OpenVINO."""
    model, arrays = make_model(rng)
    source, path = folder / "model.onnx", folder / "model.xml"
    onnx.save(model, source)
    ov.save_model(ov.Core().read_model(source), path, compress_to_fp16=False)
    return Pair(source, path, read_ir(path), arrays)


def plant(pair: Pair, rng: random.Random) -> Planted | None:
    """Plant a fault that changes an output, in a body if there are ways to; None if none is found soon."""
    right = pair.outputs(pair.ir)
    if right is None:
        return None
    for kind in rng.sample(KINDS, len(KINDS)):
        ways = [list(inner_candidates(pair.ir, kind)), list(candidates(pair.ir, kind))]
        ways = [found for found in ways if found]
        for way in rng.sample(ways[0], min(4, len(ways[0]))) if ways else ():
            planted = way(rng)
            if planted is not None and is_visible(right, pair.outputs(planted.model)):
                return planted
    return None


def make_model(rng: np.random.Generator, *, only_bodies: bool = False) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Make a model and inputs for it; with `only_bodies`, one that has two or three nodes with bodies, and one output."""
    model = _Maker(rng, only_bodies).model()
    arrays = {
        "x": rng.standard_normal((ROWS, WIDTH)).astype(np.float32),
        "condition": np.array(bool(rng.integers(2))),
        "count": np.array(rng.integers(2, 5)),
    }
    return model, arrays


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


class _Maker:
    """Makes graphs of values with one shape, some of which are outputs."""

    def __init__(self, rng: np.random.Generator, only_bodies: bool) -> None:
        self.rng, self.count, self.depth, self.only_bodies = rng, 0, 0, only_bodies

    def name(self, text: str) -> str:
        self.count += 1
        return f"{text}_{self.count}"

    def numbers(self, *shape: int) -> np.ndarray:
        return self.rng.standard_normal(shape).astype(np.float32)

    def model(self) -> onnx.ModelProto:
        graph = Graph()
        graph.constant("first", np.array([0]))
        last = self.chain(graph, "x")
        outputs = []
        kinds = [self.branches, self.loop, self.scan, self.centred, self.near_ties, self.open_order][
            : 3 if self.only_bodies else 6
        ]
        for position in self.rng.permutation(len(kinds))[: self.rng.integers(1 + self.only_bodies, 4)]:
            last, given = kinds[position](graph, last)
            outputs += [] if self.only_bodies else given
            last = self.chain(graph, last)
        outputs.append(last)
        inputs = [info("x"), info("condition", TensorProto.BOOL, ()), info("count", TensorProto.INT64, ())]
        made = graph.made("g", inputs, [info(name, shape=None) for name in outputs])
        return helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)

    def chain(self, graph: Graph, last: str) -> str:
        before = last
        for _ in range(self.rng.integers(*((3, 9) if self.only_bodies else (2, 6)))):
            before, last = last, self.step(graph, last, before)
        new = self.name("bounded")
        graph.node("Tanh", [last], new)
        return new

    def step(self, graph: Graph, last: str, before: str) -> str:
        kind = self.rng.choice([*_UNARY, *_BINARY, *_BINARY, "MatMul", "ReduceMean", "CumSum", "Gather", "Transpose"])
        new = self.name(kind.lower())
        if kind in _UNARY:
            graph.node(kind, [last], new, **({"axis": int(self.rng.integers(2))} if "oftmax" in kind else {}))
        elif kind in _BINARY:
            graph.constant(f"{new}_c", self.numbers(ROWS, WIDTH))
            graph.node(kind, [last, before if self.rng.random() < 0.5 else f"{new}_c"], new)
        elif kind == "MatMul":
            graph.constant(f"{new}_w", self.numbers(WIDTH, WIDTH) / 2)
            graph.node(kind, [last, f"{new}_w"], new)
        elif kind == "ReduceMean":
            graph.constant(f"{new}_axes", np.array([1]))
            graph.node(kind, [last, f"{new}_axes"], f"{new}_mean", keepdims=1)
            graph.node("Sub", [last, f"{new}_mean"], new)
        elif kind == "Transpose":
            graph.node(kind, [last], f"{new}_t", perm=[1, 0])
            graph.node("Sin", [f"{new}_t"], f"{new}_sin")
            graph.node(kind, [f"{new}_sin"], new, perm=[1, 0])
        elif kind == "CumSum":
            graph.constant(f"{new}_axis", np.array(1))
            graph.node(kind, [last, f"{new}_axis"], new)
        else:
            graph.constant(f"{new}_rows", self.rng.integers(0, WIDTH, WIDTH))
            graph.node(kind, [last, f"{new}_rows"], new, axis=1)
        return new

    def centred(self, graph: Graph, last: str) -> tuple[str, list[str]]:
        """The sum of centred values is nothing but rounding."""
        new = self.name("centred")
        graph.constant(f"{new}_axes", np.array([1]))
        graph.node("ReduceMean", [last, f"{new}_axes"], f"{new}_mean")
        graph.node("Sub", [last, f"{new}_mean"], f"{new}_values")
        graph.node("ReduceSum", [f"{new}_values", f"{new}_axes"], f"{new}_sum")
        if self.rng.random() < 0.5:
            return last, [f"{new}_sum"]
        graph.constant(f"{new}_large", np.array(1e6, np.float32))
        graph.node("Mul", [f"{new}_sum", f"{new}_large"], f"{new}_seen")
        graph.node("Add", [last, f"{new}_seen"], new)
        return new, []

    def near_ties(self, graph: Graph, last: str) -> tuple[str, list[str]]:
        """Rounding decides which of two nearly equal numbers is the larger one."""
        new = self.name("ties")
        weights = self.numbers(WIDTH, WIDTH)
        order = self.rng.permutation(WIDTH)
        rows = np.eye(WIDTH, dtype=np.float32)[order]
        graph.constant(f"{new}_w", weights)
        graph.constant(f"{new}_order", order)
        graph.constant(f"{new}_rows", rows @ weights)
        graph.constant(f"{new}_k", np.array([3]))
        graph.node("MatMul", [last, f"{new}_w"], f"{new}_one")
        graph.node("Gather", [last, f"{new}_order"], f"{new}_moved", axis=1)
        graph.node("MatMul", [f"{new}_moved", f"{new}_rows"], f"{new}_other")
        graph.node("Concat", [f"{new}_one", f"{new}_other"], f"{new}_both", axis=1)
        graph.node("TopK", [f"{new}_both", f"{new}_k"], f"{new}_best", f"{new}_places", axis=1)
        graph.node("Cast", [f"{new}_places"], f"{new}_seen", to=TensorProto.FLOAT)
        return last, [f"{new}_seen"]

    def open_order(self, graph: Graph, last: str) -> tuple[str, list[str]]:
        """Any order of all numbers, of which many are equal, is right."""
        new = self.name("ties")
        graph.constant(f"{new}_k", np.array([8 * WIDTH]))
        graph.node("Concat", [last] * 8, f"{new}_many", axis=1)
        graph.node("Round", [f"{new}_many"], f"{new}_round")
        graph.node("TopK", [f"{new}_round", f"{new}_k"], f"{new}_best", f"{new}_places", axis=1, sorted=0)
        graph.node("GatherElements", [f"{new}_many", f"{new}_places"], f"{new}_moved", axis=1)
        return last, [f"{new}_moved"]

    def nested(self, make: Callable[[Graph, str], tuple[str, list[str]]], graph: Graph, last: str) -> str:
        """Sometimes append another node with a body, at most two in one another."""
        if self.depth == 2 or self.rng.random() < 0.7:
            return last
        self.depth += 1
        last = self.chain(graph, make(graph, last)[0])
        self.depth -= 1
        return last

    def branches(self, graph: Graph, last: str) -> tuple[str, list[str]]:
        new, made = self.name("choice"), []
        for _ in range(2):
            inner = Graph()
            out = self.chain(inner, last)
            out = self.nested(self.loop, inner, out)
            made.append(inner.made(self.name("branch"), [], [info(out)]))
        graph.node("If", ["condition"], new, then_branch=made[0], else_branch=made[1])
        return new, []

    def loop(self, graph: Graph, last: str) -> tuple[str, list[str]]:
        inner, new = Graph(), self.name("loop")
        iteration, goes_on, state = (f"{new}_{part}" for part in ("i", "go", "state"))
        inner.node("Identity", [goes_on], f"{new}_on")
        if self.rng.random() < 0.5:
            inner.node("Cast", [iteration], f"{new}_float", to=TensorProto.FLOAT)
            inner.node("Mul", [state, f"{new}_float"], f"{new}_grown")
            inner.node("Sub", [f"{new}_grown", last], f"{new}_less")
            after = self.chain(inner, f"{new}_less")
        else:
            after = self.chain(inner, state)
        after = self.nested(self.branches, inner, after)
        seen = self.given_out(inner, state)
        inputs = [info(iteration, TensorProto.INT64, ()), info(goes_on, TensorProto.BOOL, ()), info(state)]
        body = inner.made(self.name("body"), inputs, [info(f"{new}_on", TensorProto.BOOL, ()), info(after), info(seen)])
        graph.node("Loop", ["count", "", last], new, f"{new}_all", body=body)
        return self.with_slices(graph, new), [f"{new}_all"]

    def with_slices(self, graph: Graph, name: str) -> str:
        """Subtract the greatest of the slices that a body has stacked, unless they are an output."""
        if not self.only_bodies:
            return name
        graph.node("ReduceMax", [f"{name}_all", "first"], f"{name}_most", keepdims=0)
        graph.node("Sub", [name, f"{name}_most"], f"{name}_both")
        return f"{name}_both"

    def given_out(self, inner: Graph, value: str) -> str:
        """Compute what a body stacks from a value; sometimes that is the value itself."""
        if self.rng.random() < 0.8:
            return self.chain(inner, value)
        new = self.name("same")
        inner.node("Identity", [value], new)
        return new

    def scan(self, graph: Graph, last: str) -> tuple[str, list[str]]:
        inner, new = Graph(), self.name("scan")
        state, piece = f"{new}_state", f"{new}_piece"
        graph.node("Unsqueeze", [last, "first"], f"{new}_one")
        graph.constant(f"{new}_scale", np.array([1, -2, 3], np.float32).reshape(3, 1, 1))
        graph.node("Mul", [f"{new}_one", f"{new}_scale"], f"{new}_pieces")
        inner.node("Sub", [state, piece], f"{new}_less")
        after = self.chain(inner, f"{new}_less")
        seen = self.given_out(inner, self.rng.choice([f"{new}_less", state, piece]))
        body = inner.made(self.name("body"), [info(state), info(piece)], [info(after), info(seen)])
        graph.node("Scan", [last, f"{new}_pieces"], new, f"{new}_all", body=body, num_scan_inputs=1)
        return self.with_slices(graph, new), [f"{new}_all"]
