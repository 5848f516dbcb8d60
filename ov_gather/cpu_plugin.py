"""What the OpenVINO CPU plugin of 2026.4.1 computes where that is not what an operation says; as measured, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ov_gather.ops.layer_view import LayerView

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ov_gather.conditions import Operands


def evaluated(view: LayerView, operands: Operands) -> NDArray[Any]:
    """The operation, on operands as the plugin sees them. Raises IndexError where an index is then out of bounds."""
    from ov_gather.kernels.oracle import evaluate

    return evaluate(view.operation, _all_as_seen(view, operands), view.attributes_for(operands)).astype(operands[0].dtype)


def gathered(view: LayerView, operands: Operands) -> NDArray[Any]:
    """Gather-1, -7 and -8: zeros for indices out of bounds; of the older two also for negative ones.

    Except where OpenVINO's own code does the work, and not the plugin's: of strings, and of constants by constants.
    """
    import numpy as np

    from ov_gather.kernels.gather import gather

    data, indices, *_ = _all_as_seen(view, operands)
    indices = indices.astype(np.int32)
    attributes = view.attributes_for(operands)
    by_plugin = not data.dtype.hasobject and (view.constant(0) is None or view.constant(1) is None)
    if by_plugin and view.operation.name in ("Gather-1", "Gather-7"):
        indices = np.where(indices < 0, np.int32(data.shape[attributes["axis"]]), indices)
    result = gather(data, indices, attributes["axis"], attributes.get("batch_dims", 0), bounds="zero")
    return result.astype(operands[0].dtype)


def scattered(view: LayerView, operands: Operands) -> NDArray[Any]:
    """ScatterElementsUpdate: 8-bit floating point passes through float32, and reductions have their own arithmetic."""
    import numpy as np

    from ov_gather.kernels.scatter_elements import scatter_elements

    data, indices, updates, *_ = _all_as_seen(view, operands)
    attributes: dict[str, Any] = view.attributes_for(operands)
    axis, reduction = attributes["axis"], attributes.get("reduction", "none")
    use_init_val = bool(attributes.get("use_init_val", True))
    indices = indices.astype(np.int32)
    if reduction != "none" and data.dtype.name in ("float16", "bfloat16"):
        data, updates = data.astype(np.float32), updates.astype(np.float32)
    with np.errstate(all="ignore"):
        if reduction in ("sum", "prod", "mean"):
            result = _accumulated(data, indices, updates, axis, reduction, use_init_val)
        elif reduction in ("min", "max"):
            comparable = _comparable(updates, reduction, use_init_val)
            result = scatter_elements(data, indices, comparable, axis, reduction=reduction, use_init_val=use_init_val)
        else:
            result = scatter_elements(_through_float32(data), indices, _through_float32(updates), axis)
        if operands[0].dtype.name == "bfloat16" and result.dtype == np.float32:
            bits = result.view(np.uint32)
            result = ((bits + ((bits & 0x1_0000) >> 1)) & 0xFFFF_0000).view(np.float32)  # rounds up what is odd, nothing else
        return result.astype(operands[0].dtype)


def _all_as_seen(view: LayerView, operands: Operands) -> list[NDArray[Any]]:
    return [as_seen(array, view.constant(port) is not None) for port, array in enumerate(operands)]


def as_seen(array: NDArray[Any], constant: bool) -> NDArray[Any]:
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
        with np.errstate(invalid="ignore"):  # signalling NaN
            array = np.where(np.isnan(array), array, np.clip(array, -largest, largest)).astype(np.float32)
    tiny = np.abs(array.astype(np.float32)) < np.finfo(np.float32).smallest_normal
    if constant and (tiny & (array != 0)).any():
        return np.where(tiny, np.zeros((), array.dtype), array)
    return array


def _through_float32(array: NDArray[Any]) -> NDArray[Any]:
    """What is left of 8-bit floating point: NaN is quiet, and -0.0 is 0.0. Others as they are."""
    import numpy as np

    if array.dtype.name not in ("float8_e4m3fn", "float8_e5m2"):
        return array
    bits = np.where(np.isnan(array), array.view(np.uint8) | 0x02, array.view(np.uint8))
    return np.where(bits == 0x80, np.uint8(0), bits).view(array.dtype)


def _comparable(updates: NDArray[Any], reduction: str, use_init_val: bool) -> NDArray[Any]:
    """Updates whose min or max is the plugin's: NaN never wins, nor does anything beyond the number that it starts from."""
    import numpy as np

    if updates.dtype != np.float32:
        return updates
    sign, pick = (1, np.minimum) if reduction == "min" else (-1, np.maximum)
    numbers = np.where(np.isnan(updates), np.float32(sign * np.inf), updates)
    return numbers if use_init_val else np.asarray(pick(numbers, sign * np.finfo(np.float32).max))


def _accumulated(
    data: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], axis: int, reduction: str, use_init_val: bool
) -> NDArray[Any]:
    """Sum, prod or mean, in the order of the updates; the mean of integers is rounded towards 0."""
    import numpy as np

    places: list[NDArray[Any]] = list(np.indices(indices.shape, sparse=True))
    places[axis] = indices
    where = tuple(places)
    result = data.copy()
    if not use_init_val:
        result[where] = reduction == "prod"
    (np.multiply if reduction == "prod" else np.add).at(result, where, updates)
    if reduction == "mean":
        counts = np.zeros(data.shape, np.int32)
        np.add.at(counts, where, 1)
        counts = np.where(counts == 0, 1, counts + use_init_val)
        result = np.trunc(result / counts) if data.dtype.kind in "iu" else result / counts.astype(data.dtype)
    return result
