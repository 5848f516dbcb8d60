"""The compiled kernel, or the reason why there is none."""

from __future__ import annotations

import warnings
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The compiled kernel moves elements without looking at them: one dtype per element size stands for all.
_CARRIER = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}


@cache
def load() -> ModuleType | None:
    """Import the compiled kernel once; warn once, with the reason and the fix, when it is missing."""
    try:
        from ov_gather import _native
    except ImportError as error:
        warnings.warn(
            f"the compiled kernel is missing ({error}); the slower NumPy reference kernel is used. "
            "To build it, install a C++17 compiler (g++) and reinstall ov-gather.",
            RuntimeWarning,
            stacklevel=3,
        )
        return None
    module: ModuleType = _native
    return module


def supports(dtype: np.dtype[Any]) -> bool:
    """Whether the compiled kernel can move elements of `dtype`: fixed size, no Python objects."""
    return dtype.itemsize in _CARRIER and not dtype.hasobject


def gather_elements(kernel: ModuleType, data: NDArray[Any], indices: NDArray[Any], axis: int, output: NDArray[Any]) -> int:
    """Fill `output`; return -1, or the first position (row-major in `indices`) whose index is out of bounds."""
    carrier = np.dtype(_CARRIER[data.dtype.itemsize])
    in_place = output if _is_regular(output, carrier) else np.empty(output.shape, output.dtype)
    position: int = kernel.gather_elements(
        _regular(data, carrier).view(carrier), _regular(indices, indices.dtype), axis, in_place.view(carrier)
    )
    if in_place is not output:
        output[...] = in_place
    return position


def _is_regular(array: NDArray[Any], carrier: np.dtype[Any]) -> bool:
    """Aligned for its carrier, and every stride a whole number of elements (a field of a packed record is neither)."""
    return array.view(carrier).flags.aligned and all(stride % array.itemsize == 0 for stride in array.strides)


def _regular(array: NDArray[Any], carrier: np.dtype[Any]) -> NDArray[Any]:
    return array if _is_regular(array, carrier) else array.copy()
