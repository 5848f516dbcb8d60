"""Conversion of arrays from .npy files to the declared types of a layer."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ov_gather.ir.element_types import ElementType


def as_declared(array: NDArray[Any], element_type: ElementType | None) -> NDArray[Any]:
    """Return the array in the type of its port. A .npy stores bf16 and 8-bit floats as raw bytes, strings as fixed width."""
    if array.dtype.kind == "U":
        return array.astype(object)
    if array.dtype.kind == "V" and element_type and element_type.dtype.itemsize == array.itemsize:
        return array.view(element_type.dtype)
    return array
