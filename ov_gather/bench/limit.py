"""The speed limit of an operation: the same memory accesses with precomputed offsets, without checks.

Variants differ in prefetch distance, gather instructions, streaming stores and the order of the work.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.bench.case import Run
from ov_gather.kernels import native

_LOADS = range(4)
"""Values of `Loads` in `native/bench`: plain, prefetched, prefetched in two stages, by gather instructions."""
_FROM_A_COPY = (0, 3)
_PIECES = (64, 128, 256, 512, 1024, 2048, 4096)
"""Widths in elements of the columns that are processed together if the axis is not the last."""
_PART = 1 << 17
"""Bytes per thread and step if the work is in the order of the output."""


def gathers(
    data: NDArray[Any], places: NDArray[np.int32], out: NDArray[Any], matrices: tuple[int, int, int, int] | None = None
) -> Iterator[Run]:
    """Yield variants that gather the elements of data at `places`, which has the shape of `out`.

    For gathers along columns, `matrices` holds the number of matrices in data, their rows, the rows of the output, and the
    width of both.
    """
    compiled = _compiled()
    places = places.ravel()
    unit = _unit(places)
    size = unit * data.itemsize
    arrays = data.reshape(-1).view(np.uint8), out.reshape(-1).view(np.uint8)
    loads = [way for way in _LOADS if compiled.can_load(way, size)]

    def way(offsets: NDArray[np.int32], steps: tuple[int, ...], packed: bool, load: int, streamed: bool) -> Run:
        run: Run = compiled.GatherLimit(arrays[0], offsets, arrays[1], size, steps, packed, load, streamed)
        return run

    offsets = np.ascontiguousarray(places[::unit] // unit)
    for load, streamed in product(loads, (False, True)):
        yield way(offsets, (1, 1, 1, offsets.size, max(_PART // size, 1)), False, load, streamed)
    if matrices is None or unit != 1:
        return
    count, rows, lines, width = matrices
    for piece in (piece for piece in _PIECES if width % piece == 0):
        pieces = places.reshape(count, lines, width // piece, piece).swapaxes(1, 2)
        in_copy = np.ascontiguousarray(pieces // width % rows * piece + pieces % piece)
        pieces = np.ascontiguousarray(pieces)
        for load, streamed in product(loads, (False, True)):
            yield way(pieces, (count, rows, lines, width, piece), False, load, streamed)
            if load in _FROM_A_COPY:
                yield way(in_copy, (count, rows, lines, width, piece), True, load, streamed)


def _unit(places: NDArray[np.int32]) -> int:
    """Return the number of elements that always follow each other in data and in the output."""
    breaks = np.flatnonzero(np.diff(places) != 1) + 1
    return int(np.gcd.reduce(np.concatenate([[places.size, places[0]], breaks, places[breaks]])))


def scatters(
    data: NDArray[Any], places: NDArray[np.int32], updates: NDArray[Any], out: NDArray[Any], axis: int, adds: bool
) -> Iterator[Run]:
    """Yield variants that copy data, then assign or add updates at `places`. All arrays are matrices; values are float32."""
    compiled = _compiled()

    def way(offsets: NDArray[np.int32], unit: int, steps: tuple[int, ...], line: int, fetched: bool) -> Run:
        run: Run = compiled.ScatterLimit(data, np.ascontiguousarray(offsets), updates, out, unit, steps, line, fetched, adds)
        return run

    (rows, width), (lines, line) = data.shape, updates.shape
    if axis == 1:
        for fetched in (False, True):
            yield way(places, 1, (rows, 1, 1, width, width), line, fetched)
        return
    whole_rows = _unit(places.ravel()) % width == 0
    for piece in (piece for piece in (*_PIECES, max(width // 2, 1), width) if width % piece == 0):
        pieces = places.reshape(lines, width // piece, piece).swapaxes(0, 1)
        for fetched in (False, True):
            yield way(pieces, 1, (1, rows, lines, width, piece), piece, fetched)
            if whole_rows:
                yield way(pieces[..., 0], piece, (1, rows, lines, width, piece), 1, fetched)


def _compiled() -> ModuleType:
    """Return our compiled module. Raises ImportError if it is missing."""
    module = native.load()
    if module is None:
        raise ImportError("the compiled kernel is missing", name="ov_gather._native")
    return module
