"""Test every form of a single gather or scatter through `compile_onnx`.

Gather-13, GatherElements-13, GatherND-13, Scatter-9, ScatterElements-18 and ScatterND-18 against NumPy, bit by bit: 16 element
types x int32 and int64 indices x positive, negative, repeated, smaller, batched and out-of-bounds indices x static, dynamic and
unknown shapes x operands as inputs or initializers x reductions. Each cell runs in a worker process, so that a crash is a
result. An index out of bounds must raise an error with its position and value. Fails if a result is not exact, such an error is
missing, or a worker crashes; these cells are printed. `--stock` runs OpenVINO alone, and only counts; `--verbose` prints every
cell that is not exact.

Data that is only moved is as hostile as its type allows: extremes, infinities, denormals, NaN with payloads (float16: quiet
ones in scatters). Reduced numbers are finite; integers wrap around; float16 and bfloat16 are reduced in float32 and rounded
once. A sum of booleans is `or`, and complex numbers are compared by real part, then imaginary part, as in ONNX's reference
evaluator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np

from helpers.cells import COLUMNS, FORMS, TYPES, Cell, Subject, dtype_of, hostile, last_index, measured, outcome_of
from helpers.reductions import REDUCTIONS

__all__ = ["COLUMNS", "cells", "measure", "outcome"]

KINDS = {
    "GatherElements": ("positive", "negative", "smaller"),
    "Gather": ("positive", "negative"),
    "GatherND": ("positive", "negative", "batched"),
}
INDEX_SHAPES = {"GatherElements": (4, 7, 6), "Gather": (2, 3), "GatherND": (3, 2), "smaller": (2, 3, 5), "batched": (4, 3, 1)}
OPSETS = {"Scatter": 9, "ScatterElements": 18, "ScatterND": 18}
# Shapes of indices and updates; those of SMALLER are smaller off the axis, or have fewer coordinates.
SHAPES = {"Scatter": ((4, 9, 6), (4, 9, 6)), "ScatterElements": ((4, 9, 6), (4, 9, 6)), "ScatterND": ((7, 2, 2), (7, 2, 6))}
SMALLER = {"Scatter": ((2, 3, 5), (2, 3, 5)), "ScatterElements": ((2, 3, 5), (2, 3, 5)), "ScatterND": ((3, 1), (3, 5, 6))}
DATA_SHAPE, AXIS = (4, 5, 6), 1
NAMES = ("data", "indices", "updates")
BAD = (5, -6, 2**31 - 1, -(2**31))


def _gather_cells(op: str, element_type: str) -> Iterator[Cell]:
    """Yield the cells of an operator and a type, by kind."""
    constants = ((), ("indices",), ("data",), ("data", "indices"))
    for index_type in ("int64",) if op == "GatherND" else ("int32", "int64"):
        for kind, form, constant in product((*KINDS[op], "beyond"), FORMS[:2], constants):
            yield Cell(op, element_type, index_type, kind, form, constant)
        yield Cell(op, element_type, index_type, "negative", "unknown rank")
    for form, constant in product(FORMS[:2], constants[:2]):
        yield Cell(op, element_type, "int64", "beyond 32 bits", form, constant)


def _gather(cell: Cell) -> Subject:
    random = np.random.default_rng(TYPES.index(cell.type))
    shape = INDEX_SHAPES.get(cell.kind, INDEX_SHAPES[cell.op])
    indices = random.integers(-4 if cell.kind != "positive" else 0, 4, shape).astype(cell.how)
    data = hostile(cell.type, DATA_SHAPE, random, any_half=True)
    right = _gathered(cell, data, indices) if cell.valid else data
    if not cell.valid:
        indices.flat[-1] = 2**32 + 1 if cell.kind == "beyond 32 bits" else random.choice([6, 7, -7, 2**31 - 1, -(2**31)])
    attribute = f"batch_dims = {int(cell.kind == 'batched')}" if cell.op == "GatherND" else f"axis = {AXIS}"
    text = f"output = {cell.op}<{attribute}>(data, indices)"
    return Subject(text, {"data": data, "indices": indices}, right, last_index(indices), 13)


def _gathered(cell: Cell, data: np.ndarray, indices: np.ndarray) -> np.ndarray:
    if cell.op == "Gather":
        return np.take(data, indices, AXIS)
    if cell.op == "GatherND":
        rows = () if cell.kind != "batched" else (np.arange(len(data))[:, None],)
        return data[(*rows, *np.moveaxis(indices, -1, 0))]
    part = data[tuple(slice(None) if i == AXIS else slice(size) for i, size in enumerate(indices.shape))]
    return np.take_along_axis(part, indices, AXIS)


def _scatter_cells(op: str, element_type: str) -> Iterator[Cell]:
    """Yield the cells of an operator and a type, those without reduction first. ONNX has no Scatter-9 of bfloat16."""
    if (op, element_type) == ("Scatter", "bfloat16"):
        return
    for index_type in ("int64",) if op == "ScatterND" else ("int32", "int64"):
        form = (op, element_type, index_type)
        for kind in ("positive", "negative", "repeated", "smaller", "empty"):
            yield Cell(*form, kind, "dynamic")
            for constant in ((), *((name,) for name in NAMES)):
                yield Cell(*form, kind, constant=constant)
        yield Cell(*form, "repeated", "unknown rank")
        for kind, shape in product(("beyond", "before"), FORMS):
            yield Cell(*form, kind, shape)
        yield Cell(*form, "beyond", constant=("indices",))
        reductions = () if op == "Scatter" or element_type == "string" else REDUCTIONS
        for reduction in reductions:
            for kind, shape in product(("negative", "repeated", "smaller", "beyond"), FORMS[:2]):
                yield Cell(*form, kind, shape, reduction=reduction)
    yield Cell(op, element_type, "int64", "beyond 32 bits")


def _scatter(cell: Cell) -> Subject:
    random = np.random.default_rng(TYPES.index(cell.type))
    shapes = [list(DATA_SHAPE), *map(list, (SMALLER if cell.kind == "smaller" else SHAPES)[cell.op])]
    if cell.kind == "empty":  # no update
        shapes[1][0] = shapes[2][0] = 0
    if cell.kind == "repeated":
        indices = random.integers(0, 2, shapes[1])
    else:
        indices = random.integers(0 if cell.kind == "positive" else -4, 4, shapes[1])
    indices = indices.astype(cell.how)
    if not cell.valid:
        values = {"beyond": BAD[::2], "before": BAD[1::2], "beyond 32 bits": (2**32 + 1,)}[cell.kind]
        indices.flat[-1] = random.choice(values)
    data, updates = (_values(cell, shape, random) for shape in (shapes[0], shapes[2]))
    with np.errstate(all="ignore"):
        right = _scattered(cell, data, indices, updates) if cell.valid else data
    attributes = [] if cell.op == "ScatterND" else [f"axis = {AXIS}"]
    attributes += [f'reduction = "{cell.reduction}"'] if OPSETS[cell.op] >= 16 else []
    text = f"output = {cell.op}<{', '.join(attributes)}>({', '.join(NAMES)})"
    operands = {"data": data, "indices": indices, "updates": updates}
    return Subject(text, operands, right, "" if cell.valid else last_index(indices), OPSETS[cell.op])


def _values(cell: Cell, shape: Sequence[int], random: np.random.Generator) -> np.ndarray:
    if cell.reduction == "none" or cell.type == "bool" or dtype_of(cell.type).kind in "iu":
        return hostile(cell.type, shape, random)
    count, dtype = int(np.prod(shape)), dtype_of(cell.type)
    part = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
    return random.uniform(-2, 2, count * dtype.itemsize // part.itemsize).astype(part).view(dtype).reshape(shape)


def _scattered(cell: Cell, data: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
    """Compute a scatter as ONNX defines it, one update after the other."""
    is_half = cell.reduction != "none" and cell.type in ("float16", "bfloat16")
    output, values = (array.astype(np.float32) if is_half else array.copy() for array in (data, updates))
    for at in np.ndindex(*(indices.shape[:-1] if cell.op == "ScatterND" else indices.shape)):
        place = tuple(indices[at]) if cell.op == "ScatterND" else (*at[:AXIS], indices[at], *at[AXIS + 1 :])
        output[place] = values[at] if cell.reduction == "none" else REDUCTIONS[cell.reduction](output[place], values[at])
    return output.astype(data.dtype)


def cells(op: str, element_type: str) -> Iterator[Cell]:
    return _gather_cells(op, element_type) if op in KINDS else _scatter_cells(op, element_type)


def subject(cell: Cell) -> Subject:
    return _gather(cell) if cell.op in KINDS else _scatter(cell)


outcome = partial(outcome_of, subject)


def measure(*, stock: bool = False, verbose: bool = False) -> Iterator[tuple[str, ...] | str]:
    operators = (*KINDS, *OPSETS)
    chosen = [cell for op, element_type in product(operators, TYPES) for cell in cells(op, element_type)]
    return measured(subject, operators, chosen, lambda result: result.is_bad, stock=stock, verbose=verbose)
