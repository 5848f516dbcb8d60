"""Measure `ov-gather bisect` on a model with large values inside: python tests/tools/large_bisect.py DIRECTORY [--memory 1GB]

The model is a chain of 80 nodes with outputs of 64 MB each, 5 GB in all, and a fault in the middle. Prints the named node, the
number of runs, the time, and the peak memory of one process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import openvino as ov
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).parents[1]))

from helpers.planting import swapped
from ov_gather.ir.reader import read_ir
from ov_gather.ir.writer import write_ir

BIN = Path(sys.executable).parent
ROWS, WIDTH = 1 << 18, 64


def make(folder: Path, nodes: int) -> Path:
    """Write a chain of MatMul, Sub and Tanh, its conversion, and the conversion with two operands swapped."""
    rng = np.random.default_rng(0)
    weights = numpy_helper.from_array((rng.standard_normal((WIDTH, WIDTH)) / 8).astype(np.float32), "w")
    bias = numpy_helper.from_array(rng.standard_normal(WIDTH).astype(np.float32), "b")
    chain = [("MatMul", "w"), ("Sub", "b"), ("Tanh", "")]
    made = []
    for i in range(nodes):
        kind, operand = chain[i % len(chain)]
        made.append(helper.make_node(kind, [f"v{i}", *filter(None, [operand])], [f"v{i + 1}"], name=f"n{i}"))
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [ROWS, WIDTH]) for name in ("v0", f"v{nodes}")]
    graph = helper.make_graph(made, "g", infos[:1], infos[1:], [weights, bias])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / "m.onnx")
    ov.save_model(ov.Core().read_model(folder / "m.onnx"), folder / "m.xml", compress_to_fp16=False)
    model = read_ir(folder / "m.xml")
    subtracts = [layer for layer in model.layers if layer.type == "Subtract"]
    planted = swapped(model, subtracts[len(subtracts) // 2])
    write_ir(planted.model, folder / "wrong.xml")
    print(f"planted in {planted.layer.name}", flush=True)
    return folder / "wrong.xml"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--nodes", type=int, default=80)
    arguments = parser.parse_args()
    with TemporaryDirectory(dir=arguments.directory, prefix="large-") as name:
        folder = Path(name)
        wrong = make(folder, arguments.nodes)
        start = time.perf_counter()
        command = ["bisect", folder / "m.onnx", wrong, "--memory", arguments.memory, "-o", folder / "found", "--format", "json"]
        process = subprocess.Popen([BIN / "ov-gather", *command], stdout=subprocess.PIPE)
        assert process.stdout is not None
        found = json.loads(process.stdout.read())
        _, _, usage = os.wait4(process.pid, 0)
        seconds, processor = time.perf_counter() - start, usage.ru_utime + usage.ru_stime
        print(
            f"{found['node']} in {found['runs']} runs of {found['nodes']} nodes; {seconds:.0f} s, "
            f"{processor:.0f} s of processor time, {usage.ru_maxrss / 1e6:.2f} GB at most in one process"
        )


if __name__ == "__main__":
    main()
