"""ONNX names for the inputs and outputs of a converted model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx_ir

from .errors import ConversionError
from .graphs import is_used

if TYPE_CHECKING:
    import openvino


def restore_names(model: openvino.Model, graph: onnx_ir.Graph) -> None:
    """Set the ONNX names of a converted model's inputs and outputs; each Parameter's friendly name is that of its input.

    The front end names the input of a removed node (Dropout) after the node's output. It keeps the order, and drops some inputs
    that no result depends on. Raises ConversionError if the inputs cannot be matched.
    """
    names = [str(value.name) for value in graph.inputs]
    found = [next((name for name in names if name in port.get_names()), None) for port in model.inputs]
    missing = [str(value.name) for value in graph.inputs if is_used(value) and value.name not in found]
    if found.count(None) not in (0, len(missing)):
        raise ConversionError(f"OpenVINO renames some of the inputs {', '.join(missing)}; which cannot be told")
    rest = iter(missing)
    for port, name in zip(model.inputs, found, strict=True):
        name = name or next(rest)
        port.get_node().set_friendly_name(name)
        port.get_tensor().add_names({name})
    for value, port in zip(graph.outputs, model.outputs, strict=True):
        # An output that is also an input gets the names of both: the .xml would keep only those of one.
        source = port.get_node().input_value(0)
        is_input = source.get_node().get_type_name() == "Parameter"
        port.get_tensor().add_names({str(value.name)} | (source.get_names() if is_input else set()))
