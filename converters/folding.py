"""Arithmetic of a converted model that OpenVINO would fold otherwise than ONNX means it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import openvino


def mend_folding(model: openvino.Model) -> None:
    """Rewrite in place, bodies included, what sizes and large constants are computed with; passes fold small constants.

    1. Divide of constants, -3 / 5 = -1   ->   Divide that rounds towards zero, as ONNX's Div does, and the plugin at run time.
    2. Abs of computed constants, abs(-(2)) = -2   ->   Maximum(x, Negative(x))
    """
    from ov_gather.acceleration.graph import is_computed_early, nodes_of, take_place
    from ov_gather.extension.python_api import opset13

    for divide in nodes_of(model, "Divide-1"):
        divide.set_attribute("m_pythondiv", False)
    for absolute in nodes_of(model, "Abs-1"):
        if absolute.get_element_type().is_integral() and is_computed_early(absolute.input_values()):
            value = absolute.input_value(0)
            take_place(absolute, opset13.maximum(value, opset13.negative(value)))
