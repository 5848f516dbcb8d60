"""Compare the speed of int64 gathers in lanes and narrowed to 32 bits.

Each gather is converted with and without lanes, for our operations and for stock ones, and both run by turns on one thread. The
ratio is the median over turns, as other load slows down both times of a turn. Fails if a ratio of our operations, which
`compile_onnx` uses, exceeds 1.2.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

import numpy as np
import onnx
import openvino as ov
from numpy.typing import NDArray
from onnx import helper

import ov_gather
from ov_gather.converters import as_lanes, convert_model
from tools.measurements.timing import Arrays, by_turns, quartiles, request_of

COLUMNS = ("gather of int64", "target", "lanes, ms", "narrowed, ms", "ratio (quartiles)")
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


def request(proto: onnx.ModelProto, target: str, given: Arrays, *, lanes: bool) -> ov.InferRequest:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # narrowing is lossy
        converted = convert_model(proto, target=target, lanes=lanes, assume_in_bounds=True)
    core = ov_gather.register(ov.Core()) if target == "extension" else ov.Core()
    arrays = {}
    for port in converted.inputs:
        name = port.any_name.removesuffix(".lanes")
        arrays[port.any_name] = given[name] if name == port.any_name else as_lanes(given[name])
    return request_of(core, converted, {"INFERENCE_NUM_THREADS": 1}, arrays)


def measure(*, turns: int = 60) -> Iterator[tuple[object, ...]]:
    worst = 0.0
    for name, (op_type, axis, shape, places) in CASES.items():
        given = {"x": indices(2**31 - 1, *shape), "i": places}
        proto = model(op_type, axis, shape, places)
        for target in ("stock", "extension"):
            requests = [request(proto, target, given, lanes=lanes) for lanes in (True, False)]
            first, second = (each.get_output_tensor().data.tobytes() for each in requests)
            assert first == second, f"{name}: other numbers in lanes"
            pairs = by_turns([each.infer for each in requests], turns)
            times = [f"{median(each) * 1e3:.2f}" for each in zip(*pairs, strict=True)]
            ratios = [ours / narrowed for ours, narrowed in pairs]
            worst = max(worst, median(ratios)) if target == "extension" else worst
            yield name, target, *times, quartiles(ratios)
    if worst > LIMIT:
        sys.exit(f"our operations take {worst:.2f} times as long in lanes")
