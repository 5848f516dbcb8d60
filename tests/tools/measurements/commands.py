"""Measure what COMMANDS cost on large models, and some alone; by default all of them.

COMMANDS are prove, diff, bisect, harden, validate, import, help and small (`validate` of 200 small files). `--nodes` is the
number of operations, beside their constants; `--models` are some of chain, mixed, prefix, open and loop. `diff` and `bisect`
compare a model with its copy. The memory is that of the largest process, and at least that of this one, 55 MB.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import openvino as ov
from openvino import opset13 as ops

from helpers.paths import VALID
from tools.measurements import chosen
from tools.measurements.costs import OV_GATHER, cost_of

COLUMNS = ("command", "model", "nodes", "time", "CPU time", "memory", "exit code", "last line")
Made = tuple[list[ov.Node], list[ov.Node]]
"""The outputs and the inputs of a model."""


def _int(value: int) -> ov.Node:
    return ops.constant(np.int64(value))


def _rows(size: int, indices: ov.Node) -> ov.Node:
    return ops.gather(np.ones((size, 4), np.float32), indices, _int(0))


def _sum(values: list[ov.Node]) -> ov.Node:
    total = values[0]
    for value in values[1:]:
        total = ops.add(total, value)
    return total


def chain(count: int) -> Made:
    """Each gather reads what the one before has read, by indices that arithmetic moves on each time."""
    ids, data = ops.parameter([8], np.int64, name="ids"), ops.parameter([1000, 4], np.float32, name="data")
    indices, rows = ids, data
    for number in range(count // 10):
        for turn in range(4):
            indices = ops.add(ops.subtract(indices, _int(turn)), _int(3 - turn))
        rows = ops.concat([ops.gather(rows, indices, _int(0)), data], 0) if number % 2 else ops.gather(rows, indices, _int(0))
    return [rows], [ids, data]


def mixed(count: int) -> Made:
    """Columns of an input look up tables of 11 sizes, after arithmetic that proves half of the indices."""
    ids = ops.parameter([64, 16], np.int64, name="ids")
    found = []
    for number in range(count // 6):
        column = ops.gather(ids, _int(number % 16), _int(1))
        moved = ops.add(ops.clamp(column, 0, 895), _int(number % 5)) if number % 2 else ops.subtract(column, _int(3))
        found.append(ops.tanh(_rows(900 + number % 11, moved)))
    return [_sum(found)], [ids]


def prefix(count: int) -> Made:
    """Gathers from tables of 11 sizes, whose indices share a long chain."""
    ids = ops.parameter([8], np.int64, name="ids")
    indices: ov.Node = ids
    for number in range(count // 2):
        indices = (ops.add if number % 2 else ops.subtract)(indices, _int(1))
    return [_sum([_rows(900 + number % 11, indices) for number in range(count // 4)])], [ids]


def open_shapes(count: int) -> Made:
    """Gathers along an axis of open size, by the columns of an input of open size, and by positions from the end."""
    ids, data = ops.parameter([-1, 16], np.int64, name="ids"), ops.parameter([-1, 4], np.float32, name="data")
    found = []
    for number in range(count // 9):
        size = ops.gather(ops.shape_of(data), _int(0), _int(0))
        column = ops.gather(ids, _int(number % 16), _int(1))
        last = ops.gather(data, ops.subtract(size, _int(1 + number % 3)), _int(0))
        found.append(ops.tanh(ops.add(ops.gather(data, column, _int(0)), last)))
    return [_sum(found)], [ids, data]


def loop(count: int) -> Made:
    """A Loop with all operations in its body."""
    ids, start = ops.parameter([8], np.int64, name="ids"), ops.parameter([1000, 4], np.float32, name="data")
    indices, data = ops.parameter([8], np.int64), ops.parameter([1000, 4], np.float32)
    moved, total = indices, data
    for _ in range(count // 11):
        for turn in range(4):
            moved = ops.add(ops.subtract(moved, _int(turn)), _int(3 - turn))
        total = ops.add(total, ops.reduce_sum(ops.gather(data, moved, _int(0)), _int(0), True))
    node = ops.loop(_int(2), ops.constant(True))
    node.set_function(ov.Model([ops.result(ops.constant(True)), ops.result(moved), ops.result(total)], [indices, data], "body"))
    node.set_special_body_ports([-1, 0])
    node.set_merged_input(indices, ids.output(0), moved.output(0))
    node.set_merged_input(data, start.output(0), total.output(0))
    return [node.get_iter_value(total.output(0), -1)], [ids, start]


MODELS: dict[str, Callable[[int], Made]] = {
    "chain": chain,
    "mixed": mixed,
    "prefix": prefix,
    "open": open_shapes,
    "loop": loop,
}
ON_MODELS = {
    "prove": ["model.xml"],
    "diff": ["model.xml", "copy.xml"],
    "bisect": ["model.xml", "copy.xml"],
    "harden": ["model.xml", "--policy", "raise", "--force"],
    "validate": ["model.xml"],
}
"""Arguments of each command that is measured on every model."""
ALONE = {
    "import": [sys.executable, "-c", "import ov_gather"],
    "help": [OV_GATHER, "--help"],
    "small": [OV_GATHER, "validate", "."],
}


def write(name: str, count: int, folder: Path) -> None:
    """Write a model and a copy of it."""
    ov.save_model(ov.Model(*MODELS[name](count), name), folder / "model.xml", compress_to_fp16=False)
    for suffix in ("xml", "bin"):
        shutil.copy(folder / f"model.{suffix}", folder / f"copy.{suffix}")


def row(name: str, model: str, nodes: str, command: Sequence[object], folder: Path) -> tuple[object, ...]:
    cost = cost_of(*command, directory=folder)
    costs = (f"{cost.seconds:.2f} s", f"{cost.processor:.2f} s", f"{cost.megabytes:.0f} MB")
    return name, model, nodes, *costs, cost.exit_code, cost.last_line


def measure(
    *commands: str, nodes: Sequence[int] = (50_000, 100_000), models: Sequence[str] = tuple(MODELS)
) -> Iterator[tuple[object, ...]]:
    names = chosen(commands, {**ON_MODELS, **ALONE})
    for name in [name for name in names if name in ALONE]:
        with TemporaryDirectory() as directory:
            for number in range(200 if name == "small" else 0):
                shutil.copy(VALID / "spec_layer.xml", Path(directory, f"{number}.xml"))
            yield row(name, "", "", ALONE[name], Path(directory))
    on_models = [name for name in names if name in ON_MODELS]
    for count in nodes if on_models else ():
        for model in chosen(models, MODELS):
            with TemporaryDirectory() as directory:
                making = get_context("fork").Process(target=write, args=(model, count, Path(directory)))
                making.start()  # elsewhere, because the memory of this process counts as that of those it starts
                making.join()
                for name in on_models:
                    yield row(name, model, f"{count:,}", [OV_GATHER, name, *ON_MODELS[name]], Path(directory))
