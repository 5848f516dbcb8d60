"""Test every form of a single gather through `compile_onnx` against NumPy, bit by bit: python tests/tools/gather_matrix.py

16 element types x int32 and int64 indices x positive, negative, smaller (GatherElements) or batched (GatherND), and out of
bounds x static, dynamic and unknown shapes x data and indices as inputs or initializers. Each cell runs in a worker process, so
that a crash is a result. The exit code is 1 if a result is not exact, an index out of bounds raises no error with its position
and value, or a worker crashes. `--verbose` prints every cell that is not exact.

Data is as hostile as its type allows: extremes, infinities, denormals, every NaN.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import onnx
from onnx import helper

from ov_gather.converters import compile_onnx

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/, where the helpers are

from helpers.cells import TYPES, Outcome, hostile, judged, model_of, names_last_index, report, results_of_all, table

KINDS = {
    "GatherElements": ("positive", "negative", "smaller"),
    "Gather": ("positive", "negative"),
    "GatherND": ("positive", "negative", "batched"),
}
DATA_SHAPE, AXIS = (4, 5, 6), 1
INDEX_SHAPES = {"GatherElements": (4, 7, 6), "Gather": (2, 3), "GatherND": (3, 2), "smaller": (2, 3, 5), "batched": (4, 3, 1)}


@dataclass(frozen=True)
class Cell:
    op: str
    type: str
    index_type: str
    kind: str
    form: str = "static"
    data: str = "input"
    indices: str = "input"

    @property
    def valid(self) -> bool:
        return self.kind not in ("out of bounds", "beyond 32 bits")


def cells(op: str, element_type: str) -> Iterator[Cell]:
    """Yield the cells of an operator and a type, by kind."""
    for index_type in ("int64",) if op == "GatherND" else ("int32", "int64"):
        places = product(("static", "dynamic"), ("input", "initializer"), ("input", "initializer"))
        for kind, place in product((*KINDS[op], "out of bounds"), list(places)):
            yield Cell(op, element_type, index_type, kind, *place)
        yield Cell(op, element_type, index_type, "negative", "unknown rank")
    for form, place in product(("static", "dynamic"), ("input", "initializer")):
        yield Cell(op, element_type, "int64", "beyond 32 bits", form, "input", place)


def arrays(cell: Cell) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(TYPES.index(cell.type))
    shape = INDEX_SHAPES.get(cell.kind, INDEX_SHAPES[cell.op])
    indices = random.integers(-4 if cell.kind != "positive" else 0, 4, shape).astype(cell.index_type)
    if not cell.valid:
        indices.flat[-1] = 2**32 + 1 if cell.kind == "beyond 32 bits" else random.choice([6, 7, -7, 2**31 - 1, -(2**31)])
    return hostile(cell.type, DATA_SHAPE, random, any_half=True), indices


def expected(cell: Cell, data: np.ndarray, indices: np.ndarray) -> np.ndarray:
    if cell.op == "Gather":
        return np.take(data, indices, AXIS)
    if cell.op == "GatherND":
        rows = () if cell.kind != "batched" else (np.arange(len(data))[:, None],)
        return data[(*rows, *np.moveaxis(indices, -1, 0))]
    part = data[tuple(slice(None) if i == AXIS else slice(size) for i, size in enumerate(indices.shape))]
    return np.take_along_axis(part, indices, AXIS)


def model(cell: Cell, data: np.ndarray, indices: np.ndarray) -> onnx.ModelProto:
    attributes = {"batch_dims": int(cell.kind == "batched")} if cell.op == "GatherND" else {"axis": AXIS}
    node = helper.make_node(cell.op, ["data", "indices"], ["output"], name="gather", **attributes)
    constants = [name for name in ("data", "indices") if getattr(cell, name) == "initializer"]
    return model_of([node], {"data": data, "indices": indices}, constants, cell.form, data, 13)


def outcome(cell: Cell) -> Outcome:
    """Return the outcome of a cell, and the reason."""
    data, indices = arrays(cell)
    given = {name: array for name, array in (("data", data), ("indices", indices)) if getattr(cell, name) == "input"}
    right = expected(cell, data, indices) if cell.valid else None
    return judged(
        lambda: compile_onnx(model(cell, data, indices))(given)["output"],
        right,
        lambda message: names_last_index(message, indices),
    )


def main() -> int:
    groups = [list(cells(op, element_type)) for op, element_type in product(KINDS, TYPES)]
    results = results_of_all(outcome, groups)
    return report(table(results, KINDS), results, lambda result: result.is_bad, is_verbose="--verbose" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
