"""Conversion between NumPy arrays and OpenVINO tensors of every element type: sub-byte types, strings, bf16."""

from __future__ import annotations

from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from ov_gather.ir import element_types
from ov_gather.ir.element_types import STRING, ElementType
from ov_gather.ir.weights import pack_bits, unpack_bits
from ov_gather.runtimes.base import RefusedError


def element_type_of(port: Any) -> ElementType:
    """Return the element type of a port of OpenVINO. Raises RefusedError."""
    found = element_types.by_name(port.get_element_type().get_type_name())
    if found is None:
        raise RefusedError(f"element type {port.get_element_type()} is unknown to ov-gather")
    return found


def to_tensor(array: NDArray[Any], element_type: ElementType) -> ov.Tensor:
    """Return a tensor that shares the array's memory if possible. Raises RefusedError if the dtype does not match."""
    if array.dtype != element_type.dtype and not (element_type is STRING and array.dtype.kind in "UT"):
        raise RefusedError(f"an input of {element_type} cannot be {array.dtype}")
    if not array.size:  # OpenVINO before 2026 cannot wrap empty arrays
        return ov.Tensor(getattr(ov.Type, element_type.name), list(array.shape))
    if element_type is STRING:
        return ov.Tensor(array.astype(str))
    if element_type.bits % 8:
        carried = np.frombuffer(pack_bits(array, element_type.bits), np.uint8)
    else:
        carried = np.ascontiguousarray(array).view(f"u{element_type.bits // 8}")
    return ov.Tensor(carried, list(array.shape), getattr(ov.Type, element_type.name))


def to_array(tensor: ov.Tensor, element_type: ElementType) -> NDArray[Any]:
    """Return a copy of the elements of a tensor."""
    if element_type is STRING:
        return np.array(tensor.str_data, object)
    if element_type.bits % 8:
        packed = np.array(tensor.data).view(np.uint8).ravel()
        elements = unpack_bits(packed, element_type.bits, tensor.size)
        return elements.view(element_type.dtype).reshape(tuple(tensor.shape))
    return np.array(tensor.data).view(element_type.dtype)
