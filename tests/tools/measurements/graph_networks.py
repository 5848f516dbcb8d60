"""Measure what `fuse-aggregations` adds to `accelerate` on graph networks, NAMES or all, in f32.

Each has random edges, and layers of `--width` features and more; it is exported by torch with random weights. The stock model,
the same accelerated without this pass, and with it, take turns. Downloads nothing. Needs `.[models]`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import openvino as ov
import torch

import ov_gather
from ov_gather.acceleration.accelerate import PASSES
from tools.architectures import messages, points
from tools.architectures.architecture import Architecture
from tools.architectures.export import export
from tools.measurements import chosen
from tools.measurements.timing import compared, quartiles

COLUMNS = ("network", "threads", "stock", "without", "with", "the pass alone", "aggregations", "outputs")
NETWORKS: dict[str, Callable[..., Architecture]] = {
    "gcn": points.gcn,
    "gin": points.gin,
    "sage": partial(points.sage, first="mean"),
    "gat": points.gat,
    "schnet": messages.schnet,
}
PASS = "fuse-aggregations"


def measure(
    *names: str, threads: int = os.cpu_count() or 1, width: int = 64, nodes: int = 20_000, edges: int = 320_000, rounds: int = 3
) -> Iterator[tuple[object, ...]]:
    core = ov_gather.register(ov.Core())
    for name in chosen(names, NETWORKS):
        torch.manual_seed(0)
        network = NETWORKS[name](nodes, edges, width)
        with TemporaryDirectory() as folder, torch.no_grad():
            path = Path(folder, "network.xml")
            export(network, path, "static", "onnx")
            stock, without, fused = (core.read_model(path) for _ in range(3))
        ov_gather.accelerate(without, passes=[one for one in PASSES if one != PASS])
        ov_gather.accelerate(fused)
        count = sum(node.get_type_name() == "GatherScatter" for node in fused.get_ops())
        options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
        given = {key: tensor.numpy() for key, tensor in network.inputs.items()}
        turns, outputs = compared(core, (stock, without, fused), options, given, rounds)
        pairs = ((0, 1), (0, 2), (1, 2))  # of stock, without the pass, with it
        gains = [quartiles([turn[before] / turn[after] for turn in turns]) for before, after in pairs]
        stocks = f"{median(before for before, *_ in turns):.2f} s"
        yield name, threads, stocks, *gains, count, outputs
