"""One ONNX node to IR layers, with our own writer: no OpenVINO is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx_ir
from numpy.typing import NDArray

from ov_gather.ir.builder import ModelBuilder, Value
from ov_gather.ir.element_types import F32, I64, STRING, ElementType, by_onnx
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import ANY, UNKNOWN, Dimension, PartialShape
from ov_gather.ops.gather_elements import GATHER_ELEMENTS_6
from ov_gather.ops.spec import DimensionError, ShapeError

# The oldest opset of the default domain that has the operator; later versions only add element types.
_SINCE = {"GatherElements": 11, "Identity": 1, "Constant": 1}


class ConversionError(ValueError):
    """An ONNX node, value or model that cannot become IR; the message names it."""


def convert_node(node: onnx.NodeProto, shapes: Sequence[Sequence[int | str | None] | None], types: Sequence[int]) -> Model:
    """Convert one ONNX node to IR layers.

    Args:
        node: GatherElements (11, 13), Identity or Constant.
        shapes: of each input; a dimension that is None or a name is open; None instead of a shape is an open rank.
        types: `onnx.TensorProto.DataType` of each input, e.g. `onnx.TensorProto.FLOAT`.

    Returns:
        A Model with a Parameter for each input and a Result for each output of the node.

    Raises:
        ConversionError: the operator, an attribute or an element type cannot be converted, or the shapes do not fit.

    Source: ONNX GatherElements-13, OpenVINO GatherElements-6.
    """
    parsed = onnx_ir.serde.deserialize_node(node)
    place = describe(parsed)
    if not len(shapes) == len(types) == len(node.input):
        raise ConversionError(f"{place}: {len(shapes)} shapes and {len(types)} types for {len(node.input)} inputs")
    builder = ModelBuilder(node.name or node.op_type)
    inputs: list[Value | None] = [
        builder.parameter(name, element_type_of(place, data_type), partial_shape(shape))
        for name, shape, data_type in zip(node.input, shapes, types, strict=True)
    ]
    for name, value in zip(node.output, add_node(builder, parsed, inputs, max(_SINCE.values())), strict=True):
        builder.result(name, value)
    return builder.build()


def add_node(builder: ModelBuilder, node: onnx_ir.Node, inputs: Sequence[Value | None], opset: int) -> list[Value]:
    """Add the layers of a node of the default domain at this opset; the values of its outputs. Raises ConversionError."""
    place = describe(node)
    convert = _CONVERTERS.get(node.op_type) if node.domain in ("", "ai.onnx") else None
    if convert is None:
        known = ", ".join(_CONVERTERS)
        raise ConversionError(f"{place}: this operator cannot be converted; {known} can")
    if opset < _SINCE[node.op_type]:
        raise ConversionError(f"{place}: opset {opset} has no {node.op_type}; it comes with {_SINCE[node.op_type]}")
    given = [value for value in inputs if value is not None]
    if len(given) != len(inputs):
        raise ConversionError(f"{place}: an input is missing")
    return [convert(builder, node, given)]


def describe(node: onnx_ir.Node) -> str:
    """How errors name a node."""
    outputs = ", ".join(str(value.name) for value in node.outputs)
    domain = f"{node.domain}." if node.domain else ""
    return f"node {domain}{node.op_type} '{node.name or ''}' (output {outputs})"


def element_type_of(place: str, data_type: int | None) -> ElementType:
    """The IR element type of an ONNX data type. Raises ConversionError."""
    found = None if data_type is None else by_onnx(int(data_type))
    if found is None:
        name = "unknown" if data_type is None else onnx_ir.DataType(data_type).name
        raise ConversionError(f"{place}: OpenVINO IR has no element type for {name}")
    return found


def partial_shape(shape: Sequence[Any] | None) -> PartialShape:
    """An ONNX shape: integers, names or None."""
    if shape is None:
        return UNKNOWN
    return PartialShape(tuple(Dimension.of(dim) if isinstance(dim, int) else ANY for dim in shape))


def add_constant(builder: ModelBuilder, name: str, tensor: onnx_ir.TensorProtocol) -> Value:
    """A Const with the value of an ONNX tensor. Raises ConversionError."""
    element_type = element_type_of(f"constant '{name}'", tensor.dtype)
    array: NDArray[Any] = tensor.numpy()
    if element_type is STRING:
        array = np.array([value.decode() for value in array.ravel()], object).reshape(array.shape)
    return builder.const(name, element_type, array)


def _gather_elements(builder: ModelBuilder, node: onnx_ir.Node, inputs: Sequence[Value]) -> Value:
    operation, place = GATHER_ELEMENTS_6, describe(node)
    _check_counts(place, len(inputs), len(operation.inputs), node.attributes, ("axis",))
    axis = node.attributes["axis"].as_int() if "axis" in node.attributes else 0
    shapes = [value.shape for value in inputs]
    types = [value.element_type for value in inputs]
    for given, element_type in zip(operation.inputs, types, strict=True):
        if given.element_types and element_type not in given.element_types:
            raise ConversionError(f"{place}: {given.name} must be int32 or int64, not {element_type}")
    valid = operation.attributes[0].valid_range(shapes)
    if valid and not valid[0] <= axis <= valid[1]:
        raise ConversionError(f"{place}: axis {axis} is out of range ({valid[0]} to {valid[1]})")
    try:
        (shape,) = operation.infer_shapes(shapes, {"axis": axis})
    except ShapeError as error:
        limit = "; ONNX allows smaller indices there, GatherElements-6 does not" if isinstance(error, DimensionError) else ""
        raise ConversionError(f"{place}: {error.reason}{limit}") from None
    output = str(node.outputs[0].name)
    return builder.layer(
        operation.type,
        node.name or output,
        operation.opsets[0],
        {"axis": str(axis)},
        inputs,
        [(types[0], shape)],
        tensor=output,
    )[0]


def _identity(builder: ModelBuilder, node: onnx_ir.Node, inputs: Sequence[Value]) -> Value:
    _check_counts(describe(node), len(inputs), 1, node.attributes, ())
    return inputs[0]


def _constant(builder: ModelBuilder, node: onnx_ir.Node, inputs: Sequence[Value]) -> Value:
    place = describe(node)
    _check_counts(place, len(inputs), 0, node.attributes, _CONSTANT_VALUES)
    if len(node.attributes) != 1:
        raise ConversionError(f"{place}: exactly one of {', '.join(_CONSTANT_VALUES)} must be given")
    (attribute,) = node.attributes.values()
    name = str(node.outputs[0].name)
    element_type = _CONSTANT_VALUES[attribute.name]
    if element_type is None:
        return add_constant(builder, name, attribute.as_tensor())
    return builder.const(name, element_type, np.array(attribute.value, element_type.dtype))


# The attributes of Constant, and the element type that each implies; a tensor brings its own.
_CONSTANT_VALUES: Mapping[str, ElementType | None] = {
    "value": None,
    "value_float": F32,
    "value_floats": F32,
    "value_int": I64,
    "value_ints": I64,
    "value_string": STRING,
    "value_strings": STRING,
}

_CONVERTERS: Mapping[str, Callable[[ModelBuilder, onnx_ir.Node, Sequence[Value]], Value]] = {
    "GatherElements": _gather_elements,
    "Identity": _identity,
    "Constant": _constant,
}


def _check_counts(
    place: str, have: int, want: int, attributes: Mapping[str, Any], known: Sequence[str] | Mapping[str, Any]
) -> None:
    if have != want:
        raise ConversionError(f"{place}: {have} inputs instead of {want}")
    unknown = [name for name in attributes if name not in known]
    if unknown:
        raise ConversionError(f"{place}: attribute {unknown[0]} cannot be converted")
