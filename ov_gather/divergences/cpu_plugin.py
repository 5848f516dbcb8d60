"""Emulation of the OpenVINO CPU plugin (2026.4.1) where it deviates from an operation; measured, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ov_gather.divergences import cpu
from ov_gather.ops.layer_view import LayerView

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ov_gather.divergences.base import Prediction
    from ov_gather.divergences.conditions import Operands


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Variants of the plugin's arithmetic, which depend on the CPU's instructions and on the release.

    Attributes:
        bf16: bf16 is computed in bf16, so reductions round after every step; else it is computed in f32.
        f8: AVX512-FP16 converts 8-bit floats, which keeps -0.0; else -0.0 becomes 0.0.
        saturates: integers beyond 32 bits saturate, as before 2025.4; else they wrap around.
    """

    bf16: bool = False
    f8: bool = False
    saturates: bool = False


BASELINE = Arithmetic()
"""The arithmetic of a CPU with AVX2 only, which changes the most values."""
ARITHMETICS = (BASELINE, Arithmetic(bf16=True), Arithmetic(bf16=True, f8=True))


def arithmetics_here() -> tuple[Arithmetic, ...]:
    """Return the arithmetic of this machine's CPU; all variants if its instructions are unknown."""
    flags = cpu.flags()
    if flags is None:
        return ARITHMETICS
    bf16 = {"avx512f", "avx512bw", "avx512vl", "avx512dq"} <= flags or {"avx_ne_convert", "avx_vnni_int8"} <= flags
    return (Arithmetic(bf16=bf16, f8="avx512_fp16" in flags),)


def on_this_cpu(predict: Callable[[LayerView, Operands, Arithmetic], NDArray[Any]]) -> Prediction:
    """Convert a prediction for one arithmetic to a prediction for this machine's CPU."""
    return lambda view, operands: [predict(view, operands, arithmetic) for arithmetic in arithmetics_here()]


def evaluated(view: LayerView, operands: Operands, arithmetic: Arithmetic) -> NDArray[Any]:
    """Evaluate the operation on operands as the plugin sees them. Raises IndexError if an index is then out of bounds."""
    from ov_gather.ops.reference import evaluate

    seen = all_as_seen(view, operands, arithmetic)
    return evaluate(view.operation, seen, view.attributes_for(operands)).astype(operands[0].dtype)


def gathered(view: LayerView, operands: Operands, arithmetic: Arithmetic) -> NDArray[Any]:
    """Evaluate Gather-1, -7 or -8: indices out of bounds yield zeros, and so do negative ones in the older two.

    Negative indices wrap around if OpenVINO's core computes the gather, not the plugin: for strings, and if all is constant.
    """
    import numpy as np

    from ov_gather.kernels.gather import gather

    data, indices, *_ = all_as_seen(view, operands, arithmetic)
    indices = indices.astype(np.int32)
    attributes = view.attributes_for(operands)
    by_plugin = not data.dtype.hasobject and (view.constant(0) is None or view.constant(1) is None)
    if by_plugin and view.operation.name in ("Gather-1", "Gather-7"):
        indices = np.where(indices < 0, np.int32(data.shape[attributes["axis"]]), indices)
    result = gather(data, indices, attributes["axis"], attributes.get("batch_dims", 0), bounds="zero")
    return result.astype(operands[0].dtype)


def all_as_seen(view: LayerView, operands: Operands, arithmetic: Arithmetic) -> list[NDArray[Any]]:
    """Return the operands of a layer as the plugin sees them."""
    return [as_seen(array, view.constant(port) is not None, arithmetic) for port, array in enumerate(operands)]


def as_seen(array: NDArray[Any], constant: bool, arithmetic: Arithmetic = BASELINE) -> NDArray[Any]:
    """Convert values as the plugin does before an operation sees them.

    Integers above 8 bits become i32: inputs wrap around, constants saturate. f64 becomes f32, saturated. NaNs of f16 become
    quiet, as it passes through f32. Constants of f32, and of bf16 if computed in f32, lose denormals.
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
