"""The compiled kernel is loaded here, or the reason is told why there is none."""

from __future__ import annotations

import os
import warnings
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather import logs

# The compiled kernel moves elements without a look at them, so that one dtype per element size stands for all.
_CARRIER = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}


@cache
def load() -> ModuleType | None:
    """Import the compiled kernel once; warn once, with the reason and the fix, when it is missing."""
    try:
        from ov_gather import _native
    except ImportError as error:
        logs.info("kernels", "the NumPy reference kernel is used: the compiled kernel is missing (%s)", error)
        warnings.warn(
            f"the compiled kernel is missing ({error}); the slower NumPy reference kernel is used. "
            "To build it, install a C++17 compiler (g++) and reinstall ov-gather.",
            RuntimeWarning,
            stacklevel=3,
        )
        return None
    module: ModuleType = _native
    logs.debug("kernels", "the compiled kernel is loaded: %s", module.__file__)
    if "OV_GATHER_NUM_THREADS" in os.environ:
        module.set_num_threads(checked_count(os.environ["OV_GATHER_NUM_THREADS"], "OV_GATHER_NUM_THREADS"))
    return module


def set_num_threads(n: int) -> None:
    """Set how many threads our kernel uses when called from Python, from now on.

    The environment variable OV_GATHER_NUM_THREADS does the same at start. By default there are as many threads as cores.

    Raises ValueError where n is not a whole number from 1 to 1024.
    """
    count, kernel = checked_count(n, "set_num_threads"), load()
    if kernel is not None:
        kernel.set_num_threads(count)


def checked_count(value: int | str, name: str) -> int:
    """Check a number of threads. Raises ValueError."""
    if isinstance(value, bool) or not (str(value).isdecimal() and 1 <= int(str(value)) <= 1024):
        raise ValueError(f"{name}: {value!r} is not a number of threads from 1 to 1024")
    return int(str(value))


def supports(dtype: np.dtype[Any]) -> bool:
    """Tell whether the compiled kernel can move elements of `dtype`, which needs a fixed size and no Python objects."""
    return dtype.itemsize in _CARRIER and not dtype.hasobject


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """Give the array, or a copy where elements do not lie at multiples of their size, as in a field of a packed record."""
    carrier = np.dtype(_CARRIER[array.dtype.itemsize])
    aligned = array.view(carrier).flags.aligned and all(stride % array.itemsize == 0 for stride in array.strides)
    return array if aligned else array.copy()
