"""What the OpenVINO CPU plugin of 2026.4.1 computes where that is not what an operation says; as measured, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ov_gather.ops.layer_view import LayerView

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ov_gather.conditions import Operands


def evaluated(view: LayerView, operands: Operands) -> NDArray[Any]:
    """The operation, on operands as the plugin sees them. Raises IndexError where an index is then out of bounds."""
    (result,) = view.operation.evaluate(_all_as_seen(view, operands), view.read_attributes())
    return result.astype(operands[0].dtype)


def gathered(view: LayerView, operands: Operands) -> NDArray[Any]:
    """Gather-1, -7 and -8: zeros for indices out of bounds; of the older two also for negative ones.

    Except where OpenVINO's own code does the work, and not the plugin's: of strings, and of constants by constants.
    """
    import numpy as np

    from ov_gather.kernels.gather import gather

    data, indices, *_ = _all_as_seen(view, operands)
    attributes = view.read_attributes()
    by_plugin = not data.dtype.hasobject and (view.constant(0) is None or view.constant(1) is None)
    if by_plugin and view.operation.name in ("Gather-1", "Gather-7"):
        indices = np.where(indices < 0, np.int32(data.shape[attributes["axis"]]), indices)
    result = gather(data, indices, attributes["axis"], attributes.get("batch_dims", 0), bounds="zero")
    return result.astype(operands[0].dtype)


def scattered(view: LayerView, operands: Operands) -> NDArray[Any]:
    """ScatterElementsUpdate: the mean of integers is rounded towards 0; min and max pass over updates that are NaN."""
    from ov_gather.kernels.scatter_elements import scatter_elements

    data, indices, updates, *_ = _all_as_seen(view, operands)
    attributes: dict[str, Any] = view.read_attributes()
    reduction, use_init_val = attributes.get("reduction", "none"), bool(attributes.get("use_init_val", True))
    if reduction == "mean" and data.dtype.kind in "iu":
        result = _mean(data, indices, updates, attributes["axis"], use_init_val)
    else:
        if data.dtype.name in ("float8_e4m3fn", "float8_e5m2"):
            data, updates = _through_float32(data), _through_float32(updates)
        elif reduction in ("min", "max") and operands[0].dtype.name in ("float16", "bfloat16", "float32", "float64"):
            data, updates = data.astype("float32"), _comparable(updates.astype("float32"), reduction, use_init_val)
        result = scatter_elements(data, indices, updates, attributes["axis"], reduction=reduction, use_init_val=use_init_val)
    return result.astype(operands[0].dtype)


def _all_as_seen(view: LayerView, operands: Operands) -> list[NDArray[Any]]:
    return [_as_seen(array, view.constant(port) is not None) for port, array in enumerate(operands)]


def _as_seen(array: NDArray[Any], constant: bool) -> NDArray[Any]:
    """Inputs wrap around at 32 bits, constants saturate and lose denormals; float16 passes through float32."""
    import numpy as np

    if array.dtype.kind in "iu" and array.itemsize > 1:
        limits = np.iinfo(np.int32)
        lowest = 0 if array.dtype.kind == "u" else limits.min
        return (np.clip(array, lowest, limits.max) if constant and array.itemsize > 2 else array).astype(np.int32)
    if array.dtype == np.float16:
        return np.where(np.isnan(array), (array.view(np.uint16) | 0x0200).view(np.float16), array)
    if array.dtype.name not in ("bfloat16", "float32", "float64"):
        return array
    if array.dtype == np.float64:
        largest = np.finfo(np.float32).max
        array = np.where(np.isnan(array), array, np.clip(array, -largest, largest)).astype(np.float32)
    tiny = np.abs(array.astype(np.float32)) < np.finfo(np.float32).smallest_normal
    if constant and (tiny & (array != 0)).any():
        return np.where(tiny, np.zeros((), array.dtype), array)
    return array


def _through_float32(array: NDArray[Any]) -> NDArray[Any]:
    """8-bit floating point after float32 and back: NaN is quiet, and -0.0 is 0.0."""
    import numpy as np

    bits = np.where(np.isnan(array), array.view(np.uint8) | 0x02, array.view(np.uint8))
    return np.where(bits == 0x80, np.uint8(0), bits).view(array.dtype)


def _comparable(updates: NDArray[Any], reduction: str, use_init_val: bool) -> NDArray[Any]:
    """What is left of updates for min or max: NaN never wins, nor anything beyond the largest number to start from."""
    import numpy as np

    sign = 1 if reduction == "min" else -1
    updates = np.where(np.isnan(updates), np.float32(sign * np.inf), updates)
    if use_init_val:
        return updates
    start = np.float32(sign) * np.finfo(np.float32).max
    return np.minimum(updates, start) if reduction == "min" else np.maximum(updates, start)


def _mean(data: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], axis: int, use_init_val: bool) -> NDArray[Any]:
    import numpy as np

    from ov_gather.kernels.scatter_elements import scatter_elements

    total = scatter_elements(data, indices, updates, axis, reduction="sum", use_init_val=use_init_val)
    counts = scatter_elements(np.zeros(data.shape), indices, np.ones(indices.shape), axis, reduction="sum")
    divisors = np.where(counts > 0, counts + use_init_val, 1)
    means: NDArray[Any] = np.trunc(total / divisors).astype(data.dtype)
    return means
