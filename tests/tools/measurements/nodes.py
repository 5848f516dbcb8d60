"""Measure from how many elements on our GatherElements is faster than OpenVINO's, on `--threads` threads.

Chains of equal nodes are inferred by turns, with few elements and with many. The time of a node grows linearly between the two;
where the lines of stock and ours cross, ours begins to pay. `ov_gather/acceleration/costs.py` holds rounded results.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import numpy as np
import openvino as ov
from openvino import opset13 as ops

import ov_gather
from ov_gather.acceleration.graph import ours
from tools.measurements.timing import by_turns, request_of

COLUMNS = (
    "shapes",
    "axis",
    "indices",
    "stock, us",
    "ours, us",
    "us more for a call",
    "us less for 1,000 elements",
    "pays from",
)
NODES = 20
WIDTH = 64
ROWS = (1, 512)
TURNS = 25


def chain(kind: str, axis: int, rows: int, *, is_open: bool, nodes: int) -> ov.Model:
    """Build a chain of gathers: OpenVINO's, those behind a Broadcast each, or ours for either."""
    height, repeats = -1 if is_open else rows, kind.endswith("repeated")
    parameters = [ops.parameter([height, WIDTH], np.float32, name="0")]
    value = parameters[0].output(0)
    for _ in range(nodes):
        if repeats or len(parameters) == 1:
            parameters.append(ops.parameter([height, 1] if repeats else [height, WIDTH], np.int32, name=str(len(parameters))))
        indices = parameters[-1].output(0)
        if kind.startswith("ours"):
            attributes = {"axis": axis, "broadcast": repeats, "same_shape": not repeats}
            value = ours("GatherElements", [value, indices], attributes).output(0)
            continue
        expanded = ops.broadcast(indices, ops.constant(np.array([1, WIDTH])), broadcast_spec="BIDIRECTIONAL")
        value = ops.gather_elements(value, expanded if repeats else indices, axis).output(0)
    return ov.Model([ops.result(value)], parameters)


def microseconds(axis: int, rows: int, *, is_open: bool, repeats: bool, threads: int) -> tuple[float, float]:
    """Return the medians of the time of a node: OpenVINO's and ours."""
    ending = "repeated" * repeats
    config = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": 1}
    core, requests = ov_gather.register(ov.Core()), []
    indices = np.random.default_rng(0).integers(0, (rows, WIDTH)[axis], (rows, 1 if repeats else WIDTH), np.int32)
    for kind, nodes in (("stock", 0), ("stock" + ending, NODES), ("ours" + ending, NODES)):
        model = chain(kind, axis, rows, is_open=is_open, nodes=nodes)
        given = {"0": np.ones((rows, WIDTH), np.float32), **{str(i): indices for i in range(1, len(model.inputs))}}
        requests.append(request_of(core, model, config, given))
    times = by_turns([request.infer for request in requests], TURNS)
    nothing, stock, mine = (median(seconds) * 1e6 for seconds in zip(*times, strict=True))
    return (stock - nothing) / NODES, (mine - nothing) / NODES


def measure(*, threads: int = 1) -> Iterator[tuple[object, ...]]:
    few, many = (rows * WIDTH for rows in ROWS)
    for is_open in (False, True):
        for axis, repeats in ((0, False), (1, False), (0, True)):
            pairs = [microseconds(axis, rows, is_open=is_open, repeats=repeats, threads=threads) for rows in ROWS]
            stock, mine = ([f"{time:.2f}" for time in times] for times in zip(*pairs, strict=True))
            more, more_of_many = (ours_ - stock_ for stock_, ours_ in pairs)
            less = (more - more_of_many) / (many - few)
            pays = f"{max(few + more / less, 0):.0f}" if less > 0 else "never"
            kind = ("open" if is_open else "static", axis, "repeated" if repeats else "given")
            yield *kind, " to ".join(stock), " to ".join(mine), f"{more:.2f}", f"{less * 1e3:.2f}", pays
