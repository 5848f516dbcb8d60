"""External data of ONNX models: its files, and checks of locations and sizes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx
import onnx_ir
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx.external_data_helper import uses_external_data

from .errors import ConversionError


def external_tensors(model: onnx_ir.Model) -> Iterator[onnx_ir.ExternalTensor]:
    """Yield the initializers stored as external data."""
    values = (value for graph in model.graphs() for value in graph.initializers.values())
    return (value.const_value for value in values if isinstance(value.const_value, onnx_ir.ExternalTensor))


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
