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
    """Build a chain of gathers by the same indices: of stock, of stock behind a Broadcast, or of ours with or without one."""
    height = -1 if is_open else rows
    repeats = kind.endswith("broadcast")
    shape = [1, WIDTH] if repeats and axis == 1 else [height, 1] if repeats else [height, WIDTH]
    data, indices = ops.parameter([height, WIDTH], np.float32), ops.parameter(shape, np.int32)
    value = data.output(0)
    for _ in range(nodes):
        if kind.startswith("ours"):
            attributes = {"axis": axis, "broadcast": repeats, "same_shape": not repeats}
            value = ours("GatherElements", [value, indices.output(0)], attributes).output(0)
            continue
        chosen = ops.broadcast(indices, ops.shape_of(value), "bidirectional") if repeats else indices
        value = ops.gather_elements(value, chosen, axis).output(0)
    return ov.Model([ops.result(value)], [data, indices])


def microseconds(axis: int, rows: int, *, is_open: bool, repeats: bool, threads: int) -> tuple[float, float]:
    """Return the medians of the time of a node: OpenVINO's and ours."""
    ending = " broadcast" * repeats
    config = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": 1}
    core, times = ov_gather.register(ov.Core()), []
    shape = ([1, WIDTH] if axis else [rows, 1]) if repeats else [rows, WIDTH]
    inputs = np.ones((rows, WIDTH), np.float32), np.random.default_rng(0).integers(0, (rows, WIDTH)[axis], shape, np.int32)
    for kind, nodes in (("stock" + ending, 0), ("stock" + ending, NODES), ("ours" + ending, NODES)):
        model = chain(kind, axis, rows, is_open=is_open, nodes=nodes)
        request = core.compile_model(model, "CPU", config).create_infer_request()
        for port, array in enumerate(inputs):
            request.set_input_tensor(port, ov.Tensor(array))
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
        for axis in (0, 1):
            for repeats in (False, True):
                small, large = (microseconds(axis, rows, is_open=is_open, repeats=repeats, threads=threads) for rows in ROWS)
                elements = [rows * WIDTH for rows in ROWS]
                more = small[1] - small[0]
                less = (large[0] - large[1] + more) / (elements[1] - elements[0])
                pays = f"{max(elements[0] + more / less, 0):.0f}" if less > 0 else "never"
                print(
                    f"| {'open' if is_open else 'static'} | {axis} | {'repeated' if repeats else 'given'} | {small[0]:.2f} to "
                    f"{large[0]:.2f} | {small[1]:.2f} to {large[1]:.2f} | {more:.2f} | {less * 1e3:.2f} | {pays} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
