"""The register of known faults, and what covers the reports that are not in it."""

from __future__ import annotations

from collections.abc import Mapping

from ov_gather.plugin.base import KnownFault
from ov_gather.plugin.branches import BRANCHES
from ov_gather.plugin.empties import EMPTIES
from ov_gather.plugin.folded import FOLDED
from ov_gather.plugin.loops import LOOPS
from ov_gather.plugin.moves import MOVES
from ov_gather.plugin.numbers import NUMBERS
from ov_gather.plugin.overwritten import OVERWRITTEN
from ov_gather.plugin.recurrent import RECURRENT
from ov_gather.plugin.reductions import REDUCTIONS
from ov_gather.plugin.slices import SLICES
from ov_gather.plugin.states import STATES
from ov_gather.plugin.strides import STRIDES
from ov_gather.plugin.strings import STRINGS
from ov_gather.plugin.uniques import UNIQUES

KNOWN = (
    *(*FOLDED, *MOVES, *REDUCTIONS, *LOOPS, *STRINGS, *STATES, *NUMBERS, *UNIQUES),
    *(*EMPTIES, *BRANCHES, *SLICES, *STRIDES, *OVERWRITTEN, *RECURRENT),
)

BY_TYPE: Mapping[str, tuple[KnownFault, ...]] = {
    layer_type: tuple(fault for fault in KNOWN if layer_type in fault.types) for fault in KNOWN for layer_type in fault.types
}
"""The faults that layers of a type may meet."""

_BY_PROVE = "depends on the values of indices: `ov-gather prove` says for which inputs"
_BY_VALUES = "depends on values that no rule can foresee"
_BY_USE = "depends on how the model is executed, not on the model"
_IN_FRONT_END = "occurs where OpenVINO reads ONNX; an IR does not show it; `ov-gather convert` avoids it"
_NAMED = "occurs where OpenVINO reads ONNX: see front_end.py; `ov-gather convert` names it"

ELSEWHERE: Mapping[str, str] = {
    "static_empty_gather": "OVG707",
    "slice_before_gather_elements": "OVG706",
    "denormal_constants": "OVG704, for data of gathers; arithmetic makes 0 of such numbers anyway",
    "i64_data_are_cut": "for data of gathers: OVG702",
    "i64_indices_are_cut": _BY_PROVE,
    "gather_elements_out_of_bounds": _BY_PROVE,
    "gather_nd_out_of_bounds": _BY_PROVE,
    "onnx_gather_out_of_bounds": _BY_PROVE,
    "scatter_elements_below_bounds": _BY_PROVE,
    "scatter_nd_checks_flat_place": _BY_PROVE,
    "short_gather_out_of_bounds": _BY_PROVE,
    "short_scatter_update_out_of_bounds": _BY_PROVE,
    "broadcast_before_arithmetic": _BY_PROVE,
    "cast_to_float16_does_not_round": _BY_VALUES,
    "divide_folds_otherwise": _BY_VALUES,
    "loop_slices_of_several_shapes": "for models that ONNX does not define; `ov-gather convert` lets them raise an error",
    "max_of_nan": _BY_VALUES,
    "onnx_softmax_of_several_axes": _IN_FRONT_END,
    "quantised_operators_wrap_around": _IN_FRONT_END,
    "i64_region_of_a_tensor": _BY_USE,
    "sizes_after_an_error": _BY_USE,
    "swallowed_errors": _BY_USE,
    "empty_constant_becomes_scalar": _IN_FRONT_END,
    "flatten_of_nothing": "occurs where OpenVINO reads ONNX; `ov-gather convert` avoids it, for open sizes from opset 14 on",
    "numbers_of_wider_fields": _IN_FRONT_END,
    "split_of_one_into_two": _IN_FRONT_END,
    "newer_onnx_forms": _NAMED,
    "onnx_attributes_ignored": _NAMED,
    "onnx_reference_smaller_indices": "a fault of ONNX's reference evaluator",
    "onnxruntime_gather_of_strings": "a fault of onnxruntime",
}
"""The reports whose faults have no pattern here, with what covers them, or why nothing can."""
