"""Conversion of single ONNX nodes to IR layers, without OpenVINO."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import index as as_integer
from typing import Any

import numpy as np
import onnx
import onnx_ir
from numpy.typing import NDArray

from ov_gather.ir.builder import ModelBuilder, PortRef
from ov_gather.ir.element_types import F32, I64, STRING, ElementType, by_onnx
from ov_gather.ir.shapes import ANY, MAX_DIMENSION, UNKNOWN, Dimension, PartialShape, element_count
from ov_gather.kernels.reduction_names import OPENVINO_NAMES
from ov_gather.ops.gather import GATHER_8, GATHER_CUSTOM
from ov_gather.ops.gather_elements import GATHER_ELEMENTS_6
from ov_gather.ops.gather_elements_custom import GATHER_ELEMENTS_CUSTOM
from ov_gather.ops.gather_nd import GATHER_ND_8, GATHER_ND_CUSTOM
from ov_gather.ops.onnx_nodes import GATHERS, SCATTERS, attribute
from ov_gather.ops.scatter_elements_update import SCATTER_ELEMENTS_CUSTOM, SCATTER_ELEMENTS_UPDATE_12
from ov_gather.ops.scatter_nd_update import SCATTER_ND_CUSTOM, SCATTER_ND_UPDATE_15
from ov_gather.ops.spec import Operation, ShapeError, TypeRuleError
from ov_gather.ops.table import ONNX, Along

from .errors import ConversionError, describe

Inputs = Sequence[PortRef | None]
BY_TARGET: Mapping[str, Mapping[str, Operation]] = {
    "stock": {
        "Gather": GATHER_8,
        "GatherElements": GATHER_ELEMENTS_6,
        "GatherND": GATHER_ND_8,
        "Scatter": SCATTER_ELEMENTS_UPDATE_12,
        "ScatterElements": SCATTER_ELEMENTS_UPDATE_12,
        "ScatterND": SCATTER_ND_UPDATE_15,
    },
    "extension": {
        "Gather": GATHER_CUSTOM,
        "GatherElements": GATHER_ELEMENTS_CUSTOM,
        "GatherND": GATHER_ND_CUSTOM,
        "Scatter": SCATTER_ELEMENTS_CUSTOM,
        "ScatterElements": SCATTER_ELEMENTS_CUSTOM,
        "ScatterND": SCATTER_ND_CUSTOM,
    },
}
"""For each target, the operation that each gather and scatter of ONNX becomes."""


def add_node(builder: ModelBuilder, node: onnx_ir.Node, inputs: Inputs) -> PortRef:
    """Add the layers for a valid node of the default domain; return its output. Raises ConversionError."""
    place = describe(node)
    convert = CONVERTERS.get(node.op_type) if node.domain == "" else None
    if convert is None:
        raise ConversionError(f"{place}: this operator cannot be converted; {', '.join(CONVERTERS)} can")
    for given in node.attributes.values():
        if given.is_ref():
            raise ConversionError(f"{place}: attribute {given.name} refers to one of a function that is not there")
    return convert(builder, node, inputs)


def element_type_of(place: str, data_type: int | None) -> ElementType:
    """Return the IR element type of an ONNX data type. Raises ConversionError."""
    found = None if data_type is None else by_onnx(data_type)
    if found is None:
        known = data_type in onnx.TensorProto.DataType.values()
        name = onnx.TensorProto.DataType.Name(data_type) if known else data_type
        raise ConversionError(f"{place}: OpenVINO IR has no element type for {name}")
    return found


def partial_shape(place: str, shape: Sequence[Any] | None) -> PartialShape:
    """Convert an ONNX shape: sizes, and names or None for dynamic dimensions. Raises ConversionError."""
    return UNKNOWN if shape is None else PartialShape(tuple(_dimension(place, dim) for dim in shape))


def _dimension(place: str, dim: Any) -> Dimension:
    if dim is None or isinstance(dim, str):
        return ANY
    size = as_integer(dim)
    if isinstance(dim, bool) or not 0 <= size <= MAX_DIMENSION:
        raise ConversionError(f"{place}: {dim} is not a dimension: 0 to 2^63-1, a name or None")
    return Dimension.of(size)


def add_constant(builder: ModelBuilder, name: str, tensor: onnx_ir.TensorProtocol) -> PortRef:
    """Add a Const with the value of an ONNX tensor. Raises ConversionError, OSError."""
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
    except Exception as error:  # onnx-ir raises many kinds of errors for broken payloads
        raise ConversionError(f"{place}: its value cannot be read: {error}") from error
    needed = element_type.byte_size(element_count(sizes))
    if len(data) != needed:
        shape = list(sizes)
        raise ConversionError(f"{place}: {len(data)} bytes, but shape {shape} of {element_type} needs {needed}")
    return builder.const_from_payload(name, element_type, sizes, data)


def add_indexed(builder: ModelBuilder, node: onnx_ir.Node, inputs: Inputs, target: str = "stock") -> PortRef:
    """Add the layers for a gather or scatter; return its output. Raises ConversionError."""
    operation = BY_TARGET[target][node.op_type]
    place, given = describe(node), [value for value in inputs if value is not None]
    known = {known.name for known in operation.attributes}
    name = "batch_dims" if ONNX[node.op_type].along is Along.COORDINATES else "axis"
    attributes = {name: str(attribute(node, name, 0))} if name in known else {}
    values: list[NDArray[Any] | None] = [None] * len(given)
    if any(known.attribute is not None for known in operation.inputs):  # The axis is an input of the layer.
        axis = np.array(attribute(node, name, 0), I64.dtype)
        values.append(axis)
        given.append(builder.const(f"{node.name or node.op_type}/{name}", I64, axis))
    if "reduction" in node.attributes:
        reduction = node.attributes["reduction"].as_string()
        if reduction not in OPENVINO_NAMES:
            raise ConversionError(f"{place}: reduction must be one of {', '.join(OPENVINO_NAMES)}, not '{reduction}'")
        attributes["reduction"] = reduction if target == "extension" else OPENVINO_NAMES[reduction]
    shapes = [value.shape for value in given]
    for expected, value in zip(operation.inputs, given, strict=True):
        if expected.element_types and value.element_type not in expected.element_types:
            allowed = " or ".join(map(str, expected.element_types))
            raise ConversionError(f"{place}: {expected.name} must be {allowed}, not {value.element_type}")
    try:
        operation.infer_types([value.element_type for value in given])
        (shape,) = operation.infer_shapes(shapes, operation.read_attributes(attributes, shapes, values))
    except (ShapeError, TypeRuleError) as error:
        raise ConversionError(f"{place}: {error.reason}; {error.hint}") from None
    except ValueError as error:
        raise ConversionError(f"{place}: {error}") from None
    return _layer(builder, node, operation.type, operation.opsets[0], attributes, given, given[0].element_type, shape)


def _layer(
    builder: ModelBuilder,
    node: onnx_ir.Node,
    layer_type: str,
    version: str,
    attributes: Mapping[str, str],
    inputs: Sequence[PortRef],
    element_type: ElementType,
    shape: PartialShape,
) -> PortRef:
    output = str(node.outputs[0].name)
    (value,) = builder.layer(
        layer_type, node.name or output, version, attributes, inputs, [(element_type, shape)], tensor=output
    )
    return value


def _slice(builder: ModelBuilder, node: onnx_ir.Node, inputs: Inputs) -> PortRef:
    """Add a Slice of opset 10 or later. Slice-8 requires steps; the output is dynamic, as the bounds are inputs."""
    data, starts, ends, axes, steps = (*inputs, None, None)[:5]
    assert data is not None and starts is not None and ends is not None
    if steps is None:
        if not starts.shape.is_static:
            raise ConversionError(f"{describe(node)}: steps must be given, as the number of starts is open")
        steps = builder.const(f"{node.name or 'Slice'}/steps", I64, np.ones(starts.shape.sizes, I64.dtype))
    given = [data, starts, ends, steps, *([] if axes is None else [axes])]
    shape = UNKNOWN if data.shape.dims is None else PartialShape((ANY,) * len(data.shape.dims))
    return _layer(builder, node, "Slice", "opset8", {}, given, data.element_type, shape)


def _unsqueeze(builder: ModelBuilder, node: onnx_ir.Node, inputs: Inputs) -> PortRef:
    """Add an Unsqueeze of opset 13 or later. The output has dynamic rank: OpenVINO infers none while the axes are an input."""
    data, axes = inputs
    assert data is not None and axes is not None
    return _layer(builder, node, "Unsqueeze", "opset1", {}, [data, axes], data.element_type, UNKNOWN)


def _cast(builder: ModelBuilder, node: onnx_ir.Node, inputs: Inputs) -> PortRef:
    (data,) = inputs
    assert data is not None
    element_type = element_type_of(describe(node), node.attributes["to"].as_int())
    attributes = {"destination_type": element_type.name}
    return _layer(builder, node, "Convert", "opset1", attributes, [data], element_type, data.shape)


def _identity(builder: ModelBuilder, node: onnx_ir.Node, inputs: Inputs) -> PortRef:
    (data,) = inputs
    assert data is not None
    return data


def _constant(builder: ModelBuilder, node: onnx_ir.Node, inputs: Inputs) -> PortRef:
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


# Attributes of Constant, and the element type that each implies; None: that of the tensor.
_CONSTANT_VALUES: Mapping[str, ElementType | None] = {
    "value": None,
    "value_float": F32,
    "value_floats": F32,
    "value_int": I64,
    "value_ints": I64,
    "value_string": STRING,
    "value_strings": STRING,
}

CONVERTERS: Mapping[str, Callable[[ModelBuilder, onnx_ir.Node, Inputs], PortRef]] = {
    **dict.fromkeys((*GATHERS, *SCATTERS), add_indexed),
    "Slice": _slice,
    "Unsqueeze": _unsqueeze,
    "Cast": _cast,
    "Identity": _identity,
    "Constant": _constant,
}
