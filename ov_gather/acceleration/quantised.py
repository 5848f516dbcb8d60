"""Reach of OpenVINO's low-precision passes in a quantised model, where OpenVINO 2026.4.1 crashes on compiling some Gathers.

The passes start at FakeQuantize and dequantisation (Convert, Subtract, Multiply).
"""

from __future__ import annotations

from ov_gather.acceleration.graph import ancestors, real_inputs, walk
from ov_gather.acceleration.operators import is_converted, op_of
from ov_gather.divergences.low_precision import STOPS
from ov_gather.extension.python_api import Model, Output
from ov_gather.ops.table import OpKind

_INTEGERS = ("i8", "u8", "i4", "u4", "i2", "u2")


def is_quantised(model: Model) -> bool:
    """Return True if OpenVINO runs its low-precision passes: if there is a FakeQuantize. Compressed weights do not suffice."""
    return any(op_of(node).kind is OpKind.QUANTIZATION for _, node in walk(model))


def is_low_precision(value: Output) -> bool:
    """Return True if a value of a quantised model depends on (de)quantised data, so that it may be computed in 8 bits."""
    nodes = ancestors([value], lambda node: [] if node.get_type_name() in STOPS else real_inputs(node))
    return any(
        op_of(node).kind is OpKind.QUANTIZATION
        or (is_converted(node) and node.get_input_element_type(0).get_type_name() in _INTEGERS)
        for node in nodes
    )
