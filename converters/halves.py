"""Casts to float16 that OpenVINO's CPU plugin does not round: it computes float16 as float32 and drops such Casts."""

from __future__ import annotations

import onnx_ir

from ov_gather.ir.element_types import F16

from .graphs import bodies_of, constant_of, uses_of
from .loading import is_default
from .moves import OF_SHAPES, carries_elements, element_type_of
from .ranges import Ranges

CASTS = ("Cast", "CastLike")
UNROUNDED = "OpenVINO's CPU plugin computes float16 as float32: this Cast neither rounds nor overflows"
"""Reason reported for nodes for which `is_unrounded` holds."""
_EXACT = 2**11  # float16 represents all integers up to this one
_NARROWER = (onnx_ir.DataType.BOOL, onnx_ir.DataType.INT8, onnx_ir.DataType.UINT8, onnx_ir.DataType.FLOAT16)


def is_unrounded(node: onnx_ir.Node, ranges: Ranges) -> bool:
    """Return True if a Cast to float16 may round, and a node computes another type from its values, directly or after moves.

    Float16 arithmetic on its values does not count: in models that are float16 throughout, the plugin only rounds less.
    """
    if not is_default(node, CASTS) or element_type_of(node.outputs[0]) is not F16:
        return False
    source = node.inputs[0]
    if source is None or source.dtype in _NARROWER or constant_of(source) is not None:
        return False
    interval = ranges.of(source)
    if interval is not None and interval.low >= -_EXACT and interval.high <= _EXACT:
        return False
    return any(_leaves(*use) for use in uses_of(node.outputs[0], carries_elements))


def _leaves(node: onnx_ir.Node, position: int) -> bool:
    """Return True if a node computes a type other than float16 from the elements of an input."""
    if bodies_of(node) or is_default(node, OF_SHAPES) or carries_elements(node, position):
        return False
    if is_default(node, ("CastLike",)) and position == 1:  # only its type counts
        return False
    return any(element_type_of(output) not in (None, F16) for output in node.outputs)
