"""A whole ONNX model to IR."""

from __future__ import annotations

import os
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
        ConversionError: the file is not a valid ONNX model, a node of it cannot be converted (the message names it), or the
            output would overwrite it.
        OSError: a file cannot be read or written.
    """
    import openvino

    model = to_ir(source, output=output)
    if output is not None:
        write_ir(model, output)
        return openvino.Core().read_model(output)
    xml, weights = to_bytes(model)
    return openvino.Core().read_model(xml, weights)


def to_ir(source: OnnxSource, *, output: str | os.PathLike[str] | None = None) -> Model:
    """The IR of an ONNX model, by our own means: no OpenVINO is needed. Nothing is written.

    `output` is where the caller means to write it. Raises as `convert_model` does.
    """
    if isinstance(source, onnx.ModelProto):
        return _convert_graph(_load(source))
    if not Path(source).is_file():
        raise FileNotFoundError(f"{source}: no such file")
    try:
        model = _load(source)
        if output is not None:
            _check_output(Path(source), model, Path(output))
        return _convert_graph(model)
    except ConversionError as error:
        raise ConversionError(f"{os.fspath(source)}: {error}") from error


def _load(source: OnnxSource) -> onnx_ir.Model:
    try:
        _check(source)
        return onnx_ir.from_proto(source) if isinstance(source, onnx.ModelProto) else onnx_ir.load(source)
    except Exception as error:  # what onnx, protobuf and onnx-ir raise has no common base
        reason: BaseException = error
        while reason.__cause__ is not None:
            reason = reason.__cause__
        first_line = str(reason).strip().partition("\n")[0]
        raise ConversionError(f"not a valid ONNX model: {first_line}") from error


def _check(source: OnnxSource) -> None:
    """ONNX's own checker, but inputs and outputs of open rank are welcome: onnxruntime takes them, too."""
    try:
        onnx.checker.check_model(source)
    except onnx.checker.ValidationError as error:
        if "Field 'shape' of 'type' is required but missing" not in str(error):
            raise
        proto = onnx.ModelProto()
        proto.CopyFrom(source if isinstance(source, onnx.ModelProto) else onnx.load(source, load_external_data=False))
        for value in (*proto.graph.input, *proto.graph.output):
            if value.type.HasField("tensor_type"):
                value.type.tensor_type.shape.SetInParent()
        onnx.checker.check_model(proto)


def _check_output(source: Path, model: onnx_ir.Model, output: Path) -> None:
    """Refuse to overwrite what is read."""
    tensors = (value.const_value for value in model.graph.initializers.values())
    external = (Path(tensor.path) for tensor in tensors if isinstance(tensor, onnx_ir.ExternalTensor))
    inputs = {path.resolve() for path in (source, *external)}
    for target in (output, output.with_suffix(".bin")):
        if target.resolve() in inputs:
            raise ConversionError(f"writing {target} would overwrite a part of the model; choose another name")


def _convert_graph(model: onnx_ir.Model) -> Model:
    graph = model.graph
    opset = graph.opset_imports.get("", graph.opset_imports.get("ai.onnx", 1))
    builder = ModelBuilder(graph.name or "model")
    values: dict[str, Value] = {}
    for given in graph.inputs:
        name = str(given.name)
        if name in graph.initializers:
            continue  # an input with a value is a constant, as for other converters
        if not isinstance(given.type, onnx_ir.TensorType):
            raise ConversionError(f"input '{name}': {given.type or 'a value of no type'} is not a tensor")
        shape = None if given.shape is None else [dim if isinstance(dim, int) else None for dim in given.shape]
        element_type = element_type_of(f"input '{name}'", given.type.dtype.value)
        values[name] = builder.parameter(name, element_type, partial_shape(f"input '{name}'", shape))

    def value_of(wanted: onnx_ir.Value, user: str) -> Value:
        """The value of a name; initializers become constants when first used."""
        name = str(wanted.name)
        if name not in values:
            if name not in graph.initializers or wanted.const_value is None:
                raise ConversionError(f"{user}: '{name}' is not an input, an initializer or an output of an earlier node")
            values[name] = add_constant(builder, name, wanted.const_value)
        return values[name]

    for node in graph:
        inputs = [None if value is None else value_of(value, describe(node)) for value in node.inputs]
        outputs = add_node(builder, node, inputs, opset)
        values |= {str(name.name): value for name, value in zip(node.outputs, outputs, strict=True)}
    if not graph.outputs:
        raise ConversionError("the graph has no outputs")
    for wanted in graph.outputs:
        builder.result(str(wanted.name), value_of(wanted, "graph output"))
    return builder.build()
