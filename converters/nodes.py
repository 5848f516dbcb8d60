"""Single ONNX nodes as small IRs: of a node alone, and of each gather and scatter in a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import onnx
import onnx_ir
from numpy.typing import NDArray

from ov_gather.ir.builder import ModelBuilder, PortRef
from ov_gather.ir.element_types import by_dtype
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.onnx_nodes import attribute

from .errors import ConversionError, describe
from .graphs import constant_of, nodes_of
from .layers import BY_TARGET, CONVERTERS, add_constant, add_indexed, add_node, element_type_of, partial_shape
from .legalize import legalize
from .loading import load, naming

_LARGEST_CONSTANT = 2**20  # in bytes; a larger one becomes a Parameter
_LONGEST = 100  # characters of a node's name in a file name, which may have 255 bytes


def convert_node(node: onnx.NodeProto, shapes: Sequence[Sequence[int | str | None] | None], types: Sequence[int]) -> Model:
    """Convert one ONNX node to IR layers.

    Args:
        node: Gather (1, 11, 13), GatherElements (11, 13), GatherND (11, 12, 13), ScatterElements and ScatterND (11, 13, 16,
            18), or a node that legalization adds: Slice, Unsqueeze (13), Cast, Identity or Constant.
        shapes: shape of each input; a dimension that is None or a name is dynamic; None instead of a shape is a dynamic rank.
        types: `onnx.TensorProto.DataType` of each input, e.g. `onnx.TensorProto.FLOAT`.

    Returns:
        A Model with a Parameter for each input and a Result for the output of the node.

    Raises:
        ConversionError: the operator, an attribute or an element type cannot be converted, or the shapes do not fit.

    Source: ONNX Gather-13, GatherElements-13, GatherND-13, ScatterElements-18, ScatterND-18; OpenVINO Gather-8,
    GatherElements-6, GatherND-8, ScatterElementsUpdate-12, ScatterNDUpdate-15.
    """
    place = describe(node)
    if not len(shapes) == len(types) == len(node.input):
        raise ConversionError(f"{place}: {len(shapes)} shapes and {len(types)} types for {len(node.input)} inputs")
    if node.op_type in CONVERTERS and not node.domain:
        try:
            onnx.checker.check_node(node)
        except onnx.checker.ValidationError as error:
            raise ConversionError(f"{place}: {error}") from None
    names = list(dict.fromkeys(filter(None, node.input)))
    inputs = [onnx.helper.make_empty_tensor_value_info(name) for name in names]
    graph = onnx_ir.serde.deserialize_graph(onnx.helper.make_graph([node], "node", inputs, []))
    builder = ModelBuilder(node.name or node.op_type)
    values: list[PortRef | None] = [
        builder.parameter(name, element_type_of(place, data_type), partial_shape(place, shape)) if name else None
        for name, shape, data_type in zip(node.input, shapes, types, strict=True)
    ]
    builder.result(node.output[0], add_node(builder, graph[0], values))
    return builder.build()


def gathers_of(source: Path, *, target: str, assume_in_bounds: bool) -> dict[str, Model]:
    """Legalize an ONNX file; return its gathers and scatters by unique file name. Raises ConversionError, OSError."""
    with naming(source):
        model = load(source)
        legalize(model, target=target, assume_in_bounds=assume_in_bounds)
        gathers = list(single_gathers(model, target))
    names = (re.sub(r"[^A-Za-z0-9_.-]+", "_", gather.name).strip("_")[:_LONGEST] for gather in gathers)
    return {f"{number:03}_{name}.xml": gather for number, (name, gather) in enumerate(zip(names, gathers, strict=True))}


def single_gathers(model: onnx_ir.Model, target: str) -> Iterator[Model]:
    """Yield each gather and scatter of a legalized model, named after its node or output. Raises ConversionError."""
    for node in nodes_of(model, *BY_TARGET[target]):
        output = str(node.outputs[0].name)
        builder = ModelBuilder(node.name or output)
        inputs = [_add_input(builder, describe(node), value) for value in node.inputs if value is not None]
        builder.result(output, add_indexed(builder, node, inputs, target))
        yield builder.build()


def single_gather(node: onnx_ir.Node, operands: Sequence[NDArray[Any]], constant: Sequence[bool], target: str) -> Model:
    """Convert a Gather* node to a one-layer model for data and indices of the shapes of `operands`.

    Operands that `constant` marks become Consts, the others Parameters. The stock GatherElements does not take indices that are
    smaller than data off the axis: pass operands through `fitted` first.
    """
    builder, inputs = ModelBuilder(node.name or node.op_type), []
    # The CPU plugin crashes on a static-shaped Gather without elements; whole models that run have none, so use dynamic shapes.
    is_open = any(array.size == 0 for array in operands)
    for name, array, is_constant in zip(("data", "indices"), operands, constant, strict=True):
        element_type = by_dtype(array.dtype)
        if element_type is None:
            raise TypeError(f"{name} of {array.dtype}: OpenVINO has no such type")
        shape = PartialShape.of([-1] * array.ndim if is_open else array.shape)
        value = builder.const(name, element_type, array) if is_constant else builder.parameter(name, element_type, shape)
        inputs.append(value)
    builder.result("output", add_indexed(builder, node, inputs, target))
    return builder.build()


def fitted(node: onnx_ir.Node, operands: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Crop data to the size of indices off the axis, for the stock GatherElements. Operands of other nodes are unchanged."""
    data, indices = operands
    if node.op_type != "GatherElements":
        return [data, indices]
    axis = attribute(node, "axis", 0) % data.ndim
    return [data[tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(indices.shape))], indices]


def _add_input(builder: ModelBuilder, place: str, value: onnx_ir.Value) -> PortRef:
    name, tensor = str(value.name), constant_of(value)
    if tensor is not None and tensor.nbytes <= _LARGEST_CONSTANT:
        return add_constant(builder, name, tensor)
    element_type = element_type_of(place, None if value.dtype is None else value.dtype.value)
    dims = None if value.shape is None else [dim if isinstance(dim, int) else None for dim in value.shape]
    return builder.parameter(name, element_type, partial_shape(place, dims))
