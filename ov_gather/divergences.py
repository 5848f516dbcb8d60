"""The known departures of runtimes from ONNX, as data. A difference that none of them explains is a failure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from ov_gather import conditions, cpu_plugin
from ov_gather.conditions import constant_data_is, data_is
from ov_gather.ir.element_types import BF16, ELEMENT_TYPES, F4E2M1, F8E4M3, F8E5M2, F16, F32, STRING, U2, U32
from ov_gather.ops.layer_view import LayerView

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ov_gather.conditions import Condition, Operands

NOT_IN_ONNXRUNTIME = tuple(
    row for row in ELEMENT_TYPES if row.name == "bf16" or row.name[:2] in ("f4", "f8") or 0 < row.bits < 8
)


class Observed(Enum):
    """What a runtime does where a divergence applies."""

    AGREES = "agrees"  # but the operation's page, or ONNX, says otherwise
    DIFFERS = "differs"
    REFUSES = "refuses"
    ANSWERS = "answers where our kernel refuses"
    CRASHES = "crashes"
    LACKS = "does not have it"  # so that it is not asked: not applicable


@dataclass(frozen=True, slots=True)
class Divergence:
    """One departure.

    Attributes:
        name: what reports call it.
        runtimes: whose it is.
        observed: what the runtime does; one of these.
        applies: whether it concerns a layer with these operands. For LACKS there are none: they are not needed.
        why: the reason, for people.
        operations: versioned names of those that it concerns; none = all.
        since, before: the first version of the runtime that does so, and the first that no longer does, where known.
        predicts: exactly what the runtime's result is instead. Raises IndexError where it has none.
    """

    name: str
    runtimes: tuple[str, ...]
    observed: tuple[Observed, ...]
    applies: Condition
    why: str
    operations: tuple[str, ...] = ()
    since: str = ""
    before: str = ""
    predicts: Callable[[LayerView, Operands], NDArray[Any]] | None = None

    def concerns(self, runtime: str, version: str, operation: str) -> bool:
        """Whether it is one of this version of a runtime, and of this operation."""
        return (
            runtime in self.runtimes
            and (not self.operations or operation in self.operations)
            and (not self.since or _number(version) >= _number(self.since))
            and (not self.before or _number(version) < _number(self.before))
        )


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


_STOCK = ("openvino",)
_EXTENSION = ("extension",)
_ONNXRUNTIME = ("onnxruntime",)
_CUSTOM_GATHER = "Gather-ov_gather"
_CPU_PLUGIN = ("openvino", "extension")
_OLD_GATHERS = ("Gather-1", "Gather-7")
_GATHERS = (*_OLD_GATHERS, "Gather-8")
_GATHER_NDS = ("GatherND-5", "GatherND-8")
_SCATTERS = ("ScatterElementsUpdate-3", "ScatterElementsUpdate-12")

DIVERGENCES = (
    # What a runtime does not have.
    Divergence(
        name="custom-operation",
        runtimes=_STOCK,
        observed=(Observed.LACKS,),
        applies=conditions.is_custom,
        why="operations of the opset ov_gather need our extension",
    ),
    Divergence(
        name="no-counterpart",
        runtimes=_EXTENSION,
        observed=(Observed.LACKS,),
        applies=conditions.has_no_custom_version,
        why="our extension has no operation that takes this one's place",
    ),
    Divergence(
        name="no-elements-below-a-byte",
        runtimes=_EXTENSION,
        observed=(Observed.LACKS,),
        applies=conditions.has_elements_below_a_byte,
        why="our operations in OpenVINO do not take elements smaller than a byte",
    ),
    Divergence(
        name="only-indices-of-onnx",
        runtimes=_EXTENSION,
        observed=(Observed.LACKS,),
        applies=conditions.has_other_indices_than_onnx,
        why="our operations in OpenVINO take indices of i32 and i64, as ONNX's do",
    ),
    Divergence(
        name="no-strings",
        runtimes=_STOCK,
        operations=("GatherElements-6", *_GATHER_NDS, *_SCATTERS),
        observed=(Observed.LACKS,),
        applies=data_is(STRING),
        why="of the family, the CPU plugin has only Gather for strings",
    ),
    Divergence(
        name="unsafe-small-types",
        runtimes=_STOCK,
        observed=(Observed.LACKS,),
        applies=data_is(U2, F4E2M1),
        why="the CPU plugin writes past tensors of these types, so that they are not run at all",
    ),
    Divergence(
        name="no-small-types",
        runtimes=("onnxruntime",),
        observed=(Observed.LACKS,),
        applies=data_is(*NOT_IN_ONNXRUNTIME),
        why="onnxruntime has no kernel for these types, or takes no NumPy arrays of them",
    ),
    Divergence(
        name="no-unsigned-64-bit-indices",
        runtimes=_ONNXRUNTIME,
        observed=(Observed.LACKS,),
        applies=conditions.has_unsigned_64_bit_indices,
        why="ONNX has no u64 indices, and i64 does not hold them all",
    ),
    Divergence(
        name="axis-is-an-attribute",
        runtimes=_ONNXRUNTIME,
        operations=(*_GATHERS, _CUSTOM_GATHER, *_SCATTERS),
        observed=(Observed.LACKS,),
        applies=conditions.has_open_axis,
        why="in ONNX the axis is an attribute",
    ),
    Divergence(
        name="no-broadcast-in-onnx",
        runtimes=_ONNXRUNTIME,
        operations=("GatherElements-ov_gather",),
        observed=(Observed.LACKS,),
        applies=conditions.broadcasts,
        why="ONNX's GatherElements does not broadcast",
    ),
    Divergence(
        name="no-such-batches-in-onnx",
        runtimes=_ONNXRUNTIME,
        operations=("Gather-7", "Gather-8", _CUSTOM_GATHER, "GatherND-5"),
        observed=(Observed.LACKS,),
        applies=conditions.gathers_batches,
        why="ONNX's Gather has no batch dimensions, and its GatherND does not fuse them",
    ),
    Divergence(
        name="no-such-reduction-in-onnx",
        runtimes=_ONNXRUNTIME,
        operations=("ScatterElementsUpdate-12",),
        observed=(Observed.LACKS,),
        applies=conditions.reduces_beyond_onnx,
        why="ONNX's ScatterElements has no mean, and always starts from what is there",
    ),
    Divergence(
        name="no-such-reduction-in-onnxruntime",
        runtimes=_ONNXRUNTIME,
        operations=("ScatterElementsUpdate-12",),
        observed=(Observed.LACKS,),
        applies=conditions.reduces_halves_or_booleans,
        why="onnxruntime has no kernel for reductions of these types",
    ),
    Divergence(
        name="no-zeros-in-onnx",
        runtimes=_ONNXRUNTIME,
        operations=("Gather-8", _CUSTOM_GATHER),
        observed=(Observed.REFUSES,),
        applies=conditions.fills_zeros,
        why="in ONNX an index out of bounds is an error, not a zero",
    ),
    Divergence(
        name="first-string-of-each-slice",
        runtimes=_ONNXRUNTIME,
        operations=(*_GATHERS, _CUSTOM_GATHER),
        observed=(Observed.DIFFERS,),
        applies=data_is(STRING),
        why="onnxruntime's Gather copies but the first string of each slice",
    ),
    # What a runtime refuses, though it is legal.
    Divergence(
        name="no-dynamic-rank",
        runtimes=_CPU_PLUGIN,
        observed=(Observed.REFUSES,),
        applies=conditions.has_open_rank,
        why="the CPU plugin does not take inputs or outputs whose rank is open",
    ),
    Divergence(
        name="no-rank-above-32",
        runtimes=_CPU_PLUGIN,
        observed=(Observed.REFUSES,),
        applies=conditions.exceeds_rank_32,
        why="the CPU plugin keeps one bit for each dimension, and has 32",
    ),
    Divergence(
        name="no-open-axis",
        runtimes=_STOCK,
        operations=_GATHERS,
        observed=(Observed.REFUSES, Observed.CRASHES),
        applies=conditions.has_open_axis,
        why="the CPU plugin needs to know the axis when it compiles: of Gather-1 it crashes, of the others it says so",
    ),
    Divergence(
        name="no-strings-by-such-indices",
        runtimes=_STOCK,
        operations=_GATHERS,
        observed=(Observed.REFUSES,),
        applies=conditions.gathers_strings_by_other_indices,
        why="OpenVINO gathers strings by indices of i32 and i64 alone",
    ),
    # What a runtime makes of indices.
    Divergence(
        name="negative-indices",
        runtimes=_STOCK,
        operations=("GatherElements-6", "GatherND-5", "ScatterElementsUpdate-3"),
        observed=(Observed.AGREES,),
        applies=conditions.has_negative_indices,
        why="the operation's page does not allow negative indices; this runtime counts them from the end, as ONNX does",
        since="2025.3",
    ),
    Divergence(
        name="zeros-for-negative-indices",
        runtimes=_STOCK,
        operations=_OLD_GATHERS,
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.has_negative_indices,
        why="the operation's page does not allow negative indices; the CPU plugin writes zeros for them",
        predicts=cpu_plugin.gathered,
    ),
    Divergence(
        name="zeros-out-of-bounds",
        runtimes=_STOCK,
        operations=_GATHERS,
        observed=(Observed.AGREES, Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.gathers_out_of_bounds,
        why="OpenVINO writes zeros for indices out of bounds, as the page of Gather-8 says; ONNX does not allow them",
        predicts=cpu_plugin.gathered,
    ),
    Divergence(
        name="unchecked-short-gather",
        runtimes=_STOCK,
        operations=_GATHERS,
        observed=(Observed.DIFFERS, Observed.ANSWERS, Observed.CRASHES),
        applies=conditions.gathers_unchecked,
        why="the CPU plugin gathers up to 64 of up to 64 integers (computed as i32; no 8-bit ones) in a short way, "
        "which reads whatever memory an index out of range points to",
    ),
    Divergence(
        name="unchecked-indices",
        runtimes=_STOCK,
        operations=(*_GATHER_NDS, *_SCATTERS),
        observed=(Observed.ANSWERS, Observed.CRASHES),
        applies=conditions.is_out_of_bounds,
        why="the CPU plugin reads or writes whatever memory an index out of bounds points to "
        "(GatherND: any such index, ScatterElementsUpdate: one that is too low)",
    ),
    Divergence(
        name="not-executed-when-empty",
        runtimes=_CPU_PLUGIN,
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.has_empty_input,
        why="the CPU plugin does not execute an operation with an empty input; its output is memory as it was found",
    ),
    Divergence(
        name="no-large-tensors",
        runtimes=_STOCK,
        observed=(Observed.DIFFERS, Observed.REFUSES, Observed.CRASHES),
        applies=conditions.exceeds_int32,
        why="the CPU plugin counts elements in 32 bits",
    ),
    # What a runtime makes of values.
    Divergence(
        name="narrowed-to-32-bits",
        runtimes=_CPU_PLUGIN,
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.is_narrowed,
        why="the CPU plugin turns 64-bit data and indices into 32-bit ones before any operation sees them",
        predicts=cpu_plugin.evaluated,
    ),
    Divergence(
        name="rewritten-constants",
        runtimes=_CPU_PLUGIN,
        observed=(Observed.DIFFERS,),
        applies=constant_data_is(F32, BF16, U32),
        why="in constants the CPU plugin saturates u32 at 2^31-1; f32 and bf16 denormals, and -0.0 beside them, become 0.0",
        predicts=cpu_plugin.evaluated,
    ),
    Divergence(
        name="quieted-nan",
        runtimes=_CPU_PLUGIN,
        observed=(Observed.DIFFERS,),
        applies=data_is(F16),
        why="the CPU plugin computes f16 as f32, which turns signalling NaNs into quiet ones",
        predicts=cpu_plugin.evaluated,
    ),
    Divergence(
        name="scattered-through-f32",
        runtimes=_STOCK,
        operations=_SCATTERS,
        observed=(Observed.DIFFERS,),
        applies=data_is(F8E4M3, F8E5M2),
        why="the CPU plugin scatters f8 as f32, which turns signalling NaNs into quiet ones, and -0.0 into 0.0",
        predicts=cpu_plugin.scattered,
    ),
    Divergence(
        name="scattered-otherwise",
        runtimes=_STOCK,
        operations=("ScatterElementsUpdate-12",),
        observed=(Observed.DIFFERS,),
        applies=conditions.reduces,
        why="the CPU plugin reduces u16, i16 and u32 as i32, rounds bf16 in its own way and means of integers towards 0, "
        "and lets NaN lose min and max",
        predicts=cpu_plugin.scattered,
    ),
)


def explaining(runtime: str, version: str, observed: Observed, view: LayerView, operands: Operands) -> Iterator[Divergence]:
    """The divergences that may explain what was observed of a runtime, for a layer with these operands."""
    for known in DIVERGENCES:
        if (
            observed in known.observed
            and known.concerns(runtime, version, view.operation.name)
            and known.applies(view, operands)
        ):
            yield known


def lacking(runtime: str, version: str, view: LayerView) -> Divergence | None:
    """Why a runtime cannot be asked to execute a layer at all; None if it can."""
    return next(explaining(runtime, version, Observed.LACKS, view, ()), None)


def is_predicted(names: Iterable[str]) -> bool:
    """Whether one of these divergences says exactly what the result is, so that it does not come from foreign memory."""
    return any(known.predicts for known in DIVERGENCES if known.name in names)
