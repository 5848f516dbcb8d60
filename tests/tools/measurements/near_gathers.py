"""Test operators related to gathers through `compile_onnx` against NumPy.

Compress, GatherND with batches, ReverseSequence, OneHot and exports of PyTorch's EmbeddingBag: element types x axes or layouts
x kinds of indices x static, dynamic and unknown shapes x operands as inputs or initializers. Each cell runs in a worker
process, so that a crash is a result. Invalid operands must raise an error: an index out of bounds, a condition that is true
beyond the end, an invalid length of a sequence. Fails if a result is silently wrong, such an error is missing, or a worker
crashes. `--stock` runs OpenVINO alone, and only counts; `--verbose` prints every cell that is not exact.

OneHot of an index out of range has no hot value, without an error. Fractional indices of OneHot are cast to int64, as ONNX
specifies; onnxruntime and ONNX's reference compare them instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product

import numpy as np

from helpers.cells import COLUMNS, FORMS, TYPES, Cell, Subject, dtype_of, hostile, last_index, measured, outcome_of

__all__ = ["COLUMNS", "measure", "outcome", "subject"]

MOVED = tuple(name for name in TYPES if name != "bfloat16")  # Compress, OneHot and ReverseSequence do not take bfloat16
FLOATS = ("float16", "bfloat16", "float32", "float64")


def _compress_cells() -> Iterator[Cell]:
    for element_type in MOVED:
        form = ("Compress", element_type)
        for axis in ("0", "1", "-1", "none"):
            for kind, shape in product(("shorter", "whole"), FORMS):
                yield Cell(*form, axis, kind, shape)
            yield Cell(*form, axis, "whole", constant=("condition",))
            yield Cell(*form, axis, "nothing", "dynamic")
            for shape in ("static", "dynamic"):
                yield Cell(*form, axis, "beyond", shape)
        yield Cell(*form, "1", "whole", "dynamic", ("data",))


def _compress(cell: Cell, random: np.random.Generator) -> Subject:
    data = hostile(cell.type, (4, 5, 6), random)
    axis = None if cell.how == "none" else int(cell.how)
    size = data.size if axis is None else data.shape[axis]
    length = {"whole": size, "nothing": size, "shorter": size - 1, "beyond": size + 2}[cell.kind]
    condition = random.integers(0, 2, length).astype(bool) & (cell.kind != "nothing")
    condition[size:] = np.arange(length)[size:] == length - 1  # beyond the end, only the last is true
    attribute = "" if axis is None else f"<axis = {axis}>"
    right = np.compress(condition[:size], data, axis)
    return Subject(
        f"output = Compress{attribute}(data, condition)", {"data": data, "condition": condition}, right, f"= {length - 1} "
    )


def _tuples_cells() -> Iterator[Cell]:
    for element_type, how in product(TYPES, ("1 batch dim", "2 batch dims")):
        form = ("GatherND", element_type, how)
        for kind, shape in product(("positive", "negative"), FORMS):
            yield Cell(*form, kind, shape)
        for constant in ("data", "indices"):
            yield Cell(*form, "negative", "dynamic" if constant == "data" else "static", (constant,))
        for kind, shape in product(("beyond", "before", "other batches"), ("dynamic", "unknown rank")):
            yield Cell(*form, kind, shape)


def _tuples(cell: Cell, random: np.random.Generator) -> Subject:
    batch_dims = int(cell.how[0])
    data = hostile(cell.type, (1 if cell.kind == "other batches" else 2, 3, 5, 4), random)
    indices = random.integers(0 if cell.kind == "positive" else -3, 3, (2, 4, 2) if batch_dims == 1 else (2, 3, 4, 1))
    if cell.kind in ("beyond", "before"):
        indices.flat[-1] = {"beyond": 5, "before": -6}[cell.kind]
    fault = "batch" if cell.kind == "other batches" else last_index(indices)
    right = data
    if cell.valid:
        leading = np.ix_(*(range(size) for size in indices.shape[:-1]))[:batch_dims]
        right = data[(*leading, *np.moveaxis(indices, -1, 0))]
    text = f"output = GatherND<batch_dims = {batch_dims}>(data, indices)"
    return Subject(text, {"data": data, "indices": indices}, right, fault)


def _sequences_cells() -> Iterator[Cell]:
    for element_type, how in product(MOVED, ("time first", "batch first")):
        form = ("ReverseSequence", element_type, how)
        for shape in FORMS:
            yield Cell(*form, "lengths", shape)
        for constant in (("lengths",), ("data",)):
            yield Cell(*form, "lengths", constant=constant)
        for kind, shape in product(("beyond", "before"), ("static", "dynamic")):
            yield Cell(*form, kind, shape)
        yield Cell(*form, "beyond 32 bits", "dynamic")


def _sequences(cell: Cell, random: np.random.Generator) -> Subject:
    time, batch = (0, 1) if cell.how == "time first" else (1, 0)
    data = hostile(cell.type, (5, 6, 4) if time == 0 else (6, 5, 4), random)
    lengths = random.permutation(6)  # of time 5: 0, 1 and the whole among them
    right = np.moveaxis(data, (time, batch), (0, 1)).copy()
    for i, length in enumerate(lengths):
        right[:length, i] = right[:length, i][::-1]
    if not cell.valid:
        lengths[-1] = {"beyond": 6, "before": -1, "beyond 32 bits": 2**32 + 1}[cell.kind]
    text = f"output = ReverseSequence<time_axis = {time}, batch_axis = {batch}>(data, lengths)"
    return Subject(text, {"data": data, "lengths": lengths}, np.moveaxis(right, (0, 1), (time, batch)))


def _one_hot_cells() -> Iterator[Cell]:
    for element_type in MOVED:
        form = ("OneHot", element_type)
        for axis in ("0", "-1"):
            for kind, shape in product(("in range", "out of range"), FORMS):
                yield Cell(*form, f"{axis} int64", kind, shape, ("depth",))
        yield Cell(*form, "1 int64", "out of range", "static", ("depth", "values"))
        yield Cell(*form, "1 int64", "out of range", "dynamic")
    for index_type in ("uint8", "int8", "int32", "uint32", "uint64", "float32", "float64"):
        for kind, shape in product(("in range", "out of range"), FORMS):
            yield Cell("OneHot", "float32", f"-1 {index_type}", kind, shape, ("depth",))
    for index_type, shape in product(("int64", "uint64"), ("static", "dynamic")):
        yield Cell("OneHot", "float32", f"-1 {index_type}", "beyond 32 bits", shape, ("depth",))
    yield Cell("OneHot", "float32", "-1 int64", "beyond 32 bits", "static", ("depth", "indices"))
    for index_type in ("float32", "float64"):
        yield Cell("OneHot", "float32", f"-1 {index_type}", "fractions", "dynamic", ("depth",))


def _one_hot(cell: Cell, random: np.random.Generator) -> Subject:
    axis_text, index_type = cell.how.split()
    axis, depth, dtype = int(axis_text), 5, dtype_of(index_type)
    lowest = 0 if dtype.kind == "u" else -depth
    indices = random.integers(lowest, depth, (3, 4)).astype(dtype)
    if cell.kind == "out of range":
        indices[0] = [5, 7, 100, 127] if dtype.kind == "u" else [5, -6, 100, -128]
    elif cell.kind == "beyond 32 bits":
        indices[0, 0] = 2**32 + 1
    elif cell.kind == "fractions":
        indices += random.choice([0.25, -0.75, 0.5], indices.shape)
    off, on = values = hostile(cell.type, (2,), random)
    whole = indices.astype(np.int64)
    is_hot = np.expand_dims(np.where((whole >= -depth) & (whole < depth), whole % depth, -1), axis) == np.expand_dims(
        np.arange(depth), [i for i in range(3) if i != axis % 3]
    )
    right = np.empty(is_hot.shape, values.dtype)
    right[is_hot], right[~is_hot] = on, off
    operands = {"indices": indices, "depth": np.array(depth), "values": values}
    return Subject(f"output = OneHot<axis = {axis}>(indices, depth, values)", operands, right)


# Exports of PyTorch's EmbeddingBag: with offsets; of a matrix; with weights; and scattered into bags.
_LOOP = """zero = Constant<value_ints = [0]>() one = Constant<value_ints = [1]>()
last = Constant<value_ints = [9223372036854775807]>() first = Constant<value_int = 0>()
length = Shape(indices) ends = Concat<axis = 0>(offsets, length) stops = Slice(ends, one, last, zero, one)
bags = Shape(stops) count = Gather(bags, first) yes = Constant<value = bool {1}>()
output = Loop(count, yes) <body = bag (int64 i, bool go_on) => (bool again, float[] row) {
    begin = Gather(ends, i) end = Gather(stops, i) begins = Unsqueeze(begin, zero) ends_here = Unsqueeze(end, zero)
    mine = Slice(indices, begins, ends_here, zero) rows = Gather(table, mine)
    row = MODE<keepdims = 0>(rows, zero) again = Cast<to = 9>(yes) }>"""
_PATTERNS = {
    "loop": _LOOP,
    "matrix": "one = Constant<value_ints = [1]>() rows = Gather(table, indices) output = MODE<keepdims = 0>(rows, one)",
    "weighted": """one = Constant<value_ints = [1]>() two = Constant<value_ints = [2]>() rows = Gather(table, indices)
wide = Unsqueeze(weights, two) weighed = Mul(rows, wide) output = MODE<keepdims = 0>(weighed, one)""",
    "scattered": 'rows = Gather(table, indices) output = ScatterND<reduction = "add">(zeros, bags, rows)',
}
_MODES: Mapping[str, Callable[..., np.ndarray]] = {"ReduceSum": np.sum, "ReduceMean": np.mean, "ReduceMax": np.max}


def _bags_cells() -> Iterator[Cell]:
    for element_type, pattern in product(FLOATS, _PATTERNS):
        for mode in _MODES if pattern in ("loop", "matrix") else ("ReduceSum",):
            form = ("EmbeddingBag", element_type, f"{pattern} {mode}")
            for kind, shape in product(("positive", "negative"), FORMS):
                yield Cell(*form, kind, shape)
            yield Cell(*form, "negative", constant=("table",))
            for kind, shape in product(("beyond", "before"), ("static", "dynamic")):
                yield Cell(*form, kind, shape, ("table",))
            yield Cell(*form, "beyond 32 bits", "dynamic")
        if pattern == "loop":
            yield Cell("EmbeddingBag", element_type, "loop ReduceSum", "empty bag", "dynamic", ("table",))


def _bags(cell: Cell, random: np.random.Generator) -> Subject:
    """Return a subject whose sums are exact in any order: few small integers, or few large ones in float64."""
    pattern, mode = cell.how.split()
    size, largest = 9, 2**40 if cell.type == "float64" else 15
    numbers = random.integers(-largest, largest, (size, 4)).astype(dtype_of(cell.type))
    indices = random.integers(0 if cell.kind == "positive" else -size, size, 8)
    offsets = np.array([0, 4, 4] if cell.kind == "empty bag" else [0, 4])
    parts = np.split(numbers[indices], offsets[1:])
    if not cell.valid:
        indices[-1] = {"beyond": size, "before": -size - 1, "beyond 32 bits": 2**32 + 1}[cell.kind]
    operands = {"table": numbers, "indices": indices}
    if pattern == "loop":
        operands["offsets"] = offsets
    elif pattern == "scattered":
        operands |= {"zeros": np.zeros((2, 4), numbers.dtype), "bags": np.arange(8)[:, None] // 4}
    else:
        operands["indices"] = indices.reshape(2, 4)
    if pattern == "weighted":
        weights = operands["weights"] = random.integers(1, 3, (2, 4)).astype(numbers.dtype)
        parts = [part * weight[:, None] for part, weight in zip(parts, weights, strict=True)]
    right = np.stack([_MODES[mode](part, axis=0) for part in parts]).astype(numbers.dtype)
    place = {"loop": "3", "scattered": "7"}.get(pattern, "1, 3")
    fault = f"[{place if cell.kind != 'beyond 32 bits' or pattern != 'loop' else 7}] = {indices[-1]} "
    element_type = {"float32": "float", "float64": "double"}.get(cell.type, cell.type)
    text = _PATTERNS[pattern].replace("MODE", mode).replace("float[]", f"{element_type}[]")
    return Subject(text, operands, right, fault)


SUBJECTS: Mapping[str, tuple[Callable[[], Iterator[Cell]], Callable[[Cell, np.random.Generator], Subject]]] = {
    "Compress": (_compress_cells, _compress),
    "GatherND": (_tuples_cells, _tuples),
    "ReverseSequence": (_sequences_cells, _sequences),
    "OneHot": (_one_hot_cells, _one_hot),
    "EmbeddingBag": (_bags_cells, _bags),
}


def subject(cell: Cell) -> Subject:
    return SUBJECTS[cell.op][1](cell, np.random.default_rng(TYPES.index(cell.type)))


outcome = partial(outcome_of, subject)


def measure(*, stock: bool = False, verbose: bool = False) -> Iterator[tuple[str, ...] | str]:
    chosen = [cell for cells, _ in SUBJECTS.values() for cell in cells()]
    return measured(subject, SUBJECTS, chosen, lambda result: result.is_silent, stock=stock, verbose=verbose)
