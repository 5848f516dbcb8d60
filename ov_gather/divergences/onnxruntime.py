"""Divergences of onnxruntime, which executes the ONNX operator that corresponds to a layer; measured with 1.31.1."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ov_gather.divergences import conditions, cpu_scatters
from ov_gather.divergences.base import Divergence, Observed
from ov_gather.divergences.conditions import data_is
from ov_gather.divergences.openvino import SCATTER_ELEMENTS, SCATTER_NDS, STOCK_GATHERS
from ov_gather.ir.element_types import ELEMENT_TYPES, STRING, U64
from ov_gather.ops.gather import GATHER_7, GATHER_8, GATHER_CUSTOM
from ov_gather.ops.gather_elements_custom import GATHER_ELEMENTS_CUSTOM
from ov_gather.ops.gather_nd import GATHER_ND_5
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.scatter_elements_update import SCATTER_ELEMENTS_CUSTOM, SCATTER_ELEMENTS_UPDATE_12
from ov_gather.ops.scatter_nd_update import SCATTER_ND_CUSTOM, SCATTER_ND_UPDATE_15
from ov_gather.ops.scatter_update import SCATTER_UPDATE_3

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ov_gather.divergences.conditions import Operands

NOT_IN_ONNXRUNTIME = tuple(
    row for row in ELEMENT_TYPES if row.name == "bf16" or row.name[:2] in ("f4", "f8") or 0 < row.bits < 8
)

_diverges = partial(Divergence, runtimes=("onnxruntime",))
_lacks = partial(_diverges, observed=(Observed.LACKS,))
_REDUCING = (SCATTER_ELEMENTS_UPDATE_12, SCATTER_ND_UPDATE_15, SCATTER_ELEMENTS_CUSTOM, SCATTER_ND_CUSTOM)


def _in_any_order(view: LayerView, operands: Operands, found: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the elements of `found` that some update wrote to their place."""
    return cpu_scatters.are_among_written(*cpu_scatters.as_elements(view, operands, view.attributes_for(operands)), found)


def _picked(view: LayerView, operands: Operands) -> Sequence[NDArray[Any]]:
    """Evaluate min or max by one comparison an update, in their order: the update wins unless the element precedes it."""
    import numpy as np

    attributes = view.attributes_for(operands)
    precedes = np.less if attributes["reduction"] == "min" else np.greater
    elements = cpu_scatters.as_elements(view, operands, attributes)
    picked = cpu_scatters.combined_in_order(lambda old, new: np.where(precedes(old, new), old, new), *elements)
    return (picked.reshape(operands[0].shape),)


ONNXRUNTIME = (
    _lacks(
        name="no-small-types",
        applies=data_is(*NOT_IN_ONNXRUNTIME),
        why="onnxruntime has no kernel for these types, or takes no NumPy arrays of them",
    ),
    _lacks(
        name="no-unsigned-64-bit-indices",
        applies=lambda view, operands: conditions.index_type(view) is U64,
        why="ONNX has no u64 indices, and i64 does not hold them all",
    ),
    _lacks(
        name="axis-is-an-attribute",
        operations=(*STOCK_GATHERS, GATHER_CUSTOM, *SCATTER_ELEMENTS),
        applies=conditions.has_open_axis,
        why="in ONNX the axis is an attribute",
    ),
    _lacks(
        name="no-scatter-update-in-onnx",
        operations=(SCATTER_UPDATE_3,),
        applies=lambda view, operands: True,
        why="ONNX has no operator that does what ScatterUpdate does",
    ),
    _lacks(
        name="no-spare-dimensions-in-onnx",
        operations=SCATTER_NDS,
        applies=conditions.has_spare_dimensions,
        why="ONNX's ScatterND takes only a scalar as the update of one element",
    ),
    _lacks(
        name="no-broadcast-or-transpose-in-onnx",
        operations=(GATHER_ELEMENTS_CUSTOM,),
        applies=conditions.broadcasts_or_transposes,
        why="ONNX's GatherElements neither broadcasts nor transposes, nor takes data in lanes",
    ),
    _lacks(
        name="no-lanes-in-onnx",
        operations=(SCATTER_ELEMENTS_CUSTOM, SCATTER_ND_CUSTOM),
        applies=lambda view, operands: view.read_attributes().get("lanes", "none") != "none",
        why="ONNX's scatters take no data in lanes",
    ),
    _lacks(
        name="no-such-batches-in-onnx",
        operations=(GATHER_7, GATHER_8, GATHER_CUSTOM, GATHER_ND_5),
        applies=conditions.gathers_batches,
        why="ONNX's Gather has no batch dimensions, and its GatherND does not fuse them",
    ),
    _lacks(
        name="no-such-reduction-in-onnx",
        operations=(SCATTER_ELEMENTS_UPDATE_12, SCATTER_ND_UPDATE_15),
        applies=conditions.reduces_beyond_onnx,
        why="ONNX's ScatterElements has no mean, and always includes the initial values; its ScatterND does not subtract",
    ),
    _lacks(
        name="no-such-reduction-in-onnxruntime",
        operations=_REDUCING,
        applies=conditions.reduces_halves_or_booleans,
        why="onnxruntime has no kernel for reductions of these types",
    ),
    _diverges(
        name="no-zeros-in-onnx",
        operations=(GATHER_8, GATHER_CUSTOM),
        observed=(Observed.REFUSES,),
        applies=conditions.fills_zeros,
        why="in ONNX an index out of bounds is an error, not a zero",
    ),
    _diverges(
        name="first-string-of-each-slice",
        operations=(*STOCK_GATHERS, GATHER_CUSTOM),
        observed=(Observed.DIFFERS,),
        applies=data_is(STRING),
        why="onnxruntime's Gather copies only the first string of each slice",
        reports=("onnxruntime_gather_of_strings",),
    ),
    _diverges(
        name="nan-loses-in-onnxruntime",
        operations=_REDUCING,
        observed=(Observed.DIFFERS,),
        applies=conditions.picks_float,
        why="in onnxruntime's scatters NaN loses min and max to a later update of its element",
        predicts=_picked,
    ),
    _diverges(
        name="last-writer-varies-in-onnxruntime",
        operations=(*SCATTER_NDS, SCATTER_ND_CUSTOM),
        observed=(Observed.DIFFERS,),
        applies=conditions.writes_twice,
        why="onnxruntime lets its threads race if ScatterND updates an element twice",
        permits=_in_any_order,
        upstream=("microsoft/onnxruntime#18048",),
    ),
)
