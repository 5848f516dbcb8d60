"""Measure what `harden` costs: `python tests/tools/harden_costs.py [NAME|PATH.xml ...] [--policies P...] [--threads N...]`.

NAME is one of the models made here: a recommender with 26 tables, and a graph network as PyG exports it. A PATH is an IR, as
exported by `tests/tools/real_gains.py` or `tests/tools/real_irs.py`, with inputs in NAME.npz if that exists. Times are in f32,
stock and hardened by turns. Prints rows of a Markdown table: the time of stock, the number of guards, and how much longer an
inference takes, with quartiles; then the median and the worst. Models faster than --least milliseconds are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray
from open_gains import by_turns, request_of, seconds
from openvino import opset15 as ops

import ov_gather
from ov_gather.bench.model import inputs_for

Arrays = dict[str, NDArray[Any]]
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


def main() -> None:
    """Measure the named models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(MODELS))
    parser.add_argument("--policies", nargs="+", choices=list(POLICIES), default=list(POLICIES))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3, help="How often the models are compiled anew.")
    parser.add_argument("--least", type=float, default=1.0, help="Shortest time, in ms, of a model that is measured.")
    arguments = parser.parse_intermixed_args()
    found: dict[str, list[float]] = {policy: [] for policy in arguments.policies}
    print("| model | threads | stock | policy | guards | longer (quartiles) | outputs |\n" + "| --- " * 7 + "|")
    for name, threads in product(arguments.names, arguments.threads):
        if _milliseconds(name, threads) >= arguments.least:
            for policy in arguments.policies:
                found[policy].append(_measure(name, threads, policy, arguments.rounds))
    for policy, all_longer in found.items():
        if all_longer:
            print(f"{policy}: median {median(all_longer):+.1%}, worst {max(all_longer):+.1%} of {len(all_longer)}")


def _options(threads: int) -> dict[str, Any]:
    return {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}


def _milliseconds(name: str, threads: int) -> float:
    model, given = made(name)
    request = request_of(ov.Core(), model, _options(threads), given)
    return min(seconds(request.infer, 1) for _ in range(5)) * 1e3


def _measure(name: str, threads: int, policy: str, rounds: int) -> float:
    core = ov_gather.register(ov.Core())
    (stock, given), (hardened, _) = made(name), made(name)
    guards = ov_gather.harden(hardened, **POLICIES[policy]).guards
    pairs: list[tuple[float, float]] = []
    for turn in range(rounds):
        requests = {i: request_of(core, (stock, hardened)[i], _options(threads), given) for i in ((0, 1), (1, 0))[turn % 2]}
        pairs += by_turns([partial(requests[i].infer, share_outputs=True) for i in (0, 1)])
    outputs = [[tensor.data.tobytes() for tensor in requests[i].output_tensors] for i in (0, 1)]
    low, middle, high = quantiles([after / before - 1 for before, after in pairs], n=4)
    longer, same = f"{middle:+.1%} ({low:+.1%} to {high:+.1%})", "same" if outputs[0] == outputs[1] else "differ"
    label = Path(name).name.partition(".")[0]
    time = f"{median(before for before, _ in pairs) * 1e3:.2f} ms"
    print(f"| {label} | {threads} | {time} | {policy} | {guards} | {longer} | {same} |", flush=True)
    return middle


if __name__ == "__main__":
    main()
