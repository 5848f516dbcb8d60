"""States of a model: ReadValue reads a variable, or its initial value at the first inference; Assign stores it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ov_gather.ir.attributes import VARIABLE
from ov_gather.ir.model import Layer, Model, ValueId

STATES = ("ReadValue", "Assign")


def stored_values(model: Model) -> Mapping[str, ValueId]:
    """Map the name of each variable to the value that an Assign stores in it."""
    return {
        layer.attributes[VARIABLE]: (source.id, port.id)
        for layer, _, source, port in model.links
        if layer.type == "Assign" and VARIABLE in layer.attributes
    }


def without_variables(model: Model) -> Model:
    """Replace ReadValue and Assign, so that either can be cut off; the model then computes what its first inference does.

    initial -> ReadValue -> y, x -> Assign   becomes   initial -> Convert -> y, x -> Convert, each to its own output type. A
    ReadValue without an initial value stays.
    """
    return replace(model, layers=tuple(map(_passing, model.layers)))


def _passing(layer: Layer) -> Layer:
    if layer.type not in STATES or not layer.inputs or not layer.outputs or layer.outputs[0].element_type is None:
        return layer
    attributes = {"destination_type": layer.outputs[0].element_type.name}
    return replace(layer, type="Convert", version="opset1", attributes=attributes)
