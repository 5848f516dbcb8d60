"""Loader of the compiled kernel, and the number of its threads."""

from __future__ import annotations

import os
import sys
import warnings
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.system import logs

# The compiled kernel copies bits without interpreting them, so one dtype per element size is enough.
_CARRIER = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}


_EDITABLE = "ScikitBuildRedirectingFinder"
"""Class of the finder that an editable installation adds, which finds the compiled files."""


@cache
def load() -> ModuleType | None:
    """Import the compiled kernel once. If it is missing, return None and warn once, with the reason and the fix."""
    try:
        module = import_module("ov_gather._native")
    except ImportError as error:
        logs.info("kernels", "the NumPy reference kernel is used: the compiled kernel is missing (%s)", error)
        warnings.warn(
            f"the compiled kernel is missing ({error}); the slower NumPy reference kernel is used. {_remedy()}",
            RuntimeWarning,
            stacklevel=3,
        )
        return None
    logs.debug("kernels", "the compiled kernel is loaded: %s", module.__file__)
    if "OV_GATHER_NUM_THREADS" in os.environ:
        module.set_num_threads(checked_count(os.environ["OV_GATHER_NUM_THREADS"], "OV_GATHER_NUM_THREADS"))
    return module


def _remedy() -> str:
    """Return what to do about a missing kernel: often Python was started in a checkout, which hides an installed package."""
    here = Path(__file__).parents[1]
    is_editable = any(type(finder).__name__ == _EDITABLE for finder in sys.meta_path)
    if here.with_name("converters").is_dir() and not is_editable:
        for installed in _installed_kernels():
            if installed.parent != here and installed.is_file():
                return (
                    f"Python imports ov_gather from the checkout {here.parent}, not the one installed in {installed.parent}: "
                    f"start Python in another directory, or pip install -e {here.parent}"
                )
    from ov_gather.extension.installed import reinstall

    return f"To build it, install a C++17 compiler (g++), then: {reinstall()} (what it prints shows why, if it fails again)"


def _installed_kernels() -> list[Path]:
    try:
        return [Path(str(file.locate())) for file in files("ov-gather") or () if file.name.startswith("_native.")]
    except PackageNotFoundError:
        return []


def set_num_threads(n: int) -> None:
    """Set how many threads the compiled kernel uses when called from Python.

    The environment variable OV_GATHER_NUM_THREADS sets the same when the kernel is loaded. The default is one thread per core.

    Args:
        n: the number of threads, from 1 to 1024.

    Raises:
        ValueError: n is not a whole number from 1 to 1024.
    """
    count, kernel = checked_count(n, "set_num_threads"), load()
    if kernel is not None:
        kernel.set_num_threads(count)


def checked_count(value: int | str, name: str) -> int:
    """Return the number of threads that `value` means. Raises ValueError, which starts with `name`."""
    if isinstance(value, bool) or not (str(value).isdecimal() and 1 <= int(str(value)) <= 1024):
        raise ValueError(f"{name}: {value!r} is not a number of threads from 1 to 1024")
    return int(str(value))


def supports(dtype: np.dtype[Any]) -> bool:
    """Return True if the compiled kernel can move elements of `dtype`: a supported element size, no Python objects."""
    return dtype.itemsize in _CARRIER and not dtype.hasobject


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, or a copy if its elements do not lie at multiples of their size, as in packed records."""
    carrier = np.dtype(_CARRIER[array.dtype.itemsize])
    aligned = array.view(carrier).flags.aligned and all(stride % array.itemsize == 0 for stride in array.strides)
    return array if aligned else array.copy()
