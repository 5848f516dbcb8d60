"""A scatter lets updates take the place of elements, or reduces the two. This module says how elements of each dtype reduce."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.kernels.reduction_names import ONNX_NAMES, onnx_name

_NUMBERS = {"none": 0, "add": 1, "mul": 2, "min": 3, "max": 4}
NATIVE = _NUMBERS | {name: _NUMBERS[of_onnx] for name, of_onnx in ONNX_NAMES.items()}
"""The numbers that the compiled kernel has for reductions, by ONNX's names and by OpenVINO's."""

_WIDENED = ("float16", "bfloat16")
_COMPUTED = (np.float32, np.float64, np.complex64, np.complex128)
_OF_BOOLEANS = {"add": "max", "mul": "min", "min": "min", "max": "max"}

Update = Callable[[NDArray[Any], NDArray[Any], str], bool]
"""An Update changes an array in place by updates of its dtype and by a reduction; returns whether indices are in bounds."""


def checked_reduction(function: str, reduction: str, *others: str) -> str:
    """Return ONNX's name of a reduction of the kernel, or the name if it is one of `others`. Raises ValueError."""
    if not isinstance(reduction, str) or reduction not in (*NATIVE, *others):
        names = ", ".join((*_NUMBERS, *others))
        raise ValueError(f"{function}: reduction must be one of {names}, or sum for add or prod for mul, not {reduction!r}")
    return onnx_name(reduction)


def check_updates(function: str, updates: NDArray[Any], data: NDArray[Any], shape: tuple[int, ...], meaning: str) -> None:
    """Raise ValueError where updates do not have this shape, and TypeError where they do not have data's dtype."""
    if updates.shape != shape:
        raise ValueError(f"{function}: updates {updates.shape} must have {meaning} {shape}")
    if updates.dtype != data.dtype:
        raise TypeError(f"{function}: updates must have data's dtype {data.dtype}, not {updates.dtype}")


def reduce_into(function: str, output: NDArray[Any], updates: NDArray[Any], reduction: str, update: Update) -> bool:
    """Update `output` by a dtype and a reduction that `update` can compute with. Returns what `update` returns.

    Raises TypeError where elements of this dtype have no reduction.
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
        # Of a signalling NaN NumPy warns on aarch64; what is too large becomes infinite, without a warning as in other dtypes.
        with np.errstate(invalid="ignore", over="ignore"):
            before, widened = output.astype(np.float32), updates.astype(np.float32)
            wide = before.copy()
            in_bounds = update(wide, widened, reduction)
            # What has not changed keeps all its bits, which a NaN would lose on the way there and back.
            np.copyto(output, wide.astype(dtype), where=wide.view(np.uint32) != before.view(np.uint32))
        return in_bounds
    if dtype.kind == "b" and reduction in _OF_BOOLEANS:
        return update(output, updates, _OF_BOOLEANS[reduction])
    if dtype.kind in "iu" or dtype in _COMPUTED:
        return update(output, updates, reduction)
    raise TypeError(f"{function}: {dtype} has no reduction {reduction}")


def kind_of(dtype: np.dtype[Any]) -> str:
    """Name the kind of elements for the compiled kernel, to which booleans are numbers of 8 bits."""
    return "u" if dtype.kind == "b" else dtype.kind
