"""Reductions of scatters: names, checks of updates, and the dtype in which each element type is reduced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.kernels.reduction_names import ONNX_NAMES, onnx_name

_NUMBERS = {"none": 0, "add": 1, "mul": 2, "min": 3, "max": 4}
NATIVE = _NUMBERS | {name: _NUMBERS[of_onnx] for name, of_onnx in ONNX_NAMES.items()}
"""ONNX's or OpenVINO's name of a reduction -> its number in the compiled kernel."""

_WIDENED = ("float16", "bfloat16")
_COMPUTED = (np.float32, np.float64, np.complex64, np.complex128)
_OF_BOOLEANS = {"add": "max", "mul": "min", "min": "min", "max": "max"}

Update = Callable[[NDArray[Any], NDArray[Any], str], bool]
"""A function (output, updates, reduction) that updates `output` in place; returns True if all indices are in bounds."""


def checked_reduction(function: str, reduction: str, *others: str) -> str:
    """Return ONNX's name of a reduction; names in `others` are also valid. Raises ValueError."""
    if not isinstance(reduction, str) or reduction not in (*NATIVE, *others):
        names = ", ".join((*_NUMBERS, *others))
        raise ValueError(f"{function}: reduction must be one of {names}, or sum for add or prod for mul, not {reduction!r}")
    return onnx_name(reduction)


def check_updates(function: str, updates: NDArray[Any], data: NDArray[Any], shape: tuple[int, ...], meaning: str) -> None:
    """Raise ValueError if updates do not have `shape`, described by `meaning`, and TypeError if not the dtype of data."""
    if updates.shape != shape:
        raise ValueError(f"{function}: updates {updates.shape} must have {meaning} {shape}")
    if updates.dtype != data.dtype:
        raise TypeError(f"{function}: updates must have data's dtype {data.dtype}, not {updates.dtype}")


def reduce_into(function: str, output: NDArray[Any], updates: NDArray[Any], reduction: str, update: Update) -> bool:
    """Run `update` on `output` in a dtype in which it can reduce; return its result (True if all indices are in bounds).

    Float16 and bfloat16 are reduced in float32, foreign byte orders in the native one. Raises TypeError if elements of this
    dtype have no such reduction.
    """
    if reduction == "none":
        return update(output, updates, reduction)
    dtype = output.dtype
    if not dtype.isnative:
        native = output.astype(dtype.newbyteorder("="))
        in_bounds = reduce_into(function, native, updates.astype(native.dtype), reduction, update)
        output[...] = native
        return in_bounds
    if dtype.name in _WIDENED:
        # NumPy would warn of signalling NaNs (on aarch64), and of values that overflow to infinity, unlike for other dtypes.
        with np.errstate(invalid="ignore", over="ignore"):
            before, widened = output.astype(np.float32), updates.astype(np.float32)
            wide = before.copy()
            in_bounds = update(wide, widened, reduction)
            # Write back only what changed: the round trip through float32 would alter the bits of a NaN.
            np.copyto(output, wide.astype(dtype), where=wide.view(np.uint32) != before.view(np.uint32))
        return in_bounds
    if dtype.kind == "b" and reduction in _OF_BOOLEANS:
        return update(output, updates, _OF_BOOLEANS[reduction])
    if dtype.kind in "iu" or dtype in _COMPUTED:
        return update(output, updates, reduction)
    raise TypeError(f"{function}: {dtype} has no reduction {reduction}")


def kind_of(dtype: np.dtype[Any]) -> str:
    """Return the kind of elements for the compiled kernel, which treats booleans as unsigned 8-bit integers."""
    return "u" if dtype.kind == "b" else dtype.kind
