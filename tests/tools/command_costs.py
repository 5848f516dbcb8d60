"""Measure what commands cost on large models: `python tests/tools/command_costs.py [COMMAND ...] [--nodes N ...]`.

COMMAND is one of prove, diff, bisect, harden, validate, import, help and small (`validate` of 200 small files). N is a number
of operations, beside their constants. `diff` and `bisect` compare a model with its copy. Prints rows of a Markdown table: the
wall-clock time, the CPU time of all processes, the peak memory of the largest (at least that of this process, 55 MB), and the
last line of the output.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import openvino as ov
from openvino import opset13 as ops

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
_SUBREAPER = 36
"""Option of prctl that makes orphaned descendants our children, so that their time counts."""


@dataclass(frozen=True)
class Cost:
    """The cost of a command: wall-clock time and CPU time of all its processes in seconds, peak memory of one process in MB."""

    exit_code: int
    output: str
    seconds: float
    processor: float
    megabytes: float


def cost_of(*command: object, directory: Path) -> Cost:
    """Run a command in a directory and wait for all its processes."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1)
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=directory
    )
    assert process.stdout is not None
    output, code, most = process.stdout.read(), 0, 0
    with suppress(ChildProcessError):
        while True:
            pid, status, usage = os.wait4(-1, 0)
            most = max(most, usage.ru_maxrss)
            if pid == process.pid:
                code = process.returncode = os.waitstatus_to_exitcode(status)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(code, output, seconds, processor, most / 1024)


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
ALONE = ("import", "help", "small")


def made(name: str, count: int, folder: Path) -> None:
    """Write a model and a copy of it."""
    ov.save_model(ov.Model(*MODELS[name](count), name), folder / "model.xml", compress_to_fp16=False)
    for suffix in ("xml", "bin"):
        shutil.copy(folder / f"model.{suffix}", folder / f"copy.{suffix}")


def command_of(name: str, folder: Path) -> list[object]:
    """Return the command line of a command that needs no large model."""
    if name == "import":
        return [sys.executable, "-c", "import ov_gather"]
    if name == "small":
        for number in range(200):
            shutil.copy(ROOT / "ir_samples" / "valid" / "spec_layer.xml", folder / f"{number}.xml")
        return [BIN / "ov-gather", "validate", folder]
    return [BIN / "ov-gather", "--help"]


def report(title: str, cost: Cost) -> None:
    """Print a row of the table."""
    told = (cost.output.strip().splitlines() or [""])[-1][:80].replace("|", "/")
    times = f"{cost.seconds:.2f} s | {cost.processor:.2f} s | {cost.megabytes:.0f} MB"
    print(f"| {title} | {times} | {cost.exit_code}: {told} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [*ON_MODELS, *ALONE]
    parser.add_argument("commands", nargs="*", metavar="COMMAND", default=names, choices=names)
    parser.add_argument("--nodes", type=int, nargs="+", default=[50_000, 100_000])
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    given = parser.parse_intermixed_args()
    print("| command | model | nodes | time | CPU time | memory | exit code, last line |\n" + "| --- " * 7 + "|")
    for command in given.commands:
        if command in ALONE:
            with TemporaryDirectory() as directory:
                report(f"{command} | | ", cost_of(*command_of(command, Path(directory)), directory=Path(directory)))
    for count in given.nodes:
        for name in given.models:
            with TemporaryDirectory() as directory:
                making = get_context("fork").Process(target=made, args=(name, count, Path(directory)))
                making.start()  # elsewhere, because the memory of this process counts as that of those it starts
                making.join()
                for command in given.commands:
                    if command in ON_MODELS:
                        cost = cost_of(BIN / "ov-gather", command, *ON_MODELS[command], directory=Path(directory))
                        report(f"{command} | {name} | {count:,}", cost)


if __name__ == "__main__":
    main()
