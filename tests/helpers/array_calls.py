"""Random calls of the five functions, and what NumPy's indexing makes of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helpers.array_layouts import OBJECTS, TYPES
from ov_gather import gather, gather_elements, gather_nd, scatter_elements, scatter_nd

Array = NDArray[Any]
_REDUCED = tuple(dtype for dtype in TYPES if dtype.kind in "biufc" or dtype.name == "bfloat16")
_UFUNCS = {"add": np.add, "sum": np.add, "mul": np.multiply, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
_OF_BOOLEANS = {"add": np.logical_or, "sum": np.logical_or, "mul": np.logical_and, "prod": np.logical_and}


@dataclass
class Call:
    """A call; `expected` computes the result, and is asked only if every index is in bounds or bounds are not checked."""

    function: Callable[..., Array]
    inputs: list[Array]
    options: dict[str, Any]
    shape: tuple[int, ...]
    expected: Callable[[], Array]
    sizes: Any
    """The size that each index is to be within, of the shape of indices or to be broadcast to it."""
    checks: bool = True
    bad: tuple[int, ...] | None = field(init=False)

    def __post_init__(self) -> None:
        indices = self.inputs[1]
        wrong = (indices < -np.asarray(self.sizes)) | (indices >= np.asarray(self.sizes))
        self.bad = tuple(map(int, np.argwhere(wrong)[0])) if self.checks and wrong.any() else None


def random_call(rng: np.random.Generator) -> Call:
    """Return a call of one of the functions; one in fifty is large enough for several threads."""
    return (_gather_elements, _gather, _gather_nd, _scatter_elements, _scatter_nd)[rng.integers(5)](rng)


def _shape(rng: np.random.Generator, lowest: int = 1, highest: int = 4, times: int = 1) -> tuple[int, ...]:
    """Return a shape, rarely a large one, unless it is that of elements of this size."""
    if times < 5 and rng.random() < 0.02:
        return tuple(map(int, rng.choice([1, 2, 64, 200, 700], max(lowest, 2))))
    return tuple(map(int, rng.choice([0, 1, 1, 2, 3, 4, 5, 9], rng.integers(lowest, highest + 1))))


def _values(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any], any_bits: bool = True) -> Array:
    if dtype in OBJECTS:
        return rng.integers(0, 99, shape).astype("U2").astype(dtype)
    if any_bits and dtype.kind not in "?bU":
        return np.frombuffer(rng.bytes(prod(shape) * dtype.itemsize), dtype).reshape(shape)
    return rng.integers(0, 2 if dtype.kind == "b" else 5, shape).astype(dtype)


def _type(rng: np.random.Generator) -> np.dtype[Any]:
    return (*TYPES, *OBJECTS)[rng.integers(len(TYPES) + len(OBJECTS))]


def _indices(rng: np.random.Generator, shape: tuple[int, ...], sizes: Any) -> Array:
    """Indices within these sizes, rarely out of bounds; where a size is 0, every index is."""
    low, high = -np.asarray(sizes), np.maximum(np.asarray(sizes), 1)
    indices = np.asarray(rng.integers(low, high, shape)).astype(rng.choice(["i4", "i8", ">i4", ">i8"], p=[0.4, 0.4, 0.1, 0.1]))
    if indices.size and rng.random() < 0.1:
        flat = indices.reshape(-1)
        flat[rng.integers(flat.size)] = rng.choice([1000, -1001, 2**31 - 1, -(2**31)])
        indices = flat.reshape(shape)
    return indices


def _below(rng: np.random.Generator, shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """Return a shape of indices: off the axis rarely smaller than that of data."""
    smaller = [size if rng.random() < 0.8 else int(rng.integers(size + 1)) for size in shape]
    smaller[axis] = int(rng.choice([0, 1, 2, 7, max(shape)])) if shape[axis] else 0
    return tuple(smaller)


def _places(indices: Array, axis: int) -> tuple[Array, ...]:
    """Return the coordinates that each position of indices names, as NumPy takes them."""
    grids: list[Array] = list(np.indices(indices.shape, sparse=True))
    grids[axis] = indices.astype(np.int64)
    return tuple(grids)


def _coordinates(tuples: Array) -> tuple[Array, ...]:
    return tuple(np.moveaxis(tuples.astype(np.int64), -1, 0))


def _gather_elements(rng: np.random.Generator) -> Call:
    shape = _shape(rng)
    axis = int(rng.integers(len(shape)))
    data = _values(rng, shape, _type(rng))
    indices = _indices(rng, _below(rng, shape, axis), shape[axis])
    options = {"axis": axis - len(shape) * int(rng.integers(2))}
    return Call(gather_elements, [data, indices], options, indices.shape, lambda: data[_places(indices, axis)], shape[axis])


def _gather(rng: np.random.Generator) -> Call:
    shape = _shape(rng)
    axis = int(rng.integers(len(shape)))
    batch = int(rng.integers(axis + 1))
    data = _values(rng, shape, _type(rng))
    tail = _shape(rng, 0, 2, prod(shape))
    indices = _indices(rng, shape[:batch] + tail, shape[axis])
    bounds = str(rng.choice(["error", "zero"]))
    result = shape[:axis] + tail + shape[axis + 1 :]

    def expected() -> Array:
        output = np.empty(result, data.dtype)
        size = shape[axis]
        for b in np.ndindex(shape[:batch]):
            good = (indices[b] >= -size) & (indices[b] < size)
            before = (slice(None),) * (axis - batch)
            if size:
                output[b] = np.take(data[b], np.where(good, indices[b], 0), axis - batch)
            output[(*b, *before, ~good)] = "" if data.dtype in OBJECTS else np.zeros((), data.dtype)
        return output

    options = {"axis": axis, "batch_dims": batch, "bounds": bounds}
    return Call(gather, [data, indices], options, result, expected, shape[axis], bounds == "error")


def _tuples(rng: np.random.Generator, before: tuple[int, ...], dims: tuple[int, ...]) -> Array:
    """Return tuples of coordinates within these dimensions, of which there may be none."""
    return _indices(rng, (*before, len(dims)), np.array(dims, np.int64))


def _gather_nd(rng: np.random.Generator) -> Call:
    shape = _shape(rng)
    batch = int(rng.integers(len(shape)))
    depth = int(rng.integers(len(shape) - batch + 1))
    data = _values(rng, shape, _type(rng))
    dims = shape[batch : batch + depth]
    indices = _tuples(rng, (*shape[:batch], *_shape(rng, 0, 2, prod(shape))), dims)
    result = indices.shape[:-1] + shape[batch + depth :]

    def expected() -> Array:
        output = np.empty(result, data.dtype)
        for b in np.ndindex(shape[:batch]):
            output[b] = data[b][_coordinates(indices[b])] if depth else data[b]
        return output

    sizes = np.array(dims, np.int64)
    return Call(gather_nd, [data, indices], {"batch_dims": batch}, result, expected, sizes)


def _reduction(rng: np.random.Generator) -> tuple[str, np.dtype[Any]]:
    if rng.random() < 0.5:
        return "none", _type(rng)
    return str(rng.choice(list(_UFUNCS))), _REDUCED[rng.integers(len(_REDUCED))]


def _updated(data: Array, updates: Array, reduction: str, places: Any) -> Array:
    """Return data with updates made one after the other. Small floats are reduced as float32."""
    output = data.copy()
    if reduction == "none":
        output[places] = updates
        return output
    wide = np.dtype(np.float32) if data.dtype.name in ("float16", "bfloat16") else data.dtype.newbyteorder("=")
    result = output.astype(wide)
    ufunc = _OF_BOOLEANS.get(reduction, _UFUNCS[reduction]) if wide.kind == "b" else _UFUNCS[reduction]
    with np.errstate(all="ignore"):
        ufunc.at(result, places, updates.astype(wide))
        return np.asarray(result.astype(data.dtype))


def _scatter(
    function: Callable[..., Array], inputs: list[Array], options: dict[str, Any], reduction: str, places: Any, sizes: Any
) -> Call:
    data, _, updates = inputs
    options["reduction"] = reduction
    return Call(function, inputs, options, data.shape, lambda: _updated(data, updates, reduction, places), sizes)


def _scatter_elements(rng: np.random.Generator) -> Call:
    shape = _shape(rng)
    axis = int(rng.integers(len(shape)))
    reduction, dtype = _reduction(rng)
    data = _values(rng, shape, dtype, reduction == "none")
    narrow = _below(rng, shape, axis)
    if rng.random() < 0.3:  # One index for a whole row, which the kernel takes at once.
        column = _indices(rng, tuple(size if i == axis else 1 for i, size in enumerate(narrow)), shape[axis])
        indices = np.broadcast_to(column, narrow).copy()
    else:
        indices = _indices(rng, narrow, shape[axis])
    updates = _values(rng, narrow, dtype, reduction == "none")
    return _scatter(scatter_elements, [data, indices, updates], {"axis": axis}, reduction, _places(indices, axis), shape[axis])


def _scatter_nd(rng: np.random.Generator) -> Call:
    shape = _shape(rng)
    depth = int(rng.integers(1, len(shape) + 1))
    reduction, dtype = _reduction(rng)
    data = _values(rng, shape, dtype, reduction == "none")
    indices = _tuples(rng, _shape(rng, 0, 2, prod(shape)), shape[:depth])
    updates = _values(rng, indices.shape[:-1] + shape[depth:], dtype, reduction == "none")
    sizes = np.array(shape[:depth], np.int64)
    return _scatter(scatter_nd, [data, indices, updates], {}, reduction, _coordinates(indices), sizes)
