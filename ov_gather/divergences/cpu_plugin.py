"""This module tells what the OpenVINO CPU plugin of 2026.4.1 computes where that is not what an operation says; as measured,
bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ov_gather.divergences import cpu
from ov_gather.ops.layer_view import LayerView

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ov_gather.divergences.conditions import Operands


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """What the plugin's arithmetic owes to the instructions of the CPU, and to its release.

    Attributes:
        bf16: the plugin computes bf16 in bf16, so that reductions round after every step; else it computes bf16 in f32.
        f8: AVX512-FP16 converts 8-bit floating point, which keeps -0.0; else -0.0 becomes 0.0.
        saturates: integers that do not fit into 32 bits become the nearest that does, as before 2025.4; else they wrap around.
    """

    bf16: bool = False
    f8: bool = False
    saturates: bool = False


BASELINE = Arithmetic()
"""The arithmetic of a CPU with AVX2 only, which changes more values than any other."""
ARITHMETICS = (BASELINE, Arithmetic(bf16=True), Arithmetic(bf16=True, f8=True))


def arithmetics_here() -> tuple[Arithmetic, ...]:
    """Return the arithmetic of this machine's CPU; all that there are where its instructions are not known."""
    flags = cpu.flags()
    if flags is None:
        return ARITHMETICS
    bf16 = {"avx512f", "avx512bw", "avx512vl", "avx512dq"} <= flags or {"avx_ne_convert", "avx_vnni_int8"} <= flags
    return (Arithmetic(bf16=bf16, f8="avx512_fp16" in flags),)


def evaluated(view: LayerView, operands: Operands, arithmetic: Arithmetic) -> NDArray[Any]:
    """Return the operation, on operands as the plugin sees them. Raises IndexError where an index is then out of bounds."""
    from ov_gather.ops.reference import evaluate

    return evaluate(view.operation, _all_as_seen(view, operands, arithmetic), view.attributes_for(operands)).astype(
        operands[0].dtype
    )


def gathered(view: LayerView, operands: Operands, arithmetic: Arithmetic) -> NDArray[Any]:
    """Gather-1, -7 and -8: zeros for indices out of bounds; of the older two also for negative ones.

    Except where OpenVINO's own code does the work, and not the plugin's: of strings, and of constants by constants.
    """
    import numpy as np

    from ov_gather.kernels.gather import gather

    data, indices, *_ = _all_as_seen(view, operands, arithmetic)
    indices = indices.astype(np.int32)
    attributes = view.attributes_for(operands)
    by_plugin = not data.dtype.hasobject and (view.constant(0) is None or view.constant(1) is None)
    if by_plugin and view.operation.name in ("Gather-1", "Gather-7"):
        indices = np.where(indices < 0, np.int32(data.shape[attributes["axis"]]), indices)
    result = gather(data, indices, attributes["axis"], attributes.get("batch_dims", 0), bounds="zero")
    return result.astype(operands[0].dtype)


def scattered(view: LayerView, operands: Operands, arithmetic: Arithmetic) -> NDArray[Any]:
    """ScatterElementsUpdate: 8-bit floating point passes through float32, and reductions have their own arithmetic."""
    import numpy as np

    from ov_gather.kernels.scatter_elements import scatter_elements

    data, indices, updates, *_ = _all_as_seen(view, operands, arithmetic)
    attributes: dict[str, Any] = view.attributes_for(operands)
    axis, reduction = attributes["axis"], attributes.get("reduction", "none")
    use_init_val = bool(attributes.get("use_init_val", True))
    indices = indices.astype(np.int32)
    if reduction != "none" and _passes_through_float32(data, arithmetic):
        data, updates = data.astype(np.float32), updates.astype(np.float32)
    with np.errstate(all="ignore"):
        if reduction in ("sum", "prod", "mean"):
            result = _accumulated(data, indices, updates, axis, reduction, use_init_val)
        elif reduction in ("min", "max"):
            comparable = _comparable(updates, reduction, use_init_val)
            result = scatter_elements(data, indices, comparable, axis, reduction=reduction, use_init_val=use_init_val)
        else:
            result = scatter_elements(data, indices, updates, axis)
        if operands[0].dtype.name == "bfloat16" and result.dtype == np.float32:
            result = _rounded_to_bfloat16(result)
        if _is_f8(operands[0]) and not arithmetic.f8:
            result = np.where(result == 0, np.zeros((), result.dtype), result)
        result = result.astype(operands[0].dtype)
    return _quiet(result) if _is_f8(result) else result


def _all_as_seen(view: LayerView, operands: Operands, arithmetic: Arithmetic) -> list[NDArray[Any]]:
    return [as_seen(array, view.constant(port) is not None, arithmetic) for port, array in enumerate(operands)]


def as_seen(array: NDArray[Any], constant: bool, arithmetic: Arithmetic = BASELINE) -> NDArray[Any]:
    """Return what an operation is given: inputs wrap around at 32 bits, constants saturate and lose denormals, float16 passes
    through float32.
    """
    import numpy as np

    if array.dtype.kind in "iu" and array.itemsize > 1:
        limits = np.iinfo(np.int32)
        lowest = 0 if array.dtype.kind == "u" else limits.min
        clips = (constant or arithmetic.saturates) and array.itemsize > 2
        return (np.clip(array, lowest, limits.max) if clips else array).astype(np.int32)
    if array.dtype == np.float16:
        return np.where(np.isnan(array), (array.view(np.uint16) | 0x0200).view(np.float16), array)
    if array.dtype.name not in ("bfloat16", "float32", "float64"):
        return array
    if array.dtype == np.float64:
        largest = np.finfo(np.float32).max
        with np.errstate(invalid="ignore"):  # signalling NaN
            array = np.where(np.isnan(array), array, np.clip(array, -largest, largest)).astype(np.float32)
    if array.dtype.name == "bfloat16" and arithmetic.bf16:
        return array
    tiny = np.abs(array.astype(np.float32)) < np.finfo(np.float32).smallest_normal
    if constant and (tiny & (array != 0)).any():
        return np.where(tiny, np.zeros((), array.dtype), array)
    return array


def _is_f8(array: NDArray[Any]) -> bool:
    return array.dtype.name in ("float8_e4m3fn", "float8_e5m2")


def _passes_through_float32(array: NDArray[Any], arithmetic: Arithmetic) -> bool:
    return array.dtype.name == "float16" or _is_f8(array) or (array.dtype.name == "bfloat16" and not arithmetic.bf16)


def _quiet(array: NDArray[Any]) -> NDArray[Any]:
    """8-bit floating point whose NaNs are quiet."""
    import numpy as np

    return np.where(np.isnan(array), array.view(np.uint8) | 0x02, array.view(np.uint8)).view(array.dtype)


def _rounded_to_bfloat16(array: NDArray[Any]) -> NDArray[Any]:
    """Float32 as the plugin rounds to bfloat16: what is odd goes up by half a step before the cut, nothing else."""
    import numpy as np

    bits = array.view(np.uint32)
    return ((bits + ((bits & 0x1_0000) >> 1)) & 0xFFFF_0000).view(np.float32)


def _comparable(updates: NDArray[Any], reduction: str, use_init_val: bool) -> NDArray[Any]:
    """Updates whose min or max is the plugin's: NaN never wins, nor does anything beyond the number that it starts from."""
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
    """Sum, prod or mean, in the order of the updates; the mean of integers is rounded towards 0."""
    import numpy as np

    places: list[NDArray[Any]] = list(np.indices(indices.shape, sparse=True))
    places[axis] = indices
    where = tuple(places)
    result = data.copy()
    if not use_init_val:
        result[where] = reduction == "prod"
    combine = np.multiply if reduction == "prod" else np.add
    if data.dtype.name == "bfloat16":
        positions = np.ravel_multi_index(np.broadcast_arrays(*places), data.shape, "wrap")
        _combine_in_bfloat16(combine, result.reshape(-1), positions.ravel(), updates.ravel())
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


def _combine_in_bfloat16(combine: np.ufunc, result: NDArray[Any], positions: NDArray[Any], updates: NDArray[Any]) -> None:
    """Combine a vector in place with updates of its positions, in their order, and round after every step."""
    import numpy as np

    order = np.argsort(positions, kind="stable")
    at = positions[order]
    earlier = np.arange(at.size) - np.searchsorted(at, at)  # how many updates of the same position come before
    for step in range(earlier.max(initial=-1) + 1):
        now = earlier == step
        combined = combine(result[at[now]].astype(np.float32), updates[order[now]].astype(np.float32))
        result[at[now]] = _rounded_to_bfloat16(combined).astype(result.dtype)
