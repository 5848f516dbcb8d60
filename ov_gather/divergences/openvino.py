"""Divergences of the OpenVINO CPU plugin, with and without our extension; measured with 2026.4.1."""

from __future__ import annotations

from functools import partial

from ov_gather.divergences import conditions, cpu_plugin
from ov_gather.divergences.base import Divergence, Observed
from ov_gather.divergences.conditions import constant_data_is, data_is
from ov_gather.ir.element_types import BF16, F4E2M1, F16, F32, I32, I64, STRING, U2, U32
from ov_gather.ops.gather import GATHER_1, GATHER_7, GATHER_8
from ov_gather.ops.gather_elements import GATHER_ELEMENTS_6
from ov_gather.ops.gather_nd import GATHER_ND_5, GATHER_ND_8
from ov_gather.ops.scatter_elements_update import SCATTER_ELEMENTS_UPDATE_3, SCATTER_ELEMENTS_UPDATE_12
from ov_gather.ops.scatter_nd_update import SCATTER_ND_UPDATE_3, SCATTER_ND_UPDATE_15
from ov_gather.ops.scatter_update import SCATTER_UPDATE_3
from ov_gather.ops.spec import CUSTOM_OPSET

in_stock = partial(Divergence, runtimes=("openvino",))
in_extension = partial(Divergence, runtimes=("extension",))
in_cpu_plugin = partial(Divergence, runtimes=("openvino", "extension"))
_OLD_GATHERS = (GATHER_1, GATHER_7)
STOCK_GATHERS = (*_OLD_GATHERS, GATHER_8)
GATHER_NDS = (GATHER_ND_5, GATHER_ND_8)
SCATTER_ELEMENTS = (SCATTER_ELEMENTS_UPDATE_3, SCATTER_ELEMENTS_UPDATE_12)
SCATTER_NDS = (SCATTER_ND_UPDATE_3, SCATTER_ND_UPDATE_15)
SCATTERS = (*SCATTER_ELEMENTS, SCATTER_UPDATE_3, *SCATTER_NDS)

OPENVINO = (
    # Operations and types that a runtime lacks.
    in_stock(
        name="custom-operation",
        observed=(Observed.LACKS,),
        applies=lambda view, operands: CUSTOM_OPSET in view.operation.opsets,
        why="operations of the opset ov_gather need our extension",
    ),
    in_extension(
        name="no-counterpart",
        observed=(Observed.LACKS,),
        applies=lambda view, operands: view.custom_version is None,
        why="our extension has no equivalent operation",
    ),
    in_extension(
        name="no-elements-below-a-byte",
        observed=(Observed.LACKS,),
        applies=conditions.has_elements_below_a_byte,
        why="our operations in OpenVINO do not take elements smaller than a byte",
    ),
    in_extension(
        name="only-indices-of-onnx",
        observed=(Observed.LACKS,),
        applies=lambda view, operands: conditions.index_type(view) not in (I32, I64),
        why="our operations in OpenVINO take indices of i32 and i64, as ONNX's do",
    ),
    in_stock(
        name="no-strings",
        operations=(GATHER_ELEMENTS_6, *GATHER_NDS, *SCATTERS),
        observed=(Observed.LACKS,),
        applies=data_is(STRING),
        why="of the family, the CPU plugin has only Gather for strings",
    ),
    in_stock(
        name="unsafe-small-types",
        observed=(Observed.LACKS,),
        applies=data_is(U2, F4E2M1),
        why="the CPU plugin writes past tensors of these types, so we do not execute them",
    ),
    # Legal models that a runtime refuses.
    in_cpu_plugin(
        name="no-dynamic-rank",
        observed=(Observed.REFUSES,),
        applies=conditions.has_open_rank,
        why="the CPU plugin does not take inputs or outputs whose rank is open",
    ),
    in_cpu_plugin(
        name="no-rank-above-32",
        observed=(Observed.REFUSES,),
        applies=conditions.exceeds_rank_32,
        why="the CPU plugin represents dimensions by the bits of a 32-bit number",
    ),
    in_cpu_plugin(
        name="no-lowest-sizes",
        devices=("BATCH",),
        observed=(Observed.REFUSES,),
        applies=conditions.has_lowest_sizes,
        why="the device BATCH creates empty tensors for inputs with open sizes, and refuses them if such a size must not be 0",
    ),
    in_stock(
        name="no-open-axis",
        operations=STOCK_GATHERS,
        observed=(Observed.REFUSES, Observed.CRASHES),
        applies=conditions.has_open_axis,
        why="the CPU plugin must know the axis when it compiles; else it crashes (Gather-1) or says so (Gather-7, Gather-8)",
        reports=("gather_1_with_open_axis",),
    ),
    in_stock(
        name="no-strings-by-indices-of-8-bits",
        operations=STOCK_GATHERS,
        observed=(Observed.REFUSES,),
        applies=conditions.gathers_strings_by_bytes,
        why="OpenVINO does not gather strings by indices of 8 bits",
    ),
    # Deviations in indices.
    in_stock(
        name="negative-indices",
        operations=(GATHER_ELEMENTS_6, GATHER_ND_5, SCATTER_ELEMENTS_UPDATE_3, SCATTER_ND_UPDATE_3),
        observed=(Observed.AGREES,),
        applies=conditions.has_negative_indices,
        why="the specification does not allow negative indices; this runtime counts them from the end, as ONNX does",
        since="2025.3",
        upstream=(
            "openvinotoolkit/openvino#30764",
            "openvinotoolkit/openvino#30800",
        ),
    ),
    in_stock(
        name="zeros-for-negative-indices",
        operations=_OLD_GATHERS,
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.has_negative_indices,
        why="the specification does not allow negative indices; the CPU plugin writes zeros for them",
        predicts=cpu_plugin.on_this_cpu(cpu_plugin.gathered),
    ),
    in_stock(
        name="zeros-out-of-bounds",
        operations=STOCK_GATHERS,
        observed=(Observed.AGREES, Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.gathers_out_of_bounds,
        why="OpenVINO writes zeros for indices out of bounds, as the specification of Gather-8 says; ONNX does not allow them",
        predicts=cpu_plugin.on_this_cpu(cpu_plugin.gathered),
        upstream=("openvinotoolkit/openvino#35687",),
        reports=("onnx_gather_out_of_bounds",),
    ),
    in_stock(
        name="unchecked-short-gather",
        operations=STOCK_GATHERS,
        observed=(Observed.DIFFERS, Observed.ANSWERS, Observed.CRASHES),
        applies=conditions.gathers_unchecked,
        why="the CPU plugin has a shortcut for gathering up to 64 of up to 64 integers (computed as i32; no 8-bit ones), which "
        "reads whatever memory an index out of range points to",
        reports=("short_gather_out_of_bounds",),
    ),
    in_stock(
        name="batches-of-one",
        operations=(GATHER_7, GATHER_8),
        observed=(Observed.DIFFERS, Observed.ANSWERS, Observed.CRASHES),
        applies=conditions.has_batches_of_one,
        why="if all batch dimensions are 1 and shapes are static, the CPU plugin reads unrelated memory",
        reports=("gather_batches_of_one",),
    ),
    in_stock(
        name="unchecked-indices",
        operations=(*GATHER_NDS, *SCATTER_ELEMENTS),
        observed=(Observed.ANSWERS, Observed.CRASHES),
        applies=conditions.is_out_of_bounds,
        why="the CPU plugin reads or writes whatever memory an index out of bounds points to "
        "(GatherND: any such index, ScatterElementsUpdate: one that is too low)",
        upstream=("openvinotoolkit/openvino#38297",),
        reports=(
            "gather_nd_out_of_bounds",
            "scatter_elements_below_bounds",
        ),
    ),
    in_stock(
        name="not-executed-when-empty",
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=lambda view, operands: any(array.size == 0 for array in operands),
        why="the CPU plugin does not execute its operations if an input is empty; the output is uninitialized memory",
    ),
    in_stock(
        name="dies-of-empty-gathers",
        operations=STOCK_GATHERS,
        observed=(Observed.CRASHES,),
        applies=conditions.is_static_and_empty,
        why="if shapes are static, and data or indices are empty, the CPU plugin divides by zero when it compiles Gather, "
        "which ends the process",
        reports=("static_empty_gather",),
    ),
    in_stock(
        name="no-large-tensors",
        observed=(Observed.DIFFERS, Observed.REFUSES, Observed.CRASHES),
        applies=conditions.exceeds_int32,
        why="the CPU plugin counts elements in 32 bits",
    ),
    # Deviations in values.
    in_cpu_plugin(
        name="narrowed-to-32-bits",
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.is_narrowed,
        why="the CPU plugin narrows 64-bit data and indices to 32 bits before any operation reads them",
        since="2025.4",
        predicts=cpu_plugin.on_this_cpu(cpu_plugin.evaluated),
        upstream=(
            "openvinotoolkit/openvino#16499",
            "openvinotoolkit/openvino#24072",
        ),
        reports=(
            "i64_data_are_cut",
            "i64_indices_are_cut",
        ),
    ),
    in_cpu_plugin(
        name="rewritten-constants",
        observed=(Observed.DIFFERS,),
        applies=constant_data_is(F32, BF16, U32),
        why="in constants the CPU plugin saturates u32 at 2^31-1; f32 denormals, and -0.0 beside them, become 0.0, and "
        "those of bf16, too, on CPUs that do not compute in bf16",
        predicts=cpu_plugin.on_this_cpu(cpu_plugin.evaluated),
        upstream=("openvinotoolkit/openvino#19360",),
        reports=(
            "denormal_constants",
            "u32_constants_saturate",
        ),
    ),
    in_cpu_plugin(
        name="quieted-nan",
        observed=(Observed.DIFFERS,),
        applies=data_is(F16),
        why="the CPU plugin computes f16 as f32, which turns signalling NaNs into quiet ones",
        predicts=cpu_plugin.on_this_cpu(cpu_plugin.evaluated),
    ),
)
