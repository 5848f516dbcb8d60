"""Check of replacements against the known divergences of OpenVINO.

For example, GatherND-8 of data [1, 50] with batch_dims=1 stays, because Gather-8 with batch_dims=1 has the divergence
batches-of-one for these shapes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import openvino

from ov_gather.acceleration.graph import constant, dims
from ov_gather.divergences.base import Divergence, Observed
from ov_gather.divergences.conditions import READS_INDICES
from ov_gather.divergences.register import DIVERGENCES
from ov_gather.extension.python_api import Node, Output
from ov_gather.graph.openvino import written_attributes
from ov_gather.ir.builder import ModelBuilder, PortRef
from ov_gather.ir.element_types import DYNAMIC, ElementType, by_name
from ov_gather.ir.shapes import UNKNOWN, Dimension, PartialShape
from ov_gather.ops import find_operation
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.spec import CUSTOM_OPSET

_HARMLESS = frozenset({Observed.AGREES, Observed.AVOIDED})


def added_divergence(written: Node, replaced: Node) -> str:
    """Return the first known divergence of `written` that `replaced` does not have; empty if there is none.

    Dynamic dimensions count as 1, or as the nearest size that they can have, because divergences concern small sizes. Values of
    indices are not considered: each pass proves on its own that they are in bounds.
    """
    had = {known.name for known in _divergences(replaced)}
    added = (known for known in _divergences(written) if known.name not in had)
    return next((f"{known.name}: {known.why}" for known in added), "")


def _divergences(node: Node) -> list[Divergence]:
    """Return the known divergences of this release of OpenVINO for a gather or scatter, for any index values."""
    view = _smallest(node)
    if view is None:
        return []
    runtime = "extension" if view.layer.version == CUSTOM_OPSET else "openvino"
    version = str(openvino.get_version()).partition("-")[0]
    operands = [
        np.broadcast_to(np.int8(0), shape.sizes) if value is None else value
        for shape, value in zip(view.input_shapes, view.attribute_values, strict=True)
    ]
    return [
        known
        for known in DIVERGENCES
        if not _HARMLESS.issuperset(known.observed)
        and known.applies not in READS_INDICES
        and known.concerns(runtime, version, view.operation.name)
        and known.applies(view, operands)
    ]


def _smallest(node: Node) -> LayerView | None:
    """Return a gather or scatter as a layer of the smallest non-empty sizes; None for other nodes and dynamic ranks."""
    shapes = [_shape(value) for value in node.input_values()]
    view = _view(node, shapes)
    if view is None or not all(dims(value) is not None for value in node.outputs()):
        return None
    sizes = view.operation.choose_sizes(shapes, view.read_attributes(), 1)
    return _view(node, [PartialShape.of(chosen) for chosen in sizes])


def _view(node: Node, shapes: Sequence[PartialShape]) -> LayerView | None:
    builder = ModelBuilder("")
    inputs = [_input(builder, value, shape) for value, shape in zip(node.input_values(), shapes, strict=True)]
    outputs = [(_type(value), _shape(value)) for value in node.outputs()]
    opset = node.get_type_info().version_id
    builder.layer(node.get_type_name(), "", opset, written_attributes(node), inputs, outputs)
    model = builder.build()
    operation = find_operation(model.layers[-1])
    return None if operation is None else LayerView(model, model.layers[-1], operation)


def _input(builder: ModelBuilder, value: Output, shape: PartialShape) -> PortRef:
    """Add the source of an input. Only scalar integer constants, such as the axis, are added with their value."""
    numbers, element_type = constant(value), _type(value)
    if numbers is None:
        return builder.parameter("", element_type, shape)
    if numbers.size == 1 and numbers.dtype.kind == "i":
        return builder.const("", element_type, numbers)
    attributes = {"element_type": element_type.name, "shape": shape.attribute()}
    return builder.layer("Const", "", "opset1", attributes, [], [(element_type, shape)])[0]


def _type(value: Output) -> ElementType:
    return by_name(value.get_element_type().get_type_name()) or DYNAMIC


def _shape(value: Output) -> PartialShape:
    given = dims(value)
    if given is None:
        return UNKNOWN
    return PartialShape(tuple(Dimension.parse(dim.to_string()) for dim in given))
