"""Measure `ov-gather convert` and `ovc` on a model of `--gigabytes`, by turns, in DIRECTORY; needs three times the disk space.

The model has external weights and a gather that must be rewritten. TMPDIR is a directory of its own, and its peak size counts.
`convert --verify` is measured beside one execution on onnxruntime and one on OpenVINO, each in a process of its own.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
from onnx import TensorProto, helper

from tools.measurements.costs import OV_GATHER, cost_of

COLUMNS = ("command", "exit code", "time", "CPU time", "memory of one process", "TMPDIR", "last line")
EXECUTIONS = {
    "onnxruntime": """import numpy, onnxruntime
onnxruntime.InferenceSession("for_ovc.onnx").run(None, {"tokens": numpy.zeros((1, 8), numpy.int64)})""",
    "openvino": """import numpy, openvino
compiled = openvino.Core().compile_model("theirs.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
compiled.create_infer_request().infer([numpy.zeros((1, 8), numpy.int64)])""",
}
WIDTH = 4096
MATRIX = WIDTH * WIDTH * 4


def external(name: str, shape: list[int], offset: int) -> TensorProto:
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": "weights", "offset": offset, "length": 4 * int(np.prod(shape))}.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, str(value)
    return tensor


def make(folder: Path, size: int) -> None:
    """Write a model of rows gathered from a table, and a chain of matrices; and the same for ovc."""
    count = max(2, size // MATRIX)
    rng = np.random.default_rng(0)
    with (folder / "weights").open("wb") as file:
        for _ in range(count):
            file.write((rng.standard_normal((WIDTH, WIDTH), np.float32) / np.float32(WIDTH**0.5)).tobytes())
    tensors = [external("table", [WIDTH, WIDTH], 0)]
    nodes = [helper.make_node("Gather", ["table", "tokens"], ["x0"], name="embed")]
    for i in range(1, count):
        tensors.append(external(f"w{i}", [WIDTH, WIDTH], i * MATRIX))
        nodes.append(helper.make_node("MatMul", [f"x{i - 1}", f"w{i}"], [f"x{i}"], name=f"layer_{i}"))
    nodes.append(helper.make_node("GatherElements", [f"x{count - 1}", "at"], ["y"], axis=2, name="pick"))
    kinds = {"tokens": [1, 8], "at": [1, 4, 3]}
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name, shape in kinds.items()]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    save(helper.make_graph(nodes, "g", inputs, outputs, tensors), folder / "model.onnx")
    # ovc refuses indices smaller than data, so its model lacks that gather.
    plain = [helper.make_tensor_value_info(f"x{count - 1}", TensorProto.FLOAT, None)]
    save(helper.make_graph(nodes[:-1], "g", inputs[:1], plain, tensors), folder / "for_ovc.onnx")


def save(graph: onnx.GraphProto, path: Path) -> None:
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


def size_of(folder: Path) -> int:
    size = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            size += path.stat().st_blocks * 512
    return size


def row(title: str, *command: object, directory: Path) -> tuple[object, ...]:
    """Execute one command; return its cost."""
    with TemporaryDirectory(prefix="tmpdir-") as temporary:
        sizes, done = [0], threading.Event()

        def watch() -> None:
            while not done.wait(0.01):
                sizes.append(max(sizes.pop(), size_of(Path(temporary))))

        watching = threading.Thread(target=watch)
        watching.start()
        cost = cost_of(*command, directory=directory, environment={"TMPDIR": temporary})
        done.set()
        watching.join()
    costs = (f"{cost.seconds:.1f} s", f"{cost.processor:.1f} s", f"{cost.megabytes / 1e3:.2f} GB", f"{sizes[0] / 1e6:.1f} MB")
    return title, cost.exit_code, *costs, cost.last_line


def measure(directory: Path, *, gigabytes: float = 2.5, turns: int = 3) -> Iterator[tuple[object, ...]]:
    with TemporaryDirectory(dir=directory, prefix="large-") as name:
        folder = Path(name)
        make(folder, int(gigabytes * 1e9))
        ours = (OV_GATHER, "convert", "model.onnx", "-o", "ours.xml", "--force")
        ovc = (
            Path(sys.executable).with_name("ovc"),
            "for_ovc.onnx",
            "--output_model",
            "theirs.xml",
            "--compress_to_fp16=False",
        )
        for _ in range(turns):
            yield row("convert", *ours, directory=folder)
            yield row("ovc", *ovc, directory=folder)
        for name, program in EXECUTIONS.items():
            yield row(f"one execution on {name}", sys.executable, "-c", program, directory=folder)
        (folder / "theirs.bin").unlink()
        yield row("convert --verify", *ours, "--verify", directory=folder)
        yield row("bisect", OV_GATHER, "bisect", "model.onnx", "ours.xml", directory=folder)
