"""Conversion of one Gather* node of ONNX to an IR with a single layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx_ir
from numpy.typing import NDArray

from ov_gather.ir.builder import ModelBuilder, PortRef
from ov_gather.ir.element_types import by_dtype
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops import versions_of
from ov_gather.ops.spec import CUSTOM_OPSET

GATHERS = ("Gather", "GatherElements", "GatherND")
"""ONNX's gather operators; OpenVINO's operations have the same names."""

SCATTERS = ("Scatter", "ScatterElements", "ScatterND")
"""ONNX's scatter operators. ScatterElements was named Scatter before opset 11."""


def attribute(node: onnx_ir.Node, name: str, default: int) -> int:
    """Return an integer attribute of a node, or its default."""
    return node.attributes[name].as_int() if name in node.attributes else default


def single_layer(node: onnx_ir.Node, operands: Sequence[NDArray[Any]], constant: Sequence[bool], custom: bool) -> Model:
    """Build the one-layer model of a Gather* node, with our operation (`custom`) or the stock one.

    `operands` are data and indices; those marked in `constant` become Consts, the others Parameters of their shape. The stock
    GatherElements does not take indices that are smaller than data off the axis: pass operands through `fitted` first.
    """
    text = {name: str(attribute.as_int()) for name, attribute in node.attributes.items()}
    versions = reversed(versions_of(node.op_type))
    operation = next(version for version in versions if (CUSTOM_OPSET in version.opsets) == custom)
    builder = ModelBuilder(node.name or node.op_type)
    # The CPU plugin crashes on a static-shaped Gather without elements; whole models that run have none, so use dynamic shapes.
    is_open = any(array.size == 0 for array in operands)
    inputs = [_value(builder, *given, is_open) for given in zip(("data", "indices"), operands, constant, strict=True)]
    values: list[NDArray[Any] | None] = [None, None]
    if node.op_type != "GatherND":
        text.setdefault("axis", "0")
    if node.op_type == "Gather":  # Gather's axis is an input, not an attribute.
        values.append(np.array(int(text.pop("axis"))))
        inputs.append(_value(builder, "axis", np.asarray(values[-1]), True))
    shapes = [value.shape for value in inputs]
    (shape,) = operation.infer_shapes(shapes, operation.read_attributes(text, shapes, values))
    name = node.name or operation.type
    (output,) = builder.layer(operation.type, name, operation.opsets[0], text, inputs, [(inputs[0].element_type, shape)])
    builder.result("output", output)
    return builder.build()


def fitted(node: onnx_ir.Node, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Crop data to the size of indices off the axis, for the stock GatherElements. Operands of other nodes are unchanged."""
    data, indices = operands
    if node.op_type != "GatherElements":
        return [data, indices]
    axis = attribute(node, "axis", 0) % data.ndim
    return [data[tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(indices.shape))], indices]


def _value(builder: ModelBuilder, name: str, array: NDArray[Any], constant: bool, is_open: bool = False) -> PortRef:
    element_type = by_dtype(array.dtype)
    if element_type is None:
        raise TypeError(f"{name} of {array.dtype}: OpenVINO has no such type")
    if constant:
        return builder.const(name, element_type, array)
    return builder.parameter(name, element_type, PartialShape.of([-1] * array.ndim if is_open else array.shape))
