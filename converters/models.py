"""A whole ONNX model to IR."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import onnx_ir
from ov_gather.converters.nodes import (
    ConversionError,
    add_constant,
    add_node,
    describe,
    element_type_of,
    partial_shape,
)

from ov_gather.ir.builder import ModelBuilder, Value
from ov_gather.ir.model import Model
from ov_gather.ir.writer import to_bytes, write_ir

if TYPE_CHECKING:
    import openvino

OnnxSource = str | os.PathLike[str] | onnx.ModelProto


def convert_model(source: OnnxSource, *, output: str | os.PathLike[str] | None = None) -> openvino.Model:
    """Convert an ONNX model that is made of GatherElements, Identity, Constant and initializers.

    Args:
        source: path of the .onnx (with external data beside it), or an `onnx.ModelProto`.
        output: path of the .xml to write; the .bin gets the same stem. Nothing is written if not given.

    Returns:
        The model as OpenVINO reads it.

    Raises:
        ConversionError: the file is not an ONNX model, or a node of it cannot be converted; the message names the node.
        OSError: a file cannot be read or written.
    """
    import openvino

    model = to_ir(source)
    if output is not None:
        write_ir(model, output)
        return openvino.Core().read_model(output)
    xml, weights = to_bytes(model)
    return openvino.Core().read_model(xml, weights)


def to_ir(source: OnnxSource) -> Model:
    """The IR of an ONNX model, by our own means: no OpenVINO is needed. Raises as `convert_model` does."""
    with _named(source):
        return _convert_graph(_load(source))


def _load(source: OnnxSource) -> onnx_ir.Model:
    if isinstance(source, onnx.ModelProto):
        return onnx_ir.from_proto(source)
    if not Path(source).is_file():
        raise FileNotFoundError(f"{source}: no such file")
    try:
        return onnx_ir.load(source)
    except Exception as error:  # protobuf, and what onnx-ir makes of a graph that is not one, raise many kinds
        raise ConversionError(f"not an ONNX model: {type(error).__name__}: {error}") from error


@contextmanager
def _named(source: OnnxSource) -> Iterator[None]:
    """Let errors tell the file."""
    try:
        yield
    except ConversionError as error:
        if isinstance(source, onnx.ModelProto):
            raise
        raise ConversionError(f"{os.fspath(source)}: {error}") from error


def _convert_graph(model: onnx_ir.Model) -> Model:
    graph = model.graph
    if not graph.outputs:
        raise ConversionError("the graph has no outputs: is this an ONNX model?")
    opset = graph.opset_imports.get("", graph.opset_imports.get("ai.onnx", 1))
    builder = ModelBuilder(graph.name or "model")
    values: dict[str, Value] = {}
    for given in graph.inputs:
        if given.name not in graph.initializers:  # where it has a value, it is a constant, as for other converters
            name = str(given.name)
            element_type = element_type_of(f"input '{name}'", given.dtype)
            values[name] = builder.parameter(
                name, element_type, partial_shape(None if given.shape is None else list(given.shape))
            )

    def value_of(wanted: onnx_ir.Value | None, user: str) -> Value | None:
        """The value of a name; initializers become constants when first used."""
        if wanted is None:
            return None
        name = str(wanted.name)
        if name not in values:
            if name not in graph.initializers or wanted.const_value is None:
                raise ConversionError(f"{user}: '{name}' is not an input, an initializer or an output of an earlier node")
            values[name] = add_constant(builder, name, wanted.const_value)
        return values[name]

    for node in graph:
        inputs = [value_of(value, describe(node)) for value in node.inputs]
        outputs = add_node(builder, node, inputs, opset)
        values |= {str(name.name): value for name, value in zip(node.outputs, outputs, strict=True)}
    for wanted in graph.outputs:
        result = value_of(wanted, "graph output")
        assert result is not None
        builder.result(str(wanted.name), result)
    return builder.build()
