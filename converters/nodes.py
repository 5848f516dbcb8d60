"""One ONNX node to IR layers, with our own writer: no OpenVINO is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import index as as_integer
from typing import Any

import numpy as np
import onnx
import onnx_ir
from numpy.typing import NDArray

from ov_gather.ir.builder import ModelBuilder, Value
from ov_gather.ir.element_types import F32, I64, STRING, ElementType, by_onnx
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import ANY, MAX_DIMENSION, UNKNOWN, Dimension, PartialShape, element_count
from ov_gather.ops.gather_elements import GATHER_ELEMENTS_6
from ov_gather.ops.spec import ShapeError

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
    place = describe(node)
    if not len(shapes) == len(types) == len(node.input):
        raise ConversionError(f"{place}: {len(shapes)} shapes and {len(types)} types for {len(node.input)} inputs")
    if node.op_type in _CONVERTERS and not node.domain:
        try:
            onnx.checker.check_node(node)
        except onnx.checker.ValidationError as error:
            raise ConversionError(f"{place}: {error}") from None
    names = list(dict.fromkeys(node.input))
    inputs = [onnx.helper.make_empty_tensor_value_info(name) for name in names]
    graph = onnx_ir.serde.deserialize_graph(onnx.helper.make_graph([node], "node", inputs, []))
    builder = ModelBuilder(node.name or node.op_type)
    values: list[Value | None] = [
        builder.parameter(name, element_type_of(place, data_type), partial_shape(place, shape))
        for name, shape, data_type in zip(node.input, shapes, types, strict=True)
    ]
    for name, value in zip(node.output, add_node(builder, graph[0], values, max(_SINCE.values())), strict=True):
        builder.result(name, value)
    return builder.build()


def add_node(builder: ModelBuilder, node: onnx_ir.Node, inputs: Sequence[Value | None], opset: int) -> list[Value]:
    """Add the layers of a valid node of the default domain at this opset; the values of its outputs.

    Raises ConversionError.
    """
    place = describe(node)
    convert = _CONVERTERS.get(node.op_type) if node.domain in ("", "ai.onnx") else None
    if convert is None:
        known = ", ".join(_CONVERTERS)
        raise ConversionError(f"{place}: this operator cannot be converted; {known} can")
    if opset < _SINCE[node.op_type]:
        raise ConversionError(f"{place}: opset {opset} has no {node.op_type}; it comes with {_SINCE[node.op_type]}")
    for attribute in node.attributes.values():
        if attribute.is_ref():
            raise ConversionError(f"{place}: attribute {attribute.name} refers to one of a function that is not there")
    return [convert(builder, node, [value for value in inputs if value is not None])]


def describe(node: onnx_ir.Node | onnx.NodeProto) -> str:
    """How errors name a node."""
    names = node.output if isinstance(node, onnx.NodeProto) else (str(value.name) for value in node.outputs)
    domain = f"{node.domain}." if node.domain else ""
    return f"node {domain}{node.op_type} '{node.name or ''}' (output {', '.join(names)})"


def element_type_of(place: str, data_type: int | None) -> ElementType:
    """The IR element type of an ONNX data type. Raises ConversionError."""
    found = None if data_type is None else by_onnx(data_type)
    if found is None:
        known = data_type in onnx.TensorProto.DataType.values()
        name = onnx.TensorProto.DataType.Name(data_type) if known else data_type
        raise ConversionError(f"{place}: OpenVINO IR has no element type for {name}")
    return found


def partial_shape(place: str, shape: Sequence[Any] | None) -> PartialShape:
    """An ONNX shape: sizes, and names or None for open dimensions. Raises ConversionError."""
    return UNKNOWN if shape is None else PartialShape(tuple(_dimension(place, dim) for dim in shape))


def _dimension(place: str, dim: Any) -> Dimension:
    if dim is None or isinstance(dim, str):
        return ANY
    size = as_integer(dim)
    if isinstance(dim, bool) or not 0 <= size <= MAX_DIMENSION:
        raise ConversionError(f"{place}: {dim} is not a dimension: 0 to 2^63-1, a name or None")
    return Dimension.of(size)


def add_constant(builder: ModelBuilder, name: str, tensor: onnx_ir.TensorProtocol) -> Value:
    """A Const with the value of an ONNX tensor. Raises ConversionError."""
    place = f"constant '{name}'"
    element_type = element_type_of(place, tensor.dtype.value)
    sizes = partial_shape(place, list(tensor.shape)).sizes
    try:
        if element_type is STRING:
            array: NDArray[Any] = np.array([value.decode() for value in tensor.numpy().ravel()], object).reshape(sizes)
            return builder.const(name, element_type, array)
        data = tensor.tobytes()
    except OSError:
        raise
    except Exception as error:  # broken payloads make onnx-ir raise many kinds
        raise ConversionError(f"{place}: its value cannot be read: {error}") from error
    needed = element_type.byte_size(element_count(sizes))
    if len(data) != needed:
        shape = list(sizes)
        raise ConversionError(f"{place}: {len(data)} bytes, but shape {shape} of {element_type} needs {needed}")
    return builder.const_from_payload(name, element_type, sizes, data)


def _gather_elements(builder: ModelBuilder, node: onnx_ir.Node, inputs: Sequence[Value]) -> Value:
    operation, place = GATHER_ELEMENTS_6, describe(node)
    attributes = {"axis": str(node.attributes["axis"].as_int() if "axis" in node.attributes else 0)}
    shapes = [value.shape for value in inputs]
    types = [value.element_type for value in inputs]
    for given, element_type in zip(operation.inputs, types, strict=True):
        if given.element_types and element_type not in given.element_types:
            raise ConversionError(f"{place}: {given.name} must be int32 or int64, not {element_type}")
    try:
        (shape,) = operation.infer_shapes(shapes, operation.read_attributes(attributes, shapes))
    except ShapeError as error:
        raise ConversionError(f"{place}: {error.reason}; {error.hint}") from None
    except ValueError as error:
        raise ConversionError(f"{place}: {error}") from None
    output = str(node.outputs[0].name)
    return builder.layer(
        operation.type,
        node.name or output,
        operation.opsets[0],
        attributes,
        inputs,
        [(types[0], shape)],
        tensor=output,
    )[0]


def _identity(builder: ModelBuilder, node: onnx_ir.Node, inputs: Sequence[Value]) -> Value:
    return inputs[0]


def _constant(builder: ModelBuilder, node: onnx_ir.Node, inputs: Sequence[Value]) -> Value:
    place, name = describe(node), str(node.outputs[0].name)
    if len(node.attributes) != 1:
        raise ConversionError(f"{place}: exactly one of {', '.join(_CONSTANT_VALUES)} must be given")
    (attribute,) = node.attributes.values()
    if attribute.name not in _CONSTANT_VALUES:
        raise ConversionError(f"{place}: attribute {attribute.name} cannot be converted")
    element_type = _CONSTANT_VALUES[attribute.name]
    if element_type is None:
        return add_constant(builder, name, attribute.as_tensor())
    values = np.array(attribute.value, element_type.dtype)
    if any(isinstance(value, bytes) for value in values.ravel()):
        raise ConversionError(f"{place}: {attribute.name} is not UTF-8")
    return builder.const(name, element_type, values)


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
