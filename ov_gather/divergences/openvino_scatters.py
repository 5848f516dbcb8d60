"""Divergences of the OpenVINO CPU plugin in scatters, with and without our extension; measured with 2026.4.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ov_gather.divergences import conditions, cpu_plugin, cpu_scatters
from ov_gather.divergences.base import Observed
from ov_gather.divergences.conditions import data_is
from ov_gather.divergences.openvino import SCATTER_ELEMENTS, SCATTER_NDS, in_cpu_plugin, in_extension, in_stock
from ov_gather.ir.element_types import BF16, F8E4M3, F8E5M2
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.scatter_elements_update import SCATTER_ELEMENTS_CUSTOM, SCATTER_ELEMENTS_UPDATE_12
from ov_gather.ops.scatter_nd_update import SCATTER_ND_CUSTOM, SCATTER_ND_UPDATE_15
from ov_gather.ops.scatter_update import SCATTER_UPDATE_3

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ov_gather.divergences.conditions import Operands


def _in_any_order(view: LayerView, operands: Operands, found: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the elements of `found` that some update wrote to their place."""
    import numpy as np

    kinds = cpu_plugin.arithmetics_here()
    masks = [cpu_scatters.written_in_any_order(view, operands, kind, found) for kind in kinds]
    return np.asarray(np.logical_or.reduce(masks))


OPENVINO_SCATTERS = (
    in_stock(
        name="no-scalars",
        operations=(SCATTER_UPDATE_3,),
        observed=(Observed.REFUSES,),
        applies=conditions.has_scalars,
        why="the CPU plugin has no ScatterUpdate for indices or updates that are scalars",
    ),
    in_cpu_plugin(
        name="no-spare-dimensions",
        operations=SCATTER_NDS,
        observed=(Observed.REFUSES,),
        applies=conditions.has_spare_dimensions,
        why="the CPU plugin takes only a scalar as the update of one element; the specification allows any tensor with one "
        "element",
    ),
    in_stock(
        name="no-negative-indices",
        operations=(SCATTER_UPDATE_3,),
        observed=(Observed.REFUSES,),
        applies=conditions.scatters_negative,
        why="the specification does not allow negative indices, and the CPU plugin refuses them",
        upstream=("openvinotoolkit/openvino#36829",),
    ),
    in_stock(
        name="unchecked-short-scatter",
        operations=(SCATTER_UPDATE_3,),
        observed=(Observed.DIFFERS, Observed.ANSWERS, Observed.CRASHES),
        applies=conditions.scatters_unchecked,
        why="the CPU plugin has a shortcut for scattering into up to 64 integers (computed as i32; no 8-bit ones), which "
        "writes to whatever memory an index out of range points to",
        upstream=("openvinotoolkit/openvino#38297",),
        reports=("short_scatter_update_out_of_bounds",),
    ),
    in_stock(
        name="scattered-through-f32",
        operations=(*SCATTER_ELEMENTS, *SCATTER_NDS),
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=data_is(F8E4M3, F8E5M2),
        why="the CPU plugin scatters f8 as f32, which turns signalling NaNs into quiet ones, and -0.0 into 0.0 on CPUs without "
        "AVX512-FP16",
        predicts=cpu_plugin.on_this_cpu(cpu_scatters.scattered),
    ),
    in_stock(
        name="scattered-otherwise",
        operations=(SCATTER_ELEMENTS_UPDATE_12, SCATTER_ND_UPDATE_15),
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.reduces,
        why="the CPU plugin reduces u16, i16 and u32 as i32, rounds bf16 in its own way (on CPUs that compute in bf16, after "
        "every step) and means of integers towards 0, lets NaN lose min and max, and adds boolean as u8, where 256 is 0",
        predicts=cpu_plugin.on_this_cpu(cpu_scatters.scattered),
    ),
    in_extension(
        name="reduced-otherwise-by-ours",
        operations=(SCATTER_ELEMENTS_UPDATE_12, SCATTER_ND_UPDATE_15, SCATTER_ELEMENTS_CUSTOM, SCATTER_ND_CUSTOM),
        observed=(Observed.DIFFERS,),
        applies=lambda view, operands: data_is(BF16)(view, operands) and conditions.reduces(view, operands),
        why="on CPUs that do not compute in bf16 the CPU plugin converts bf16 to f32 around our operations, and rounds it back "
        "in its own way",
        predicts=cpu_plugin.on_this_cpu(cpu_scatters.scattered_by_ours),
    ),
    in_stock(
        name="last-writer-varies",
        operations=(SCATTER_UPDATE_3, *SCATTER_NDS),
        observed=(Observed.DIFFERS, Observed.ANSWERS),
        applies=conditions.writes_twice,
        why="the specification does not say which of several updates of one element wins; with several threads the CPU plugin "
        "lets them race, while ONNX applies them in order",
        permits=_in_any_order,
    ),
)
