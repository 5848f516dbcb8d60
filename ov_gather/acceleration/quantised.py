"""Reach of OpenVINO's low-precision passes in a quantised model, where OpenVINO 2026.4.1 crashes on compiling some Gathers.

The passes start at FakeQuantize and dequantisation (Convert, Subtract, Multiply).
"""

from __future__ import annotations

from ov_gather.acceleration.graph import walk
from ov_gather.divergences.low_precision import STOPS
from ov_gather.extension.python_api import Model, Output

_INTEGERS = ("i8", "u8", "i4", "u4", "i2", "u2")


def is_quantised(model: Model) -> bool:
    """Return True if OpenVINO runs its low-precision passes: if there is a FakeQuantize. Compressed weights do not suffice."""
    return any(node.get_type_name() == "FakeQuantize" for _, node in walk(model))


def is_low_precision(value: Output) -> bool:
    """Return True if a value of a quantised model depends on (de)quantised data, so that it may be computed in 8 bits."""
    left, seen = [value], set()
    while left:
        node = left.pop().get_node()
        kind = node.get_type_name()
        if node.get_instance_id() in seen or kind in STOPS:
            continue
        seen.add(node.get_instance_id())
        if kind == "FakeQuantize":
            return True
        if kind == "Convert" and node.get_input_element_type(0).get_type_name() in _INTEGERS:
            return True
        left += [given for given in node.input_values() if given.get_element_type().is_real()]
    return False
