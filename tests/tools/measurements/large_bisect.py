"""Measure `ov-gather bisect` on a chain of `--nodes` nodes, whose outputs have 64 MB each, with a fault in the middle.

The models are written to DIRECTORY.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import openvino as ov
from onnx import TensorProto, helper, numpy_helper

from helpers.planting import swapped
from ov_gather.ir.reader import read_ir
from ov_gather.ir.writer import write_ir
from tools.measurements.costs import OV_GATHER, cost_of

COLUMNS = ("planted in", "named", "runs", "nodes", "time", "CPU time", "memory of one process")
ROWS, WIDTH = 1 << 18, 64


def make(folder: Path, nodes: int) -> str:
    """Write a chain of MatMul, Sub and Tanh, and its conversion with two operands swapped; return the layer with the fault."""
    rng = np.random.default_rng(0)
    weights = numpy_helper.from_array((rng.standard_normal((WIDTH, WIDTH)) / 8).astype(np.float32), "w")
    bias = numpy_helper.from_array(rng.standard_normal(WIDTH).astype(np.float32), "b")
    chain = [("MatMul", ["w"]), ("Sub", ["b"]), ("Tanh", [])]
    made = []
    for i in range(nodes):
        kind, operands = chain[i % len(chain)]
        made.append(helper.make_node(kind, [f"v{i}", *operands], [f"v{i + 1}"], name=f"n{i}"))
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [ROWS, WIDTH]) for name in ("v0", f"v{nodes}")]
    graph = helper.make_graph(made, "g", infos[:1], infos[1:], [weights, bias])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / "m.onnx")
    ov.save_model(ov.Core().read_model(folder / "m.onnx"), folder / "m.xml", compress_to_fp16=False)
    model = read_ir(folder / "m.xml")
    subtracts = [layer for layer in model.layers if layer.type == "Subtract"]
    planted = swapped(model, subtracts[len(subtracts) // 2])
    write_ir(planted.model, folder / "wrong.xml")
    return planted.layer.name


def measure(directory: Path, *, memory: str = "1GB", nodes: int = 80) -> Iterator[tuple[object, ...]]:
    with TemporaryDirectory(dir=directory, prefix="large-") as name:
        folder = Path(name)
        planted = make(folder, nodes)
        command = (OV_GATHER, "bisect", "m.onnx", "wrong.xml", "--memory", memory, "-o", "found", "--format", "json")
        cost = cost_of(*command, directory=folder)
        found = json.loads(cost.stdout)
        costs = (f"{cost.seconds:.0f} s", f"{cost.processor:.0f} s", f"{cost.megabytes / 1e3:.2f} GB")
        yield planted, found["node"], found["runs"], found["nodes"], *costs
