"""Arrays from .npy files as the inputs of a layer."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ov_gather.ir.element_types import ElementType


def as_declared(array: NDArray[Any], element_type: ElementType | None) -> NDArray[Any]:
    """Return an array with the type of its port where a .npy cannot tell it: bf16, 8-bit floating point, strings."""
    if array.dtype.kind == "U":
        return array.astype(object)
    if array.dtype.kind == "V" and element_type and element_type.dtype.itemsize == array.itemsize:
        return array.view(element_type.dtype)
    return array
