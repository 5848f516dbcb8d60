"""The body of a sub-graph becomes a model of its own: the branch of an If that is taken, the first iteration of a Loop.

What the body is given is named by the value outside that it comes from, or ITERATION, so that the bodies of both sides can be
given the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
import onnx_ir
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.graphs import Value, captured, ir_graph
from ov_gather.crosscheck.models.intermediates import folder_of_data
from ov_gather.ir.model import Element, Layer, Model

ITERATION = "the number of the iteration"

Array = Callable[[Value], "NDArray[Any] | None"]
"""Gives the array that a value outside has; None where it is not known."""


@dataclass(frozen=True)
class Body:
    """A Body is a model, with its inputs by name, and where each comes from."""

    model: Any
    inputs: Mapping[str, NDArray[Any]]
    sources: Mapping[str, Value]


def ir_body(model: Model, layer: Layer, array: Array) -> Body | None:
    """Make a model of the body of an If or a Loop; None for other layers, and where an input is not known or sliced."""
    sources = {port.id: source for port in layer.inputs if (source := model.producer(layer, port))}
    outside: dict[str, Value] = {str(i): (source.id, port.id) for i, (source, port) in sources.items()}
    if layer.type == "If":
        condition = array(outside[str(layer.inputs[0].id)])
        if condition is None:
            return None
        branch = "then" if bool(condition.reshape(-1)[0]) else "else"
        tag, ports = f"{branch}_body", f"{branch}_port_map"
    elif layer.type == "Loop":
        tag, ports = "body", "port_map"
    else:
        return None
    body = next(body for body in layer.bodies if body.tag == tag)
    port_map = next((section for section in layer.sections if section.tag == ports), Element(ports))
    names = {str(inner.id): inner for inner in body.of_type("Parameter")}
    inputs, origins = {}, {}
    for given in (child for child in port_map.children if child.tag == "input"):
        inner, external = names[given.attributes["internal_layer_id"]], given.attributes["external_port_id"]
        if "axis" in given.attributes:
            return None
        is_iteration = given.attributes.get("purpose") == "current_iteration"
        origin: Value = ITERATION if is_iteration else outside[external]
        found = np.zeros(inner.outputs[0].dims, np.int64) if is_iteration else array(origin)
        if found is None:
            return None
        inputs[inner.name], origins[inner.name] = found, origin
    if len(inputs) < len(names):
        return None
    whole = replace(body, tag="net", name=layer.name, version=model.version, weights=model.weights, path=model.path)
    ordered = list(ir_graph(whole).inputs)
    return Body(whole, {name: inputs[name] for name in ordered}, origins)


def onnx_body(model: onnx_ir.Model, node: onnx_ir.Node, array: Array) -> Body | None:
    """Make a model of the body of an If or a Loop; None for other nodes, and where an input is not known."""
    if node.op_type == "If":
        condition = array(_name(node.inputs[0]))
        if condition is None:
            return None
        graph = node.attributes["then_branch" if bool(condition.reshape(-1)[0]) else "else_branch"].as_graph()
        given: dict[str, Value] = {}
    elif node.op_type == "Loop":
        graph = node.attributes["body"].as_graph()
        iteration, condition_value, *carried = graph.inputs
        given = {_name(inner): _name(outer) for inner, outer in zip(carried, node.inputs[2:], strict=False)}
        given[_name(iteration)] = ITERATION
        given[_name(condition_value)] = _name(node.inputs[1]) if node.inputs[1] is not None else ""
    else:
        return None
    given |= {_name(value): _name(value) for value in captured(node, model.graph)}
    inputs = {}
    for name, origin in given.items():
        found = np.array(0, np.int64) if origin == ITERATION else np.array(True) if origin == "" else array(origin)
        if found is None:
            return None
        inputs[name] = found
    proto = onnx_ir.serde.serialize_graph(graph)
    del proto.input[:]
    for name, found in inputs.items():
        kind = onnx_ir.DataType.STRING if found.dtype.hasobject else onnx_ir.DataType.from_numpy(found.dtype)
        proto.input.append(onnx.helper.make_tensor_value_info(name, kind.value, found.shape))
    made = onnx_ir.serde.deserialize_graph(proto)
    onnx_ir.external_data.set_base_dir(made, folder_of_data(model) or "")
    for value in list(made.inputs):
        if not value.uses() and not value.is_graph_output():
            made.inputs.remove(value)
    made.opset_imports.update(model.opset_imports)
    needed = [_name(value) for value in made.inputs]
    whole = onnx_ir.Model(made, ir_version=model.ir_version)
    return Body(whole, {name: inputs[name] for name in needed}, {name: given[name] for name in needed})


def _name(value: onnx_ir.Value | None) -> str:
    return "" if value is None else str(value.name)
