"""Compare the speed of int64 gathers in lanes and narrowed to 32 bits: python tests/tools/lane_speed.py [--turns N]

Each gather is converted with and without lanes, for our operations and for stock ones, and both run by turns on one thread. The
table shows milliseconds, and the ratio of lanes to narrowed: the median over turns, as other load slows down both times of a
turn. The exit code is 1 if a ratio of our operations, which `compile_onnx` uses, exceeds 1.2.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
import onnx
import openvino
from numpy.typing import NDArray
from onnx import helper
from rich.console import Console
from rich.table import Table

import ov_gather
from ov_gather.converters import as_lanes, convert_model

LIMIT = 1.2
RANDOM = np.random.default_rng(19)


def indices(high: int, *shape: int) -> NDArray[Any]:
    return RANDOM.integers(0, high, shape)


def tuples(sizes: tuple[int, ...], count: int) -> NDArray[Any]:
    return np.stack([indices(size, count) for size in sizes], -1)


CASES: Mapping[str, tuple[str, int, tuple[int, ...], NDArray[Any]]] = {
    "rows of 64": ("Gather", 0, (10_000, 64), indices(10_000, 5_000)),
    "single numbers": ("Gather", 0, (1_000_000,), indices(1_000_000, 500_000)),
    "elements, last axis": ("GatherElements", 1, (1_000, 1_000), indices(1_000, 1_000, 500)),
    "elements, first axis": ("GatherElements", 0, (1_000, 1_000), indices(1_000, 500, 1_000)),
    "GatherND, numbers": ("GatherND", 0, (1_000, 1_000), tuples((1_000, 1_000), 300_000)),
    "GatherND, rows of 64": ("GatherND", 0, (100, 100, 64), tuples((100, 100), 5_000)),
}


def model(op_type: str, axis: int, shape: tuple[int, ...], places: NDArray[Any]) -> onnx.ModelProto:
    attributes = {} if op_type == "GatherND" else {"axis": axis}
    node = helper.make_node(op_type, ["x", "i"], ["y"], **attributes)
    number = onnx.TensorProto.INT64
    inputs = [helper.make_tensor_value_info("x", number, shape), helper.make_tensor_value_info("i", number, places.shape)]
    graph = helper.make_graph([node], "graph", inputs, [helper.make_tensor_value_info("y", number, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


class Compiled:
    """A model for repeated execution, on inputs that are not copied."""

    def __init__(self, proto: onnx.ModelProto, target: str, given: Mapping[str, NDArray[Any]], *, lanes: bool) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # narrowing is lossy
            converted = convert_model(proto, target=target, lanes=lanes, assume_in_bounds=True)
        core = ov_gather.register(openvino.Core()) if target == "extension" else openvino.Core()
        self._request = core.compile_model(converted, "CPU", {"INFERENCE_NUM_THREADS": 1}).create_infer_request()
        self._arrays = {
            name: as_lanes(array) if f"{name}.lanes" in _names(converted) else array for name, array in given.items()
        }
        for port in converted.inputs:
            array = self._arrays[port.any_name.removesuffix(".lanes")]
            self._request.set_tensor(port.any_name, openvino.Tensor(array, shared_memory=True))
        self.seconds()  # warm up

    def seconds(self) -> float:
        start = perf_counter()
        self._request.start_async()
        self._request.wait()
        return perf_counter() - start

    def output(self) -> NDArray[Any]:
        return np.array(self._request.get_output_tensor().data)


def _names(converted: openvino.Model) -> set[str]:
    return {port.any_name for port in converted.inputs}


def measure(name: str, target: str, turns: int) -> tuple[float, float, float]:
    """Return the median seconds in lanes, narrowed, and the median ratio over all turns."""
    op_type, axis, shape, places = CASES[name]
    given = {"x": indices(2**31 - 1, *shape), "i": places}
    proto = model(op_type, axis, shape, places)
    ours, narrowed = (Compiled(proto, target, given, lanes=lanes) for lanes in (True, False))
    assert ours.output().tobytes() == narrowed.output().tobytes(), f"{name}: other numbers in lanes"
    times = np.array([(ours.seconds(), narrowed.seconds()) for _ in range(turns)])
    return (*np.median(times, 0), float(np.median(times[:, 0] / times[:, 1])))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=60)
    turns = parser.parse_args().turns
    view, worst = Table("gather of int64", "target", "lanes, ms", "narrowed, ms", "ratio", box=None), 0.0
    for name in CASES:
        for target in ("stock", "extension"):
            lanes, narrowed, ratio = measure(name, target, turns)
            view.add_row(name, target, f"{lanes * 1e3:.2f}", f"{narrowed * 1e3:.2f}", f"{ratio:.2f}")
            worst = max(worst, ratio) if target == "extension" else worst
    Console(width=100).print(view)
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
