"""Tensors of other libraries are seen as arrays here, without a copy, and results become tensors of the same kind."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def has_tensor(*values: Any) -> bool:
    """Tell whether a value is a tensor of another library: of PyTorch, JAX, onnxruntime (OrtValue), OpenVINO, or the like."""
    return any(not isinstance(value, np.ndarray | np.generic) and _is_tensor(value) for value in values)


def on_arrays(function: Callable[..., NDArray[Any]], *values: Any, out: Any, **options: Any) -> NDArray[Any]:
    """Call one of our functions with arrays that share the memory of tensors.

    Returns `out` if given, else the result as a tensor of the kind of the first value, which shares the memory of the result.
    For a type checker, the tensor is an array, as the functions of the family say.

    Raises TypeError for a tensor that cannot be seen as an array: on another device, with a gradient, of a type that NumPy
    lacks. Beside this, it raises what the function raises.
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
    """OpenVINO's Tensor knows no DLPack, and shares its memory in its own way."""
    return type(value).__module__.startswith("openvino.") and type(value).__name__ == "Tensor"


def as_array(function: str, value: Any) -> Any:
    """See a tensor as an array that shares its memory; what is no tensor is returned as it is. Raises TypeError."""
    if isinstance(value, np.ndarray) or not _is_tensor(value):
        return value
    if _is_of_openvino(value):
        return value.data
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeError(f"{function}: a {type(value).__name__} cannot be seen as an array: {error}") from None


def _like(value: Any, result: NDArray[Any]) -> Any:
    if isinstance(value, np.ndarray) or not _is_tensor(value):
        return result
    if _is_of_openvino(value):
        return type(value)(result, shared_memory=True)
    namespace = value.__array_namespace__() if hasattr(value, "__array_namespace__") else None
    library = sys.modules[type(value).__module__.partition(".")[0]]
    homes = (home for home in (namespace, type(value), library) if hasattr(home, "from_dlpack"))
    home = next(homes, None)
    return home.from_dlpack(result) if home else result
