"""Isolation of one layer as a model: its Const inputs stay constants, its other inputs become Parameters."""

from __future__ import annotations

from ov_gather.ir.builder import ModelBuilder, PortRef
from ov_gather.ir.constants import payload
from ov_gather.ir.model import Model
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.spec import Input


def isolate(view: LayerView) -> Model:
    """Isolate a layer: producer -> layer <- Const   becomes   Parameter -> layer <- Const, layer -> Result.

    Defaults fill in what a fragment omits.

    Raises:
        ValueError: the type of an input is unknown, an attribute is missing, malformed or out of range, or the input shapes
            do not fit the operation (ShapeError).
        IRError: the payload of a Const cannot be read.
    """
    operation = view.operation
    if not view.has_all_ports:
        raise ValueError(f"{operation.name} has {len(operation.inputs)} inputs and {len(operation.outputs)} outputs")
    shapes = operation.infer_shapes(view.input_shapes, view.read_attributes())
    builder = ModelBuilder(view.layer.name)
    inputs = [_input(builder, view, position, given) for position, given in enumerate(operation.inputs)]
    types = filter(None, operation.infer_types([value.element_type for value in inputs]))  # drops nothing: all types are known
    outputs = builder.layer(
        operation.type,
        view.layer.name or operation.type,
        view.layer.version or operation.opsets[0],
        view.layer.attributes,
        inputs,
        list(zip(types, shapes, strict=True)),
    )
    for name, value in zip(operation.outputs, outputs, strict=True):
        builder.result(name, value)
    return builder.build()


def _input(builder: ModelBuilder, view: LayerView, position: int, given: Input) -> PortRef:
    element_type, shape = view.input_types[position], view.input_shapes[position]
    if element_type is None:
        raise ValueError(f"the element type of {given.name} is unknown")
    source = view.producer(position)
    if source and source[0].type == "Const":
        return builder.const_from_payload(given.name, element_type, shape.sizes, payload(view.graph, source[0]))
    return builder.parameter(given.name, element_type, shape)
