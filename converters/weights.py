"""Weights of an ONNX file, moved to a temporary file before anything else reads the model.

The checker, shape inference, onnx-ir and OpenVINO would each hold a copy of the weights in the file. Parsing takes twice their
size, so this module must not import onnx-ir, which takes 60 MB more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx.external_data_helper import set_external_data, uses_external_data

from ov_gather.ir.element_types import by_onnx
from ov_gather.system.interrupts import held
from ov_gather.system.platforms import CAN_REMOVE_MAPPED_FILES

SMALLEST = 1 << 10
"""Bytes of the smallest tensor that is moved. Shape inference sees the values of initializers up to 1,000 bytes, which stay."""
_ALIGNMENT = 64
_MOST_DIMS = 64
"""Dimensions of a tensor that NumPy supports."""
_PLAIN = {"dims", "data_type", "name", "raw_data", "data_location"}
"""Fields of the tensors that are moved. Others might make the model invalid only as external data."""


@contextmanager
def weights_outside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a copy of an ONNX file whose large initializers are external data; remove it when the block ends.

    Yield the path itself if there is nothing to move, the file cannot be parsed or has external data already, TMPDIR has no
    room or is not UTF-8, or the system cannot remove a file that OpenVINO maps.
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
    model = onnx.ModelProto.FromString(path.read_bytes())
    if any(map(uses_external_data, tensors_of(model))):
        return None
    with (folder / "weights").open("wb") as file:
        for tensor in filter(_is_movable, model.graph.initializer):
            file.seek(-(-file.tell() // _ALIGNMENT) * _ALIGNMENT)
            offset = file.tell()
            length = file.write(tensor.raw_data)
            set_external_data(tensor, "weights", offset, length)
            tensor.ClearField("raw_data")
        if not file.tell():
            return None
    copy = folder / "model.onnx"
    copy.write_bytes(model.SerializeToString())
    return copy


def _is_movable(tensor: onnx.TensorProto) -> bool:
    """Return True if a tensor is large, and its raw data has the size that its type and dimensions demand."""
    element_type, dims = by_onnx(tensor.data_type), tensor.dims
    if element_type is None or len(dims) > _MOST_DIMS or min(dims, default=0) < 0:
        return False
    if any(field.name not in _PLAIN for field, _ in tensor.ListFields()):
        return False
    return SMALLEST <= len(tensor.raw_data) == element_type.byte_size(prod(dims))


def data_files(path: Path) -> list[Path]:
    """Return the external data files of the .onnx at a path; empty if it cannot be read as a model."""
    try:
        model = onnx.load(path, load_external_data=False)
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
