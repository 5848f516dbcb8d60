"""External data of ONNX models: its files, and checks of locations and sizes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import onnx
import onnx_ir
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx.external_data_helper import uses_external_data

from .errors import ConversionError
from .graphs import constant_of, graph_of, nodes_of


def external_tensors(model: onnx_ir.Model) -> Iterator[onnx_ir.ExternalTensor]:
    """Yield the initializers stored as external data."""
    values = (value for graph in model.graphs() for value in graph.initializers.values())
    return (value.const_value for value in values if isinstance(value.const_value, onnx_ir.ExternalTensor))


def unmap(model: onnx_ir.Model) -> None:
    """Unmap the external data that was read; whoever reads it again maps it again."""
    for tensor in external_tensors(model):
        with suppress(BufferError):  # an array of it is in use
            tensor.release()


def lift_constants(model: onnx_ir.Model) -> dict[str, str]:
    """Turn Constants with external data into initializers, of which alone OpenVINO reads external data.

    Returns the names that OpenVINO gives to these initializers, and those that it gives to the Constants.
    """
    names = {}
    for node in nodes_of(model, "Constant"):
        (output,), tensor = node.outputs, constant_of(node.outputs[0])
        if not isinstance(tensor, onnx_ir.ExternalTensor):
            continue
        if node.name and not output.is_graph_output():
            names[str(output.name)] = node.name
        kind = onnx_ir.TensorType(tensor.dtype)
        value = onnx_ir.Value(name=output.name, shape=tensor.shape, type=kind, const_value=tensor)
        output.replace_all_uses_with(value, replace_graph_outputs=True)
        graph = graph_of(node)
        graph.remove(node, safe=True)
        graph.register_initializer(value)
    return names


def data_files(path: Path) -> list[Path]:
    """Return the external data files of the .onnx at a path; empty if it cannot be read as a model."""
    try:
        proto = onnx.load(path, load_external_data=False)
    except (DecodeError, OSError):
        return []
    entries = (entry for tensor in filter(uses_external_data, _tensors(proto)) for entry in tensor.external_data)
    return sorted({path.parent / entry.value for entry in entries if entry.key == "location"})


def check_locations(proto: onnx.ModelProto, folder: Path) -> None:
    """Raise ConversionError if a tensor's file is outside the model's folder, links resolved, or an offset or length is bad.

    ONNX's checker tests some of this, only for models given by path, and never names the bad offset.
    """
    for tensor in filter(uses_external_data, _tensors(proto)):
        entries = {entry.key: entry.value for entry in tensor.external_data}
        place, file = f"tensor '{tensor.name}'", folder / entries.get("location", "")
        if not file.resolve().is_relative_to(folder.resolve()):
            raise ConversionError(f"{place}: {file} is {file.resolve()}, which is outside the folder of the model")
        for key in ("offset", "length"):
            value = entries.get(key, "0")
            if not (value.isascii() and value.isdigit() and len(value) < 30):
                raise ConversionError(f"{place}: its {key} in {file} must be a number of bytes, 0 or more, not '{value}'")


def check_sizes(model: onnx_ir.Model) -> None:
    """Raise ConversionError if a file is too short for a tensor, or a tensor declares a wrong length."""
    for tensor in external_tensors(model):
        place, start = f"tensor '{tensor.name}'", tensor.offset or 0
        end, size = start + tensor.nbytes, Path(tensor.path).stat().st_size
        if end > size:
            raise ConversionError(f"{place} ends at byte {end} of {tensor.path}, which has {size}; its offset is {start}")
        if tensor.length is not None and tensor.length != tensor.nbytes:
            raise ConversionError(f"{place}: its length in {tensor.path} is {tensor.length} bytes, but it has {tensor.nbytes}")


def _tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Yield all tensors of the graph, its bodies and the functions: initializers and attributes."""
    waiting: list[onnx.GraphProto | onnx.FunctionProto] = [proto.graph, *proto.functions]
    while waiting:
        graph = waiting.pop()
        if isinstance(graph, onnx.GraphProto):
            yield from graph.initializer
        for attribute in (attribute for node in graph.node for attribute in node.attribute):
            yield from (attribute.t, *attribute.tensors)
            waiting += (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs)
