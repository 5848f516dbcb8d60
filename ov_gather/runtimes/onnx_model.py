"""Conversion of single layers to ONNX models, for onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ov_gather.ir.element_types import DYNAMIC, ElementType
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import PartialShape
from ov_gather.kernels.reduction_names import onnx_name
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.ops.table import ONNX, OPENVINO, Along
from ov_gather.runtimes.base import RefusedError

_OPSET = 18


def onnx_model(model: Model) -> bytes:
    """Return an ONNX model with the operator equivalent to the only layer, after a Cast of indices if it rejects their type.

    Raises RefusedError if the axis is an input that is not constant, since it is an attribute in ONNX.
    """
    (view,) = family_layers(model)
    attributes = view.read_attributes()
    names = [given.name for given in view.operation.inputs if not given.attribute]
    inputs, initializers, nodes = [], [], []
    for port, name in enumerate(names):
        value = view.constant(port)
        if value is None:
            inputs.append(_info(name, view.input_types[port], view.input_shapes[port]))
        else:
            initializers.append(numpy_helper.from_array(np.array(value), name))
    port = view.index_rule.port
    if view.input_types[port] is not None and not _takes(view, port):
        nodes.append(helper.make_node("Cast", [names[port]], ["cast"], to=onnx.TensorProto.INT64))
        names[port] = "cast"
    operator = view.operation.type.removesuffix("Update")  # which OpenVINO adds to ONNX's names
    nodes.append(helper.make_node(operator, names, ["output"], **_attributes(operator, attributes)))
    output = _info("output", view.input_types[0], PartialShape(None))
    graph = helper.make_graph(nodes, "layer", inputs, [output], initializers)
    opsets = [helper.make_opsetid("", _OPSET)]
    return bytes(helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString())


def _info(name: str, element_type: ElementType | None, shape: PartialShape) -> onnx.ValueInfoProto:
    dims = None if shape.dims is None else [dim.lower if dim.is_static else None for dim in shape.dims]
    return helper.make_tensor_value_info(name, (element_type or DYNAMIC).onnx, dims)


def _takes(view: LayerView, port: int) -> bool:
    """Return True if ONNX's operator accepts the index type."""
    element_type = view.input_types[port]
    by_tuples = OPENVINO[view.operation.type].along is Along.COORDINATES
    return element_type is not None and element_type.name in (("i64",) if by_tuples else ("i32", "i64"))


def _attributes(operator: str, attributes: dict[str, Any]) -> dict[str, Any]:
    op = ONNX[operator]
    reduction = {"reduction": onnx_name(attributes.get("reduction", "none"))} if op.meaning.reduces else {}
    if op.along is Along.COORDINATES:
        return reduction or {"batch_dims": attributes["batch_dims"]}
    if "axis" not in attributes:
        raise RefusedError(f"the axis of ONNX's {operator} is an attribute, here it is an input")
    return {"axis": attributes["axis"], **reduction}
