"""Arithmetic of a converted model that OpenVINO would compute otherwise than ONNX means it when it compiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import openvino


def mend_folding(model: openvino.Model) -> None:
    """Rewrite in place, bodies included, what sizes and large constants are computed with; passes fold small constants.

    1. Divide of constants, -3 / 5 = -1        ->   Divide that rounds towards zero, as ONNX's Div does, and the plugin.
    2. Abs(x[?]) of constants and sizes, = x   ->   Squeeze(Abs(Unsqueeze(x)))
    """
    from ov_gather.acceleration.graph import nodes_of, take_place
    from ov_gather.extension.python_api import opset13

    for divide in nodes_of(model, "Divide-1"):
        divide.set_attribute("m_pythondiv", False)
    for absolute in nodes_of(model, "Abs-1"):
        rank = absolute.get_output_partial_shape(0).rank
        if (rank.is_dynamic or rank.get_length() == 1) and _is_bounded(absolute.input_value(0)):
            axis = opset13.constant(np.array([0]))
            raised = opset13.abs(opset13.unsqueeze(absolute.input_value(0), axis))
            take_place(absolute, opset13.squeeze(raised, axis))


def _is_bounded(value: openvino.Output) -> bool:
    """Return True if constants and shapes alone determine a value: OpenVINO then drops an Abs of it, whatever its sign."""
    seen, waiting = set(), [value.get_node()]
    while waiting:
        node = waiting.pop()
        if node.get_instance_id() in seen or node.get_type_name() == "ShapeOf":
            continue
        seen.add(node.get_instance_id())
        if not node.get_input_size() and node.get_type_name() != "Constant":
            return False
        waiting += [source.get_node() for source in node.input_values()]
    return True
