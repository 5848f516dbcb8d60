"""Conversion of stock layers to equivalent operations of opset `ov_gather`."""

from __future__ import annotations

from dataclasses import replace

from ov_gather.ir.model import Layer, Model
from ov_gather.ops import versions_of
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.ops.spec import CUSTOM_OPSET


def customized(model: Model) -> Model:
    """Return a model with our operations for the family's layers that have one. Edges to inputs that ours lack are dropped."""
    changed = {view.layer.id: _customized(view) for view in family_layers(model)}
    layers = tuple(changed.get(layer.id, layer) for layer in model.layers)
    ports = {(layer.id, port.id) for layer in layers for port in layer.inputs}
    edges = tuple(edge for edge in model.edges if (edge.to_layer, edge.to_port) in ports)
    return replace(model, layers=layers, edges=edges)


def _customized(view: LayerView) -> Layer:
    version = view.custom_version
    if version is None or not view.has_all_ports:
        return view.layer
    layer_type, values = version
    ours = next(operation for operation in versions_of(layer_type) if CUSTOM_OPSET in operation.opsets)
    text = {each.name: str(values[each.name]).lower() for each in ours.attributes if each.name in values}
    names = [given.name for given in ours.inputs]
    kept = (port for port, given in zip(view.layer.inputs, view.operation.inputs, strict=True) if given.name in names)
    return replace(view.layer, type=layer_type, version=CUSTOM_OPSET, attributes=text, inputs=tuple(kept))
