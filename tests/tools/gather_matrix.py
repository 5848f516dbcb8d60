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
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/, where the helpers are

from helpers.cells import FORMS, TYPES, Cell, Subject, hostile, last_index, outcome_of, report_matrix

KINDS = {
    "GatherElements": ("positive", "negative", "smaller"),
    "Gather": ("positive", "negative"),
    "GatherND": ("positive", "negative", "batched"),
}
DATA_SHAPE, AXIS = (4, 5, 6), 1
INDEX_SHAPES = {"GatherElements": (4, 7, 6), "Gather": (2, 3), "GatherND": (3, 2), "smaller": (2, 3, 5), "batched": (4, 3, 1)}


def cells(op: str, element_type: str) -> Iterator[Cell]:
    """Yield the cells of an operator and a type, by kind."""
    constants = ((), ("indices",), ("data",), ("data", "indices"))
    for index_type in ("int64",) if op == "GatherND" else ("int32", "int64"):
        for kind, form, constant in product((*KINDS[op], "beyond"), FORMS[:2], constants):
            yield Cell(op, element_type, index_type, kind, form, constant)
        yield Cell(op, element_type, index_type, "negative", "unknown rank")
    for form, constant in product(FORMS[:2], constants[:2]):
        yield Cell(op, element_type, "int64", "beyond 32 bits", form, constant)


def subject(cell: Cell) -> Subject:
    random = np.random.default_rng(TYPES.index(cell.type))
    shape = INDEX_SHAPES.get(cell.kind, INDEX_SHAPES[cell.op])
    indices = random.integers(-4 if cell.kind != "positive" else 0, 4, shape).astype(cell.how)
    data = hostile(cell.type, DATA_SHAPE, random, any_half=True)
    right = _expected(cell, data, indices) if cell.valid else data
    if not cell.valid:
        indices.flat[-1] = 2**32 + 1 if cell.kind == "beyond 32 bits" else random.choice([6, 7, -7, 2**31 - 1, -(2**31)])
    attribute = f"batch_dims = {int(cell.kind == 'batched')}" if cell.op == "GatherND" else f"axis = {AXIS}"
    text = f"output = {cell.op}<{attribute}>(data, indices)"
    return Subject(text, {"data": data, "indices": indices}, right, last_index(indices), 13)


def _expected(cell: Cell, data: np.ndarray, indices: np.ndarray) -> np.ndarray:
    if cell.op == "Gather":
        return np.take(data, indices, AXIS)
    if cell.op == "GatherND":
        rows = () if cell.kind != "batched" else (np.arange(len(data))[:, None],)
        return data[(*rows, *np.moveaxis(indices, -1, 0))]
    part = data[tuple(slice(None) if i == AXIS else slice(size) for i, size in enumerate(indices.shape))]
    return np.take_along_axis(part, indices, AXIS)


outcome = partial(outcome_of, subject)


def main() -> int:
    chosen = [cell for op, element_type in product(KINDS, TYPES) for cell in cells(op, element_type)]
    return report_matrix(outcome, KINDS, chosen, lambda result: result.is_bad)


if __name__ == "__main__":
    sys.exit(main())
