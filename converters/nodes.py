"""Conversion of one ONNX node to IR."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
import onnx_ir

from ov_gather.ir.builder import ModelBuilder, PortRef
from ov_gather.ir.model import Model

from .errors import ConversionError, describe
from .layers import CONVERTERS, add_node, element_type_of, partial_shape


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
