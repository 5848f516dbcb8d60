"""Emulation of scatters on the OpenVINO CPU plugin (2026.4.1) where it deviates from the operations; measured, bit for bit."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ov_gather.divergences.cpu_plugin import Arithmetic, all_as_seen
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.table import OPENVINO, Along

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from ov_gather.divergences.conditions import Operands

    Combine = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]

_F8 = ("float8_e4m3fn", "float8_e5m2")


def scattered(view: LayerView, operands: Operands, arithmetic: Arithmetic, by_coordinate: bool = True) -> NDArray[Any]:
    """Evaluate a scatter as the plugin does: 8-bit floats pass through float32, and reductions have an arithmetic of their own.

    Raises IndexError for an index out of bounds. If not `by_coordinate`, only the place that a tuple names must lie within
    data, not each coordinate.
    """
    import numpy as np

    from ov_gather.kernels.scatter_elements import scatter_elements

    attributes: dict[str, Any] = view.attributes_for(operands)
    reduction = attributes.get("reduction", "none")
    use_init_val = bool(attributes.get("use_init_val", True))
    seen = all_as_seen(view, operands, arithmetic)
    data, indices, updates, axis = as_elements(view, seen, attributes, by_coordinate)
    if reduction != "none" and _passes_through_float32(data, arithmetic):
        data, updates = data.astype(np.float32), updates.astype(np.float32)
    if reduction != "none" and data.dtype == bool:
        data, updates = data.view(np.uint8), updates.view(np.uint8)
    with np.errstate(all="ignore"):
        if reduction in ("sum", "sub", "prod", "mean"):
            result = _accumulated(data, indices, updates, axis, reduction, use_init_val)
        elif reduction in ("min", "max"):
            comparable = _comparable(updates, reduction, use_init_val)
            result = scatter_elements(data, indices, comparable, axis, reduction=reduction, use_init_val=use_init_val)
        else:
            result = scatter_elements(data, indices, updates, axis)
        return _stored(result, operands[0].dtype, arithmetic).reshape(operands[0].shape)


def scattered_by_ours(view: LayerView, operands: Operands, arithmetic: Arithmetic) -> NDArray[Any]:
    """Evaluate a reduction of bf16 by our own scatters: the plugin computes in f32 and rounds in its own way.

    Raises IndexError for an index out of bounds.
    """
    import numpy as np

    from ov_gather.kernels.scatter_elements import scatter_elements

    attributes, dtype = view.attributes_for(operands), operands[0].dtype
    data, indices, updates, axis = as_elements(view, all_as_seen(view, operands, arithmetic), attributes)
    data, updates = data.astype(np.float32), updates.astype(np.float32)
    with np.errstate(all="ignore"):
        result = scatter_elements(data, indices, updates, axis, reduction=attributes["reduction"]).reshape(operands[0].shape)
        return result.astype(dtype) if arithmetic.bf16 else _stored(result, dtype, arithmetic)


def written_in_any_order(view: LayerView, operands: Operands, arithmetic: Arithmetic, found: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the elements of `found` that some update, in whatever order, wrote to their place.

    Raises IndexError for an index out of bounds.
    """
    dtype = operands[0].dtype
    data, indices, updates, axis = as_elements(view, all_as_seen(view, operands, arithmetic), view.attributes_for(operands))
    elements = _stored(data, dtype, arithmetic), indices, _stored(updates, dtype, arithmetic), axis
    return are_among_written(*elements, found)


def are_among_written(
    data: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], axis: int, found: NDArray[Any]
) -> NDArray[np.bool_]:
    """Return a mask of the elements of `found` that a ScatterElementsUpdate may write to, or leave in, their place.

    Raises IndexError for an index out of bounds.
    """
    import numpy as np

    if (found.size, found.dtype) != (data.size, data.dtype):
        return np.zeros(found.shape, bool)
    places: list[NDArray[Any]] = list(np.indices(indices.shape, sparse=True))
    places[axis] = np.where(indices < 0, indices + data.shape[axis], indices)
    if indices.size and not 0 <= places[axis].min() <= places[axis].max() < data.shape[axis]:
        raise IndexError("an index is out of bounds")
    at = np.ravel_multi_index(np.broadcast_arrays(*places), data.shape).ravel()
    flat, before, written = (_bits(array) for array in (found, data, updates))
    fits = np.asarray(flat == before)
    fits[at] = False
    fits[at[flat[at] == written]] = True
    return fits.reshape(found.shape)


def _bits(array: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    flat = np.ascontiguousarray(array).ravel()
    return flat if flat.dtype.hasobject else flat.view(f"u{flat.itemsize}")


def as_elements(
    view: LayerView, operands: Operands, attributes: dict[str, Any], by_coordinate: bool = True
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], int]:
    """Return data, indices, updates and axis of the equivalent ScatterElementsUpdate.

    Raises IndexError for coordinates out of bounds.
    """
    import numpy as np

    from ov_gather.kernels.arguments import as_index_dtype

    data, updates = operands[0], operands[2]
    indices = as_index_dtype(operands[1])
    op = OPENVINO[view.operation.type]
    if op.along is Along.AXIS and op.meaning.reduces:
        return data, indices, updates, attributes["axis"]
    if op.along is Along.COORDINATES:
        sizes = data.shape[: indices.shape[-1]]
        before, size = 1, prod(sizes)
        indices = _flat(np.moveaxis(indices, -1, 0).reshape(len(sizes), prod(indices.shape[:-1])), sizes, by_coordinate)
    else:
        axis = attributes["axis"] % data.ndim
        before, size = prod(data.shape[:axis]), data.shape[axis]
    behind = data.size // max(1, before * size)
    lines = (before, indices.size, behind)
    where = np.broadcast_to(indices.reshape(1, -1, 1), lines)
    return data.reshape(before, size, behind), where, updates.reshape(lines), 1


def _flat(tuples: NDArray[Any], sizes: tuple[int, ...], by_coordinate: bool) -> NDArray[Any]:
    """Flatten tuples to row-major indices into dimensions of these sizes. Raises IndexError."""
    import numpy as np

    flat = np.zeros(tuples.shape[1], np.int64)
    is_out = np.zeros(tuples.shape[1], bool)
    for index, size in zip(tuples.astype(np.int64), sizes, strict=True):
        is_out |= (index < -size) | (index >= size)
        flat = flat * size + np.where(index < 0, index + size, index)
    if not by_coordinate:
        is_out = (flat < 0) | (flat >= prod(sizes))
    if is_out.any():
        raise IndexError("a coordinate is out of bounds")
    return flat


def _stored(array: NDArray[Any], dtype: np.dtype[Any], arithmetic: Arithmetic) -> NDArray[Any]:
    """Convert a result to the output's type as the plugin does."""
    import numpy as np

    if dtype.name == "bfloat16" and array.dtype == np.float32:
        array = _rounded_to_bfloat16(array)
    if dtype.name not in _F8:
        return array.astype(dtype)
    if not arithmetic.f8:
        array = np.where(array == 0, np.zeros((), array.dtype), array)
    return _quiet(array.astype(dtype))


def _passes_through_float32(array: NDArray[Any], arithmetic: Arithmetic) -> bool:
    return array.dtype.name == "float16" or array.dtype.name in _F8 or (array.dtype.name == "bfloat16" and not arithmetic.bf16)


def _quiet(array: NDArray[Any]) -> NDArray[Any]:
    """Set the quiet bit of all NaNs in an array of 8-bit floats."""
    import numpy as np

    return np.where(np.isnan(array), array.view(np.uint8) | 0x02, array.view(np.uint8)).view(array.dtype)


def _rounded_to_bfloat16(array: NDArray[Any]) -> NDArray[Any]:
    """Round to bfloat16 like the plugin: add half a step if the last kept bit is odd, then truncate. The result is float32."""
    import numpy as np

    bits = array.view(np.uint32)
    return ((bits + ((bits & 0x1_0000) >> 1)) & 0xFFFF_0000).view(np.float32)


def _comparable(updates: NDArray[Any], reduction: str, use_init_val: bool) -> NDArray[Any]:
    """Adapt updates to the plugin's min and max: NaN never wins, nor does anything beyond the finite number at the start."""
    import numpy as np

    if updates.dtype.name not in ("float32", "bfloat16"):
        return updates
    sign, pick = (1, np.minimum) if reduction == "min" else (-1, np.maximum)
    last = updates.dtype.type(sign * np.inf)
    numbers = np.where(np.isnan(updates), last, updates)
    return numbers if use_init_val else np.asarray(pick(numbers, np.nextafter(last, updates.dtype.type(0))))


def _accumulated(
    data: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], axis: int, reduction: str, use_init_val: bool
) -> NDArray[Any]:
    """Compute sum, sub, prod or mean in the order of the updates; the mean of integers rounds towards 0."""
    import numpy as np

    places: list[NDArray[Any]] = list(np.indices(indices.shape, sparse=True))
    places[axis] = indices
    where = tuple(places)
    result = data.copy()
    if not use_init_val:
        result[where] = reduction == "prod"
    combine = {"prod": np.multiply, "sub": np.subtract}.get(reduction, np.add)
    if data.dtype.name == "bfloat16":

        def rounded(old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
            return _rounded_to_bfloat16(combine(old.astype(np.float32), new.astype(np.float32)))

        result = combined_in_order(rounded, result, indices, updates, axis)
    else:
        combine.at(result, where, updates)
    if reduction == "mean":
        counts = np.zeros(data.shape, np.int32)
        np.add.at(counts, where, 1)
        counts = np.where(counts == 0, 1, counts + use_init_val)
        if data.dtype.kind in "iu":
            return np.asarray(np.trunc(result / counts))
        result = result.astype(np.float32) / counts.astype(np.float32)
    return result


def combined_in_order(
    combine: Combine, data: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], axis: int
) -> NDArray[Any]:
    """Combine data with the updates of a ScatterElementsUpdate, in their order; round to the type of data after each."""
    import numpy as np

    places: list[NDArray[Any]] = list(np.indices(indices.shape, sparse=True))
    places[axis] = indices
    positions = np.ravel_multi_index(np.broadcast_arrays(*places), data.shape, "wrap").ravel()
    output, updates = data.copy(), updates.ravel()
    result = output.reshape(-1)
    order = np.argsort(positions, kind="stable")
    at = positions[order]
    earlier = np.arange(at.size) - np.searchsorted(at, at)  # number of earlier updates of the same position
    for step in range(earlier.max(initial=-1) + 1):
        now = earlier == step
        result[at[now]] = combine(result[at[now]], updates[order[now]]).astype(result.dtype)
    return output
