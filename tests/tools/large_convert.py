"""Measure `ov-gather convert` and `ovc` on a large model: python tests/tools/large_convert.py DIRECTORY [--gigabytes 2.5]

Creates a model in DIRECTORY with external weights and a gather that must be rewritten. Both tools convert it by turns, several
times, and once with --verify. Prints wall-clock time, peak memory of one process, and peak size of TMPDIR, a directory of its
own. Needs free disk space of three times the model.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
from onnx import TensorProto, helper

BIN = Path(sys.executable).parent
WIDTH = 4096
MATRIX = WIDTH * WIDTH * 4


def external(name: str, shape: list[int], offset: int) -> TensorProto:
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": "weights", "offset": offset, "length": 4 * int(np.prod(shape))}.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, str(value)
    return tensor


def make(folder: Path, size: int) -> Path:
    """Write a model of rows gathered from a table, and a chain of matrices."""
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
    return folder / "model.onnx"


def save(graph: onnx.GraphProto, path: Path) -> None:
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


def files(folder: Path) -> Iterator[os.stat_result]:
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            yield path.stat()


def measure(title: str, command: list[object]) -> None:
    """Execute one command, and print its cost."""
    with TemporaryDirectory(prefix="tmpdir-") as folder:
        most, done = [0], threading.Event()

        def watch() -> None:
            while not done.wait(0.01):
                most.append(max(most.pop(), sum(found.st_blocks * 512 for found in files(Path(folder)))))

        watching = threading.Thread(target=watch)
        start = time.perf_counter()
        process = subprocess.Popen(
            list(map(str, command)), env={**os.environ, "TMPDIR": folder}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        watching.start()
        assert process.stdout is not None
        text = process.stdout.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        done.set()
        watching.join()
    code = os.waitstatus_to_exitcode(status)
    print(f"{title}: exit code {code}, {seconds:.1f} s, {usage.ru_maxrss / 1e6:.2f} GB, TMPDIR {most[0] / 1e6:.1f} MB")
    print("   ", text.strip().splitlines()[-1][:150] if text.strip() else "", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--gigabytes", type=float, default=2.5)
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    with TemporaryDirectory(dir=arguments.directory, prefix="large-") as name:
        folder = Path(name)
        model = make(folder, int(arguments.gigabytes * 1e9))
        print(f"{(folder / 'weights').stat().st_size / 1e9:.2f} GB of weights", flush=True)
        ours, theirs = folder / "ours.xml", folder / "theirs.xml"
        for _ in range(arguments.turns):
            measure("convert", [BIN / "ov-gather", "convert", model, "-o", ours, "--force"])
            measure("ovc", [BIN / "ovc", folder / "for_ovc.onnx", "--output_model", theirs, "--compress_to_fp16=False"])
        theirs.with_suffix(".bin").unlink()
        measure("convert --verify", [BIN / "ov-gather", "convert", model, "-o", ours, "--force", "--verify"])
        measure("bisect", [BIN / "ov-gather", "bisect", model, ours])


if __name__ == "__main__":
    main()
