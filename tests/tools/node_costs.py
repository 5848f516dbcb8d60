"""Measure from how many elements on our GatherElements is faster than OpenVINO's: `python tests/tools/node_costs.py [THREADS]`.

Chains of equal nodes are inferred by turns, with few elements and with many. The time of a node grows linearly between the two;
where the lines of stock and ours cross, ours begins to pay. `ov_gather/acceleration/costs.py` holds rounded results.
"""

from __future__ import annotations

import sys
import time
from statistics import median

import numpy as np
import openvino as ov
from openvino import opset13 as ops

import ov_gather
from ov_gather.acceleration.graph import ours

NODES = 20
WIDTH = 64
ROWS = (1, 512)
ROUNDS = 25


def chain(kind: str, axis: int, rows: int, *, is_open: bool, nodes: int) -> ov.Model:
    """Build a chain of gathers: OpenVINO's, those behind a Broadcast each, or ours for either."""
    height, repeats = -1 if is_open else rows, kind.endswith("repeated")
    parameters = [ops.parameter([height, WIDTH], np.float32)]
    value = parameters[0].output(0)
    for _ in range(nodes):
        if repeats or len(parameters) == 1:
            parameters.append(ops.parameter([height, 1] if repeats else [height, WIDTH], np.int32))
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
    core, times = ov_gather.register(ov.Core()), []
    indices = np.random.default_rng(0).integers(0, (rows, WIDTH)[axis], (rows, 1 if repeats else WIDTH), np.int32)
    for kind, nodes in (("stock", 0), ("stock" + ending, NODES), ("ours" + ending, NODES)):
        model = chain(kind, axis, rows, is_open=is_open, nodes=nodes)
        request = core.compile_model(model, "CPU", config).create_infer_request()
        request.set_input_tensor(0, ov.Tensor(np.ones((rows, WIDTH), np.float32)))
        for port in range(1, len(model.inputs)):
            request.set_input_tensor(port, ov.Tensor(indices))
        request.infer()
        times.append((request, []))
    for _ in range(ROUNDS):
        for request, seconds in times:
            start = time.perf_counter()
            for _ in range(10):
                request.infer()
            seconds.append((time.perf_counter() - start) / 10)
            time.sleep(0.002)
    nothing, stock, mine = (median(seconds) for _, seconds in times)
    return (stock - nothing) / NODES * 1e6, (mine - nothing) / NODES * 1e6


def main() -> None:
    """Print a row of a Markdown table for each kind of node."""
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    print("| shapes | axis | indices | stock, us | ours, us | us more for a call | us less for 1,000 elements | pays from |")
    print("| --- " * 8 + "|")
    for is_open in (False, True):
        for axis, repeats in ((0, False), (1, False), (0, True)):
            pairs = [microseconds(axis, rows, is_open=is_open, repeats=repeats, threads=threads) for rows in ROWS]
            (stock, mine), (stock_of_many, mine_of_many) = pairs
            few, many = (rows * WIDTH for rows in ROWS)
            more = mine - stock
            less = (stock_of_many - mine_of_many + more) / (many - few)
            pays = f"{max(few + more / less, 0):.0f}" if less > 0 else "never"
            print(
                f"| {'open' if is_open else 'static'} | {axis} | {'repeated' if repeats else 'given'} | {stock:.2f} to "
                f"{stock_of_many:.2f} | {mine:.2f} to {mine_of_many:.2f} | {more:.2f} | {less * 1e3:.2f} | {pays} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
