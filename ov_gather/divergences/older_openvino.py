"""Divergences that only older releases of OpenVINO have, measured with those releases."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ov_gather.divergences import conditions, cpu_plugin, cpu_scatters
from ov_gather.divergences.base import Observed
from ov_gather.divergences.conditions import data_is
from ov_gather.divergences.openvino import GATHER_NDS, SCATTER_NDS, SCATTERS, STOCK_GATHERS, in_cpu_plugin, in_stock
from ov_gather.ir.element_types import F8E4M3, F8E5M2, F8E8M0
from ov_gather.ops.gather_elements import GATHER_ELEMENTS_6
from ov_gather.ops.layer_view import LayerView

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ov_gather.divergences.conditions import Operands


def _saturated(view: LayerView, operands: Operands, arithmetic: cpu_plugin.Arithmetic) -> NDArray[Any]:
    """Return what the plugin computes if integers saturate instead of wrapping around."""
    computed = cpu_plugin.gathered if view.operation in STOCK_GATHERS else cpu_plugin.evaluated
    return computed(view, operands, replace(arithmetic, saturates=True))


OLDER_OPENVINO = (
    in_stock(
        name="no-family-in-opset16",
        observed=(Observed.REFUSES,),
        applies=lambda view, operands: view.layer.version == "opset16",
        why="opset16 was incomplete before 2026.0 and held none of the family; `validate --target` says what to write instead",
        before="2026.0",
    ),
    in_stock(
        name="unchecked-gathers",
        operations=(GATHER_ELEMENTS_6, *GATHER_NDS),
        observed=(Observed.DIFFERS, Observed.ANSWERS, Observed.CRASHES),
        applies=conditions.has_indices_outside_data,
        why="the CPU plugin read whatever memory an index that is negative or out of bounds points to",
        before="2025.3",
        upstream=(
            "openvinotoolkit/openvino#30764",
            "openvinotoolkit/openvino#30800",
        ),
        reports=("gather_elements_out_of_bounds",),
    ),
    in_cpu_plugin(
        name="saturated-to-32-bits",
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.saturates,
        why="the CPU plugin clamped integers that do not fit into 32 bits",
        before="2025.4",
        predicts=cpu_plugin.on_this_cpu(_saturated),
    ),
    in_stock(
        name="unchecked-coordinates",
        operations=SCATTER_NDS,
        observed=(Observed.ANSWERS,),
        applies=conditions.is_out_of_bounds,
        why="the CPU plugin checked only that a tuple names a place within data: a coordinate out of bounds wrote elsewhere",
        before="2026.4",
        predicts=cpu_plugin.on_this_cpu(partial(cpu_scatters.scattered, by_coordinate=False)),
        upstream=("openvinotoolkit/openvino#37125",),
        reports=("scatter_nd_checks_flat_place",),
    ),
    in_stock(
        name="wrong-below-a-byte",
        operations=(*GATHER_NDS, *SCATTERS),
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.has_elements_below_a_byte,
        why="the CPU plugin moved whole bytes, although two elements share one",
        before="2026.0",
    ),
    in_stock(
        name="no-f8",
        observed=(Observed.REFUSES,),
        applies=data_is(F8E4M3, F8E5M2),
        why="the CPU plugin did not have these types",
        before="2025.0",
    ),
    in_stock(
        name="no-f8e8m0",
        observed=(Observed.REFUSES,),
        applies=data_is(F8E8M0),
        why="the CPU plugin did not have this type",
        before="2025.2",
    ),
    in_stock(
        name="no-scatter-of-f8e8m0",
        operations=SCATTERS,
        observed=(Observed.REFUSES,),
        applies=data_is(F8E8M0),
        why="the CPU plugin scatters this type as f32, and could not convert it back",
        since="2025.2",
        before="2025.3",
    ),
)
