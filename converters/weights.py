"""Weights of an ONNX file, moved to a temporary file before anything else reads the model.

The checker, shape inference, onnx-ir, OpenVINO and onnxruntime would each parse the weights in the file, and hold a copy.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx.external_data_helper import set_external_data, uses_external_data

from ov_gather.ir.element_types import by_onnx
from ov_gather.system.interrupts import held
from ov_gather.system.platforms import CAN_REMOVE_MAPPED_FILES

from .onnx_file import mapped, without_weights

_ALIGNMENT = 64
_MOST_DIMS = 64
"""Dimensions of a tensor that NumPy supports."""
_PLAIN = {"dims", "data_type", "name", "data_location"}
"""Fields beside the raw data of tensors that are moved. Others might make the model invalid only as external data."""


@contextmanager
def weights_outside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a copy of an ONNX file whose large initializers are external data; remove it when the block ends.

    Each weight is read once. Yield the path itself if there is nothing to move, the file cannot be parsed or has external data
    already, TMPDIR has no room or is not UTF-8, or the system cannot remove a file that OpenVINO maps.
    """
    with ExitStack() as stack:
        copy = None
        if CAN_REMOVE_MAPPED_FILES:
            try:
                with held():  # a directory that is made is also removed
                    folder = stack.enter_context(TemporaryDirectory(prefix="ov_gather."))
                folder.encode()  # the checker opens no other paths than UTF-8
                copy = _move_weights(Path(path), Path(folder))
            except (DecodeError, OSError, UnicodeEncodeError):
                stack.close()
        yield copy or Path(path)


def _move_weights(path: Path, folder: Path) -> Path | None:
    """Write the weights of a model to a file in a folder, and the model beside it; return its path, or None."""
    with mapped(path) as data, (folder / "weights").open("wb") as file:
        model, places = without_weights(data)
        if any(map(uses_external_data, tensors_of(model))):
            return None
        for tensor, place in zip(model.graph.initializer, places, strict=True):
            if place is not None:
                with memoryview(data)[place] as raw:
                    _move(tensor, raw, file)
        if not file.tell():
            return None
    copy = folder / "model.onnx"
    copy.write_bytes(model.SerializeToString())
    return copy


def _move(tensor: onnx.TensorProto, raw: memoryview, file: IO[bytes]) -> None:
    """Write the raw data of a tensor, which it lacks, to a file; give it back to a tensor that cannot be external data."""
    if not _is_movable(tensor, raw.nbytes):
        tensor.raw_data = bytes(raw)
        return
    file.seek(-(-file.tell() // _ALIGNMENT) * _ALIGNMENT)
    tensor.raw_data = b""  # which `set_external_data` asks for
    set_external_data(tensor, "weights", file.tell(), raw.nbytes)
    tensor.ClearField("raw_data")
    file.write(raw)


def _is_movable(tensor: onnx.TensorProto, size: int) -> bool:
    """Return True if raw data of `size` bytes, the only data of a tensor, are what its type and dimensions demand."""
    element_type, dims = by_onnx(tensor.data_type), tensor.dims
    if element_type is None or len(dims) > _MOST_DIMS or min(dims, default=0) < 0:
        return False
    if any(field.name not in _PLAIN for field, _ in tensor.ListFields()):
        return False
    return size == element_type.byte_size(prod(dims))


def data_files(path: Path) -> list[Path]:
    """Return the external data files of the .onnx at a path; empty if it cannot be read as a model."""
    try:
        with mapped(path) as data:
            model, _ = without_weights(data)
    except (DecodeError, OSError):
        return []
    entries = (entry for tensor in filter(uses_external_data, tensors_of(model)) for entry in tensor.external_data)
    return sorted({path.parent / entry.value for entry in entries if entry.key == "location"})


def tensors_of(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Yield the initializers and attributes of a model, its bodies, functions and training; of sparse ones, both parts."""
    training = (graph for info in model.training_info for graph in (info.initialization, info.algorithm))
    waiting: list[onnx.GraphProto | onnx.FunctionProto] = [model.graph, *model.functions, *training]
    while waiting:
        graph = waiting.pop()
        sparse = []
        if isinstance(graph, onnx.GraphProto):
            yield from graph.initializer
            sparse += graph.sparse_initializer
        for attribute in (attribute for node in graph.node for attribute in node.attribute):
            yield from (attribute.t, *attribute.tensors)
            sparse += (attribute.sparse_tensor, *attribute.sparse_tensors)
            waiting += (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs)
        yield from (part for tensor in sparse for part in (tensor.values, tensor.indices))
