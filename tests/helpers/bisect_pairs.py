"""Random ONNX models for bisections, the IRs that OpenVINO makes of them, and faults that are planted into the IRs."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import openvino as ov
from onnx import TensorProto, helper, numpy_helper, parser

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

    def add(self, new: str, text: str, **constants: object) -> str:
        """Append nodes in ONNX's text format, in which "@" is the new name, and constants named after it; return the name."""
        for node in parser.parse_graph(f"nodes () => () {{ {text.replace('@', new)} }}").node:
            self.node(node)
        self.constants += [numpy_helper.from_array(np.asarray(array), f"{new}_{name}") for name, array in constants.items()]
        return new

    def node(self, node: onnx.NodeProto) -> None:
        node.name = f"{node.output[0]}/{node.op_type}"
        self.nodes.append(node)

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
        graph.constants.append(numpy_helper.from_array(np.array([0]), "first"))
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
        return graph.add(self.name("bounded"), f"@ = Tanh({last})")

    def step(self, graph: Graph, last: str, before: str) -> str:
        kind = self.rng.choice([*_UNARY, *_BINARY, *_BINARY, "MatMul", "ReduceMean", "CumSum", "Gather", "Transpose"])
        new = self.name(kind.lower())
        if kind in _UNARY:
            axis = f"<axis = {self.rng.integers(2)}>" if "oftmax" in kind else ""
            return graph.add(new, f"@ = {kind}{axis}({last})")
        if kind in _BINARY:
            other = before if self.rng.random() < 0.5 else "@_c"
            return graph.add(new, f"@ = {kind}({last}, {other})", c=self.numbers(ROWS, WIDTH))
        if kind == "MatMul":
            return graph.add(new, f"@ = MatMul({last}, @_w)", w=self.numbers(WIDTH, WIDTH) / 2)
        if kind == "ReduceMean":
            return graph.add(new, f"@_mean = ReduceMean({last}, @_axes) @ = Sub({last}, @_mean)", axes=[1])
        if kind == "Transpose":
            turned = f"@_t = Transpose<perm = [1, 0]>({last}) @_sin = Sin(@_t) @ = Transpose<perm = [1, 0]>(@_sin)"
            return graph.add(new, turned)
        if kind == "CumSum":
            return graph.add(new, f"@ = CumSum({last}, @_axis)", axis=1)
        return graph.add(new, f"@ = Gather<axis = 1>({last}, @_rows)", rows=self.rng.integers(0, WIDTH, WIDTH))

    def centred(self, graph: Graph, last: str) -> tuple[str, list[str]]:
        """The sum of centred values is nothing but rounding."""
        text = f"@_mean = ReduceMean({last}, @_axes) @_values = Sub({last}, @_mean) @_sum = ReduceSum(@_values, @_axes)"
        new = graph.add(self.name("centred"), text, axes=[1])
        if self.rng.random() < 0.5:
            return last, [f"{new}_sum"]
        return graph.add(new, f"@_seen = Mul(@_sum, @_large) @ = Add({last}, @_seen)", large=np.float32(1e6)), []

    def near_ties(self, graph: Graph, last: str) -> tuple[str, list[str]]:
        """Rounding decides which of two nearly equal numbers is the larger one."""
        weights, order = self.numbers(WIDTH, WIDTH), self.rng.permutation(WIDTH)
        text = f"""@_one = MatMul({last}, @_w) @_moved = Gather<axis = 1>({last}, @_order)
            @_other = MatMul(@_moved, @_rows) @_both = Concat<axis = 1>(@_one, @_other)
            @_best, @_places = TopK<axis = 1>(@_both, @_k) @_seen = Cast<to = {TensorProto.FLOAT}>(@_places)"""
        rows = np.eye(WIDTH, dtype=np.float32)[order] @ weights
        return last, [graph.add(self.name("ties"), text, w=weights, order=order, rows=rows, k=[3]) + "_seen"]

    def open_order(self, graph: Graph, last: str) -> tuple[str, list[str]]:
        """Any order of all numbers, of which many are equal, is right."""
        text = f"""@_many = Concat<axis = 1>({", ".join([last] * 8)}) @_round = Round(@_many)
            @_best, @_places = TopK<axis = 1, sorted = 0>(@_round, @_k)
            @_moved = GatherElements<axis = 1>(@_many, @_places)"""
        return last, [graph.add(self.name("ties"), text, k=[8 * WIDTH]) + "_moved"]

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
        graph.node(helper.make_node("If", ["condition"], [new], then_branch=made[0], else_branch=made[1]))
        return new, []

    def loop(self, graph: Graph, last: str) -> tuple[str, list[str]]:
        inner, new = Graph(), self.name("loop")
        iteration, goes_on, state = (f"{new}_{part}" for part in ("i", "go", "state"))
        inner.add(new, f"@_on = Identity({goes_on})")
        start = state
        if self.rng.random() < 0.5:
            start = f"{new}_less"
            grown = f"@_float = Cast<to = {TensorProto.FLOAT}>({iteration}) @_grown = Mul({state}, @_float)"
            inner.add(new, f"{grown} @_less = Sub(@_grown, {last})")
        after = self.chain(inner, start)
        after = self.nested(self.branches, inner, after)
        seen = self.given_out(inner, state)
        inputs = [info(iteration, TensorProto.INT64, ()), info(goes_on, TensorProto.BOOL, ()), info(state)]
        body = inner.made(self.name("body"), inputs, [info(f"{new}_on", TensorProto.BOOL, ()), info(after), info(seen)])
        graph.node(helper.make_node("Loop", ["count", "", last], [new, f"{new}_all"], body=body))
        return self.with_slices(graph, new), [f"{new}_all"]

    def with_slices(self, graph: Graph, name: str) -> str:
        """Subtract the greatest of the slices that a body has stacked, unless they are an output."""
        if not self.only_bodies:
            return name
        return graph.add(name, "@_most = ReduceMax<keepdims = 0>(@_all, first) @_both = Sub(@, @_most)") + "_both"

    def given_out(self, inner: Graph, value: str) -> str:
        """Compute what a body stacks from a value; sometimes that is the value itself."""
        if self.rng.random() < 0.8:
            return self.chain(inner, value)
        return inner.add(self.name("same"), f"@ = Identity({value})")

    def scan(self, graph: Graph, last: str) -> tuple[str, list[str]]:
        inner, new = Graph(), self.name("scan")
        state, piece = f"{new}_state", f"{new}_piece"
        scale = np.array([1, -2, 3], np.float32).reshape(3, 1, 1)
        graph.add(new, f"@_one = Unsqueeze({last}, first) @_pieces = Mul(@_one, @_scale)", scale=scale)
        inner.add(new, f"@_less = Sub({state}, {piece})")
        after = self.chain(inner, f"{new}_less")
        seen = self.given_out(inner, self.rng.choice([f"{new}_less", state, piece]))
        body = inner.made(self.name("body"), [info(state), info(piece)], [info(after), info(seen)])
        node = helper.make_node("Scan", [last, f"{new}_pieces"], [new, f"{new}_all"], body=body, num_scan_inputs=1)
        graph.node(node)
        return self.with_slices(graph, new), [f"{new}_all"]
