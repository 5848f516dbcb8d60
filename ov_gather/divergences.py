"""The known departures of runtimes from ONNX, as data. A difference that none of them explains is a failure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from ov_gather.ir.element_types import ELEMENT_TYPES, F4E2M1, F16, F32, F64, I64, STRING, U2, U32, U64
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.spec import CUSTOM_OPSET

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Operands = Sequence[NDArray[Any]]

NARROWED_BY_CPU = {I64: "i32", U64: "i32", F64: "f32"}
UNSAFE_ON_CPU = (U2, F4E2M1)
NOT_IN_ONNXRUNTIME = tuple(row for row in ELEMENT_TYPES if row.name == "bf16" or row.name[:2] in ("f4", "f8") or row.bits == 4)


class Observed(Enum):
    """What a runtime does where a divergence applies."""

    AGREES = "agrees"  # but the operation's page says otherwise
    DIFFERS = "differs"
    REFUSES = "refuses"


@dataclass(frozen=True, slots=True)
class Divergence:
    """One departure.

    Attributes:
        name: what reports call it.
        runtimes: whose it is.
        observed: what the runtime does.
        applies: whether it concerns a layer with these operands.
        why: the reason, for people.
        data_as_seen: for DIFFERS: what the runtime makes of the data. Its result must be exactly the gather of that.
    """

    name: str
    runtimes: tuple[str, ...]
    observed: Observed
    applies: Callable[[LayerView, Operands], bool]
    why: str
    data_as_seen: Callable[[LayerView, NDArray[Any]], NDArray[Any]] | None = None


def _below_specified(view: LayerView, operands: Operands) -> bool:
    rule = view.operation.index_rule
    if view.index_sizes is None:
        return False
    import numpy as np

    return bool((operands[rule.port] < rule.lowest_specified(np.array(view.index_sizes))).any())


def _data_comes_from_const(view: LayerView) -> bool:
    source = view.producer(0)
    return source is not None and source[0].type == "Const"


def _as_seen_by_cpu(view: LayerView, data: NDArray[Any]) -> NDArray[Any]:
    """What the CPU plugin of 2026.4.1 makes of data, as measured: inputs wrap around, constants saturate and lose denormals."""
    import numpy as np

    constant = _data_comes_from_const(view)
    if data.dtype.kind in "iu":
        largest = np.iinfo(np.int32).max
        lowest = 0 if data.dtype.kind == "u" else np.iinfo(np.int32).min
        return np.clip(data, lowest, largest) if constant else data.astype(np.int32).astype(data.dtype)
    if data.dtype == np.float16:
        return np.where(np.isnan(data), (data.view(np.uint16) | 0x0200).view(np.float16), data)
    limits = np.finfo(np.float32)
    seen = np.where(np.isnan(data), data, np.clip(data, -limits.max, limits.max)) if data.dtype == np.float64 else data
    seen = seen.astype(np.float32)
    tiny = np.abs(seen) < limits.smallest_normal
    if constant and (tiny & (seen != 0)).any():
        seen = np.where(tiny, np.float32(0), seen)
    return seen.astype(data.dtype)


_STOCK = ("openvino",)
_CPU_PLUGIN = ("openvino", "extension")

DIVERGENCES = (
    Divergence(
        name="negative-indices",
        runtimes=_STOCK,
        observed=Observed.AGREES,
        applies=_below_specified,
        why="the operation's page does not allow negative indices; this runtime counts them from the end, as ONNX does",
    ),
    Divergence(
        name="narrowed-to-32-bits",
        runtimes=_CPU_PLUGIN,
        observed=Observed.DIFFERS,
        applies=lambda view, operands: view.input_types[0] in NARROWED_BY_CPU,
        why="the CPU plugin turns 64-bit data into 32-bit data before any operation sees it",
        data_as_seen=_as_seen_by_cpu,
    ),
    Divergence(
        name="rewritten-constants",
        runtimes=_CPU_PLUGIN,
        observed=Observed.DIFFERS,
        applies=lambda view, operands: view.input_types[0] in (F32, U32) and _data_comes_from_const(view),
        why="in constants the CPU plugin saturates u32 at 2^31-1, and turns f32 denormals, and -0.0 beside them, into 0.0",
        data_as_seen=_as_seen_by_cpu,
    ),
    Divergence(
        name="quieted-nan",
        runtimes=_CPU_PLUGIN,
        observed=Observed.DIFFERS,
        applies=lambda view, operands: view.input_types[0] is F16,
        why="the CPU plugin computes f16 as f32, which turns signalling NaNs into quiet ones",
        data_as_seen=_as_seen_by_cpu,
    ),
    Divergence(
        name="custom-operation",
        runtimes=_STOCK,
        observed=Observed.REFUSES,
        applies=lambda view, operands: CUSTOM_OPSET in view.operation.opsets,
        why="operations of the opset ov_gather need our extension",
    ),
    Divergence(
        name="no-elements-below-a-byte",
        runtimes=("extension",),
        observed=Observed.REFUSES,
        applies=lambda view, operands: view.input_types[0] is not None and view.input_types[0].bits % 8 != 0,
        why="our operation in OpenVINO does not take elements smaller than a byte",
    ),
    Divergence(
        name="no-strings",
        runtimes=_STOCK,
        observed=Observed.REFUSES,
        applies=lambda view, operands: view.input_types[0] is STRING,
        why="the CPU plugin has no GatherElements of strings",
    ),
    Divergence(
        name="no-dynamic-rank",
        runtimes=_CPU_PLUGIN,
        observed=Observed.REFUSES,
        applies=lambda view, operands: any(shape.rank is None for shape in view.input_shapes),
        why="the CPU plugin does not take inputs whose rank is open",
    ),
    Divergence(
        name="no-small-types",
        runtimes=("onnxruntime",),
        observed=Observed.REFUSES,
        applies=lambda view, operands: view.input_types[0] in NOT_IN_ONNXRUNTIME,
        why="onnxruntime has no kernel for these types, or takes no NumPy arrays of them",
    ),
    Divergence(
        name="no-rank-above-32",
        runtimes=_CPU_PLUGIN,
        observed=Observed.REFUSES,
        applies=lambda view, operands: operands[0].ndim > 32,
        why="the CPU plugin keeps one bit for each dimension, and has 32",
    ),
    Divergence(
        name="unsafe-small-types",
        runtimes=_STOCK,
        observed=Observed.REFUSES,
        applies=lambda view, operands: view.input_types[0] in UNSAFE_ON_CPU,
        why="the CPU plugin of 2026.4.1 writes past tensors of these types, so that they are not run at all",
    ),
)


def applying(runtime: str, observed: Observed, view: LayerView, operands: Operands) -> list[Divergence]:
    """The divergences that would explain what was observed of a runtime, for a layer with these operands."""
    return [
        known
        for known in DIVERGENCES
        if runtime in known.runtimes and known.observed is observed and known.applies(view, operands)
    ]
