"""The divergences of the OpenVINO CPU plugin, as it is and with our extension; measured with 2026.4.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ov_gather.divergences import conditions, cpu_plugin, cpu_scatters
from ov_gather.divergences.base import Divergence, Observed
from ov_gather.divergences.conditions import constant_data_is, data_is
from ov_gather.divergences.cpu_plugin import Arithmetic
from ov_gather.ir.element_types import BF16, BOOLEAN, F4E2M1, F8E4M3, F8E5M2, F16, F32, STRING, U2, U32
from ov_gather.ops.layer_view import LayerView

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ov_gather.divergences.base import Prediction
    from ov_gather.divergences.conditions import Operands

STOCK = ("openvino",)
_EXTENSION = ("extension",)
CPU_PLUGIN = ("openvino", "extension")
_OLD_GATHERS = ("Gather-1", "Gather-7")
STOCK_GATHERS = (*_OLD_GATHERS, "Gather-8")
GATHER_NDS = ("GatherND-5", "GatherND-8")
_SCATTER_ELEMENTS = ("ScatterElementsUpdate-3", "ScatterElementsUpdate-12")
_SCATTER_NDS = ("ScatterNDUpdate-3", "ScatterNDUpdate-15")
_SCATTER = "ScatterUpdate-3"
SCATTERS = (*_SCATTER_ELEMENTS, _SCATTER, *_SCATTER_NDS)
_THROUGH_F32 = (*_SCATTER_ELEMENTS, *_SCATTER_NDS)


def _on_this_cpu(predict: Callable[[LayerView, Operands, Arithmetic], NDArray[Any]]) -> Prediction:
    """Return what the plugin computes with the arithmetic of this machine's CPU."""
    return lambda view, operands: [predict(view, operands, arithmetic) for arithmetic in cpu_plugin.arithmetics_here()]


def _in_any_order(view: LayerView, operands: Operands, found: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which elements of a result are among those that were written to their places."""
    import numpy as np

    arithmetics = cpu_plugin.arithmetics_here()
    return np.asarray(
        np.logical_or.reduce([cpu_scatters.written_in_any_order(view, operands, kind, found) for kind in arithmetics])
    )


OPENVINO = (
    # What a runtime does not have.
    Divergence(
        name="custom-operation",
        runtimes=STOCK,
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
        runtimes=STOCK,
        operations=("GatherElements-6", *GATHER_NDS, *SCATTERS),
        observed=(Observed.LACKS,),
        applies=data_is(STRING),
        why="of the family, the CPU plugin has only Gather for strings",
    ),
    Divergence(
        name="unsafe-small-types",
        runtimes=STOCK,
        observed=(Observed.LACKS,),
        applies=data_is(U2, F4E2M1),
        why="the CPU plugin writes past tensors of these types, so that they are not run at all",
    ),
    # What a runtime refuses, though it is legal.
    Divergence(
        name="no-dynamic-rank",
        runtimes=CPU_PLUGIN,
        observed=(Observed.REFUSES,),
        applies=conditions.has_open_rank,
        why="the CPU plugin does not take inputs or outputs whose rank is open",
    ),
    Divergence(
        name="no-rank-above-32",
        runtimes=CPU_PLUGIN,
        observed=(Observed.REFUSES,),
        applies=conditions.exceeds_rank_32,
        why="the CPU plugin marks dimensions by the bits of a number that has 32",
    ),
    Divergence(
        name="no-lowest-sizes",
        runtimes=CPU_PLUGIN,
        devices=("BATCH",),
        observed=(Observed.REFUSES,),
        applies=conditions.has_lowest_sizes,
        why="the device BATCH makes tensors without elements of inputs whose sizes are open, and refuses them where such a "
        "size may not be 0",
    ),
    Divergence(
        name="no-open-axis",
        runtimes=STOCK,
        operations=STOCK_GATHERS,
        observed=(Observed.REFUSES, Observed.CRASHES),
        applies=conditions.has_open_axis,
        why="the CPU plugin must know the axis when it compiles; else it crashes (Gather-1) or says so (Gather-7, Gather-8)",
    ),
    Divergence(
        name="no-strings-by-indices-of-8-bits",
        runtimes=STOCK,
        operations=STOCK_GATHERS,
        observed=(Observed.REFUSES,),
        applies=conditions.gathers_strings_by_bytes,
        why="OpenVINO does not gather strings by indices of 8 bits",
    ),
    Divergence(
        name="no-scalars",
        runtimes=STOCK,
        operations=(_SCATTER,),
        observed=(Observed.REFUSES,),
        applies=conditions.has_scalars,
        why="the CPU plugin has no ScatterUpdate for indices or updates that are scalars",
    ),
    Divergence(
        name="no-spare-dimensions",
        runtimes=CPU_PLUGIN,
        operations=_SCATTER_NDS,
        observed=(Observed.REFUSES,),
        applies=conditions.has_spare_dimensions,
        why="the CPU plugin takes but a scalar for the update of one element; the page allows any tensor with one element",
    ),
    Divergence(
        name="no-negative-indices",
        runtimes=STOCK,
        operations=(_SCATTER,),
        observed=(Observed.REFUSES,),
        applies=conditions.scatters_negative,
        why="the operation's page does not allow negative indices, and the CPU plugin refuses them",
    ),
    # What a runtime makes of indices.
    Divergence(
        name="negative-indices",
        runtimes=STOCK,
        operations=("GatherElements-6", "GatherND-5", "ScatterElementsUpdate-3", "ScatterNDUpdate-3"),
        observed=(Observed.AGREES,),
        applies=conditions.has_negative_indices,
        why="the operation's page does not allow negative indices; this runtime counts them from the end, as ONNX does",
        since="2025.3",
    ),
    Divergence(
        name="zeros-for-negative-indices",
        runtimes=STOCK,
        operations=_OLD_GATHERS,
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.has_negative_indices,
        why="the operation's page does not allow negative indices; the CPU plugin writes zeros for them",
        predicts=_on_this_cpu(cpu_plugin.gathered),
    ),
    Divergence(
        name="zeros-out-of-bounds",
        runtimes=STOCK,
        operations=STOCK_GATHERS,
        observed=(Observed.AGREES, Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.gathers_out_of_bounds,
        why="OpenVINO writes zeros for indices out of bounds, as the page of Gather-8 says; ONNX does not allow them",
        predicts=_on_this_cpu(cpu_plugin.gathered),
    ),
    Divergence(
        name="unchecked-short-gather",
        runtimes=STOCK,
        operations=STOCK_GATHERS,
        observed=(Observed.DIFFERS, Observed.ANSWERS, Observed.CRASHES),
        applies=conditions.gathers_unchecked,
        why="the CPU plugin gathers up to 64 of up to 64 integers (computed as i32; no 8-bit ones) in a short way, "
        "which reads whatever memory an index out of range points to",
    ),
    Divergence(
        name="batches-of-one",
        runtimes=STOCK,
        operations=("Gather-7", "Gather-8"),
        observed=(Observed.DIFFERS, Observed.ANSWERS, Observed.CRASHES),
        applies=conditions.has_batches_of_one,
        why="where batch dimensions are all 1 and shapes static, the CPU plugin reads memory that has nothing to do with it",
    ),
    Divergence(
        name="unchecked-short-scatter",
        runtimes=STOCK,
        operations=(_SCATTER,),
        observed=(Observed.DIFFERS, Observed.ANSWERS, Observed.CRASHES),
        applies=conditions.scatters_unchecked,
        why="the CPU plugin scatters into up to 64 integers (computed as i32; no 8-bit ones) in a short way, which writes to "
        "whatever memory an index out of range points to",
    ),
    Divergence(
        name="unchecked-indices",
        runtimes=STOCK,
        operations=(*GATHER_NDS, *_SCATTER_ELEMENTS),
        observed=(Observed.ANSWERS, Observed.CRASHES),
        applies=conditions.is_out_of_bounds,
        why="the CPU plugin reads or writes whatever memory an index out of bounds points to "
        "(GatherND: any such index, ScatterElementsUpdate: one that is too low)",
    ),
    Divergence(
        name="not-executed-when-empty",
        runtimes=STOCK,
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.has_empty_input,
        why="the CPU plugin does not execute its operations where an input is empty; the output is what lay in memory before",
    ),
    Divergence(
        name="dies-of-empty-gathers",
        runtimes=STOCK,
        operations=STOCK_GATHERS,
        observed=(Observed.CRASHES,),
        applies=conditions.is_static_and_empty,
        why="where shapes are static, and data or indices without elements, the CPU plugin divides by zero when it compiles "
        "Gather, which ends the process",
    ),
    Divergence(
        name="no-large-tensors",
        runtimes=STOCK,
        observed=(Observed.DIFFERS, Observed.REFUSES, Observed.CRASHES),
        applies=conditions.exceeds_int32,
        why="the CPU plugin counts elements in 32 bits",
    ),
    # What a runtime makes of values.
    Divergence(
        name="narrowed-to-32-bits",
        runtimes=CPU_PLUGIN,
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.is_narrowed,
        why="the CPU plugin turns 64-bit data and indices into 32-bit ones before any operation sees them",
        since="2025.4",
        predicts=_on_this_cpu(cpu_plugin.evaluated),
    ),
    Divergence(
        name="rewritten-constants",
        runtimes=CPU_PLUGIN,
        observed=(Observed.DIFFERS,),
        applies=constant_data_is(F32, BF16, U32),
        why="in constants the CPU plugin saturates u32 at 2^31-1; f32 denormals, and -0.0 beside them, become 0.0, and "
        "those of bf16, too, on CPUs that do not compute in bf16",
        predicts=_on_this_cpu(cpu_plugin.evaluated),
    ),
    Divergence(
        name="quieted-nan",
        runtimes=CPU_PLUGIN,
        observed=(Observed.DIFFERS,),
        applies=data_is(F16),
        why="the CPU plugin computes f16 as f32, which turns signalling NaNs into quiet ones",
        predicts=_on_this_cpu(cpu_plugin.evaluated),
    ),
    Divergence(
        name="scattered-through-f32",
        runtimes=STOCK,
        operations=_THROUGH_F32,
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=data_is(F8E4M3, F8E5M2),
        why="the CPU plugin scatters f8 as f32, which turns signalling NaNs into quiet ones, and -0.0 into 0.0 on CPUs without "
        "AVX512-FP16",
        predicts=_on_this_cpu(cpu_scatters.scattered),
    ),
    Divergence(
        name="scattered-otherwise",
        runtimes=STOCK,
        operations=("ScatterElementsUpdate-12", "ScatterNDUpdate-15"),
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.reduces,
        why="the CPU plugin reduces u16, i16 and u32 as i32, rounds bf16 in its own way (where the CPU computes in bf16, after "
        "every step) and means of integers towards 0, lets NaN lose min and max, and adds boolean as u8, where 256 are 0",
        predicts=_on_this_cpu(cpu_scatters.scattered),
        any_nan=True,
    ),
    Divergence(
        name="reduced-otherwise-by-ours",
        runtimes=_EXTENSION,
        operations=("ScatterElementsUpdate-12", "ScatterNDUpdate-15", "ScatterElements-ov_gather", "ScatterND-ov_gather"),
        observed=(Observed.DIFFERS,),
        applies=lambda view, operands: data_is(BF16, BOOLEAN)(view, operands) and conditions.reduces(view, operands),
        why="around our operations the CPU plugin converts boolean to u8, so that the sum of 256 times true is false, and, on "
        "CPUs that do not compute in bf16, bf16 to f32, which it rounds back in its own way",
        predicts=_on_this_cpu(cpu_scatters.scattered_by_ours),
        any_nan=True,
    ),
    Divergence(
        name="last-writer-varies",
        runtimes=STOCK,
        operations=(_SCATTER, *_SCATTER_NDS),
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.writes_twice,
        why="the page does not say which update of one place is the last; on several threads the CPU plugin lets them race, "
        "while ONNX's order is that of the updates",
        permits=_in_any_order,
    ),
)
