"""Test every form of a single scatter through `compile_onnx` against a loop: python tests/tools/scatter_matrix.py [--stock]

Scatter-9, ScatterElements-18 and ScatterND-18: 16 element types x int32 and int64 indices x positive, negative, repeated,
smaller and out-of-bounds indices x static, dynamic and unknown shapes x data, indices and updates as inputs or initializers x
reductions. Each cell runs in a worker process, so that a crash is a result. An index out of bounds must raise an error with its
position and value. The exit code is 1 if a result is not exact, such an error is missing, or a worker crashes; these cells are
printed. `--stock` runs OpenVINO alone, and only counts; `--verbose` prints every cell that is not exact.

Data that is only moved is as hostile as its type allows: extremes, infinities, denormals, NaN with payloads (float16: quiet
ones). Reduced numbers are finite; integers wrap around; float16 and bfloat16 are reduced in float32 and rounded once. A sum of
booleans is `or`, and complex numbers are compared by real part, then imaginary part, as in ONNX's reference evaluator.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import onnx
import openvino
from onnx import helper

from ov_gather.converters import compile_onnx
from ov_gather.runtimes.base import OutOfBoundsError
from ov_gather.runtimes.session import Session

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/, where the helpers are

from helpers.cells import TYPES, Outcome, dtype_of, hostile, judged, model_of, names_last_index, report, results_of_all, table
from helpers.reductions import REDUCTIONS

OPSETS = {"Scatter": 9, "ScatterElements": 18, "ScatterND": 18}
SHAPES = {  # of data, indices and updates; those of SMALLER are smaller off the axis, or have fewer coordinates
    "Scatter": ((4, 5, 6), (4, 9, 6), (4, 9, 6)),
    "ScatterElements": ((4, 5, 6), (4, 9, 6), (4, 9, 6)),
    "ScatterND": ((4, 5, 6), (7, 2, 2), (7, 2, 6)),
}
SMALLER = {
    "Scatter": ((4, 5, 6), (2, 3, 5), (2, 3, 5)),
    "ScatterElements": ((4, 5, 6), (2, 3, 5), (2, 3, 5)),
    "ScatterND": ((4, 5, 6), (3, 1), (3, 5, 6)),
}
AXIS = 1
NAMES = ("data", "indices", "updates")
BAD = (5, -6, 2**31 - 1, -(2**31))
Execute = Callable[[onnx.ModelProto, Mapping[str, np.ndarray]], np.ndarray]


@dataclass(frozen=True)
class Cell:
    op: str
    type: str
    index_type: str
    kind: str
    reduction: str = "none"
    form: str = "static"
    constant: str = ""

    @property
    def valid(self) -> bool:
        return self.kind not in ("beyond", "before", "beyond 32 bits")


def cells(op: str, element_type: str) -> Iterator[Cell]:
    """Yield the cells of an operator and a type, those without reduction first. ONNX has no Scatter-9 of bfloat16."""
    if (op, element_type) == ("Scatter", "bfloat16"):
        return
    for index_type in ("int64",) if op == "ScatterND" else ("int32", "int64"):
        form = (op, element_type, index_type)
        for kind in ("positive", "negative", "repeated", "smaller", "empty"):
            yield Cell(*form, kind, form="dynamic")
            for constant in ("", *NAMES):
                yield Cell(*form, kind, constant=constant)
        yield Cell(*form, "repeated", form="unknown rank")
        for kind, shape in product(("beyond", "before"), ("static", "dynamic", "unknown rank")):
            yield Cell(*form, kind, form=shape)
        yield Cell(*form, "beyond", constant="indices")
        reductions = () if op == "Scatter" or element_type == "string" else REDUCTIONS
        for reduction in reductions:
            for kind, shape in product(("negative", "repeated", "smaller", "beyond"), ("static", "dynamic")):
                yield Cell(*form, kind, reduction, shape)
    yield Cell(op, element_type, "int64", "beyond 32 bits")


def arrays(cell: Cell) -> dict[str, np.ndarray]:
    """Return data, indices and updates of a cell."""
    random = np.random.default_rng(TYPES.index(cell.type))
    shapes = [list(shape) for shape in (SMALLER if cell.kind == "smaller" else SHAPES)[cell.op]]
    if cell.kind == "empty":  # no update
        shapes[1][0] = shapes[2][0] = 0
    if cell.kind == "repeated":
        indices = random.integers(0, 2, shapes[1])
    else:
        indices = random.integers(0 if cell.kind == "positive" else -4, 4, shapes[1])
    indices = indices.astype(cell.index_type)
    if not cell.valid:
        values = {"beyond": BAD[::2], "before": BAD[1::2], "beyond 32 bits": (2**32 + 1,)}[cell.kind]
        indices.flat[-1] = random.choice(values)
    data, updates = (_values(cell, shape, random) for shape in (shapes[0], shapes[2]))
    return {"data": data, "indices": indices, "updates": updates}


def _values(cell: Cell, shape: Sequence[int], random: np.random.Generator) -> np.ndarray:
    if cell.reduction == "none" or cell.type == "bool" or dtype_of(cell.type).kind in "iu":
        return hostile(cell.type, shape, random)
    count, dtype = int(np.prod(shape)), dtype_of(cell.type)
    part = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
    return random.uniform(-2, 2, count * dtype.itemsize // part.itemsize).astype(part).view(dtype).reshape(shape)


def expected(cell: Cell, data: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
    """Compute a scatter as ONNX defines it, one update after the other."""
    is_half = cell.reduction != "none" and cell.type in ("float16", "bfloat16")
    output, values = (array.astype(np.float32) if is_half else array.copy() for array in (data, updates))
    for at in np.ndindex(*(indices.shape[:-1] if cell.op == "ScatterND" else indices.shape)):
        place = tuple(indices[at]) if cell.op == "ScatterND" else (*at[:AXIS], indices[at], *at[AXIS + 1 :])
        output[place] = values[at] if cell.reduction == "none" else REDUCTIONS[cell.reduction](output[place], values[at])
    return output.astype(data.dtype)


def model(cell: Cell, given: Mapping[str, np.ndarray]) -> onnx.ModelProto:
    attributes = {} if cell.op == "ScatterND" else {"axis": AXIS}
    if OPSETS[cell.op] >= 16:
        attributes["reduction"] = cell.reduction
    node = helper.make_node(cell.op, NAMES, ["output"], name="scatter", **attributes)
    return model_of([node], given, [cell.constant], cell.form, given["data"], OPSETS[cell.op])


def ours(proto: onnx.ModelProto, given: Mapping[str, np.ndarray]) -> np.ndarray:
    return compile_onnx(proto)(given)["output"]


def stock(proto: onnx.ModelProto, given: Mapping[str, np.ndarray]) -> np.ndarray:
    core = _stock_core()
    session = Session(core, core.read_model(proto.SerializeToString()))
    try:
        (output,) = session([given[value.name] for value in proto.graph.input])
    except OutOfBoundsError as error:
        raise IndexError(str(error)) from None
    return output


@cache
def _stock_core() -> openvino.Core:
    return openvino.Core()


def outcome(cell: Cell, execute: Execute = ours) -> Outcome:
    """Return the outcome of a cell, and the reason. On OpenVINO alone any error for an index out of bounds is right."""
    given = arrays(cell)

    def call() -> np.ndarray:
        return execute(model(cell, given), {name: array for name, array in given.items() if name != cell.constant})

    with np.errstate(all="ignore"):
        right = expected(cell, **given) if cell.valid else None
    return judged(call, right, lambda message: execute is stock or names_last_index(message, given["indices"]))


def main() -> int:
    is_stock = "--stock" in sys.argv
    groups = [list(cells(op, element_type)) for op, element_type in product(OPSETS, TYPES)]
    results = results_of_all(partial(outcome, execute=stock) if is_stock else outcome, groups)
    return report(
        table(results, OPSETS), results, lambda result: result.is_bad and not is_stock, is_verbose="--verbose" in sys.argv
    )


if __name__ == "__main__":
    sys.exit(main())
