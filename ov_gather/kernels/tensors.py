"""Zero-copy conversion of other libraries' tensors to arrays, and of results back to the same kind of tensor."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.ir import element_types

_LAZY = {"is_neg": "resolve_neg()", "is_conj": "resolve_conj()", "_is_zerotensor": "clone()"}
"""Predicates of PyTorch tensors whose memory does not hold their values yet -> the method that materialises the values."""


def has_tensor(*values: Any) -> bool:
    """Return True if a value is a tensor of PyTorch, JAX, onnxruntime (OrtValue), OpenVINO or another DLPack library."""
    return any(not isinstance(value, np.ndarray | np.generic) and _is_tensor(value) for value in values)


def on_arrays(function: Callable[..., NDArray[Any]], *values: Any, out: Any, **options: Any) -> NDArray[Any]:
    """Call one of our functions on arrays that share the memory of the given tensors.

    Returns `out` if given, else the result as a tensor of the first value's kind, which shares the memory of the result array.
    The annotation says array because the public functions are annotated so.

    Raises TypeError for a tensor that cannot be viewed as an array: on another device, with a gradient, of a type that NumPy
    lacks, or with values that are not in memory yet. Also raises whatever the function raises.
    """
    arrays = [as_array(function.__name__, value) for value in values]
    if out is None:
        result: NDArray[Any] = _like(values[0], function(*arrays, **options))
        return result
    function(*arrays, out=as_array(function.__name__, out), **options)
    given: NDArray[Any] = out
    return given


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "__dlpack__") or _is_of_openvino(value)


def _is_of_openvino(value: Any) -> bool:
    """Return True for openvino.Tensor, which has no DLPack and shares its memory through `data`."""
    return type(value).__module__.startswith("openvino.") and type(value).__name__ == "Tensor"


def as_array(function: str, value: Any) -> Any:
    """Return a tensor as an array that shares its memory, and anything else unchanged. Raises TypeError."""
    if isinstance(value, np.ndarray) or not _is_tensor(value):
        return value
    if _is_of_openvino(value):
        return _array_of_openvino(function, value)
    kind = f"a {type(value).__name__} of {value.dtype}" if hasattr(value, "dtype") else f"a {type(value).__name__}"
    for predicate, remedy in _LAZY.items():
        if hasattr(value, predicate) and getattr(value, predicate)():
            raise TypeError(f"{function}: {kind} holds values that are not in memory yet ({predicate}): call {remedy} first")
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        remedy = "; view it as integers of the same size, or convert it" if "dtype" in str(error) else ""
        raise TypeError(f"{function}: {kind} cannot be seen as an array: {error}{remedy}") from None


def _array_of_openvino(function: str, tensor: Any) -> NDArray[Any]:
    """Return an array of an OpenVINO Tensor's element type, sharing its memory; `Tensor.data` has float16 for bfloat16."""
    name = tensor.element_type.get_type_name()
    if name == "string":
        raise TypeError(f"{function}: an OpenVINO Tensor of string shares no memory with an array: pass its str_data")
    if tensor.element_type.bitwidth % 8 != 0:
        raise TypeError(f"{function}: an OpenVINO Tensor of {name} has elements smaller than a byte: convert it to i8 or u8")
    row = element_types.by_name(name)
    if row is None:
        raise TypeError(f"{function}: an OpenVINO Tensor of {name} cannot be seen as an array: convert it to another type")
    array: NDArray[Any] = tensor.data.view(row.dtype)
    return array


def _like(value: Any, result: NDArray[Any]) -> Any:
    if isinstance(value, np.ndarray) or not _is_tensor(value):
        return result
    if _is_of_openvino(value):
        return type(value)(result.view(value.data.dtype), result.shape, value.element_type)
    namespace = value.__array_namespace__() if hasattr(value, "__array_namespace__") else None
    library = sys.modules[type(value).__module__.partition(".")[0]]
    homes = (home for home in (namespace, type(value), library) if hasattr(home, "from_dlpack"))
    home = next(homes, None)
    return home.from_dlpack(result) if home else result
