"""Measure what `harden` costs: how much longer an inference takes in f32, by turns; then the median and the worst.

NAMES are models made here, a recommender with 26 tables (tables, tables-open, tables-split) and a graph network as PyG exports
it (gcn, gcn-open), or paths of IRs, as exported by `evidence.py gains` or `real_irs.py`, with inputs in NAME.npz if that
exists. Models faster than `--least` milliseconds are left out, and models are compiled anew in each of `--rounds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset15 as ops

import ov_gather
from ov_gather.bench.model import inputs_for
from tools.measurements import chosen
from tools.measurements.timing import Arrays, compared, quartiles, request_of, seconds

COLUMNS = ("model", "threads", "stock", "policy", "guards", "longer (quartiles)", "outputs")
Made = tuple[ov.Model, Arrays]

POLICIES: dict[str, dict[str, Any]] = {
    "raise": {"policy": "raise"},
    "guarded": {"policy": "raise", "guarded": True},
    "portable": {"policy": "raise", "portable": True},
    "clamp": {"policy": "clamp"},
    "zero": {"policy": "zero"},
}
WIDTH = 16
SIZES = [10 ** (2 + position % 4) for position in range(26)]
"""Rows of the 26 tables, as many as Criteo's data have categories: from 100 to 100,000."""


def _dense(x: ov.Output, units: int, seed: int) -> ov.Node:
    weights = np.random.default_rng(seed).standard_normal((x.get_partial_shape()[1].get_length(), units)).astype(np.float32)
    return ops.relu(ops.matmul(x, weights / np.float32(np.sqrt(len(weights))), False, False))


def tables(users: int = 2048, *, is_split: bool = False) -> Made:
    """A DLRM: 26 columns of one input, or 26 inputs, look up a table each, and layers follow."""
    random = np.random.default_rng(0)
    dense, ids = ops.parameter([users, 13], np.float32, name="dense"), ops.parameter([users, 26], np.int64, name="ids")
    inputs = [ops.parameter([users], np.int64, name=f"ids_{column}") for column in range(26)] if is_split else [ids]
    columns = inputs if is_split else [ops.gather(ids, np.int64(column), 1) for column in range(26)]
    weights = (random.standard_normal((size, WIDTH)).astype(np.float32) for size in SIZES)
    rows = [ops.gather(table, column, 0) for table, column in zip(weights, columns, strict=True)]
    joined = ops.concat([_dense(dense.output(0), WIDTH, 1), *rows], 1)
    model = ov.Model([_dense(_dense(joined.output(0), 64, 2).output(0), 1, 3)], [dense, *inputs], "tables")
    chosen = random.integers(0, SIZES, (users, 26))
    given = {f"ids_{column}": chosen[:, column] for column in range(26)} if is_split else {"ids": chosen}
    return model, {"dense": random.standard_normal((users, 13)).astype(np.float32), **given}


def _size(x: ov.Node, axis: int) -> ov.Node:
    return ops.gather(ops.shape_of(x), np.int64(axis), 0)


def _full(shape: list[ov.Node], number: float) -> ov.Node:
    sizes = [ops.unsqueeze(size, 0) if isinstance(size, ov.Node) else np.int64([size]) for size in shape]
    return ops.broadcast(np.float32(number), ops.concat(sizes, 0))


def _convolve(x: ov.Node, source: ov.Node, target: ov.Node, norm: ov.Node, units: int, seed: int) -> ov.Node:
    rows = ops.multiply(ops.gather(_dense(x.output(0), units, seed), source, 0), ops.unsqueeze(norm, 1))
    spread = ops.broadcast(ops.unsqueeze(target, 1), ops.shape_of(rows))
    return ops.relu(ops.scatter_elements_update(_full([_size(x, 0), units], 0), spread, rows, 0, "sum"))


def gcn(nodes: int = 1000, edges: int = 8000) -> Made:
    """Two layers of PyG's GCNConv: edges and loops, normalised by degrees that a scatter counts."""
    random = np.random.default_rng(0)
    x, ends = ops.parameter([nodes, 32], np.float32, name="x"), ops.parameter([2, edges], np.int64, name="edges")
    loops = ops.range(np.int64(0), _size(x, 0), np.int64(1), "i64")
    both = ops.concat([ends, ops.concat([ops.unsqueeze(loops, 0)] * 2, 0)], 1)
    source, target = (ops.gather(both, np.int64(row), 0) for row in range(2))
    zeros, ones = _full([_size(x, 0)], 0), _full([_size(target, 0)], 1)
    scale = ops.power(ops.scatter_elements_update(zeros, target, ones, 0, "sum"), np.float32(-0.5))
    norm = ops.multiply(ops.gather(scale, source, 0), ops.gather(scale, target, 0))
    y = _convolve(_convolve(x, source, target, norm, 64, 1), source, target, norm, 32, 2)
    given = {"x": random.standard_normal((nodes, 32)).astype(np.float32), "edges": random.integers(0, nodes, (2, edges))}
    return ov.Model([y], [x, ends], "gcn"), given


def opened(make: Callable[[], Made], shapes: dict[str, list[int]]) -> Callable[[], Made]:
    """Return a function that makes the same model with open shapes."""

    def open_model() -> Made:
        model, given = make()
        model.reshape(shapes)
        return model, given

    return open_model


MODELS: dict[str, Callable[[], Made]] = {
    "tables": tables,
    "tables-open": opened(tables, {"dense": [-1, 13], "ids": [-1, 26]}),
    "tables-split": partial(tables, is_split=True),
    "gcn": gcn,
    "gcn-open": opened(gcn, {"x": [-1, 32], "edges": [2, -1]}),
}


def made(name: str) -> Made:
    """Return a model and its inputs."""
    if name in MODELS:
        return MODELS[name]()
    path = Path(name)
    model, examples = ov.Core().read_model(path), path.parent / f"{path.name.partition('.')[0]}.npz"
    if examples.exists():
        return model, dict(np.load(examples))
    return model, {port.any_name: array for port, array in zip(model.inputs, inputs_for(model, {}), strict=True)}


def measure(
    *names: str,
    policies: Sequence[str] = tuple(POLICIES),
    threads: Sequence[int] = (1, 2),
    rounds: int = 3,
    least: float = 1.0,
) -> Iterator[tuple[object, ...] | str]:
    found: dict[str, list[float]] = {policy: [] for policy in chosen(policies, POLICIES)}
    core = ov_gather.register(ov.Core())
    for name, count in product(names or MODELS, threads):
        options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": count}
        stock, given = made(name)
        request = request_of(core, stock, options, given)
        if min(seconds(request.infer) for _ in range(5)) * 1e3 < least:
            continue
        for policy, longer in found.items():
            hardened, _ = made(name)
            guards = ov_gather.harden(hardened, **POLICIES[policy]).guards
            pairs, outputs = compared(core, (stock, hardened), options, given, rounds)
            ratios = [after / before - 1 for before, after in pairs]
            longer.append(median(ratios))
            time = f"{median(before for before, _ in pairs) * 1e3:.2f} ms"
            yield Path(name).name.partition(".")[0], count, time, policy, guards, quartiles(ratios, "+.1%"), outputs
    for policy, all_longer in found.items():
        if all_longer:
            yield f"{policy}: median {median(all_longer):+.1%}, worst {max(all_longer):+.1%} of {len(all_longer)}"
