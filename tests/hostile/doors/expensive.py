"""Models of a few kilobytes that could cost exponential time or memory: every command ends, in bounded memory."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import openvino
from onnx import TensorProto, helper, numpy_helper

from helpers.preparing import prepared

TRIALS = 3
SECONDS = 400
LIMIT = 40  # seconds of CPU time for each process of a command; imports alone need 5
WAIT = 180  # seconds for one command; the machine may do other work, too
MEMORY = 8 * 2**30  # bytes of address space; OpenVINO reserves more than it uses
LIMITS = f"resource.setrlimit(resource.RLIMIT_AS, ({MEMORY},) * 2); resource.setrlimit(resource.RLIMIT_CPU, ({LIMIT},) * 2)"
ON_ONNX = (
    ["convert", "-o", "out.xml"],
    ["convert", "-o", "out.xml", "--target", "extension"],
    ["legalize", "-o", "out.onnx"],
    ["prove"],
)
ON_IR = (
    *(["validate"], ["check"], ["prove"], ["accelerate", "-o", "out.xml"], ["harden", "-o", "out.xml"], ["diff", "in.xml"]),
    ["bisect", "in.xml"],
)
N = helper.make_node


def _info(name: str, kind: int = TensorProto.FLOAT, shape: object = (3,)) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def nested_ifs(depth: int) -> list[onnx.NodeProto]:
    """Return nodes for `y`: a gather inside `depth` nested Ifs, each in the then-branch of the next."""
    nodes = [N("Gather", ["x", "i"], ["inner"])]
    for k in range(depth):
        other = helper.make_graph([N("Neg", ["x"], [f"e{k}"])], f"else{k}", [], [_info(f"e{k}")])
        then = helper.make_graph(nodes, f"then{k}", [], [_info(nodes[-1].output[0])])
        nodes = [N("If", ["c"], [f"y{k}"], then_branch=then, else_branch=other)]
    return [*nodes, N("Identity", [nodes[-1].output[0]], ["y"])]


def chain(operator: str, first: str, depth: int, **attributes: int) -> list[onnx.NodeProto]:
    """Return nodes for `last`: `depth` operators that take the value before twice, for 2^depth paths."""
    names = [first, *(f"d{k}" for k in range(depth - 1)), "last"]
    return [N(operator, [before, before], [after], **attributes) for before, after in pairwise(names)]


def concatenated(depth: int) -> list[onnx.NodeProto]:
    """Return nodes for `y`: a gather from a vector that is concatenated with itself `depth` times."""
    return [*chain("Concat", "x", depth, axis=0), N("Gather", ["last", "i"], ["y"])]


def constant(size: int) -> list[onnx.NodeProto]:
    """Return nodes for `y`: a gather by a constant Range of `size` elements."""
    end = numpy_helper.from_array(np.array(size), "end")
    return [N("Constant", [], ["end"], value=end), N("Range", ["zero", "end", "one"], ["r"]), N("Gather", ["x", "r"], ["y"])]


def model(nodes: list[onnx.NodeProto]) -> onnx.ModelProto:
    """Return a model of nodes that compute `y`."""
    constants = {"zero": np.array(0), "one": np.array(1), "three": np.array(3)}
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    inputs = [_info("x"), _info("i", TensorProto.INT64), _info("c", TensorProto.BOOL, [])]
    graph = helper.make_graph(nodes, "g", inputs, [_info("y", shape=None)], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Build such a model, and run one command on it as ONNX, and one as an IR if OpenVINO reads it."""
    depth, gather = int(rng.integers(13, 24)), N("Gather", ["x", "i"], ["first"])
    made = [
        lambda: nested_ifs(depth),
        lambda: [gather, *chain(str(rng.choice(["Add", "Mul"])), "first", 4 * depth), N("Identity", ["last"], ["y"])],
        lambda: [*chain("Add", "i", 4 * depth), N("Mod", ["last", "three"], ["m"]), N("Gather", ["x", "m"], ["y"])],
        lambda: concatenated(depth - 3),
        lambda: concatenated(2 * depth + 12),  # exceeds any memory: `check` would execute models that fit, for minutes
        lambda: constant(2 ** int(rng.integers(32, 63))),
    ][int(rng.integers(6))]()
    onnx.save(model(made), folder / "in.onnx")
    _run(folder, ON_ONNX[int(rng.integers(len(ON_ONNX)))], "in.onnx")
    if any(node.op_type == "Range" for node in made):
        return
    openvino.save_model(openvino.Core().read_model(folder / "in.onnx"), folder / "in.xml")
    _run(folder, ON_IR[int(rng.integers(len(ON_IR)))], "in.xml")


def _run(folder: Path, arguments: list[str], name: str) -> None:
    command = [sys.executable, "-c", "from ov_gather.cli import main; main()", arguments[0], name, *arguments[1:]]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            prepared(LIMITS, command), cwd=folder, env=environment, capture_output=True, text=True, timeout=WAIT
        )
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{' '.join(command[3:])}: no end within {WAIT} s") from None
    assert done.returncode in (0, 1, 2), f"{' '.join(command[3:])}: exit {done.returncode}\n{done.stderr[-500:]}"
    assert "Traceback" not in done.stderr, done.stderr[-1000:]
